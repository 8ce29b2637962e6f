"""What verdicts rest on: the runs that count at one profile, samples of them, and the one rule that gives a verdict.

Experiments and a way to their runs enter, samples and verdicts leave. A relation is *reproduced* when it holds with the
95 % intervals apart and with every seed on the same side, *differs* when its opposite holds in the same sense, and is
*undecided* otherwise.
"""

import functools
import itertools
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from lengen.config.experiment import Experiment
from lengen.config.spec import Spec
from lengen.intervals import Z95, Interval, newcombe, wilson
from lengen.measures import Missing, OfRun, Trained, short, trained
from lengen.records import Run
from reproduce.comparison.measures import Part, Vocabulary, table
from reproduce.comparison.regions import Bounds, Cells, inside
from reproduce.runs.catalogue import hash_of

REPRODUCED, DIFFERS, UNDECIDED = "reproduced", "differs", "undecided"


# -- what is measured --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Side:
    """How one side of a comparison is measured."""

    measure: str
    mode: str
    region: str
    lengths: Bounds = None
    counts: Bounds = None


@dataclass(frozen=True)
class Sample:
    """One measure of one experiment: a value per seed, and pooled counts where it is a proportion."""

    name: str
    seeds: tuple[float, ...]
    top: float
    n: int
    proportion: bool

    @property
    def value(self) -> float:
        """Pooled over seeds: they have equal test cells, so this is also the mean over seeds."""
        return self.top / self.n if self.n else math.nan

    @property
    def interval(self) -> Interval:
        """Wilson over the pooled examples; for other measures the smallest and largest seed."""
        if self.proportion:
            return wilson(int(self.top), self.n)
        return Interval(min(self.seeds), max(self.seeds))

    def words(self) -> str:
        """``name 0.931 (seeds 0.900 to 0.950)``."""
        spread = f" (seeds {min(self.seeds):.3f} to {max(self.seeds):.3f})" if len(self.seeds) > 1 else ""
        return f"{self.name} {self.value:.3f}{spread}"

    def named(self, name: str) -> "Sample":
        """The same under another name."""
        return replace(self, name=name)


@dataclass(frozen=True, eq=False)
class Tested:
    """One experiment at one profile: its specification, the runs that count, and what they measured."""

    name: str
    profile: str
    spec: Spec
    """As declared."""
    found: Sequence[Run]
    """Runs that count, one per seed, of whatever specification."""
    vocabulary: Vocabulary

    @functools.cached_property
    def runs(self) -> Sequence[Run]:
        """Those of one specification: of the declared one where there is any; raises `Missing` without a run."""
        if not self.found:
            raise Missing(f"no {self.profile} run of {short(self.name)}")
        exact = [run for run in self.found if same_spec(run, self.spec)]
        hashes = [run.info.get("spec_hash") for run in self.found]
        common = max(hashes, key=hashes.count)
        return exact or [run for run in self.found if run.info.get("spec_hash") == common]

    @property
    def as_declared(self) -> bool:
        """Whether every run was made with exactly the declared specification."""
        return all(same_spec(run, self.spec) for run in self.runs)

    @property
    def curve(self) -> bool:
        """Tested over lengths alone."""
        return all(len(run.grid.axes) == 1 for run in self.runs)

    @functools.cached_property
    def _tested(self) -> Cells:
        """The cells that every run tested, sorted."""
        first, *others = (run.grid.scores for run in self.runs)
        return [(cell[0], (*cell, 1)[1]) for cell in sorted(first) if all(cell in scores for scores in others)]

    @functools.cached_property
    def alone(self) -> "list[Tested]":
        """Each run by itself, as if it were the only seed."""
        return [replace(self, found=[run]) for run in self.runs]

    @functools.cached_property
    def _measured(self) -> dict[object, Sample]:
        return {}

    @functools.cached_property
    def _trained(self) -> Trained:
        return trained(self.runs[0])

    @functools.cached_property
    def _cells(self) -> dict[object, Cells]:
        return {}

    def cells(self, region: str, lengths: Bounds = None, counts: Bounds = None) -> Cells:
        """The cells that every run tested, in a region of the trained range and within bounds."""
        key = region, lengths, counts
        if key not in self._cells:
            kept = self.vocabulary.regions[region]
            self._cells[key] = inside(self._tested, self._trained, kept, lengths, counts)
        return self._cells[key]

    def rows(self, side: Side, cells: Cells | None = None) -> list[Part]:
        """`reproduce.comparison.measures.table` of the measure of a side, over its region or the cells given."""
        if cells is None:
            cells = self.cells(side.region, side.lengths, side.counts)
        return table(self.vocabulary.measure(side.measure), self.runs, cells, side.mode)

    def sample(self, side: Side, cells: Cells | None = None) -> Sample:
        """The measure of a side over its region, or over the cells given; `Missing` where the runs lack something."""
        if cells is None:
            cells = self.cells(side.region, side.lengths, side.counts)
        key = side.measure, side.mode, side.region, tuple(cells)
        if key not in self._measured:
            self._measured[key] = self._sample(side, cells)
        return self._measured[key]

    def _sample(self, side: Side, cells: Cells) -> Sample:
        measure = self.vocabulary.measure(side.measure)
        if not cells and not isinstance(measure, OfRun):
            raise Missing(f"{short(self.name)} tested no cell there: {self.vocabulary.regions[side.region].words}")
        rows = self.rows(side, cells)
        by_seed = [[row for row in rows if row.seed == seed] for seed in dict.fromkeys(row.seed for row in rows)]
        tops = [math.fsum(row.top for row in some) for some in by_seed]
        bottoms = [sum(row.bottom for row in some) for some in by_seed]
        if not (n := int(sum(bottoms))):
            raise Missing(f"{short(self.name)} was tested on no example there")
        seeds = tuple(top / bottom if bottom else math.nan for top, bottom in zip(tops, bottoms, strict=True))
        return Sample(short(self.name), seeds, float(sum(tops)), n, measure.proportion)


def same_spec(run: Run, spec: Spec) -> bool:
    """Whether a run was made with exactly this specification."""
    return run.info.get("spec_hash") == hash_of(spec)


def pooled(samples: Sequence[Sample]) -> Sample:
    """Pool experiments: counts add up; the k-th seed's value is the mean over experiments of their k-th seeds."""
    count = min(len(sample.seeds) for sample in samples)
    seeds = tuple(sum(sample.seeds[k] for sample in samples) / len(samples) for k in range(count))
    top, n = sum(sample.top for sample in samples), sum(sample.n for sample in samples)
    return Sample(f"{len(samples)} experiments", seeds, top, n, all(sample.proportion for sample in samples))


def between(left: Sample, right: Sample) -> Interval:
    """Interval of left - right: Newcombe's for proportions, else from the ends of both."""
    if left.proportion and right.proportion:
        return newcombe((int(left.top), left.n), (int(right.top), right.n))
    return Interval(left.interval.low - right.interval.high, left.interval.high - right.interval.low)


# -- which runs count --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Evidence:
    """The runs of one store at one profile, as claims and numbers ask for them."""

    profile: str
    experiments: Mapping[str, Experiment]
    declared: Callable[[Experiment, str], Sequence[Run]]
    """Runs that count for an experiment at a profile, one per seed."""
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    _known: dict[str, Tested] = field(default_factory=dict)

    def tested(self, names: Sequence[str]) -> list[Tested]:
        """The experiments of these names: a single one has to have this profile, of several those that do.

        Of several, an extra that has not been run is left out: a suite without its extras still gets a verdict.
        Raises `Missing` where none is left.
        """
        for name in names:
            if name not in self.experiments:
                raise Missing(f"there is no experiment {name}", absent=True)
        there = [name for name in dict.fromkeys(names) if self.profile in self.experiments[name].specs]
        if not there:
            shown = " ".join(map(short, names[:3])) + f" and {len(names) - 3} more" * (len(names) > 3)
            raise Missing(f"{shown} has no {self.profile} size", absent=True)
        found = [self._of(name) for name in there if len(names) == 1 or not self.left_out(name)]
        if not found:
            raise Missing(f"no {self.profile} run of {short(there[0])}, an extra like all others here", absent=True)
        return found

    def _of(self, name: str) -> Tested:
        if name not in self._known:
            experiment = self.experiments[name]
            found = self.declared(experiment, self.profile)
            self._known[name] = Tested(name, self.profile, experiment.specs[self.profile], found, self.vocabulary)
        return self._known[name]

    def left_out(self, name: str) -> bool:
        """Whether an experiment is extra at this profile and has not been run."""
        experiment = self.experiments[name]
        possible = self.profile in experiment.specs and self.profile in experiment.extra
        return possible and not self.declared(experiment, self.profile)


# -- what follows ------------------------------------------------------------------------------------------


class Quantity(NamedTuple):
    """A number made of several samples, such as a difference, that is compared like a sample."""

    name: str
    value: float
    interval: Interval
    seeds: tuple[float, ...]
    n: int

    def words(self) -> str:
        """``name 0.931``."""
        return f"{self.name} {self.value:.3f}"


class Finding(NamedTuple):
    """What one check found: the least favourable of its comparisons, and remarks."""

    verdict: str
    ours: float
    interval: Interval
    n: int
    seeds: int
    notes: tuple[str, ...]


def level(interval: Interval, seeds: Sequence[float], relation: str, low: float, high: float) -> str:
    """Verdict on a value against a threshold (``low`` for > and >=, ``high`` for < and <=) or a band (both)."""
    if relation in (">", ">="):
        inside, outside = interval.low >= low and min(seeds) >= low, interval.high < low and max(seeds) < low
    elif relation in ("<", "<="):
        inside, outside = interval.high <= high and max(seeds) <= high, interval.low > high and min(seeds) > high
    else:
        inside = low <= interval.low and interval.high <= high and low <= min(seeds) and max(seeds) <= high
        below, above = interval.high < low and max(seeds) < low, interval.low > high and min(seeds) > high
        outside = below or above
    return REPRODUCED if inside else DIFFERS if outside else UNDECIDED


def apart(
    left: Sample | Quantity, right: Sample | Quantity, relation: str, threshold: float, matched: bool = False
) -> str:
    """Verdict on left - right > threshold (or <): intervals apart, and every seed of one against every other seed.

    ``matched`` sides are two measures of the same runs: then each seed is held against itself.
    """
    a, b = left.interval, right.interval
    pairs = zip(left.seeds, right.seeds, strict=True) if matched else itertools.product(left.seeds, right.seeds)
    differences = [one - other for one, other in pairs]
    above = a.low - b.high > threshold and min(differences) > threshold
    below = a.high - b.low < threshold and max(differences) < threshold
    holds, opposite = (above, below) if relation == ">" else (below, above)
    return REPRODUCED if holds else DIFFERS if opposite else UNDECIDED


def favour(value: float, relation: str, low: float, high: float) -> float:
    """How favourable a value is for a relation: the least favourable of several stands for all."""
    if relation in (">", ">="):
        return value
    return -value if relation in ("<", "<=") else -abs(value - (low + high) / 2)


def together(verdicts: Iterable[str]) -> str:
    """Reproduced when all are, differs when one does, else undecided."""
    found = set(verdicts)
    return DIFFERS if DIFFERS in found else REPRODUCED if found == {REPRODUCED} else UNDECIDED


@dataclass(frozen=True)
class Across:
    """One value for many runs, experiments x seeds, each once."""

    words: str
    statistic: Callable[[Sequence[float]], float]
    least: int
    """Runs that the jackknife needs: with one run left out, the statistic must still exist."""

    def of(self, values: Sequence[float]) -> tuple[float, Interval]:
        """The statistic and its 95 % jackknife interval; `Missing` where there are too few runs.

        The standard error is sqrt((n - 1) / n * sum((t_i - mean t)^2)) over the statistics t_i with one run left out
        (Efron and Stein 1981); for the mean that is exactly the deviation over sqrt(n). No distribution is assumed:
        accuracies outside the trained range lie mostly near 0 and 1.
        """
        n = len(values)
        if n < self.least:
            raise Missing(f"{n} run{'' if n == 1 else 's'}; the {self.words} over runs needs {self.least}")
        value = self.statistic(values)
        left_out = [self.statistic([*values[:k], *values[k + 1 :]]) for k in range(n)]
        centre = statistics.fmean(left_out)
        half = Z95 * math.sqrt((n - 1) / n * sum((one - centre) ** 2 for one in left_out))
        return value, Interval(value - half, value + half)


MEAN = Across("mean", statistics.fmean, 2)
DEVIATION = Across("sample deviation", statistics.stdev, 3)
ACROSS: Mapping[str, Across] = {"mean": MEAN, "deviation": DEVIATION}
