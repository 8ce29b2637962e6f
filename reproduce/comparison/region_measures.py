"""Measures of finished runs in regions of test cells: one number per seed.

Runs and test cells enter, a numerator and a denominator per run and cell leave: everything after it sums or groups
them. Measures that one paper needs stand in its ``measures.py``. The trained range, by which regions are cut, is that
of the run's own specification; lengths below the longest trained one may be left out of it, and count as outside.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from lengen.metrics import METRICS, run_measures
from lengen.metrics.run_measures import (
    AXES,
    ByLength,
    Family,
    Measure,
    Missing,
    OfRun,
    Scored,
    covered,
    exact_beyond,
    reached,
    short,
)  # fmt: skip
from lengen.results.records import Run
from lengen.settings.sections import Trained
from reproduce.catalogue import CATALOGUE
from reproduce.store.store import Store

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
    """Return the cells that lie in a region of a trained range and within bounds.

    >>> inside([(2, 1), (3, 1), (4, 1), (5, 1)], Trained(3, 1), REGIONS["next"], None, None)
    [(4, 1)]
    """
    within = [(n, m) for n, m in cells if region.holds(trained, n, m) and _within(n, lengths) and _within(m, counts)]
    if region.only is None or not within:
        return within
    chosen = region.only(n for n, _ in within)
    return [cell for cell in within if cell[0] == chosen]


def _within(value: int, bounds: Bounds) -> bool:
    return bounds is None or bounds[0] <= value <= bounds[1]


def scalar(name: str) -> Measure:
    """Return a number of run.json that the run wrote there itself."""

    def value(run: Run) -> tuple[float, int]:
        if (number := run.info.get("scalars", {}).get(name)) is None:
            raise Missing(
                f"run.json of {short(run.experiment)}, seed {run.seed}, holds no scalar {name}: "
                "left out where it has no meaning, as after a training that never converged"
            )
        return float(number), 1

    return OfRun(name.replace("_", " "), value)


def _array(name: str, kind: str) -> Measure:
    """Return an array of one number per test example: ``hits.<name>.<length>`` of 0 or 1, ``values`` of any.

    A nan belongs to no example.
    """

    def examples(run: Run, length: int) -> np.ndarray:
        stored = run_measures.stored(run, f"{kind}.{name}.{length}").astype(float)
        numbers: np.ndarray = stored[stored == stored]  # nan is not itself
        return numbers

    def value(run: Run, length: int) -> tuple[float, int]:
        counted = examples(run, length)
        return float(counted.sum()), len(counted)

    return ByLength(name.replace("_", " ").replace(".", ", "), value, proportion=kind == "hits")


BOTH = "both"
"""In place of an axis: the larger of a cell's two."""


def _reach(axis: str) -> Measure:
    words = f"largest {'size' if axis == BOTH else axis} right in 90 %, as a multiple of the trained one"
    return OfRun(words, partial(reached, axis=None if axis == BOTH else AXES.index(axis)))


def _beyond(multiple: str) -> Measure:
    words = f"exact match beyond the trained length, to {multiple} of it"
    return OfRun(words, partial(exact_beyond, multiple=float(multiple)), True)


def _area(axis: str) -> Measure:
    return OfRun(f"area under accuracy over log {axis}", partial(covered, axis=AXES.index(axis)), proportion=True)


FAMILIES: Mapping[str, Family] = {
    "scalar": scalar, "hits": partial(_array, kind="hits"), "values": partial(_array, kind="values"),
    "reach": _reach, "area": _area, "beyond": _beyond,
}  # fmt: skip
"""Beside them every metric of `lengen.metrics` is a measure, under its name."""


Vocabulary = Mapping[str, Measure | Family]
"""Measures and families of measures by their names."""


def vocabulary(paper: str) -> Vocabulary:
    """Return the measures that statements and values of a paper may name: the general ones and its own."""
    scored = {name: Scored(of.words, of.numerator, of.denominator, of.proportion) for name, of in METRICS.items()}
    return {**scored, **FAMILIES, **CATALOGUE.paper(paper).measures()}


def measure_of(known: Vocabulary, name: str) -> Measure:
    """Return the measure of that name, ``family.rest`` for one of a family; KeyError where there is none."""
    family, dot, rest = name.partition(".")
    made = known[family]
    if isinstance(made, Measure) is bool(dot):
        raise KeyError(name)
    try:
        return made if isinstance(made, Measure) else made(rest)
    except ValueError:  # no axis, or no number
        raise KeyError(name) from None


def ratios(kind: Measure, runs: Sequence[Run], cells: Cells, mode: str) -> list[list[tuple[float, float]]]:
    """Return the numerator and denominator of each run in each cell, or one pair a run for a measure of whole runs.

    Args:
        runs: one per seed, of one experiment.
        cells: of those that every run tested.

    Raises:
        Missing: where a run lacks what is measured.
    """
    if isinstance(kind, Scored):
        return [[_counted(kind, run, cell, mode) for cell in cells] for run in runs]
    if isinstance(kind, OfRun):
        return [[kind.value(run)] for run in runs]
    return [[kind.value(run, cell[0]) for cell in cells] for run in runs]


def _counted(kind: Scored, run: Run, cell: tuple[int, int], mode: str) -> tuple[float, float]:
    counts: Mapping[str, float] = run.grid.scores[cell[: len(run.grid.axes)]].get(mode, {})
    if kind.numerator not in counts or kind.denominator not in counts:
        where = f"{cell[0]} x {cell[1]}"
        raise Missing(f"{short(run.experiment)} was not scored {mode.replace('_', '-')} at {where}")
    return counts[kind.numerator], counts[kind.denominator]


def tested(runs: Sequence[Run], second: int = 1) -> set[tuple[int, int]]:
    """Return the cells that every run tested; those of a curve get this second number."""
    return set.intersection(*({(cell[0], (*cell, second)[1]) for cell in run.grid.scores} for run in runs))


def pooled(kind: Measure, runs: Sequence[Run], mode: str, cells: Cells) -> tuple[list[float], int]:
    """Return the value of each run over all problems of these cells, and the number of problems of one run."""
    counted = ratios(kind, runs, cells, mode)
    values = []
    for run, pairs in zip(runs, counted, strict=True):
        bottom = sum(bottom for _, bottom in pairs)
        if not bottom:
            raise Missing(f"no problem of {run.experiment}, seed {run.seed}, can be measured")
        values.append(sum(top for top, _ in pairs) / bottom)
    return values, 0 if isinstance(kind, OfRun) else sum(int(bottom) for _, bottom in counted[0])


Stored = Callable[[str, str], Sequence[Run]]
"""Experiment and profile -> its runs that count, one per seed."""


def reader(paper: str, stores: Sequence[Store]) -> Stored:
    """Return a function that reads each run of a paper once; of several stores the first with runs is read."""
    known = {item.name: item for item in CATALOGUE.experiments(paper)}

    @cache
    def stored(name: str, profile: str) -> Sequence[Run]:
        of_stores = (CATALOGUE.declared_runs(store, known[name], profile) for store in stores)
        return next((runs for runs in of_stores if runs), [])

    return stored
