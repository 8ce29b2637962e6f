"""Regions of test cells that statements and values name.

Lists of cells enter and leave. The trained range is read from the run's own specification, never from a name; lengths
below the longest trained one may be left out of it, and count as outside.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from lengen.metrics.measures import Trained

Cells = Sequence[tuple[int, int]]
"""Length and count of test cells, in order; a length of a curve, which has no second axis, has the count 1."""
Bounds = tuple[int, int] | None
"""Smallest and largest value of an axis; None for all."""


class Region(NamedTuple):
    """Test cells by the trained range."""

    holds: Callable[[Trained, int, int], bool]
    """Trained range, length and count of a cell -> True if it lies in the region."""
    only: Callable[[Iterable[int]], int] | None = None
    """``min`` or ``max``: of the cells in the region only those of the shortest or longest length."""


REGIONS: Mapping[str, Region] = {
    "all": Region(lambda t, n, m: True),
    "in_range": Region(lambda t, n, m: t.has((n, m))),
    "outside": Region(lambda t, n, m: not t.has((n, m))),
    "gap": Region(lambda t, n, m: n < t.length and not t.has((n,)) and m <= t.second),
    "longer": Region(lambda t, n, m: n > t.length and m <= t.second),
    "more": Region(lambda t, n, m: n <= t.length and m > t.second),
    "both": Region(lambda t, n, m: n > t.length and m > t.second),
    "far": Region(lambda t, n, m: n >= 2 * t.length or m >= 2 * max(t.second, 2)),
    "twice": Region(lambda t, n, m: n == 2 * t.length and m == 2 * t.second),
    "trained_length": Region(lambda t, n, m: n == t.length and m <= t.second),
    "next": Region(lambda t, n, m: n > t.length and m <= t.second, min),
    "longest": Region(lambda t, n, m: n > t.length, max),
}
"""Test cells by the trained range: lengths left out below the longest, longer operands only, more operands only, both,
at least twice as far on either axis, twice as far on both, at its longest operand; of "next" the shortest length only,
of "longest" the longest."""


def inside(cells: Cells, trained: Trained, region: Region, lengths: Bounds, counts: Bounds) -> Cells:
    """The cells that lie in a region of a trained range and within bounds.

    >>> inside([(2, 1), (3, 1), (4, 1), (5, 1)], Trained(3, 1), REGIONS["next"], None, None)
    [(4, 1)]
    """
    kept = [(n, m) for n, m in cells if region.holds(trained, n, m) and _within(n, lengths) and _within(m, counts)]
    if region.only is None or not kept:
        return kept
    chosen = region.only(n for n, _ in kept)
    return [cell for cell in kept if cell[0] == chosen]


def _within(value: int, bounds: Bounds) -> bool:
    return bounds is None or bounds[0] <= value <= bounds[1]
