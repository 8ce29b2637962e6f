"""Measured values of finished runs: one number per seed.

Runs of one experiment, a measure and test cells enter; `Measured` leaves.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, median

from lengen.metrics.measures import Measure, Missing, OfRun, Scored
from lengen.results.records import Run
from reproduce.comparison.measures import Vocabulary, paper_measures, table
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store.store import Store

STATISTICS: Mapping[str, Callable[[Sequence[float]], float]] = {"minimum": min, "maximum": max, "mean": fmean}


@dataclass(frozen=True)
class Measured:
    """One value per seed."""

    seeds: tuple[float, ...]
    problems: int = 0
    """Distinct test problems behind each seed's value; 0 if it is no share of problems."""

    @property
    def median(self) -> float:
        """Median over seeds."""
        return median(self.seeds)


def over_cells(
    paper: str, runs: Sequence[Run], measure: str, mode: str, lengths: Sequence[int], counts: Sequence[int],
    statistic: str,
) -> Measured:  # fmt: skip
    """Return the statistic over cells: of the minimum or maximum, at the cell where the median over seeds has it.

    Raises:
        Missing: a run lacks the measure, or the largest of the lengths and counts was not tested.
    """
    vocabulary = paper_measures(paper)
    kind = vocabulary.measure(measure)
    if isinstance(kind, OfRun):
        return Measured(tuple(top / bottom for top, bottom in map(kind.value, runs)))
    cells = _tested(runs, lengths, counts)
    rates = _rates(vocabulary, runs, measure, mode, cells)
    sizes = {cell: size for cell, (_, size) in rates.items()}
    if statistic == "mean":
        each = zip(*(seeds for seeds, _ in rates.values()), strict=True)
        return Measured(tuple(map(fmean, each)), sum(sizes.values()))
    chosen = STATISTICS[statistic](sorted(median(seeds) for seeds, _ in rates.values()))
    cell = next(cell for cell, (seeds, _) in rates.items() if median(seeds) == chosen)
    return Measured(tuple(rates[cell][0]), sizes[cell])


def _tested(runs: Sequence[Run], lengths: Sequence[int], counts: Sequence[int]) -> list[tuple[int, int]]:
    """Return the cells that every run tested, of these lengths and counts."""
    most = max(counts)
    tested = [{(cell[0], cell[1] if len(cell) > 1 else most) for cell in run.grid.scores} for run in runs]
    common = set.intersection(*tested)
    cells = sorted((n, m) for n, m in common if n in lengths and m in counts)
    if (max(lengths), most) not in cells:
        raise Missing(f"not tested at {max(lengths)} x {most}")
    return cells


def _rates(
    vocabulary: Vocabulary, runs: Sequence[Run], measure: str, mode: str, cells: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], tuple[list[float], int]]:
    """Return for every cell the value of each run, in their order, and the number of problems."""
    kind = vocabulary.measure(measure)
    found: dict[tuple[int, int], tuple[list[float], int]] = {}
    for part in table(kind, runs, cells, mode):
        if not part.bottom:
            raise Missing(f"no problem at {part.cell[0]} x {part.cell[1]}")
        seeds, _ = found.get(part.cell, ([], 0))
        found[part.cell] = ([*seeds, part.top / part.bottom], int(part.bottom) if isinstance(kind, Scored) else 0)
    return found


def pooled(kind: Measure, runs: Sequence[Run], mode: str, cells: Sequence[tuple[int, int]]) -> tuple[list[float], int]:
    """Return the value of each run over all problems of these cells, and the number of problems of one run."""
    parts = table(kind, runs, cells, mode)
    values = []
    for run in runs:
        own = [part for part in parts if part.seed == run.seed]
        bottom = sum(part.bottom for part in own)
        if not bottom:
            raise Missing(f"no problem of {run.experiment}, seed {run.seed}, can be measured")
        values.append(sum(part.top for part in own) / bottom)
    first = [int(part.bottom) for part in parts if part.seed == runs[0].seed]
    return values, 0 if isinstance(kind, OfRun) else sum(first)


Stored = Callable[[str, str], Sequence[Run]]
"""Experiment and profile -> its runs that count, one per seed."""


def reader(paper: str, stores: Sequence[Store]) -> Stored:
    """Return a function that reads each run of a paper once; of several stores the first with runs is read."""
    known = {item.name: item for item in CATALOGUE.experiments(paper)}

    @cache
    def stored(name: str, profile: str) -> Sequence[Run]:
        found = (CATALOGUE.declared_runs(store, known[name], profile) for store in stores)
        return next((runs for runs in found if runs), [])

    return stored


def number(value: float | None) -> str:
    """Return a number with at most two decimals, three below 0.005, nothing for None.

    >>> number(99.95), number(100.0), number(-0.0001), number(0.003), number(None)
    ('99.95', '100', '0', '0.003', '')
    """
    if value is None:
        return ""
    if abs(value) < 0.0005:
        return "0"
    return f"{value:.3f}" if abs(value) < 0.005 else f"{value:.2f}".rstrip("0").rstrip(".")
