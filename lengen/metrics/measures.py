"""Measures: a numerator and a denominator of a finished run; general ones and those that papers declare."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lengen.metrics import EXACT_MATCH
from lengen.part import build
from lengen.results.records import Grid, Run
from lengen.settings.sections import DataSpec

if TYPE_CHECKING:
    import numpy as np

LEARNED = 0.95
"""Exact match on the hardest trained cells from which on a model has learned its trained range
(`lengen.metrics.learned`)."""


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


@dataclass(frozen=True)
class Trained:
    """Trained range: longest operand and second axis (operands, digits of the second factor; 1 for parity)."""

    length: int
    second: int
    lengths: frozenset[int] = frozenset()
    """Trained lengths where some below the longest are left out; empty: all of 1 to ``length``."""
    data: DataSpec | None = field(default=None, compare=False)
    """Training data, for regions that depend on more than lengths."""

    def has(self, cell: Sequence[int]) -> bool:
        """Return True if a test cell was trained: its length, and its count if it has one.

        >>> span = Trained(5, 2, frozenset({1, 5}))
        >>> span.has((5, 2)), span.has((5,)), span.has((5, 3)), span.has((4, 2))
        (True, True, False, False)
        """
        length, second, *_ = (*cell, 1)
        return (length in self.lengths if self.lengths else length <= self.length) and second <= self.second


def exact_at_longest(grid: Grid, span: Trained) -> float:
    """Return exact match at the longest trained length, over all trained counts; NaN if that was not tested."""
    cells = [cell for cell in grid.scores if cell[0] == span.length and span.has(cell)]
    return grid.total(cells, "teacher_forced").rate(EXACT_MATCH.numerator) if cells else math.nan


def trained(run: Run) -> Trained:
    """Return the trained range of a run, from its own specification."""
    return trained_range(build(run.info["spec"]["data"], DataSpec, "data"))


def trained_range(data: DataSpec) -> Trained:
    """Return the trained range that the data section of a specification states."""
    lengths: tuple[int, ...] = getattr(data.task, "lengths", ())
    return Trained(data.task.longest, data.task.most, frozenset(lengths), data)


def stored(run: Run, name: str) -> "np.ndarray":
    """Return an array of a run by its name; `Missing` if there is none."""
    if name not in run.arrays:
        raise Missing(f"{short(run.experiment)} holds no array {name}")
    return run.arrays[name]


def short(experiment: str) -> str:
    """Return ``figure/variant`` of ``paper/figure/variant``."""
    return experiment.split("/", 1)[-1]
