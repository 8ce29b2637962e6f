"""Headline numbers of a grid of the benchmark: in range, reach, area, and exact match at multiples."""

import math
from collections.abc import Sequence
from math import ceil
from statistics import median
from typing import NamedTuple

from lengen.benchmark.scoring import MODE
from lengen.metrics.measures import area, reach
from lengen.results.records import Counts, Grid

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
    """Return counts by length: that of a cell is the larger of its axes, because a model has to take both."""
    return {
        level: grid.total([cell for cell in grid.scores if max(cell) == level], grid.mode)
        for level in sorted({max(cell) for cell in grid.scores})
    }


def measures(grid: Grid, size: int) -> Measures:
    """Return the numbers of a grid whose model was trained up to ``size``."""
    by_length = levels(grid)
    rates = {level: counts.rate("correct") for level, counts in by_length.items()}
    in_range = grid.total([cell for cell in grid.scores if max(cell) <= size], MODE).rate("correct")
    tested = {level: rate for level, rate in rates.items() if size <= level <= LONGEST * size}
    beyond = grid.total([cell for cell in grid.scores if max(cell) > size], MODE)
    return Measures(
        in_range,
        reach({**tested, size: in_range}),
        area(tested, size) if LONGEST * size in tested else math.nan,
        tuple(rates.get(ceil(size * multiple), math.nan) for multiple in SHOWN),
        beyond.rate("edit_capped", "reference_tokens"),
        int(grid.total(grid.scores, MODE).get("absent", 0)),
    )


class Range(NamedTuple):
    """A number over seeds."""

    median: float
    least: float
    most: float

    def text(self, digits: int = 2) -> str:
        """Return ``0.97 (0.95 to 0.99)``; the median alone if all seeds agree."""
        if math.isnan(self.median):
            return "-"
        low, middle, high = (f"{value:.{digits}f}" for value in (self.least, self.median, self.most))
        return middle if low == high else f"{middle} ({low} to {high})"


def over_seeds(values: Sequence[float]) -> Range:
    """Return median, least and most.

    >>> over_seeds([0.5, 1.0, 0.75]).text()
    '0.75 (0.50 to 1.00)'
    """
    return Range(median(values), min(values), max(values))
