"""Regions of test cells that statements and values name, as masks over cells.

Lists of cells enter and leave. The trained range is read from the run's own specification, never from a name; lengths
below the longest trained one may be left out of it, and count as outside.
"""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from lengen.metrics.measures import Region, Trained

Cells = Sequence[tuple[int, int]]
"""Length and count of test cells, in order; a length of a curve, which has no second axis, has the count 1."""
Bounds = tuple[int, int] | None
"""Smallest and largest value of an axis; None for all."""


def taught(trained: Trained, length: np.ndarray) -> np.ndarray:
    """`Trained.has` of columns of lengths, of which there are few different ones."""
    return np.isin(length, [one for one in set(length.tolist()) if trained.has((one,))])


REGIONS: Mapping[str, Region] = {
    "all": Region("all tested cells", lambda t, n, m: n == n),
    "in_range": Region("cells in the trained range", lambda t, n, m: taught(t, n) & (m <= t.second)),
    "outside": Region("cells outside the trained range", lambda t, n, m: ~taught(t, n) | (m > t.second)),
    "gap": Region(
        "lengths left out below the longest trained", lambda t, n, m: (n < t.length) & ~taught(t, n) & (m <= t.second)
    ),
    "longer": Region("longer than trained, count in range", lambda t, n, m: (n > t.length) & (m <= t.second)),
    "more": Region("more than trained, length in range", lambda t, n, m: (n <= t.length) & (m > t.second)),
    "both": Region("beyond the trained range on both axes", lambda t, n, m: (n > t.length) & (m > t.second)),
    "far": Region(
        "at least twice the trained range", lambda t, n, m: (n >= 2 * t.length) | (m >= 2 * max(t.second, 2))
    ),
    "twice": Region(
        "at twice the trained range on both axes", lambda t, n, m: (n == 2 * t.length) & (m == 2 * t.second)
    ),
    "trained_length": Region("at the longest trained length", lambda t, n, m: (n == t.length) & (m <= t.second)),
    "next": Region(
        "at the shortest length beyond the longest trained", lambda t, n, m: (n > t.length) & (m <= t.second), min
    ),
    "longest": Region("at the longest tested length", lambda t, n, m: n > t.length, max),
}
"""Test cells by the trained range: lengths left out below the longest, longer operands only, more operands only, both,
twice as far on either axis, at its longest operand; of "next" the shortest length only, of "longest" the longest."""


def inside(cells: Cells, trained: Trained, region: Region, lengths: Bounds, counts: Bounds) -> Cells:
    """The cells that lie in a region of a trained range and within bounds.

    >>> inside([(2, 1), (3, 1), (4, 1), (5, 1)], Trained(3, 1), REGIONS["next"], None, None)
    [(4, 1)]
    """
    length, count = np.array(cells, int).reshape(-1, 2).T
    mask = region.mask(trained, length, count)
    for values, bounds in ((length, lengths), (count, counts)):
        if bounds is not None:
            mask = mask & (values >= bounds[0]) & (values <= bounds[1])
    if region.only is not None and mask.any():
        mask = mask & (length == region.only(length[mask].tolist()))
    return list(itertools.compress(cells, mask.tolist()))
