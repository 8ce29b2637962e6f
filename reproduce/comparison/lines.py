"""Published beside ours: a line for every published measurement, and how many lie within 5 points.

Values and stored runs enter; `Line` objects leave, as CSV or as a score for each paper.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from lengen.metrics.measures import Missing, short, trained_range
from lengen.paper.experiment import Experiment
from lengen.results.records import Run, to_table
from reproduce.comparison.distance import NEAR, PROFILES, distance, farthest
from reproduce.comparison.measured import Stored, over_cells
from reproduce.comparison.numbers import number, span
from reproduce.comparison.recorded import MET, apart
from reproduce.comparison.values import Value, values
from reproduce.runs.catalogue import CATALOGUE

COLUMNS = (
    "paper", "place", "experiment", "length", "count", "published", "ours", "points", "distance", "seeds",
    "relation", "unit", "profile", "compared", "each_seed", "id",
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """A published measurement and what was measured here."""

    value: Value
    distance: str = ""
    """Empty if nothing was run, or nothing tested there."""
    profile: str = ""
    seeds: tuple[float, ...] = ()
    """One value per seed in the unit of the published one, of many cells its own worst; empty if nothing can be
    compared."""
    ours: float | None = None
    """Median over seeds, of many cells the worst median, or the statistic that the value is across seeds."""
    of: str = ""
    """The experiment that has these values, of several the least favourable; empty if their seeds are pooled."""
    trained: int = 0
    """Seeds that were trained, whether or not they are compared."""

    @property
    def points(self) -> float | None:
        """Ours less published."""
        return None if self.ours is None else self.ours - self.value.published

    @property
    def apart(self) -> float:
        """Points by which ours misses the published value; 0 without ours."""
        return apart(self.points or 0, self.value.relation)

    @property
    def gap(self) -> float | None:
        """Ours less published, and 0 on the right side of a printed bound."""
        return self.points if self.apart else self.points and 0.0

    @property
    def name(self) -> str:
        """The experiment that has these values, and of how many it is the least favourable."""
        more = len(self.value.experiments) - 1
        return f"{short(self.of)} (furthest of {more + 1})" if self.of and more else self.value.name

    @property
    def compared(self) -> bool:
        """A share that stands beside a published one."""
        return self.ours is not None and self.value.unit == "%"

    @property
    def beyond(self) -> bool:
        """True if some of its cells lie outside the trained range of the published specification."""
        trained = trained_range(CATALOGUE.select_one(self.value.experiments[0]).specs["paper"].data)
        return any(not trained.has((n, m)) for n in self.value.lengths for m in self.value.counts)


@dataclass(frozen=True)
class Score:
    """Number of published shares that are met."""

    printed: int
    compared: int
    within_5: int
    within_2: int

    def __str__(self) -> str:
        """Return the score in words."""
        return f"{self.within_5} of {self.compared} published values within 5 points ({self.within_2} within 2)"


def score(lines: Iterable[Line]) -> Score:
    """Count the lines within 5 points and within 2."""
    shares = [line for line in lines if line.value.unit == "%"]
    gaps = [line.apart for line in shares if line.ours is not None]
    return Score(len(shares), len(gaps), *(sum(round(gap, 9) <= most for gap in gaps) for most in (MET, 2)))


def hard(lines: Iterable[Line]) -> Score:
    """Count the lines beyond the trained range whose published value is more than next to nothing."""
    return score(line for line in lines if line.compared and line.beyond and line.value.published > MET)


def lines(paper: str, stored: Stored) -> list[Line]:
    """Return a line for every published measurement of a paper."""
    known = {item.name: item for item in CATALOGUE.experiments(paper)}
    return [_line(value, [known[name] for name in value.experiments], stored) for value in values(paper)]


def _line(value: Value, experiments: Sequence[Experiment], stored: Stored) -> Line:
    lacking = Line(value)
    for profile in PROFILES:
        runs = [stored(experiment.name, profile) for experiment in experiments]
        if not all(runs):
            continue
        where = farthest(distance(run, item.specs.get("paper")) for item, some in zip(experiments, runs, strict=True)
                          for run in some)  # fmt: skip
        trained = min(map(len, runs))
        if where in NEAR:
            try:
                return _compared(value, where, profile, runs)
            except Missing:
                pass  # trained as published, and not tested there
        if not lacking.trained:
            lacking = Line(value, "" if where in NEAR else where, profile, trained=trained)
    return lacking


def _compared(value: Value, where: str, profile: str, runs: Sequence[Sequence[Run]]) -> Line:
    """Return the line of the least favourable experiment (of equals the one with the fewest seeds), or of all seeds."""
    scale = 100 if value.unit == "%" else 1
    each = [over_cells(value, some) for some in runs]
    if value.across:
        pooled = [scale * seed for _, seeds in each for seed in seeds]
        ours = (fmean if value.across == "mean" else stdev)(pooled)
        return Line(value, where, profile, tuple(pooled), ours, trained=len(pooled))
    found = [
        (scale * middle, [scale * seed for seed in seeds], some[0].experiment)
        for (middle, seeds), some in zip(each, runs, strict=True)
    ]
    ours, seeds, of = min(found, key=lambda one: (_favour(value, one[0]), len(one[1])))
    return Line(value, where, profile, tuple(seeds), ours, of, len(seeds))


def _favour(value: Value, ours: float) -> float:
    """Return how favourable a value of ours is to the published one."""
    if value.relation in (">", ">="):
        return ours
    return -ours if value.relation in ("<", "<=") else -abs(ours - value.published)


def to_csv(found: Iterable[Line]) -> str:
    """Return the lines as comma-separated values: shares in percent, points as ours less published."""
    return to_table(COLUMNS, map(_row, found))


def _row(line: Line) -> tuple[object, ...]:
    value = line.value
    seeds = line.trained or "" if line.distance else ""
    return (
        value.paper, value.place, " ".join(value.experiments), span(value.lengths), span(value.counts),
        f"{value.published:g}", number(line.ours), number(line.points), line.distance, seeds,
        value.relation, value.unit, line.profile, line.of, " ".join(map(number, line.seeds)), value.id,
    )  # fmt: skip
