"""What verdicts rest on: the runs that count at one profile, samples of them, and the one rule that gives a verdict.

Experiments and a way to their runs enter, samples and verdicts leave. A relation is *reproduced* when it holds on all
of the 95 % interval over examples and seeds (`lengen.seed_intervals`), *differs* when it holds nowhere on it, and is
*undecided* otherwise; what further has to be true of the runs stands in `comparison.verdicts`.
"""

import contextlib
import functools
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from lengen.config.experiment import Experiment
from lengen.config.spec import Spec
from lengen.intervals import Z95, Interval, wilson
from lengen.measures import ANY, SHARE, Missing, OfRun, Trained, short, trained
from lengen.records import Run
from lengen.seed_intervals import Deviation, Term, combined, pool
from reproduce.comparison.effects import effect, scale_of, span
from reproduce.comparison.measures import Part, Vocabulary, table
from reproduce.comparison.regions import Bounds, Cells, inside
from reproduce.comparison.rows import DIFFERS, FLOOR, REPRODUCED, UNDECIDED
from reproduce.runs.catalogue import hash_of

NOTHING = 0.01
"""Where both sides of a comparison lie below this share, they are at the floor: nothing is compared."""


# -- what is measured --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Side:
    """How one side of a comparison is measured."""

    measure: str
    mode: str
    region: str
    lengths: Bounds = None
    counts: Bounds = None


def _unknown() -> None:
    """No other experiment tells how seeds spread."""


def spread_known(values: Sequence[float], deviation: Deviation | None) -> bool:
    """Whether several seeds say how much they spread: they differ, or those of other experiments do."""
    return len(values) > 1 and (len(set(values)) > 1 or (deviation is not None and deviation.of > 0))


@dataclass(frozen=True)
class Sample:
    """One measure of one experiment: a value per seed, and what is known of the examples behind them."""

    name: str
    seeds: tuple[float, ...]
    top: float
    n: int
    proportion: bool
    squares: float | None = None
    """Sum of squares over examples where each has a value of its own that is no 0 or 1."""
    between: Interval | None = None
    """What the test problems leave to a value of whole runs, where the measure tells it: the mean over seeds."""
    possible: Interval = ANY
    """Smallest and largest value there can be."""
    problems: Mapping[str, float] = field(default_factory=dict)
    """Task -> test problems behind it: every seed and every experiment of a task was asked the same ones."""
    runs: int = 0
    """Trainings behind it where they are more than seeds; 0: as many."""
    certain: bool = False
    """Of a constructed model: there is no seed that could be another one."""
    deviation: Callable[[], Deviation | None] = field(default=_unknown, compare=False)
    """The spread of seeds of this kind of measure, pooled over experiments."""

    @property
    def value(self) -> float:
        """Pooled over seeds: they have equal test cells, so this is also the mean over seeds."""
        return self.top / self.n if self.n else math.nan

    @property
    def known(self) -> bool:
        """Whether there is anything to tell an interval from: examples, the spread of seeds, or nothing left to
        chance."""
        return self.alone or self.certain or spread_known(self.seeds, self.deviation())

    @property
    def ends(self) -> Interval:
        """Between what the value can lie."""
        return SHARE if self.proportion else self.possible

    @property
    def examples(self) -> Interval:
        """Over the test problems alone, each once however many seeds answered it: as the measure tells it, Wilson for
        a proportion, by the standard error of a mean, of width zero else."""
        if self.between is not None:
            return self.between
        problems = sum(self.problems.values())
        if self.proportion:
            return wilson(self.value * problems, problems)
        half = 0.0
        if self.squares is not None and self.n > 1:
            variance = max(0.0, self.squares - self.n * self.value**2) / (self.n - 1)
            half = Z95 * math.sqrt(variance / problems)
        return Interval(self.value - half, self.value + half)

    @property
    def alone(self) -> bool:
        """Whether it has examples: its own seeds are enough then. Without them, equal seeds would leave no width."""
        return self.proportion or self.squares is not None or self.between is not None

    @property
    def interval(self) -> Interval | None:
        """Over examples and seeds; what other experiments tell of seeds is asked only where there are no examples.
        None where nothing tells one."""
        return sum_of([(1, self)], alone=self.alone)

    def words(self) -> str:
        """``name 93.1 % (seeds 90.0 to 95.0)``; what is no share of examples with three decimals."""
        scale = scale_of(self.proportion)
        spread = f" (seeds {span(min(self.seeds), max(self.seeds), scale)})" if len(self.seeds) > 1 else ""
        return f"{self.name} {effect(self.value, scale)}{spread}"

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
    paper: Spec | None = None
    """The published setting, which sizes are compared with; None where it has none."""
    spread: Callable[[Side, Side | None], Deviation | None] = lambda side, less: None
    """The deviation between seeds of what a side measures, or of that less another one, pooled over experiments."""

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
    def trained(self) -> Trained:
        """The range that its runs were trained on."""
        return trained(self.runs[0])

    @functools.cached_property
    def _cells(self) -> dict[object, Cells]:
        return {}

    def cells(self, region: str, lengths: Bounds = None, counts: Bounds = None) -> Cells:
        """The cells that every run tested, in a region of the trained range and within bounds."""
        key = region, lengths, counts
        if key not in self._cells:
            kept = self.vocabulary.regions[region]
            self._cells[key] = inside(self._tested, self.trained, kept, lengths, counts)
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
        squares = math.fsum(row.squares for row in rows)
        return Sample(
            short(self.name),
            tuple(top / bottom if bottom else math.nan for top, bottom in zip(tops, bottoms, strict=True)),
            float(sum(tops)),
            n,
            measure.proportion,
            None if math.isnan(squares) else squares,
            mean_of([row.between for row in rows]),
            measure.possible if isinstance(measure, OfRun) else ANY,
            {self.spec.data.task.name: n / len(by_seed)},
            certain=self.spec.constructed,
            deviation=lambda: self.spread(side, None),
        )


def same_spec(run: Run, spec: Spec) -> bool:
    """Whether a run was made with exactly this specification."""
    return run.info.get("spec_hash") == hash_of(spec)


def pooled(samples: Sequence[Sample]) -> Sample:
    """Pool experiments: counts of as many seeds of each add up, so that one with more seeds weighs no more; the k-th
    seed's value is the mean over experiments of their k-th seeds."""
    if len(samples) == 1:
        return samples[0]
    count = min(len(sample.seeds) for sample in samples)
    parts = [count / len(sample.seeds) for sample in samples]
    numbers = [part * sample.n for part, sample in zip(parts, samples, strict=True)]
    squares = [part * sample.squares for part, sample in zip(parts, samples, strict=True) if sample.squares is not None]
    problems: dict[str, float] = {}
    for sample in samples:
        for task, found in sample.problems.items():
            problems[task] = max(found, problems.get(task, 0.0))
    return Sample(
        f"{len(samples)} experiments",
        tuple(sum(sample.seeds[k] for sample in samples) / len(samples) for k in range(count)),
        math.fsum(part * sample.top for part, sample in zip(parts, samples, strict=True)),
        round(sum(numbers)),
        all(sample.proportion for sample in samples),
        math.fsum(squares) if len(squares) == len(samples) else None,
        mean_of([sample.between for sample in samples], numbers),
        samples[0].possible,
        problems,
        runs=sum(len(sample.seeds) for sample in samples),
        certain=all(sample.certain for sample in samples),
        deviation=samples[0].deviation,
    )


def mean_of(intervals: Sequence[Interval | None], weights: Sequence[float] | None = None) -> Interval | None:
    """The mean of both ends, by ``weights`` where there are any; None where one is not told.

    >>> mean_of([Interval(1.0, 2.0), Interval(2.0, 2.0)])
    Interval(low=1.5, high=2.0)
    """
    told = [interval for interval in intervals if interval is not None]
    if not told or len(told) < len(intervals):
        return None
    low, high = (statistics.fmean(ends, weights) for ends in zip(*told, strict=True))
    return Interval(low, high)


def sum_of(terms: Sequence[tuple[float, Sample]], alone: bool = False) -> Interval | None:
    """The 95 % interval of a weighted sum of samples over examples and seeds; None where one of them tells nothing.

    ``alone``: without what other experiments tell of the spread of seeds. The interval keeps to where the sum can lie.
    """
    if not all(sample.known for _, sample in terms):
        return None
    return _possible(combined([_term(weight, sample, alone) for weight, sample in terms]), terms)


def _term(weight: float, sample: Sample, alone: bool) -> Term:
    deviation = None if alone or sample.certain else sample.deviation()
    return Term(weight, sample.value, sample.examples, sample.seeds, sample.runs, deviation)


def _possible(found: Interval, terms: Sequence[tuple[float, Sample]]) -> Interval:
    """As much of an interval as lies where the weighted sum can lie."""
    ends = [sorted((weight * sample.ends.low, weight * sample.ends.high)) for weight, sample in terms]
    least, most = zip(*ends, strict=True)
    return Interval(max(sum(least), found.low), min(sum(most), found.high))


@dataclass(frozen=True)
class Matched:
    """Two measures of the same runs, left and right: what spreads between seeds is their difference."""

    deviation: Callable[[], Deviation | None] = _unknown
    """The spread of this kind of difference, pooled over experiments."""


def between(left: Sample, right: Sample, matched: Matched | None = None) -> Interval | None:
    """Interval of left - right; None where one of them tells nothing.

    Of ``matched`` sides the spread is that of the differences seed by seed.
    """
    if matched is None:
        return sum_of([(1, left), (-1, right)])
    terms = [(1.0, left), (-1.0, right)]
    difference = _difference(terms, matched)
    told = all(side.alone or side.certain for side in (left, right))
    if not told and not spread_known(difference.seeds, difference.pooled):
        return None
    examples = combined([Term(w, side.value, side.examples, (side.value,)) for w, side in terms])
    return _possible(combined([difference._replace(examples=examples)]), terms)


def _difference(terms: Sequence[tuple[float, Sample]], matched: Matched) -> Term:
    """The weighted sum of measures of the same runs as one value per seed, as if examples were without end."""
    weights = [weight for weight, _ in terms]
    value = _weighted(weights, [sample.value for _, sample in terms])
    by_seed = [_weighted(weights, some) for some in zip(*(sample.seeds for _, sample in terms), strict=True)]
    runs = max(sample.runs for _, sample in terms)
    certain = all(sample.certain for _, sample in terms)
    return Term(1, value, Interval(value, value), by_seed, runs, None if certain else matched.deviation())


class Sources(NamedTuple):
    """An interval taken apart by the two sources of chance; None where nothing is known of one."""

    examples: Interval | None = None
    """As if other seeds gave the same."""
    seeds: Interval | None = None
    """As if examples were without end."""


def sources(terms: Sequence[tuple[float, Sample]], alone: bool = False, matched: Matched | None = None) -> Sources:
    """`sum_of`, or `between` of a ``matched`` difference, over the examples alone and over the seeds alone."""
    made = [_term(weight, sample, alone) for weight, sample in terms]
    examples = seeds = None
    if all(sample.alone for _, sample in terms):
        # of a single seed without others to compare it with, nothing but examples makes an interval
        examples = combined([term._replace(seeds=(term.value,), pooled=None) for term in made])
    if matched is not None:
        made = [_difference(terms, matched)]
    if any(len(term.seeds) > 1 or term.pooled is not None for term in made):
        seeds = combined([term._replace(examples=Interval(term.value, term.value)) for term in made])
    return Sources(*(found and _possible(found, terms) for found in (examples, seeds)))


def _weighted(weights: Sequence[float], values: Sequence[float]) -> float:
    return math.fsum(weight * value for weight, value in zip(weights, values, strict=True))


# -- which runs count --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Evidence:
    """The runs of one store at one profile, as claims and numbers ask for them."""

    profile: str
    experiments: Mapping[str, Experiment]
    declared: Callable[[Experiment, str], Sequence[Run]]
    """Runs that count for an experiment at a profile, one per seed."""
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    compared: Sequence[str] = ()
    """Experiments that claims name: the spread between seeds is pooled over them; none: over all."""
    _known: dict[str, Tested] = field(default_factory=dict)
    _spreads: dict[tuple[Side, Side | None], Deviation | None] = field(default_factory=dict)

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
            specs = experiment.specs
            self._known[name] = Tested(
                name, self.profile, specs[self.profile], found, self.vocabulary, specs.get("paper"), self.spread
            )
        return self._known[name]

    def spread(self, side: Side, less: Side | None = None) -> Deviation | None:
        """The deviation between seeds of what a side measures, or of its difference from another side measured on the
        same runs, pooled over the trainings of this profile."""
        if (side, less) not in self._spreads:
            groups: dict[object, tuple[float, ...]] = {}
            for name in self.compared or self.experiments:
                if self.profile not in self.experiments[name].specs or not (tested := self._of(name)).found:
                    continue
                if not tested.spec.constructed and (run := tested.runs[0]).experiment not in groups:
                    with contextlib.suppress(Missing):
                        values = tested.sample(side).seeds
                        if less is not None:
                            others = tested.sample(less).seeds
                            values = tuple(one - other for one, other in zip(values, others, strict=True))
                        # a seed that was asked nothing there says nothing of the others
                        groups[run.experiment] = tuple(value for value in values if not math.isnan(value))
            self._spreads[side, less] = pool(list(groups.values()))
        return self._spreads[side, less]

    def left_out(self, name: str) -> bool:
        """Whether an experiment is extra at this profile and has not been run."""
        experiment = self.experiments[name]
        possible = self.profile in experiment.specs and self.profile in experiment.extra
        return possible and not self.declared(experiment, self.profile)


# -- what follows ------------------------------------------------------------------------------------------


class Finding(NamedTuple):
    """What one check found: the least favourable of its comparisons, and remarks."""

    verdict: str
    ours: float
    interval: Interval | None
    """95 %, over examples and seeds; None where neither tells one, or nothing is left to chance."""
    n: int
    seeds: int
    notes: tuple[str, ...]
    why: str = ""
    """Why it is not decided; empty where it is."""
    decide: str = ""
    """What would decide it."""
    frozen: str = ""
    """Whether the claim is older than its runs: yes, no or unknown."""
    sources: Sources = Sources()
    """The interval over examples alone, and over seeds alone."""
    compared: tuple[float, float] | None = None
    """The two values whose difference ``ours`` is."""
    at: tuple[str, str] = ("", "")
    """The length that each of them, or the left one alone, was tested at, where that is one."""


def level(interval: Interval | None, relation: str, low: float, high: float) -> str:
    """Verdict on a value against a threshold (``low`` for > and >=, ``high`` for < and <=) or a band (both)."""
    if interval is None:
        return UNDECIDED
    if relation == ">":
        inside, outside = interval.low > low, interval.high <= low
    elif relation == ">=":
        inside, outside = interval.low >= low, interval.high < low
    elif relation == "<":
        inside, outside = interval.high < high, interval.low >= high
    elif relation == "<=":
        inside, outside = interval.high <= high, interval.low > high
    else:
        inside, outside = low <= interval.low and interval.high <= high, interval.high < low or interval.low > high
    return REPRODUCED if inside else DIFFERS if outside else UNDECIDED


def apart(interval: Interval | None, relation: str, threshold: float, limit: float | None = None) -> str:
    """Verdict on a difference beyond the threshold (> or <) and, in the same direction, no further than ``limit``."""
    if interval is None:
        return UNDECIDED
    sign = 1 if relation == ">" else -1
    low, high = sorted((sign * interval.low, sign * interval.high))
    least, most = sign * threshold, math.inf if limit is None else sign * limit
    return REPRODUCED if least < low and high <= most else DIFFERS if high < least or low > most else UNDECIDED


def favour(value: float, relation: str, low: float, high: float) -> float:
    """How favourable a value is for a relation: the least favourable of several stands for all."""
    if relation in (">", ">="):
        return value
    return -value if relation in ("<", "<=") else -abs(value - (low + high) / 2)


def together(verdicts: Iterable[str]) -> str:
    """Reproduced when all are; else the first of differs, floor and undecided that one is."""
    found = set(verdicts)
    return next((verdict for verdict in (DIFFERS, FLOOR, UNDECIDED) if verdict in found), REPRODUCED)


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
        return value, _jackknife(value, left_out)


def within(groups: Sequence[Sequence[float]]) -> tuple[float, Interval]:
    """The deviation between runs of one experiment, pooled over experiments, and its 95 % jackknife interval.

    Each experiment has its own mean, so that what its setting does is no deviation. Of a single experiment it is
    `DEVIATION`. Raises `Missing` where there are too few runs.
    """
    degrees = sum(len(values) - 1 for values in groups)
    if degrees < 2:
        raise Missing(f"{sum(map(len, groups))} runs of {len(groups)} experiments; a deviation within them needs more")
    found = pool(groups)
    left_out = [
        one.of
        for k, values in enumerate(groups)
        for j in range(len(values))
        if (one := pool([*groups[:k], [*values[:j], *values[j + 1 :]], *groups[k + 1 :]])) is not None
    ]
    assert found is not None
    return found.of, _jackknife(found.of, left_out)


def _jackknife(value: float, left_out: Sequence[float]) -> Interval:
    """The 95 % interval around a statistic, from what it is with each run left out."""
    n, centre = len(left_out), statistics.fmean(left_out)
    half = Z95 * math.sqrt((n - 1) / n * sum((one - centre) ** 2 for one in left_out))
    return Interval(value - half, value + half)


MEAN = Across("mean", statistics.fmean, 2)
DEVIATION = Across("sample deviation", statistics.stdev, 3)
ACROSS: Mapping[str, Across] = {"mean": MEAN, "deviation": DEVIATION}
