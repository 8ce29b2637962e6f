"""The claims of a paper, one class per kind of check: a claim finds its verdict on the runs.

Entries of a published.toml (those with numbers: `comparison.numbers`), each a frozen struct with the fields of its kind
and no others, are read by `comparison.published`. The experiments of an entry are looked up once (`sides`, or
`Evidence.tested`) and handed on; a `Finding` leaves, by the rule of `comparison.evidence`; `comparison.verdicts` asks
whether it may count. Two samples are compared on the cells that both tested and that lie in the region of both trained
ranges.
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, get_args

import msgspec

from lengen.config.experiment import Experiment
from lengen.config.model import ModelSpec
from lengen.config.paths import read
from lengen.intervals import Interval
from lengen.measures import Missing, OfRun, short
from lengen.seed_intervals import Term, combined
from reproduce.comparison.effects import effect, scale_of
from reproduce.comparison.evidence import (
    NOTHING,
    Evidence,
    Finding,
    Matched,
    Sample,
    Side,
    Sources,
    Tested,
    apart,
    between,
    favour,
    level,
    pooled,
    sources,
    sum_of,
    together,
    within,
)
from reproduce.comparison.regions import shared
from reproduce.comparison.rows import DIFFERENCE, DIFFERS, FLOOR, REPRODUCED, UNDECIDED

Relation = Literal[">=", "<=", ">", "<", "=", "~"]
Mode = Literal["teacher_forced", "free_running", "sampled"]
Span = tuple[int, int] | None
"""Smallest and largest value of an axis; None for all of the region."""


class EntryError(ValueError):
    """An entry that asks for what there is not; the message is one sentence."""


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every entry says of itself."""

    id: str
    place: str
    """Where it stands in the paper: section, figure or table."""
    statement: str
    deviations: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The name of this kind of check in a published.toml."""
        return str(type(self).__struct_config__.tag)


# -- claims ------------------------------------------------------------------------------------------------


class Sides(NamedTuple):
    """The experiments that a claim reads at one profile."""

    left: list[Tested]
    right: list[Tested]
    without: list[Tested]
    """Extras that were not run, and so are left out."""
    sizeless: tuple[Experiment, ...] = ()
    """Those that the claim names and that have no size at this profile."""
    named: int = 0
    """How many the claim names."""

    def all(self) -> list[Tested]:
        """Each once."""
        return self.left + [tested for tested in self.right if tested not in self.left]


class Learned(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When a model has learned, where that is another thing than exact match at its longest trained length.

    With ``why`` alone the claim asks for nothing: it is about the trained range itself, or about weights set by hand.
    """

    why: str
    measure: str = ""
    region: str = ""
    mode: Mode | Literal[""] = ""
    least: float | None = None

    @property
    def asks(self) -> bool:
        """Whether there is a condition at all."""
        return bool(self.measure or self.region or self.mode or self.least is not None)


class _Pair(NamedTuple):
    left: Sample
    right: Sample
    interval: Interval | None
    verdict: str
    matched: Matched | None = None
    """Of two measures of the same runs."""

    @property
    def difference(self) -> float:
        return self.left.value - self.right.value


class _Claim(Entry, frozen=True, kw_only=True, tag_field="check"):
    relation: Relation
    left: tuple[str, ...]
    """Names of the experiments that the claim is about; of several, those that have the profile."""
    threshold: float = 0.0
    """Level, or least difference left - right."""
    measure: str = "exact"
    mode: Mode = "teacher_forced"
    region: str = "outside"
    lengths: Span = None
    counts: Span = None
    how_read: str = "in words"
    """in words (the threshold is ours) or printed."""
    headline: bool = False
    """What the paper opens with, in its abstract and contributions: counted apart."""
    part_of: str = ""
    """The claim that this one says once more in other words or at another place: they count as one."""
    given: str = ""
    """The claim that has to be reproduced for this one to be asked at all."""
    learned: Learned | None = None
    """When a model has learned, where the usual condition does not fit."""
    remark: str = ""
    """What a reader of the verdict should know."""
    beside: tuple[str, ...] = ()
    """Names of experiments that decide nothing: what they measure is told after the remark."""

    @property
    def one(self) -> Side:
        """How the left side is measured."""
        return Side(self.measure, self.mode, self.region, self.lengths, self.counts)

    @property
    def other(self) -> Side:
        """How the right side is measured."""
        return self.one

    @property
    def names(self) -> tuple[str, ...]:
        """All experiments it names."""
        return self.left

    def sides(self, evidence: Evidence) -> Sides:
        """The experiments at the profile of the evidence; raises `Missing` where there are none."""
        return Sides(evidence.tested(self.left), [], *self._absent(evidence))

    def _absent(self, evidence: Evidence) -> tuple[list[Tested], tuple[Experiment, ...], int]:
        """Extras that were not run; those of the named that have no size at this profile; how many are named."""
        left_out = [name for name in evidence.experiments if name in self.names and evidence.left_out(name)]
        without = [tested for name in left_out for tested in evidence.tested([name])]
        named = [evidence.experiments[name] for name in dict.fromkeys(self.names)]
        return without, tuple(item for item in named if evidence.profile not in item.specs), len(named)

    def _pair(self, a: Tested, b: Tested) -> _Pair:
        cells = None
        if self.one.region == self.other.region:
            cells = shared(*(each.cells(self.region, self.lengths, self.counts) for each in (a, b)))
        left, right = a.sample(self.one, cells), b.sample(self.other, cells)
        matched = None
        if a == b:
            matched = Matched(lambda: a.spread(self.one, self.other))
            told = "region" if self.one.region != self.other.region else "measure"
            left, right = (
                sample.named(f"{short(a.name)} {getattr(side, told)}")
                for sample, side in ((left, self.one), (right, self.other))
            )
        return self._judged(left, right, matched)

    def _judged(self, left: Sample, right: Sample, matched: Matched | None = None) -> _Pair:
        interval = between(left, right, matched)
        if _at_floor(left, right):
            return _Pair(left, right, interval, FLOOR, matched)
        verdict = apart(interval, self.relation, self.threshold, getattr(self, "limit", None))
        return _Pair(left, right, interval, verdict, matched)

    def _worst(self, pairs: Sequence[_Pair]) -> Finding:
        """The least favourable of the comparisons that make the verdict stands for all; the claim needs every one."""
        sign = -1 if self.relation == "<" else 1
        verdict = together(pair.verdict for pair in pairs)
        return _finding(pairs, min((p for p in pairs if p.verdict == verdict), key=lambda pair: sign * pair.difference))


class _TwoSided(_Claim, frozen=True, kw_only=True):
    relation: Literal["<", ">"]
    right: tuple[str, ...]
    """Names of the experiments compared with."""
    right_measure: str = ""
    """Measure of the right side where it is another one."""
    right_mode: Mode | Literal[""] = ""
    right_region: str = ""
    limit: float | None = None
    """How far the difference may go in its direction, where words are two-sided ("marginally")."""

    def __post_init__(self) -> None:
        _needs_room(self)

    @property
    def other(self) -> Side:
        """How the right side is measured."""
        return replace(
            self.one,
            measure=self.right_measure or self.measure,
            mode=self.right_mode or self.mode,
            region=self.right_region or self.region,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """All experiments it names."""
        return (*self.left, *self.right)

    def sides(self, evidence: Evidence) -> Sides:
        """The experiments at the profile of the evidence; raises `Missing` where a side has none."""
        return Sides(evidence.tested(self.left), evidence.tested(self.right), *self._absent(evidence))


class Level(_Claim, frozen=True, kw_only=True, tag="level"):
    """Every experiment of the left side stands in the relation to the threshold, or in the band of '~'."""

    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        needs_band(self)

    def find(self, sides: Sides) -> Finding:
        """The least favourable of the experiments that make the verdict stands for all."""
        low = self.threshold if self.low is None else self.low
        high = self.threshold if self.high is None else self.high
        samples = [tested.sample(self.one) for tested in sides.left]
        verdicts = [level(each.interval, self.relation, low, high) for each in samples]
        verdict = together(verdicts)
        decisive = [each for each, found in zip(samples, verdicts, strict=True) if found == verdict]
        worst = min(decisive, key=lambda sample: favour(sample.value, self.relation, low, high))
        notes = tuple(map(Sample.words, samples)) if len(samples) > 1 or len(worst.seeds) > 1 else ()
        seeds = min(len(sample.seeds) for sample in samples)
        parts = sources([(1, worst)], alone=True) if worst.alone else Sources(seeds=worst.interval)
        return Finding(verdict, worst.value, worst.interval, worst.n, seeds, notes, sources=parts)


class Compare(_TwoSided, frozen=True, kw_only=True, tag="compare"):
    """Each experiment of the left exceeds (or stays below) each of the right by more than the threshold."""

    pick: Literal["", "largest"] = ""
    """'largest': of the right side only the experiment with most heads in all (then most layers)."""

    def sides(self, evidence: Evidence) -> Sides:
        """The right side without the experiments (or equal specifications) of the left, unless measured otherwise."""
        found = super().sides(evidence)
        left, right = found.left, found.right
        if self.pick == "largest":
            right = [max(right, key=lambda tested: _size(tested.spec.model))]
            if right[0] in left:
                name = short(right[0].name)
                raise Missing(f"{name} is itself the largest model with a {evidence.profile} size", absent=True)
        if self.one == self.other:
            specs = [tested.spec for tested in left]
            right = [tested for tested in right if tested not in left and tested.spec not in specs]
        return found._replace(right=right)

    def find(self, sides: Sides) -> Finding:
        """Every pair is compared."""
        if not sides.right:
            raise Missing(f"nothing to compare {short(sides.left[0].name)} with at this profile", absent=True)
        return self._worst([self._pair(a, b) for a in sides.left for b in sides.right])


class Paired(_TwoSided, frozen=True, kw_only=True, tag="paired"):
    """The first of the left against the first of the right, and so on; every pair must hold."""

    def find(self, sides: Sides) -> Finding:
        """Pairs by place."""
        left, right = sides.left, sides.right
        if len(left) != len(right):
            raise Missing(f"{len(left)} experiments cannot be paired with {len(right)}", absent=True)
        return self._worst([self._pair(a, b) for a, b in zip(left, right, strict=True)])


class Pooled(_TwoSided, frozen=True, kw_only=True, tag="pooled"):
    """All of the left together against all of the right together."""

    def find(self, sides: Sides) -> Finding:
        """One comparison of pools."""
        a = pooled([tested.sample(self.one) for tested in sides.left])
        b = pooled([tested.sample(self.other) for tested in sides.right])
        same = Matched(lambda: sides.left[0].spread(self.one, self.other)) if sides.left == sides.right else None
        return self._worst([self._judged(a, b, same)])


class Ordered(_Claim, frozen=True, kw_only=True, tag="ordered"):
    """The left side sorted by a field of the specification: each stands in the relation to the next one."""

    by: str
    limit: float | None = None

    def __post_init__(self) -> None:
        _needs_room(self)

    def find(self, sides: Sides) -> Finding:
        """Neighbours are compared."""
        ordered = sorted(sides.left, key=lambda tested: read(tested.spec, self.by))
        _two(ordered)
        return self._worst([self._pair(a, b) for a, b in itertools.pairwise(ordered)])


class Spread(_Claim, frozen=True, kw_only=True, tag="spread"):
    """The largest minus the smallest of the left side stays within the threshold."""

    def find(self, sides: Sides) -> Finding:
        """The two ends are shown."""
        _two(sides.left)
        samples = [tested.sample(self.one) for tested in sides.left]
        best, worst = max(samples, key=lambda s: s.value), min(samples, key=lambda s: s.value)
        intervals = [between(a, b) for a, b in itertools.permutations(samples, 2)]
        if _at_floor(*samples):
            verdict = FLOOR
        elif all(interval is not None and interval.high <= self.threshold for interval in intervals):
            verdict = REPRODUCED
        else:
            wide = between(best, worst)
            verdict = DIFFERS if wide is not None and wide.low > self.threshold else UNDECIDED
        pair = _Pair(best, worst, between(best, worst), verdict)
        return _finding([pair], pair)._replace(notes=tuple(map(Sample.words, samples)))


class Gain(_TwoSided, frozen=True, kw_only=True, tag="gain"):
    """Left minus right (each pooled) where a field of the specification is smallest, against where it is largest.

    A larger gain (>) has to be a gain, too.
    """

    by: str

    def find(self, sides: Sides) -> Finding:
        """The two ends of the field are compared."""
        both = [{tested.name: read(tested.spec, self.by) for tested in side} for side in sides[:2]]
        sizes = sorted({size for side in both for size in side.values()})
        profile = sides.left[0].profile
        if len(sizes) < 2:
            raise Missing(f"{self.by} has one value at the {profile} profile; two are needed", absent=True)
        ends = []
        for size in (sizes[0], sizes[-1]):
            groups = [
                [tested for tested in side if sized[tested.name] == size]
                for side, sized in zip(sides[:2], both, strict=True)
            ]
            if not all(groups):
                raise Missing(f"only one side has {self.by} = {size} at the {profile} profile", absent=True)
            a = pooled([tested.sample(self.one) for tested in groups[0]])
            b = pooled([tested.sample(self.other) for tested in groups[1]])
            ends.append((f"at {self.by} {size}", a, b))
        (low_name, *low), (high_name, *high) = ends
        samples = (*low, *high)
        terms = list(zip((1.0, -1.0, -1.0, 1.0), samples, strict=True))
        interval = sum_of(terms)
        gains = low[0].value - low[1].value, high[0].value - high[1].value
        verdict = apart(interval, self.relation, self.threshold, self.limit)
        if _at_floor(*samples):
            verdict = FLOOR
        elif self.relation == ">":  # who gains most has gained
            verdict = together((verdict, level(between(low[0], low[1]), ">", 0.0, 0.0)))
        scale = DIFFERENCE if all(sample.proportion for sample in samples) else ""
        words = f"{low_name} {effect(gains[0], scale)} against {high_name} {effect(gains[1], scale)}"
        n, seeds = sum(sample.n for sample in samples), min(len(sample.seeds) for sample in samples)
        found = gains[0] - gains[1]
        return Finding(verdict, found, interval, n, seeds, (words,), sources=sources(terms), compared=gains)


class Varied(_TwoSided, frozen=True, kw_only=True, tag="varied"):
    """The deviation between runs of an experiment, pooled over those of the left, against that of the right."""

    def find(self, sides: Sides) -> Finding:
        """Each run is one value, around the mean of its experiment."""
        found: list[tuple[str, Term, int]] = []
        samples: list[Sample] = []
        for weight, some, side in ((1, sides.left, self.one), (-1, sides.right, self.other)):
            mine = [tested.sample(side) for tested in some]
            samples += mine
            deviation, interval = within([sample.seeds for sample in mine])
            runs = sum(len(sample.seeds) for sample in mine)
            words = f"deviation of {some[0].vocabulary.measure(side.measure).words} over {runs} runs"
            scale = scale_of(*(sample.proportion for sample in mine))
            found.append((f"{words} {effect(deviation, scale)}", Term(weight, deviation, interval, (deviation,)), runs))
        (first, left, n), (second, right, m) = found
        interval = combined([left, right])
        verdict = apart(interval, self.relation, self.threshold, self.limit)
        if _at_floor(*samples):
            verdict = FLOOR
        seeds = min(len(tested.runs) for tested in sides.all())
        words = f"{first} against {second}"
        both = left.value, right.value
        parts = Sources(seeds=interval)
        return Finding(verdict, both[0] - both[1], interval, n + m, seeds, (words,), sources=parts, compared=both)


Claim = Level | Compare | Paired | Pooled | Ordered | Spread | Gain | Varied


def judge(claim: Claim, sides: Sides) -> Finding:
    """What the runs of a claim say, as if they were allowed to; raises `Missing` where runs are missing."""
    finding = claim.find(sides)
    without = ", ".join(short(tested.name) for tested in sides.without)
    sizeless = len(sides.sizeless)
    notes = [
        *finding.notes,
        # what the runs say of themselves
        *(
            f"{short(tested.name)} seed {run.seed}: {note}"
            for tested in sides.all()
            for run in tested.runs
            for note in run.info.get("notes", [])  # type: ignore[attr-defined]
        ),
        *([f"without {without} (extra, not run)"] if without else []),
        *([f"without {sizeless} of the {sides.named} settings it names, which have no size here"] if sizeless else []),
    ]
    right = _length(claim.other, sides.right or sides.left) if finding.compared else ""
    at = _length(claim.one, sides.left), right
    return finding._replace(notes=tuple(notes), at=at)


def _length(side: Side, some: Sequence[Tested]) -> str:
    """The length of all test problems that a side reads of an experiment; nothing where there are several.

    Where experiments were tested at unlike ones, each of them: ``20 or 50``.
    """
    if isinstance(some[0].vocabulary.measure(side.measure), OfRun):
        return ""
    lengths = [{n for n, _ in tested.cells(side.region, side.lengths, side.counts)} for tested in some]
    one_each = all(len(each) == 1 for each in lengths)
    return " or ".join(map(str, sorted(set().union(*lengths)))) if one_each else ""


def _finding(pairs: Sequence[_Pair], shown: _Pair) -> Finding:
    left, right = shown.left, shown.right
    seeds = min(len(sample.seeds) for pair in pairs for sample in pair[:2])
    verdict, notes = together(pair.verdict for pair in pairs), (f"{left.words()} against {right.words()}",)
    parts = sources([(1, left), (-1, right)], matched=shown.matched)
    both = left.value, right.value
    interval, n = shown.interval, left.n + right.n
    return Finding(verdict, shown.difference, interval, n, seeds, notes, sources=parts, compared=both)


def _at_floor(*samples: Sample) -> bool:
    return all(sample.proportion and sample.value < NOTHING for sample in samples)


def _two(tested: Sequence[Tested]) -> None:
    if len(tested) < 2:
        raise Missing(f"only {short(tested[0].name)} has a {tested[0].profile} size; two are needed", absent=True)


def _size(model: ModelSpec) -> tuple[int, int]:
    return model.layers * model.heads, model.layers


def _needs_room(entry: Any) -> None:
    if entry.limit is not None and (entry.limit <= entry.threshold) is (entry.relation == ">"):
        side = "above" if entry.relation == ">" else "below"
        raise ValueError(f"'limit' {entry.limit:g} has to lie {side} 'threshold' {entry.threshold:g}")


def needs_band(entry: Any) -> None:
    if entry.relation == "~" and (entry.low is None or entry.high is None):
        raise ValueError("relation '~' needs the band 'low' and 'high'")


CLAIMS: dict[str, type[Any]] = {str(kind.__struct_config__.tag): kind for kind in get_args(Claim)}
