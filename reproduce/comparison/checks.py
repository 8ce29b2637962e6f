"""The predicates of claims: each takes samples and says reproduced, differs or undecided by one rule.

A `Claim` and the runs at hand enter, a `Finding` leaves. The rule is that of `reproduce.comparison.evidence`. Checks:

    level    every experiment of the left side stands in the relation to the threshold (or in the band of '~')
    compare  each experiment of the left exceeds (or stays below) each of the right by more than the threshold
    paired   the first of the left against the first of the right, and so on; every pair must hold
    pooled   all of the left together against all of the right together
    ordered  the left side sorted by a field of the specification: each stands in the relation to the next one
    spread   the largest minus the smallest of the left side stays within the threshold
    gain     left minus right (each pooled) where a field of the specification is smallest, against where it is largest;
             a larger gain (>) has to be a gain, too
    varied   the deviation over all runs of the left against that of the right

Two samples are compared on the cells that both tested and that lie in the region of both trained ranges.
"""

import fnmatch
import itertools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from lengen.config.spec import ModelSpec
from lengen.intervals import Interval, newcombe
from reproduce.comparison.across import DEVIATION
from reproduce.comparison.entries import Claim
from reproduce.comparison.evidence import (
    DIFFERS,
    REPRODUCED,
    UNDECIDED,
    Evidence,
    Finding,
    Quantity,
    apart,
    favour,
    level,
    together,
)
from reproduce.comparison.families import measure_of
from reproduce.comparison.measures import MEASURES, Missing, short
from reproduce.comparison.regions import REGION_WORDS, Cell, shared
from reproduce.comparison.samples import Sample, take

LEARNED = 0.9
"""An experiment below this in its own trained range did not learn the task; a comparison outside must say so."""


class Side(NamedTuple):
    """How one side of a comparison is measured."""

    measure: str
    mode: str
    region: str


def sides(claim: Claim) -> tuple[Side, Side]:
    """Measure, mode and region of the left and of the right side."""
    left = Side(claim.measure, claim.mode, claim.region)
    return left, Side(
        claim.right_measure or left.measure, claim.right_mode or left.mode, claim.right_region or left.region
    )


def judge(claim: Claim, evidence: Evidence) -> Finding:
    """Check one claim; raises `Missing` where runs are missing."""
    finding = _CHECKS[claim.check](claim, evidence)
    notes = (*finding.notes, *unlearned(claim, evidence), *_said(claim, evidence), *_without(claim, evidence))
    return finding._replace(notes=notes)


def _without(claim: Claim, evidence: Evidence) -> list[str]:
    """A note of the extras that the wildcards of a claim would take in, had they been run."""
    patterns = (*claim.left, *claim.right)
    names = [name for name in evidence.experiments if any(fnmatch.fnmatchcase(name, p) for p in patterns)]
    missing = [short(name) for name in names if evidence.left_out(name)]
    return [f"without {', '.join(missing)} (extra, not run)"] if missing else []


def _said(claim: Claim, evidence: Evidence) -> list[str]:
    """What the runs behind a claim say of themselves (``notes`` in run.json)."""
    return [
        f"{short(name)} seed {run.seed}: {note}"
        for name in involved(claim, evidence)
        for run in evidence.runs(name)
        for note in run.info.get("notes", [])  # type: ignore[attr-defined]
    ]


def involved(claim: Claim, evidence: Evidence) -> list[str]:
    """Names of the experiments that a claim reads at this profile."""
    left = evidence.names(claim.left)
    return left + [name for name in _right(claim, evidence, left) if name not in left]


def unlearned(claim: Claim, evidence: Evidence) -> list[str]:
    """One note for each experiment that is judged outside its trained range but did not learn within it."""
    side, _ = sides(claim)
    if side.region in ("in_range", "trained_length"):
        return []
    scored = side.measure in MEASURES and measure_of(side.measure).proportion
    measure, mode = (side.measure, side.mode) if scored else ("exact", "teacher_forced")
    notes = []
    for name in involved(claim, evidence):
        runs = evidence.runs(name)
        cells = evidence.cells(name, "in_range")
        if cells and (value := take(name, runs, measure, mode, cells).value) < LEARNED:
            notes.append(f"{short(name)} reaches only {value:.2f} in range at this size")
    return notes


class _Pair(NamedTuple):
    left: Sample
    right: Sample
    verdict: str

    @property
    def difference(self) -> float:
        return self.left.value - self.right.value


def _level(claim: Claim, evidence: Evidence) -> Finding:
    side, _ = sides(claim)
    low = claim.threshold if claim.low is None else claim.low
    high = claim.threshold if claim.high is None else claim.high
    found = []
    for name in evidence.names(claim.left):
        sample = _sample(claim, evidence, name, side)
        found.append((level(sample.interval, sample.seeds, claim.relation, low, high), sample))
    worst = min((sample for _, sample in found), key=lambda s: favour(s.value, claim.relation, low, high))
    notes = tuple(sample.words() for _, sample in found) if len(found) > 1 or len(worst.seeds) > 1 else ()
    seeds = min(len(sample.seeds) for _, sample in found)
    return Finding(together(verdict for verdict, _ in found), worst.value, worst.interval, worst.n, seeds, notes)


def _compare(claim: Claim, evidence: Evidence) -> Finding:
    left = evidence.names(claim.left)
    pairs = [_pair(claim, evidence, a, b) for a in left for b in _right(claim, evidence, left)]
    if not pairs:
        raise Missing(f"nothing to compare {short(left[0])} with at this profile", absent=True)
    return _worst(claim, pairs)


def _paired(claim: Claim, evidence: Evidence) -> Finding:
    left, right = evidence.names(claim.left), evidence.names(claim.right)
    if len(left) != len(right):
        raise Missing(f"{len(left)} experiments cannot be paired with {len(right)}", absent=True)
    return _worst(claim, [_pair(claim, evidence, a, b) for a, b in zip(left, right, strict=True)])


def _pooled(claim: Claim, evidence: Evidence) -> Finding:
    left, right = evidence.names(claim.left), evidence.names(claim.right)
    one, other = sides(claim)
    a = _together([_sample(claim, evidence, name, one) for name in left])
    b = _together([_sample(claim, evidence, name, other) for name in right])
    verdict = apart(a, b, claim.relation, claim.threshold, matched=left == right)
    return _worst(claim, [_Pair(a, b, verdict)])


def _ordered(claim: Claim, evidence: Evidence) -> Finding:
    field = operator.attrgetter(claim.by)
    ordered = sorted(evidence.names(claim.left), key=lambda name: field(evidence.spec(name)))
    if len(ordered) < 2:
        raise Missing(f"only {short(ordered[0])} has a {evidence.profile} size; two are needed", absent=True)
    return _worst(claim, [_pair(claim, evidence, a, b) for a, b in itertools.pairwise(ordered)])


def _spread(claim: Claim, evidence: Evidence) -> Finding:
    side, _ = sides(claim)
    samples = [_sample(claim, evidence, name, side) for name in evidence.names(claim.left)]
    if len(samples) < 2:
        raise Missing(f"only {samples[0].name} has a {evidence.profile} size; two are needed", absent=True)
    best, worst = max(samples, key=lambda s: s.value), min(samples, key=lambda s: s.value)
    within = all(
        a.interval.high - b.interval.low <= claim.threshold and max(a.seeds) - min(b.seeds) <= claim.threshold
        for a in samples
        for b in samples
    )
    verdict = DIFFERS if apart(best, worst, ">", claim.threshold) == REPRODUCED else UNDECIDED
    finding = _worst(claim, [_Pair(best, worst, REPRODUCED if within else verdict)])
    return finding._replace(notes=tuple(sample.words() for sample in samples))


def _gain(claim: Claim, evidence: Evidence) -> Finding:
    field, (one, other) = operator.attrgetter(claim.by), sides(claim)
    left, right = evidence.names(claim.left), evidence.names(claim.right)
    sizes = sorted({field(evidence.spec(name)) for name in (*left, *right)})
    if len(sizes) < 2:
        raise Missing(f"{claim.by} has one value at the {evidence.profile} profile; two are needed", absent=True)
    ends = []
    for size in (sizes[0], sizes[-1]):
        groups = [[name for name in side if field(evidence.spec(name)) == size] for side in (left, right)]
        if not all(groups):
            raise Missing(f"only one side has {claim.by} = {size} at the {evidence.profile} profile", absent=True)
        a = _together([_sample(claim, evidence, name, one) for name in groups[0]])
        b = _together([_sample(claim, evidence, name, other) for name in groups[1]])
        seeds = tuple(p - q for p, q in zip(a.seeds, b.seeds, strict=False))
        ends.append(Quantity(f"at {claim.by} {size}", a.value - b.value, _between(a, b), seeds, a.n + b.n))
    finding = _quantities(claim, *ends)
    if claim.relation != ">":
        return finding
    gained = level(ends[0].interval, ends[0].seeds, ">", 0.0, 0.0)  # who gains most has gained
    return finding._replace(verdict=together((finding.verdict, gained)))


def _varied(claim: Claim, evidence: Evidence) -> Finding:
    found = []
    for patterns, side in zip((claim.left, claim.right), sides(claim), strict=True):
        samples = [_sample(claim, evidence, name, side) for name in evidence.names(patterns)]
        values = [value for sample in samples for value in sample.seeds]
        deviation, interval = DEVIATION.of(values)
        words = f"deviation of {measure_of(side.measure).words} over {len(values)} runs"
        found.append(Quantity(words, deviation, interval, (deviation,), len(values)))
    return _quantities(claim, *found)


def _quantities(claim: Claim, a: Quantity, b: Quantity) -> Finding:
    interval = Interval(a.interval.low - b.interval.high, a.interval.high - b.interval.low)
    verdict, seeds = apart(a, b, claim.relation, claim.threshold), min(len(a.seeds), len(b.seeds))
    return Finding(verdict, a.value - b.value, interval, a.n + b.n, seeds, (f"{a.words()} against {b.words()}",))


_CHECKS: Mapping[str, Callable[[Claim, Evidence], Finding]] = {
    "level": _level,
    "compare": _compare,
    "paired": _paired,
    "pooled": _pooled,
    "ordered": _ordered,
    "spread": _spread,
    "gain": _gain,
    "varied": _varied,
}


def _right(claim: Claim, evidence: Evidence, left: Sequence[str]) -> list[str]:
    """The right side without the experiments (or equal specifications) of the left, unless measured otherwise."""
    if not claim.right:
        return []
    names = evidence.names(claim.right)
    one, other = sides(claim)
    if claim.pick == "largest":
        largest = max(names, key=lambda name: _size(evidence.spec(name).model))
        if largest in left:
            raise Missing(f"{short(largest)} is itself the largest model with a {evidence.profile} size", absent=True)
        names = [largest]
    if one == other and claim.check == "compare":
        specs = [evidence.spec(name) for name in left]
        names = [name for name in names if name not in left and evidence.spec(name) not in specs]
    return names


def _size(model: ModelSpec) -> tuple[int, int]:
    return model.layers * model.heads, model.layers


def _sample(claim: Claim, evidence: Evidence, name: str, side: Side, cells: frozenset[Cell] | None = None) -> Sample:
    runs = evidence.runs(name)
    if cells is None:
        cells = evidence.cells(name, side.region, claim.lengths, claim.counts)
    if measure_of(side.measure).by_cell and not cells:
        raise Missing(f"{short(name)} tested no cell there: {REGION_WORDS[side.region]}")
    return take(name, runs, side.measure, side.mode, cells)


def _pair(claim: Claim, evidence: Evidence, a: str, b: str) -> _Pair:
    one, other = sides(claim)
    first = second = None
    if one.region == other.region:
        first, second = shared(*(evidence.cells(name, one.region, claim.lengths, claim.counts) for name in (a, b)))
    left, right = _sample(claim, evidence, a, one, first), _sample(claim, evidence, b, other, second)
    if a == b:
        words = [f"{short(a)} {side.region if one.region != other.region else side.measure}" for side in (one, other)]
        left, right = (Sample(w, s.seeds, s.top, s.n, s.proportion) for w, s in zip(words, (left, right), strict=True))
    return _Pair(left, right, apart(left, right, claim.relation, claim.threshold, matched=a == b))


def _together(samples: Sequence[Sample]) -> Sample:
    """Pool experiments: counts add up; the k-th seed's value is the mean over experiments of their k-th seeds."""
    count = min(len(sample.seeds) for sample in samples)
    seeds = tuple(sum(sample.seeds[k] for sample in samples) / len(samples) for k in range(count))
    name = f"{len(samples)} experiments"
    top, n = sum(sample.top for sample in samples), sum(sample.n for sample in samples)
    return Sample(name, seeds, top, n, all(sample.proportion for sample in samples))


def _worst(claim: Claim, pairs: Sequence[_Pair]) -> Finding:
    """The least favourable comparison stands for all; the claim needs every one."""
    sign = -1 if claim.relation == "<" or claim.check == "spread" else 1
    worst = min(pairs, key=lambda pair: sign * pair.difference)
    left, right = worst.left, worst.right
    interval = _between(left, right)
    seeds = min(len(sample.seeds) for pair in pairs for sample in pair[:2])
    notes = (f"{left.words()} against {right.words()}",)
    return Finding(together(p.verdict for p in pairs), worst.difference, interval, left.n + right.n, seeds, notes)


def _between(left: Sample, right: Sample) -> Interval:
    """Interval of left - right: Newcombe's for proportions, else from the ends of both."""
    if left.proportion and right.proportion:
        return newcombe((int(left.top), left.n), (int(right.top), right.n))
    return Interval(left.interval.low - right.interval.high, left.interval.high - right.interval.low)
