"""Measures of finished runs: those that every paper can name, and tables of any measure.

Runs and test cells enter, a numerator and a denominator per run and cell leave: everything after it sums or groups
them. Measures that one paper needs stand in its ``measures.py``.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengen.metrics import METRICS
from lengen.metrics.learned import along, area, reach
from lengen.metrics.measures import ByLength, Family, Measure, Missing, OfRun, Scored, short, stored, trained
from lengen.results.records import Run
from reproduce.comparison.regions import Cells
from reproduce.runs.catalogue import CATALOGUE

if TYPE_CHECKING:
    import numpy as np


def scalar(name: str) -> Measure:
    """A number of run.json that the run wrote there itself."""

    def value(run: Run) -> tuple[float, int]:
        if (found := run.info.get("scalars", {}).get(name)) is None:
            raise Missing(
                f"run.json of {short(run.experiment)}, seed {run.seed}, holds no scalar {name}: "
                "left out where it has no meaning, as after a training that never converged"
            )
        return float(found), 1

    return OfRun(name.replace("_", " "), value)


def hits(name: str) -> Measure:
    """An array ``hits.<name>.<length>`` of one 0 or 1 per test example."""
    return _array(f"hits.{name}", name, proportion=True)


def values(name: str) -> Measure:
    """An array ``values.<name>.<length>`` of one number per test example; nan belongs to no example."""
    return _array(f"values.{name}", name, proportion=False)


def _array(prefix: str, name: str, proportion: bool) -> Measure:
    def examples(run: Run, length: int) -> "np.ndarray":
        found = stored(run, f"{prefix}.{length}").astype(float)
        numbers: np.ndarray = found[found == found]  # nan is not itself
        return numbers

    def value(run: Run, length: int) -> tuple[float, int]:
        kept = examples(run, length)
        return float(kept.sum()), len(kept)

    return ByLength(name.replace("_", " ").replace(".", ", "), value, proportion)


def reached(axis: str) -> Measure:
    """The largest length (or count) still right in 90 %, as a multiple of the trained one."""
    place = {"length": 0, "count": 1}[axis]

    def value(run: Run) -> tuple[float, int]:
        accuracies, span = along(run, place), trained(run)
        if not accuracies:
            raise Missing(f"{short(run.experiment)} was tested on one {axis}")
        return reach(accuracies) / (span.length, span.second)[place], 1

    return OfRun(f"largest {axis} right in 90 %, as a multiple of the trained one", value)


def covered(axis: str) -> Measure:
    """The area under accuracy over the logarithm of length (or count) over the trained one."""
    place = {"length": 0, "count": 1}[axis]

    def value(run: Run) -> tuple[float, int]:
        span = trained(run)
        found = area(along(run, place), (span.length, span.second)[place])
        if math.isnan(found):
            raise Missing(f"{short(run.experiment)} was tested on one {axis} beyond the trained ones")
        return found, 1

    return OfRun(f"area under accuracy over log {axis}", value, proportion=True)


FAMILIES: Mapping[str, Family] = {"scalar": scalar, "hits": hits, "values": values, "reach": reached, "area": covered}
"""Beside them every metric of `lengen.metrics` is a measure, under its name."""


@dataclass(frozen=True)
class Vocabulary:
    """Measures that statements and values of one paper may name: the general ones and its own."""

    own: Mapping[str, Measure | Family]

    def names(self) -> list[str]:
        """Names of measures, and of families without the dot."""
        return [*METRICS, *FAMILIES, *self.own]

    def measure(self, name: str) -> Measure:
        """The measure of that name, ``family.rest`` for one of a family; KeyError where there is none."""
        if name in METRICS:
            metric = METRICS[name]
            return Scored(metric.words, metric.numerator, metric.denominator, metric.proportion)
        family, dot, rest = name.partition(".")
        found = {**FAMILIES, **self.own}[family]
        if isinstance(found, Measure) is bool(dot):
            raise KeyError(name)
        return found if isinstance(found, Measure) else found(rest)


def paper_measures(name: str) -> Vocabulary:
    """The measures that a paper may name."""
    return Vocabulary(CATALOGUE.paper(name).measures())


def ratios(measure: Measure, runs: Sequence[Run], cells: Cells, mode: str) -> list[list[tuple[float, float]]]:
    """Return numerator and denominator of each run in each cell, or one pair a run for a measure of whole runs.

    Args:
        runs: one per seed, of one experiment.
        cells: of those that every run tested.

    Raises:
        Missing: where a run lacks what is measured.
    """
    if isinstance(measure, Scored):
        return [[_counted(measure, run, cell, mode) for cell in cells] for run in runs]
    if isinstance(measure, OfRun):
        return [[measure.value(run)] for run in runs]
    return [[measure.value(run, cell[0]) for cell in cells] for run in runs]


def _counted(measure: Scored, run: Run, cell: tuple[int, int], mode: str) -> tuple[float, float]:
    counts: Mapping[str, float] = run.grid.scores[cell[: len(run.grid.axes)]].get(mode, {})
    if measure.numerator not in counts or measure.denominator not in counts:
        where = f"{cell[0]} x {cell[1]}"
        raise Missing(f"{short(run.experiment)} was not scored {mode.replace('_', '-')} at {where}")
    return counts[measure.numerator], counts[measure.denominator]
