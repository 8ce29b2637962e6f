"""What is measured on finished runs: the measures that every paper can name, and how any measure becomes a table.

Runs and test cells enter, a table with a numerator and a denominator per run and cell leaves: everything after it is a
group-by. Measures that one paper needs stand in its ``measures.py``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lengen.measures import ByLength, Family, Measure, Missing, OfRun, Region, Scored, short, stored
from lengen.metrics import METRICS
from lengen.records import Run
from reproduce.comparison.regions import REGIONS, keys
from reproduce.runs.catalogue import CATALOGUE

if TYPE_CHECKING:  # reading what a paper says waits for no pandas
    import pandas as pd


def scalar(name: str) -> Measure:
    """A number of run.json that the run wrote there itself."""

    def value(run: Run) -> tuple[float, int]:
        scalars: Any = run.info.get("scalars", {})
        if (found := scalars.get(name)) is None:
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
    def value(run: Run, length: int) -> tuple[float, int]:
        found = stored(run, f"{prefix}.{length}")
        kept = found[~np.isnan(found)]
        return float(kept.sum(dtype=float)), len(kept)

    return ByLength(name.replace("_", " ").replace(".", ", "), value, proportion)


def _info(name: str, unit: float, words: str) -> Measure:
    def value(run: Run) -> tuple[float, int]:
        found = run.info.get(name)
        if not isinstance(found, (int, float)):
            raise Missing(f"run.json of {short(run.experiment)} holds no {name}")
        return found / unit, 1

    return OfRun(words, value)


MEASURES: Mapping[str, Measure] = {
    "response_tokens": Scored("tokens of a true response", "reference_tokens", proportion=False),
    "parameters": _info("parameters", 1, "trainable parameters"),
    "training_hours": _info("seconds_training", 3600, "hours of training"),
}
"""Beside them every metric of `lengen.metrics` is a measure, under its name."""
FAMILIES: Mapping[str, Family] = {"scalar": scalar, "hits": hits, "values": values}


@dataclass(frozen=True)
class Vocabulary:
    """Measures and regions that the claims of one paper may name: the general ones and its own."""

    own: Mapping[str, Measure | Family] = field(default_factory=dict)
    own_regions: Mapping[str, Region] = field(default_factory=dict)

    def names(self) -> list[str]:
        """Names of measures, and of families without the dot."""
        return [*METRICS, *MEASURES, *FAMILIES, *self.own]

    def measure(self, name: str) -> Measure:
        """The measure of that name, ``family.rest`` for one of a family; KeyError where there is none."""
        if name in METRICS:
            metric = METRICS[name]
            return Scored(metric.words, metric.numerator, metric.denominator, metric.proportion)
        family, dot, rest = name.partition(".")
        found = {**MEASURES, **FAMILIES, **self.own}[family]
        if isinstance(found, Measure) is bool(dot):
            raise KeyError(name)
        return found if isinstance(found, Measure) else found(rest)

    @property
    def regions(self) -> Mapping[str, Region]:
        """Every region by its name."""
        return {**REGIONS, **self.own_regions}


def paper_measures(name: str) -> Vocabulary:
    """What the claims of a paper may name; the general measures and regions alone where there is no such paper."""
    if name not in CATALOGUE.papers():
        return Vocabulary()
    paper = CATALOGUE.paper(name)
    return Vocabulary(paper.measures(), paper.regions())


def table(
    measure: Measure, runs: Sequence[Run], scores: "pd.DataFrame", cells: "pd.DataFrame", mode: str
) -> "pd.DataFrame":
    """Columns seed, length, count, top, bottom: one row per run and cell, or per run for a measure of whole runs.

    Args:
        runs: one per seed, of one experiment.
        scores: `lengen.frames.counts` of these runs.
        cells: columns length and count, of cells that every run tested.

    Raises:
        Missing: where a run lacks what is measured.
    """
    import pandas as pd

    if isinstance(measure, Scored):
        return _scored(measure, runs, scores, cells, mode)
    rows: list[tuple[int, int, int, float, int]] = []
    for run in runs:
        if isinstance(measure, OfRun):
            rows.append((run.seed, 0, 0, *measure.value(run)))
        else:
            rows += [(run.seed, n, m, *measure.value(run, n)) for n, m in cells.itertuples(index=False)]
    return pd.DataFrame(rows, columns=["seed", "length", "count", "top", "bottom"])


def _scored(
    measure: Scored, runs: Sequence[Run], scores: "pd.DataFrame", cells: "pd.DataFrame", mode: str
) -> "pd.DataFrame":
    names = {"top": measure.numerator, "bottom": measure.denominator}
    found = scores[(scores["mode"] == mode).to_numpy() & np.isin(keys(scores), keys(cells))]
    found = found.assign(**{column: found.get(name, np.nan) for column, name in names.items()})
    found = found[["seed", "length", "count", *names]].dropna()
    if len(found) < len(runs) * len(cells):
        there = {*zip(found["seed"], found["length"], found["count"], strict=True)}
        wanted = ((run.seed, n, m) for n, m in sorted(cells.itertuples(index=False)) for run in runs)
        _, n, m = next(key for key in wanted if key not in there)
        raise Missing(f"{short(runs[0].experiment)} was not scored {mode.replace('_', '-')} at {n} x {m}")
    return found
