"""Measured values of finished runs: one number per seed.

Runs of one experiment, a measure and test cells enter; numbers leave.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from statistics import fmean, median

from lengen.metrics.measures import Measure, Missing, OfRun
from lengen.results.records import Run
from reproduce.comparison.measures import paper_measures, ratios
from reproduce.comparison.regions import Cells
from reproduce.comparison.values import Value
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store.store import Store

STATISTICS: Mapping[str, Callable[[Sequence[float]], float]] = {"minimum": min, "maximum": max, "mean": fmean}


def over_cells(value: Value, runs: Sequence[Run]) -> tuple[float, list[float]]:
    """Return a published value's statistic over its cells: that of the medians over seeds, and that of each run alone.

    The mean over cells is taken of each run, and the median over seeds of these means.

    Raises:
        Missing: a run lacks the measure, or the largest of the lengths and counts was not tested.
    """
    kind = paper_measures(value.paper).measure(value.measure)
    if isinstance(kind, OfRun):
        whole = [top / bottom for top, bottom in map(kind.value, runs)]
        return median(whole), whole
    most = max(value.counts)
    cells = sorted((n, m) for n, m in tested(runs, most) if n in value.lengths and m in value.counts)
    if (max(value.lengths), most) not in cells:
        raise Missing(f"not tested at {max(value.lengths)} x {most}")
    by_cell = []
    for cell, pairs in zip(cells, zip(*ratios(kind, runs, cells, value.mode), strict=True), strict=True):
        if not all(bottom for _, bottom in pairs):
            raise Missing(f"no problem at {cell[0]} x {cell[1]}")
        by_cell.append([top / bottom for top, bottom in pairs])
    statistic = STATISTICS[value.statistic]
    each = [statistic(rates) for rates in zip(*by_cell, strict=True)]
    return median(each) if value.statistic == "mean" else statistic([median(rates) for rates in by_cell]), each


def tested(runs: Sequence[Run], second: int = 1) -> set[tuple[int, int]]:
    """Return the cells that every run tested; those of a curve get this second number."""
    return set.intersection(*({(cell[0], (*cell, second)[1]) for cell in run.grid.scores} for run in runs))


def pooled(kind: Measure, runs: Sequence[Run], mode: str, cells: Cells) -> tuple[list[float], int]:
    """Return the value of each run over all problems of these cells, and the number of problems of one run."""
    found = ratios(kind, runs, cells, mode)
    values = []
    for run, pairs in zip(runs, found, strict=True):
        bottom = sum(bottom for _, bottom in pairs)
        if not bottom:
            raise Missing(f"no problem of {run.experiment}, seed {run.seed}, can be measured")
        values.append(sum(top for top, _ in pairs) / bottom)
    return values, 0 if isinstance(kind, OfRun) else sum(int(bottom) for _, bottom in found[0])


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
