"""Answers to statements, by exact tests on counts of runs.

Statements and stored runs enter, `Answer` objects leave; `reproduce.pages.sentences` puts them into words. Two
trainings are compared by an exact permutation test over seeds; seeds that did not learn their trained range are left
out of both sides and counted.
"""

import itertools
import math
import operator
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from lengen.experiment import Experiment
from lengen.metrics.run_measures import Missing, OfRun, has_learned, short
from lengen.metrics.significance import SIGNIFICANT, above
from lengen.results.records import Run
from reproduce.catalogue import CATALOGUE
from reproduce.comparison.last_comparison import CONTRADICTED, HOLDS, NOT_SEEN, OPEN, REPAIRED
from reproduce.comparison.published_settings import PROFILES
from reproduce.comparison.published_statements import Part, Statement, knew, statements
from reproduce.comparison.region_measures import REGIONS, Cells, Stored, inside, measure_of, pooled, tested, vocabulary
from reproduce.comparison.setting_distance import NEAR, ORDER, PROOF, SHORTER, differing, distance, farthest, in_words

FEWEST = 4
"""Seeds on a side with which four against four can reach it: 1 of 70 arrangements."""
BAND = 5.0
"""Points within which two accuracies are practically equal."""


def equal(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the larger probability of two tests: that the sides lie at least `BAND` points apart, either way."""
    return max(above([value + BAND for value in left], right), above([value + BAND for value in right], left))


def apart(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the smaller probability of two tests: that the sides do not lie `BAND` points apart, either way."""
    return min(above(left, [value + BAND for value in right]), above(right, [value + BAND for value in left]))


def trend(groups: Sequence[Sequence[float]]) -> float:
    """Return the share of ways to deal out the seeds in which values rise from group to group by as much.

    Jonckheere's statistic: over all pairs of groups, how often the later value is larger; ties count half.

    >>> trend([[1.0, 2.0], [3.0, 4.0]])
    0.16666666666666666
    """
    pool = Counter(value for group in groups for value in group)
    pairs = list(itertools.combinations(range(len(groups)), 2))
    # seeds of each group that are dealt out, from the smallest value up: ways to come to twice each statistic
    ways = {(0,) * len(groups): Counter([0])}
    for _, ties in sorted(pool.items()):
        before, ways = ways, defaultdict(Counter)
        for dealt, counts in before.items():
            for more in _deals(ties, [len(group) - n for group, n in zip(groups, dealt, strict=True)]):
                gain = sum(2 * dealt[i] * more[j] + more[i] * more[j] for i, j in pairs)
                alike = math.factorial(ties) // math.prod(map(math.factorial, more))
                after = tuple(map(operator.add, dealt, more))
                ways[after].update({twice + gain: number * alike for twice, number in counts.items()})
    seen = sum((b > a) * 2 + (b == a) for i, j in pairs for a in groups[i] for b in groups[j])
    (counts,) = ways.values()
    return sum(number for twice, number in counts.items() if twice >= seen) / counts.total()


def _deals(seeds: int, room: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Return the numbers of seeds that each group can get."""
    return (more for more in itertools.product(*(range(free + 1) for free in room)) if sum(more) == seeds)


FEWEST_OF_A_LEVEL = 3
"""Seeds that a level needs."""
FLOOR, CEILING = 1.0, 99.0
"""Percent below, and above, which both sides of a comparison are alike."""


@dataclass(frozen=True)
class Side:
    """Measurements of the seeds of one experiment."""

    experiment: str
    seeds: tuple[float, ...]
    """One value per seed that has learned its trained range, in percent for a share."""
    hollow: tuple[float, ...] = ()
    """Those of seeds that have not."""

    @property
    def median(self) -> float:
        """Median over the seeds that count."""
        return median(self.seeds)


KINDS: Mapping[str, str] = {
    **dict.fromkeys(("not run", "not measured", "few trainings", "few learned", "seeds disagree"), OPEN),
    **dict.fromkeys(("level", "reverse", "apart", "refuted"), CONTRADICTED),
    **dict.fromkeys(("missed", "both low", "both high", "not significant"), NOT_SEEN),
}
"""Reason -> the answer that it gives."""
WORST = (CONTRADICTED, NOT_SEEN, OPEN)
"""Of several parts the first of these is the answer."""


def word_of(reason: "Reason | None") -> str:
    """Return the answer that a reason gives: against the statement, open, or no effect seen."""
    return HOLDS if reason is None else KINDS[reason.kind]


@dataclass(frozen=True)
class Reason:
    """Why a part does not hold or cannot be told, as data."""

    kind: str
    """One of `KINDS`."""
    experiments: tuple[str, ...] = ()
    """Those it is about; none if it is about all of the part."""
    count: int = 0
    """Trainings that have learned their range, or that meet a level."""
    total: int = 0
    missing: int = 0
    """Trainings that are needed at least."""
    record: str = ""
    """The record that is missing."""


@dataclass(frozen=True)
class Finding:
    """Outcome of one comparison of trainings."""

    part: Part
    reason: Reason | None = None
    """None if it holds, or if it is a number that has no answer."""
    left: tuple[Side, ...] = ()
    right: tuple[Side, ...] = ()
    p: float | None = None
    """The probability that decided, of the least favourable pair."""
    distance: str = ""
    profile: str = ""
    problems: int = 0
    """Distinct test problems of one seed."""
    unit: str = "%"
    differs: str = ""
    """Hyper-parameters other than published, with ours and the published value."""

    @property
    def word(self) -> str:
        """The answer; none for a number."""
        return "" if self.part.check == "number" else word_of(self.reason)


@dataclass(frozen=True)
class Answer:
    """Answer of the stored runs to a statement."""

    statement: Statement
    word: str
    findings: tuple[Finding, ...]
    details: tuple[Finding, ...] = ()
    younger: bool = False
    """Written after some of its runs."""

    @property
    def mixed(self) -> bool:
        """True if parts have several answers."""
        return len({finding.word for finding in self.findings}) > 1

    @property
    def obstacle(self) -> Finding | None:
        """The first part that has the answer; None if all hold."""
        return next((finding for finding in self.findings if finding.word == self.word != HOLDS), None)

    @property
    def distance(self) -> str:
        """Distance of the farthest part from the paper, or of the part that does not hold; empty if one was not run."""
        return farthest(finding.distance for finding in (self.deciding if self.word == CONTRADICTED else self.findings))

    @property
    def deciding(self) -> tuple[Finding, ...]:
        """The part that the answer is from; of one that holds all parts."""
        decisive = next(
            (finding for finding in self.findings if finding.word == self.word != HOLDS and finding.left), None
        )
        return (decisive,) if decisive else tuple(finding for finding in self.findings if finding.left)

    @property
    def seeds(self) -> int:
        """The fewest trainings on a side."""
        sides = [side for finding in self.findings for side in (*finding.left, *finding.right)]
        return min((len(side.seeds) for side in sides), default=0)


def answers(paper: str, stored: Stored) -> list[Answer]:
    """Return the answers to all statements of a paper."""
    known = {item.name: item for item in CATALOGUE.experiments(paper)}
    return [_answer(paper, statement, known, stored) for statement in statements(paper)]


def _answer(paper: str, statement: Statement, known: Mapping[str, Experiment], stored: Stored) -> Answer:
    findings = tuple(find(paper, part, known, stored) for part in statement.parts)
    below = tuple(find(paper, part, known, stored) for part in statement.details)
    measured = [(name, finding.profile) for finding in findings if finding.profile for name in finding.part.names]
    younger = any(not knew(run.info, statement) for name, profile in measured for run in stored(name, profile))
    words = {finding.word for finding in findings}
    word = next((word for word in WORST if word in words), REPAIRED if statement.repaired else HOLDS)
    return Answer(statement, word, findings, below, younger)


def find(paper: str, part: Part, known: Mapping[str, Experiment], stored: Stored) -> Finding:
    """Compare the trainings of a part, at the profile nearest to the paper that has runs of all of them."""
    there = [profile for profile in PROFILES if all(stored(name, profile) for name in part.names)]
    if not there:
        missing = [name for name in part.names if not any(stored(name, profile) for profile in PROFILES)]
        return Finding(part, Reason("not run", tuple(missing) or part.names))
    far = {profile: farthest(_distance(known[name], stored(name, profile)) for name in part.names) for profile in there}
    profile = min(there, key=lambda name: ORDER.index(far[name]))
    share = measure_of(vocabulary(paper), part.measure).proportion
    try:
        left, right, problems = _sides(paper, part, lambda name: stored(name, profile), 100 if share else 1)
    except Missing as missing:
        lacking = Reason("not measured", record=str(missing))
        return Finding(part, lacking, distance=far[profile], profile=profile)
    reason, p = _judged(part, left, right, far[profile] == PROOF, share)
    if part.refuted and word_of(reason) == NOT_SEEN:
        reason = Reason("refuted")
    others = in_words(differing(known[name].specs.get("paper"), stored(name, profile)) for name in part.names)
    return Finding(part, reason, left, right, p, far[profile], profile, problems, "%" if share else "", others)


def _distance(experiment: Experiment, runs: Sequence[Run]) -> str:
    """Return the distance of the farthest run.

    It is that of shorter problems if the longest published length was not tested.
    """
    paper = experiment.specs.get("paper")
    worst = farthest(distance(run, paper) for run in runs)
    if worst in NEAR and paper and (cells := tested(runs)) and max(cells)[0] < max(paper.test.lengths):
        return SHORTER
    return worst


def _sides(
    paper: str, part: Part, runs: Callable[[str], Sequence[Run]], scale: float
) -> tuple[tuple[Side, ...], tuple[Side, ...], int]:
    kind = measure_of(vocabulary(paper), part.measure)
    whole = isinstance(kind, OfRun)
    cells = {name: [] if whole else _cells(part, runs(name)) for name in part.names}
    if not whole and part.check != "level":
        common = set.intersection(*map(set, cells.values()))
        cells = {name: [cell for cell in some if cell in common] for name, some in cells.items()}
    sides, problems = {}, 0
    for name in part.names:
        if not whole and not cells[name]:
            raise Missing(f"{short(name)} was not tested there")
        values, problems = pooled(kind, runs(name), part.mode, cells[name])
        each = [(scale * x, not part.learned or has_learned(run)) for x, run in zip(values, runs(name), strict=True)]
        sides[name] = Side(name, tuple(v for v, counts in each if counts), tuple(v for v, counts in each if not counts))
    return tuple(sides[name] for name in part.left), tuple(sides[name] for name in part.right), problems


def _cells(part: Part, runs: Sequence[Run]) -> Cells:
    """Return the cells that every run tested, in the region and bounds of a part."""
    return inside(sorted(tested(runs)), runs[0].trained, REGIONS[part.region], part.lengths, part.counts)


Verdict = tuple[Reason | None, float | None]
"""The reason why a comparison does not hold, and the probability that decided."""


def _judged(part: Part, left: Sequence[Side], right: Sequence[Side], by_hand: bool, share: bool) -> Verdict:
    if part.check == "number":
        return None, None
    level = part.check == "level"
    fewest = 1 if by_hand else FEWEST_OF_A_LEVEL if level else FEWEST
    lacking = [side for side in (*left, *right) if len(side.seeds) < fewest]
    if level:
        missed = _level(part, [side for side in left if side not in lacking])
        if missed or not lacking:  # a missed level waits for no further trainings of the others
            return missed, None
    if lacking:
        return _too_few(lacking[0], fewest), None
    if part.check == "trend":
        return _by(trend([side.seeds for side in left]), trend([side.seeds for side in reversed(left)]))
    verdicts = [_pair(part, one, other, share) for one in left for other in right]
    return min(verdicts, key=lambda verdict: ((*WORST, HOLDS).index(word_of(verdict[0])), -(verdict[1] or 0)))


def _too_few(side: Side, fewest: int) -> Reason:
    learned, every = len(side.seeds), len(side.seeds) + len(side.hollow)
    kind = "few learned" if side.hollow else "few trainings"
    return Reason(kind, (side.experiment,), learned, every, fewest - learned)


def _level(part: Part, sides: Sequence[Side]) -> Reason | None:
    low = -math.inf if part.least is None else part.least
    high = math.inf if part.most is None else part.most
    missed: list[tuple[float, Reason]] = []
    for side in sides:
        inner, miss = of_median(side.seeds), max(low - side.median, side.median - high)
        if low <= inner[0] and inner[-1] <= high:
            continue
        where = (side.experiment,) if len(part.left) > 1 else ()
        if inner[-1] >= low and inner[0] <= high:
            right = sum(low <= value <= high for value in side.seeds)
            missed.append((miss, Reason("seeds disagree", where, right, len(side.seeds))))
        else:
            missed.append((miss, Reason("level" if part.any_size else "missed", where)))
    return max(missed, key=lambda pair: (pair[1].kind == "level", pair[0]), default=(0, None))[1]


def of_median(seeds: Sequence[float]) -> Sequence[float]:
    """Return the seeds within the interval of their median that covers 90 %, or all if none does (fewer than five).

    It leaves out as many of the smallest as of the largest, by the binomial of how many lie below the median.

    >>> of_median([1, 2, 3, 4, 5]), of_median([1, 2, 3, 4, 5, 6, 7, 8])
    ([1, 2, 3, 4, 5], [2, 3, 4, 5, 6, 7])
    """
    n, ordered = len(seeds), sorted(seeds)
    below, cut = 1, 0
    while below + math.comb(n, cut + 1) <= 0.05 * 2**n:
        cut += 1
        below += math.comb(n, cut)
    return ordered[cut : n - cut]


def _pair(part: Part, left: Side, right: Side, share: bool) -> Verdict:
    medians = left.median, right.median
    if part.check == "equal":
        p, farther = equal(left.seeds, right.seeds), apart(left.seeds, right.seeds)
        if farther <= SIGNIFICANT:
            return Reason("apart"), farther
        return (None if p <= SIGNIFICANT else Reason("not significant")), p
    if share and max(medians) < FLOOR:
        return Reason("both low"), None
    if share and min(medians) > CEILING:
        return Reason("both high"), None
    return _by(above(left.seeds, right.seeds), above(right.seeds, left.seeds))


def _by(p: float, other: float) -> Verdict:
    """Return the reason and the probability of a test in either direction."""
    if p <= SIGNIFICANT:
        return None, p
    return (Reason("reverse"), other) if other <= SIGNIFICANT else (Reason("not significant"), p)
