"""Which test cells a claim or a number is about: regions that every paper can name, as masks over cells.

Tables of cells enter and leave. The trained range is read from the run's own specification, never from a name; lengths
below the longest trained one may be left out of it, and count as outside. Regions that one paper needs stand in its
``measures.py``.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lengen.measures import Region, Trained

if TYPE_CHECKING:  # reading what a paper says waits for no pandas
    import pandas as pd

Bounds = tuple[int, int] | None
"""Smallest and largest value of an axis; None for all."""

REGIONS: Mapping[str, Region] = {
    "all": Region("all tested cells", lambda t, n, m: n == n),
    "in_range": Region("cells in the trained range", lambda t, n, m: t.holds(n) & (m <= t.second)),
    "outside": Region("cells outside the trained range", lambda t, n, m: ~t.holds(n) | (m > t.second)),
    "gap": Region(
        "lengths left out below the longest trained", lambda t, n, m: (n < t.length) & ~t.holds(n) & (m <= t.second)
    ),
    "longer": Region("longer than trained, count in range", lambda t, n, m: (n > t.length) & (m <= t.second)),
    "more": Region("more than trained, length in range", lambda t, n, m: (n <= t.length) & (m > t.second)),
    "both": Region("beyond the trained range on both axes", lambda t, n, m: (n > t.length) & (m > t.second)),
    "far": Region(
        "at least twice the trained range", lambda t, n, m: (n >= 2 * t.length) | (m >= 2 * max(t.second, 2))
    ),
    "trained_length": Region("at the longest trained length", lambda t, n, m: (n == t.length) & (m <= t.second)),
    "next": Region(
        "at the shortest length beyond the longest trained", lambda t, n, m: (n > t.length) & (m <= t.second), min
    ),
    "longest": Region("at the longest tested length", lambda t, n, m: n > t.length, max),
}
"""Test cells by the trained range: lengths left out below the longest, longer operands only, more operands only, both,
twice as far on either axis, at its longest operand; of "next" the shortest length only, of "longest" the longest."""


def inside(cells: "pd.DataFrame", trained: Trained, region: Region, lengths: Bounds, counts: Bounds) -> "pd.DataFrame":
    """The rows of a table of cells (length, count) that lie in a region of a trained range and within bounds.

    >>> import pandas as pd
    >>> cells = pd.DataFrame({"length": [2, 3, 4, 5], "count": 1})
    >>> inside(cells, Trained(3, 1), REGIONS["next"], None, None).values.tolist()
    [[4, 1]]
    """
    length, count = cells["length"].to_numpy(), cells["count"].to_numpy()
    mask = region.mask(trained, length, count)
    for values, bounds in ((length, lengths), (count, counts)):
        if bounds is not None:
            mask = mask & (values >= bounds[0]) & (values <= bounds[1])
    if region.only is not None and mask.any():
        mask = mask & (length == region.only(length[mask].tolist()))
    return cells[mask]


def shared(first: "pd.DataFrame", second: "pd.DataFrame") -> "pd.DataFrame":
    """The cells that both tables have.

    >>> import pandas as pd
    >>> cells = [pd.DataFrame(rows, columns=["length", "count"]) for rows in ([(5, 1), (9, 1)], [(5, 1), (5, 2)])]
    >>> shared(*cells).values.tolist()
    [[5, 1]]
    """
    return first[np.isin(keys(first), keys(second))]


def keys(cells: "pd.DataFrame") -> np.ndarray:
    """One whole number per row of columns length and count: equal for equal cells."""
    return cells["length"].to_numpy(int) * 2**32 + cells["count"].to_numpy(int)
