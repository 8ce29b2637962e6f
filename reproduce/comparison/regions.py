"""Which test cells a claim or a number is about: regions are predicates on (trained range, cell).

Runs enter, sets of cells leave. The trained range is read from the run's own specification, never from a name; lengths
below the longest trained one may be left out of it, and count as outside.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from lengen.records import Run

Cell = tuple[int, ...]


class Trained(NamedTuple):
    """Trained range: longest operand and second axis (operands, digits of the second factor; 1 for parity)."""

    length: int
    second: int
    lengths: frozenset[int] = frozenset()
    """Trained lengths where some below the longest are left out; empty: all of 1 to ``length``."""
    padded: int = 0
    """Digits that numbers are zero-padded to, where longer ones are written in full; 0: no such padding."""

    def holds(self, length: int) -> bool:
        """Whether operands of this length were trained."""
        return length in self.lengths if self.lengths else length <= self.length


def trained(run: Run) -> Trained:
    """The trained range of a run, from its own specification."""
    return trained_range(run.info["spec"]["data"])  # type: ignore[index]


def trained_range(data: Mapping[str, Any]) -> Trained:
    """The trained range that the data section of a specification states; older ones have no gaps and no padding."""
    lengths = frozenset(data.get("lengths", ()))
    return Trained(int(data["length"]), int(data["count"]), lengths, int(data.get("pad_to", 0)))


def _count(cell: Cell) -> int:
    return cell[1] if len(cell) > 1 else 1


REGIONS: Mapping[str, Callable[[Trained, Cell], bool]] = {
    "all": lambda t, c: True,
    "in_range": lambda t, c: t.holds(c[0]) and _count(c) <= t.second,
    "outside": lambda t, c: not t.holds(c[0]) or _count(c) > t.second,
    "gap": lambda t, c: c[0] < t.length and not t.holds(c[0]) and _count(c) <= t.second,
    "longer": lambda t, c: c[0] > t.length and _count(c) <= t.second,
    "more": lambda t, c: c[0] <= t.length and _count(c) > t.second,
    "both": lambda t, c: c[0] > t.length and _count(c) > t.second,
    "far": lambda t, c: c[0] >= 2 * t.length or _count(c) >= 2 * max(t.second, 2),
    "twice": lambda t, c: c[0] == 2 * t.length and _count(c) <= t.second,
    "thrice": lambda t, c: c[0] == 3 * t.length and _count(c) <= t.second,
    "two_to_three": lambda t, c: 2 * t.length <= c[0] <= 3 * t.length and _count(c) <= t.second,
    "one_short": lambda t, c: (c[0] > t.length and _count(c) <= 2) or (_count(c) > t.second and c[0] <= 2),
    "trained_length": lambda t, c: c[0] == t.length and _count(c) <= t.second,
    "just_beyond": lambda t, c: t.length + 2 <= c[0] <= t.length + 4 and _count(c) <= t.second,
    "next": lambda t, c: c[0] > t.length and _count(c) <= t.second,
    "longest": lambda t, c: c[0] > t.length,
    "padded": lambda t, c: t.length < c[0] < t.padded and _count(c) <= t.second,
    "beyond_padding": lambda t, c: c[0] > max(t.length, t.padded) and t.padded > 0 and _count(c) <= t.second,
}
"""Test cells by the trained range: lengths left out below the longest, longer operands only, more operands only, both,
twice as far on either axis, twice, thrice, or two to three times as long, beyond it on one axis with at most 2 on the
other, at its longest operand, or a little beyond that. One digit beyond is left out there: training numbers drawn up to
2^20 include some of 7 digits. Of "next" `cells_of` keeps the shortest, of "longest" the longest. Operands as long as
the padding are in neither of "padded" and "beyond_padding": they have the trained form, but their sum may not."""

REGION_WORDS = {
    "all": "all tested cells",
    "in_range": "cells in the trained range",
    "outside": "cells outside the trained range",
    "gap": "lengths left out below the longest trained",
    "longer": "longer than trained, count in range",
    "more": "more than trained, length in range",
    "both": "beyond the trained range on both axes",
    "far": "at least twice the trained range",
    "twice": "at twice the longest trained length, count in range",
    "thrice": "at three times the longest trained length, count in range",
    "two_to_three": "two to three times the longest trained length, count in range",
    "one_short": "beyond the trained range on one axis, at most 2 on the other",
    "trained_length": "at the longest trained length",
    "just_beyond": "two to four longer than trained",
    "next": "at the shortest length beyond the longest trained",
    "longest": "at the longest tested length",
    "padded": "longer than trained, within the zero-padded length",
    "beyond_padding": "longer than trained, beyond the zero-padded length",
}

_ONE_LENGTH: Mapping[str, Callable[[Sequence[int]], int]] = {"next": min, "longest": max}


def cells_of(
    runs: Sequence[Run], region: str, lengths: Sequence[int] = (), counts: Sequence[int] = ()
) -> frozenset[Cell]:
    """Cells that every run tested, inside the region of each run's trained range and the explicit bounds."""
    if not runs:
        return frozenset()
    tested = set(runs[0].grid.scores).intersection(*(run.grid.scores for run in runs[1:]))
    inside, spans = REGIONS[region], {trained(run) for run in runs}
    found = frozenset(
        cell
        for cell in tested
        if all(inside(span, cell) for span in spans)
        and (not lengths or lengths[0] <= cell[0] <= lengths[1])
        and (not counts or counts[0] <= _count(cell) <= counts[1])
    )
    if region in _ONE_LENGTH and found:
        only = _ONE_LENGTH[region]([cell[0] for cell in found])
        return frozenset(cell for cell in found if cell[0] == only)
    return found


def shared(first: Iterable[Cell], second: Iterable[Cell]) -> tuple[frozenset[Cell], frozenset[Cell]]:
    """The cells of each side that the other has too; length n of a curve is (n, 1) of a grid.

    >>> [sorted(side) for side in shared([(5,), (9,)], [(5, 1), (5, 2)])]
    [[(5,)], [(5, 1)]]
    """
    sides = [{(cell[0], _count(cell)): cell for cell in side} for side in (first, second)]
    both = sides[0].keys() & sides[1].keys()
    one, other = (frozenset(side[key] for key in both) for side in sides)
    return one, other
