"""Measures of a finished run: their kinds; learned or not, exact match in and outside the range, reach, area.

A measure is a numerator and a denominator. Exact match in and outside the trained range, reach and area can be compared
between sizes.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from lengen.metrics.response_metrics import EXACT_MATCH
from lengen.results.records import Counts, Run, wilson

if TYPE_CHECKING:
    import numpy as np

LEARNED = 0.95
"""Exact match on the hardest trained cells from which on a model has learned its trained range."""
RIGHT = 0.9
"""Exact match from which a length, or a count of operands, is still right."""


class Missing(Exception):
    """A measure that the runs at hand cannot give; the message names the missing record."""


@dataclass(frozen=True)
class Scored:
    """Two counts of the scores, summed over cells of one mode; their ratio is the value."""

    words: str
    numerator: str
    denominator: str = "n"
    proportion: bool = True
    """The numerator counts successes among the denominator, so Wilson intervals hold."""


@dataclass(frozen=True)
class ByLength:
    """Stored counts of every tested length, in any mode: (numerator, denominator) of one length."""

    words: str
    value: Callable[[Run, int], tuple[float, int]]
    proportion: bool = False


@dataclass(frozen=True)
class OfRun:
    """A value of the whole run, whatever the region: (numerator, denominator)."""

    words: str
    value: Callable[[Run], tuple[float, int]]
    proportion: bool = False


Measure = Scored | ByLength | OfRun
Family = Callable[[str], Measure]
"""Measures named by what runs stored: the family ``hits`` makes ``hits.early_end`` of "early_end"."""


def stored(run: Run, name: str) -> "np.ndarray":
    """Return an array of a run by its name; `Missing` if there is none."""
    if name not in run.arrays:
        raise Missing(f"{short(run.experiment)} holds no array {name}")
    return run.arrays[name]


def short(experiment: str) -> str:
    """Return ``figure/variant`` of ``paper/figure/variant``."""
    return experiment.split("/", 1)[-1]


def shares(run: Run) -> tuple[float, float]:
    """Return exact match in and outside the trained range over all problems tested; nan if there are none."""
    span, cells = run.trained, list(run.grid.scores)
    within = [cell for cell in cells if span.has(cell)]
    beyond = [cell for cell in cells if not span.has(cell)]
    inside, outside = (run.grid.total(part, run.grid.mode).rate(EXACT_MATCH.numerator) for part in (within, beyond))
    return inside, outside


def edge(run: Run) -> Counts:
    """Return the counts on the hardest trained cells.

    They are those at the longest trained length or, of a training on several operands, at the most of them, whichever
    is lower; empty if no such cell was tested.
    """
    span, cells = run.trained, list(run.grid.scores)
    if span.second == 1 and any(cell[1:] == (1,) for cell in cells):
        cells = [cell for cell in cells if cell[1] == 1]  # the second axis is of kinds of problems, 1 the trained one
    inside = [cell for cell in cells if span.has(cell if span.second > 1 else cell[:1])]
    if not inside:
        return Counts()
    longest, most = max(cell[0] for cell in inside), max(cell[-1] for cell in inside)
    edges = [[cell for cell in inside if cell[0] == longest]]
    if span.second > 1 and len(inside[0]) > 1:
        edges.append([cell for cell in inside if cell[1] == most])
    return min(
        (run.grid.total(part, run.grid.mode) for part in edges), key=lambda counts: counts.rate(EXACT_MATCH.numerator)
    )


def at_edge(run: Run) -> float:
    """Return exact match on the hardest trained cells; 1 for weights set by hand, nan if none was tested."""
    return 1.0 if run.constructed else edge(run).rate(EXACT_MATCH.numerator)


def has_learned(run: Run) -> bool:
    """Return True if the 95 % interval of exact match on the hardest trained cells reaches `LEARNED`.

    A run without such a cell cannot be said not to have learned.
    """
    if run.constructed or not (counts := edge(run)).get("n"):
        return True
    return wilson(counts[EXACT_MATCH.numerator], counts["n"]).high >= LEARNED


def most_have_learned(runs: Sequence[Run]) -> bool:
    """Return True if at least half of the seeds have learned their trained range."""
    return 2 * sum(map(has_learned, runs)) >= len(runs)


def learned(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that have learned their trained range; all of them if more than half have not."""
    return [run for run in runs if has_learned(run)] if most_have_learned(runs) else list(runs)


AXES = ("length", "count")
"""Axes of the tested cells."""


def along(run: Run, axis: int | None) -> dict[int, float]:
    """Return exact match by tested length (axis 0) or count (axis 1), over what was trained of the other axis.

    Without an axis it is by the larger of a cell's two, because a model has to take both.
    """
    bounds, mode = run.trained.size, run.grid.mode
    counts: dict[int, Counts] = defaultdict(Counts)
    for cell, modes in run.grid.scores.items():
        if axis is None or (len(cell) > axis and all(v <= bounds[k] for k, v in enumerate(cell) if k != axis)):
            size = max(cell) if axis is None else cell[axis]
            if mode in modes:
                counts[size] += modes[mode]
    return {size: counts[size].rate(EXACT_MATCH.numerator) for size in sorted(counts)}


def reach(accuracies: Mapping[int, float]) -> int:
    """Return the largest size that is still right, no smaller tested one below it; 0 if there is none.

    >>> reach({2: 1.0, 4: 0.95, 5: 0.91, 8: 0.2, 12: 0.93})
    5
    """
    reached = 0
    for size in sorted(accuracies):
        if not accuracies[size] >= RIGHT:  # nan, where nothing was answered, is not right
            break
        reached = size
    return reached


def area(accuracies: Mapping[int, float], trained_size: int) -> float:
    """Return the area under accuracy over the logarithm of size / trained size, as a share of its range.

    It goes from the trained size to the largest tested one, by trapezoids.

    >>> area({10: 1.0, 20: 1.0, 40: 0.0}, 10)
    0.75
    """
    beyond = [size for size in sorted(accuracies) if size >= trained_size]
    if len(beyond) < 2:
        return math.nan
    places = [math.log(size / trained_size) for size in beyond]
    heights = [accuracies[size] for size in beyond]
    steps = zip(pairwise(places), pairwise(heights), strict=True)
    whole = math.fsum((right - left) * (low + high) / 2 for (left, right), (low, high) in steps)
    return whole / (places[-1] - places[0])


def reached(run: Run, axis: int | None) -> tuple[float, int]:
    """Return `reach` on an axis as a multiple of the largest trained size; `Missing` if one size alone was tested."""
    accuracies = along(run, axis)
    if not accuracies:
        raise Missing(f"{short(run.experiment)} was tested on one {AXES[axis or 0]}")
    return reach(accuracies) / run.trained.size[axis or 0], 1


def exact_beyond(run: Run, multiple: float) -> tuple[float, int]:
    """Return right and all problems beyond the trained length and to so many of it; `Missing` if none was tested."""
    one = run.trained.length
    counts = run.grid.total([cell for cell in run.grid.scores if one < max(cell) <= multiple * one], run.grid.mode)
    if not counts:
        raise Missing(f"{short(run.experiment)} was not tested between one and {multiple:g} trained lengths")
    return counts[EXACT_MATCH.numerator], int(counts[EXACT_MATCH.denominator])


def covered(run: Run, axis: int) -> tuple[float, int]:
    """Return `area` on an axis; `Missing` if one size alone was tested from the trained one on."""
    share = area(along(run, axis), run.trained.size[axis])
    if math.isnan(share):
        raise Missing(f"{short(run.experiment)} was tested on one {AXES[axis]} beyond the trained ones")
    return share, 1
