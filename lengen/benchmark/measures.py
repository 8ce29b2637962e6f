"""Headline numbers of a grid of the benchmark: in range, reach, area, and exact match at multiples; no torch."""

import math
from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from statistics import median
from typing import NamedTuple

from lengen.benchmark.scoring import MODE
from lengen.records import Counts, Grid

GOOD = 0.9
"""Exact match that a length needs to be within reach."""
LONGEST = 5
"""The area ends at so many trained lengths."""
SHOWN = (1.5, 2, 3)
"""Multiples of the trained length that tables show."""


class Measures(NamedTuple):
    """Numbers of one seed; nan if nothing of it was tested."""

    in_range: float
    """Exact match over all problems with both axes in the trained range."""
    reach: float
    """Longest tested length up to which exact match is at least 0.9; 0 if that of the trained range is not."""
    area: float
    """Mean exact match over the logarithm of length per trained length, from 1 to 5: between 0 and 1."""
    at: tuple[float, ...]
    """Exact match at `SHOWN`."""
    edits: float
    """Edits per token beyond the trained range, those of a problem capped at the size of its answer."""
    absent: int
    """Problems without a prediction."""


def levels(grid: Grid) -> dict[int, Counts]:
    """Counts by length: that of a cell is the larger of its axes, because a model has to take both."""
    return {
        level: grid.total([cell for cell in grid.scores if max(cell) == level], MODE)
        for level in sorted({max(cell) for cell in grid.scores})
    }


def measures(grid: Grid, size: int) -> Measures:
    """The numbers of a grid whose model was trained up to ``size``."""
    by_length = levels(grid)
    rates = {level: counts.rate("correct") for level, counts in by_length.items()}
    in_range = grid.total([cell for cell in grid.scores if max(cell) <= size], MODE).rate("correct")
    reach = 0
    if in_range >= GOOD:
        reach = size
        for level in (level for level in rates if level > size):
            if rates[level] < GOOD:
                break
            reach = level
    beyond = grid.total([cell for cell in grid.scores if max(cell) > size], MODE)
    return Measures(
        in_range,
        reach,
        area({level: rate for level, rate in rates.items() if size <= level <= LONGEST * size}, size),
        tuple(rates.get(ceil(size * multiple), math.nan) for multiple in SHOWN),
        beyond.rate("edit_capped", "reference_tokens"),
        int(grid.total(grid.scores, MODE).get("absent", 0)),
    )


def area(rates: dict[int, float], size: int) -> float:
    """Mean of rates over the logarithm of length, by trapezoids, from ``size`` to five times of it.

    >>> round(area({10: 1.0, 50: 0.0}, 10), 3), area({10: 1.0, 20: 1.0}, 10)
    (0.5, nan)
    """
    lengths = sorted(rates)
    if len(lengths) < 2 or lengths[0] != size or lengths[-1] != LONGEST * size:
        return math.nan
    steps = pairwise(lengths)
    return sum((rates[a] + rates[b]) / 2 * math.log(b / a) for a, b in steps) / math.log(LONGEST)


class Range(NamedTuple):
    """A number over seeds."""

    median: float
    least: float
    most: float

    def text(self, digits: int = 2) -> str:
        """``0.97 (0.95 to 0.99)``; the median alone if all seeds agree."""
        if math.isnan(self.median):
            return "-"
        low, middle, high = (f"{value:.{digits}f}" for value in (self.least, self.median, self.most))
        return middle if low == high else f"{middle} ({low} to {high})"


def over_seeds(values: Sequence[float]) -> Range:
    """Median, least and most.

    >>> over_seeds([0.5, 1.0, 0.75]).text()
    '0.75 (0.50 to 1.00)'
    """
    return Range(median(values), min(values), max(values))
