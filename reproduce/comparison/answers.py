"""Answers to the main statements: holds, does not hold, cannot tell, holds once repaired.

Statements and stored runs enter, `Answer` objects leave. Two trainings are compared by an exact permutation test over
seeds; seeds that did not learn their trained range are left out of both sides and counted.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from lengen.metrics.measures import Missing, OfRun, has_learned, short
from lengen.paper.experiment import Experiment
from lengen.results.records import Run
from reproduce.comparison.exact_tests import FEWEST, SIGNIFICANT, above, equal, trend
from reproduce.comparison.history import knew
from reproduce.comparison.measures import REGIONS, Cells, Stored, inside, paper_measures, pooled, tested
from reproduce.comparison.published import NEAR, ORDER, PROFILES, PROOF, SHORTER, distance, farthest
from reproduce.comparison.statements import FAILS, HOLDS, REPAIRED, UNSURE, Part, Statement, statements
from reproduce.comparison.values import number
from reproduce.runs.catalogue import CATALOGUE

NOT_SIGNIFICANT = "not significant"
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


@dataclass(frozen=True)
class Finding:
    """Outcome of one comparison of trainings."""

    part: Part
    word: str
    reason: str = ""
    left: tuple[Side, ...] = ()
    right: tuple[Side, ...] = ()
    p: float | None = None
    """The probability that decided, of the least favourable pair."""
    distance: str = ""
    profile: str = ""
    problems: int = 0
    """Distinct test problems of one seed."""
    unit: str = "%"

    @property
    def outcome(self) -> str:
        """The word, and the reason if there is one."""
        return f"{self.word}: {self.reason}" if self.reason else self.word

    @property
    def numbers(self) -> str:
        """Left against right, in words."""
        if not self.left:
            return ""
        text = " and ".join(_side(side, self.unit) for side in self.left) if len(self.left) < 3 else span_of(
            self.left, self.unit
        )  # fmt: skip
        return f"{text} against {span_of(self.right, self.unit)}" if self.right else text


@dataclass(frozen=True)
class Answer:
    """Answer of the stored runs to a statement."""

    statement: Statement
    word: str
    reason: str
    findings: tuple[Finding, ...]
    details: tuple[Finding, ...] = ()
    younger: bool = False
    """Written after some of its runs."""
    runs: tuple[Run, ...] = field(default=(), repr=False)

    @property
    def distance(self) -> str:
        """Distance of the farthest part from the paper, or of the part that does not hold; empty if one was not run."""
        return farthest(finding.distance for finding in (self.deciding if self.word == FAILS else self.findings))

    @property
    def deciding(self) -> tuple[Finding, ...]:
        """The part that the answer is from; of one that holds all parts."""
        decisive = next((one for one in self.findings if one.word == self.word != HOLDS and one.left), None)
        return (decisive,) if decisive else tuple(one for one in self.findings if one.left)

    @property
    def numbers(self) -> str:
        """The deciding numbers, after how many parts hold of what cannot be told; of three parts or more, the smallest
        and the largest."""
        held = sum(one.word == HOLDS for one in self.findings) if self.word == UNSURE else 0
        if held:
            return f"{held} of {len(self.findings)} parts hold{'s' * (held == 1)}; {self.deciding[0].numbers}"
        if len(self.deciding) < 3:
            return "; ".join(dict.fromkeys(one.numbers for one in self.deciding))
        return span_of([side for one in self.deciding for side in one.left], self.findings[0].unit)

    @property
    def seeds(self) -> int:
        """The fewest trainings on a side."""
        sides = [side for finding in self.findings for side in (*finding.left, *finding.right)]
        return min((len(side.seeds) for side in sides), default=0)


def _number(value: float, unit: str) -> str:
    if unit != "%":
        return number(value)
    return f"{value:.0f}" if value == 0 or 0.95 <= value <= 99 or value >= 99.95 else f"{value:.1f}"


def numbers_of(seeds: Sequence[float], unit: str) -> str:
    """Return the values of seeds in their unit."""
    return f"{', '.join(_number(value, unit) for value in seeds)} {unit}".strip() if seeds else ""


def _range(seeds: Sequence[float], unit: str) -> str:
    low, high = _number(min(seeds), unit), _number(max(seeds), unit)
    return low if low == high else f"{low} to {high}"


def _side(side: Side, unit: str) -> str:
    """Return a median with all seeds: ``55 % (five trainings: 18 to 84 %)``."""
    if not side.seeds:
        return "no training that learned its range"
    space = f" {unit}".rstrip()
    if len(side.seeds) == 1:
        return f"{_number(side.seeds[0], unit)}{space}"
    many = COUNTS.get(len(side.seeds), str(len(side.seeds)))
    if "to" not in _range(side.seeds, unit):
        return f"{_number(side.median, unit)}{space} (all {many} trainings)"
    return f"{_number(side.median, unit)}{space} ({many} trainings: {_range(side.seeds, unit)}{space})"


def span_of(sides: Sequence[Side], unit: str) -> str:
    """Return the smallest and the largest value of all seeds of several experiments."""
    seeds = [value for side in sides for value in side.seeds]
    return f"{_range(seeds, unit)} {unit}".rstrip() if seeds else "no training that learned its range"


COUNTS: Mapping[int, str] = dict(enumerate(["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 2))


def answers(paper: str, stored: Stored) -> list[Answer]:
    """Return the answers to all statements of a paper."""
    known = {item.name: item for item in CATALOGUE.experiments(paper)}
    return [_answer(paper, statement, known, stored) for statement in statements(paper)]


def _answer(paper: str, statement: Statement, known: Mapping[str, Experiment], stored: Stored) -> Answer:
    findings = tuple(find(paper, part, known, stored) for part in statement.parts)
    below = tuple(find(paper, part, known, stored) for part in statement.details)
    runs = tuple(run for one in findings if one.profile for name in one.part.names for run in stored(name, one.profile))
    younger = any(not knew(run.info, statement) for run in runs)
    word, reason = _together(findings)
    if word == HOLDS and statement.repaired:
        word, reason = REPAIRED, statement.repaired
    return Answer(statement, word, reason, findings, below, younger, runs)


def _together(findings: Sequence[Finding]) -> tuple[str, str]:
    """Return the answer of all parts: each has to hold, and the first that does not gives the reason."""
    for word in (FAILS, UNSURE):
        for one in findings:
            if one.word == word:
                return word, f"{one.part.words}: {one.reason}" if len(findings) > 1 and one.reason else one.reason
    return HOLDS, ""


def find(paper: str, part: Part, known: Mapping[str, Experiment], stored: Stored) -> Finding:
    """Compare the trainings of a part, at the profile nearest to the paper that has runs of all of them."""
    there = [profile for profile in PROFILES if all(stored(name, profile) for name in part.names)]
    if not there:
        missing = [name for name in part.names if not any(stored(name, profile) for profile in PROFILES)]
        return Finding(part, UNSURE, f"not run ({', '.join(map(short, missing or part.names))})")
    far = {profile: farthest(_distance(known[name], stored(name, profile)) for name in part.names) for profile in there}
    profile = min(there, key=lambda name: ORDER.index(far[name]))
    share = paper_measures(paper).measure(part.measure).proportion
    try:
        left, right, problems = _sides(paper, part, lambda name: stored(name, profile), 100 if share else 1)
    except Missing as missing:
        return Finding(part, UNSURE, f"not measured ({missing})", distance=far[profile], profile=profile)
    word, reason, p = _judged(part, left, right, far[profile] == PROOF, share)
    return Finding(part, word, reason, left, right, p, far[profile], profile, problems, "%" if share else "")


def _distance(experiment: Experiment, runs: Sequence[Run]) -> str:
    """Return the distance of the farthest run: that of shorter problems if the longest published length was
    not tested."""
    paper = experiment.specs.get("paper")
    found = farthest(distance(run, paper) for run in runs)
    if found in NEAR and paper and (cells := tested(runs)) and max(cells)[0] < max(paper.test.lengths):
        return SHORTER
    return found


def _sides(
    paper: str, part: Part, runs: Callable[[str], Sequence[Run]], scale: float
) -> tuple[tuple[Side, ...], tuple[Side, ...], int]:
    kind = paper_measures(paper).measure(part.measure)
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
        each = [
            (scale * value, not part.learned or has_learned(run)) for value, run in zip(values, runs(name), strict=True)
        ]
        sides[name] = Side(name, tuple(v for v, kept in each if kept), tuple(v for v, kept in each if not kept))
    return tuple(sides[name] for name in part.left), tuple(sides[name] for name in part.right), problems


def _cells(part: Part, runs: Sequence[Run]) -> Cells:
    """Return the cells that every run tested, in the region and bounds of a part."""
    return inside(sorted(tested(runs)), runs[0].trained, REGIONS[part.region], part.lengths, part.counts)


def _judged(
    part: Part, left: Sequence[Side], right: Sequence[Side], by_hand: bool, share: bool
) -> tuple[str, str, float | None]:
    """Return the answer of one comparison, the reason and the probability that decided."""
    if part.check == "number":
        return "", "", None
    level = part.check == "level"
    fewest = 1 if by_hand else FEWEST_OF_A_LEVEL if level else FEWEST
    lacking = [side for side in (*left, *right) if len(side.seeds) < fewest]
    if level:
        answer = _level(part, [side for side in left if side not in lacking], share)
        if answer[0] != HOLDS or not lacking:  # a missed level waits for no further trainings of the others
            return answer
    if lacking:
        return UNSURE, _too_few(lacking[0], fewest), None
    if part.check == "trend":
        p = trend([side.seeds for side in left])
        falls = trend([side.seeds for side in reversed(left)])
        return _by(part, p, falls)
    found = [_pair(part, one, other, share) for one in left for other in right]
    return min(found, key=lambda one: ((FAILS, UNSURE, HOLDS).index(one[0]), -(one[2] or 0)))


def _too_few(side: Side, fewest: int) -> str:
    lacking, name = fewest - len(side.seeds), short(side.experiment)
    more = f"at least {lacking} more {'is' if lacking == 1 else 'are'} needed"
    if side.hollow:
        every = len(side.seeds) + len(side.hollow)
        return f"{name} learned its range in {len(side.seeds)} of {every} trainings; {more}"
    return f"{len(side.seeds)} training{'s' * (len(side.seeds) != 1)} of {name}; {more}"


def _level(part: Part, sides: Sequence[Side], share: bool) -> tuple[str, str, None]:
    low = -math.inf if part.least is None else part.least
    high = math.inf if part.most is None else part.most
    missed = []
    for side in sides:
        inner, miss = of_median(side.seeds), max(low - side.median, side.median - high)
        if low <= inner[0] and inner[-1] <= high:
            continue
        where = f" ({short(side.experiment)})" if len(part.left) > 1 else ""
        if inner[-1] >= low and inner[0] <= high:
            right = sum(low <= value <= high for value in side.seeds)
            missed.append((miss, UNSURE, f"seeds disagree: {right} of {len(side.seeds)} meet it{where}"))
        elif part.any_size:
            missed.append((miss, FAILS, f"{_expected(part, share)}{where}"))
        else:
            missed.append((miss, UNSURE, f"{part.unseen}{where}"))
    _, word, reason = max(missed, key=lambda one: (one[1] == FAILS, one[0]), default=(0.0, HOLDS, ""))
    return word, reason, None


def _expected(part: Part, share: bool) -> str:
    """Return the level in words."""
    bounds = [
        f"{word} {number(bound)}"
        for word, bound in (("at least", part.least), ("at most", part.most))
        if bound is not None
    ]
    return f"{' and '.join(bounds)}{' %' * share} expected"


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


def _pair(part: Part, left: Side, right: Side, share: bool) -> tuple[str, str, float | None]:
    medians = left.median, right.median
    if part.check == "equal":
        p = equal(left.seeds, right.seeds)
        return (HOLDS, "", p) if p <= SIGNIFICANT else (UNSURE, NOT_SIGNIFICANT, p)
    if share and max(medians) < FLOOR:
        return UNSURE, f"{part.unseen}: both medians below 1 %", None
    if share and min(medians) > CEILING:
        return UNSURE, "both medians above 99 %", None
    return _by(part, above(left.seeds, right.seeds), above(right.seeds, left.seeds))


def _by(part: Part, p: float, other: float) -> tuple[str, str, float]:
    """Return the answer of a test in either direction."""
    if p <= SIGNIFICANT:
        return HOLDS, "", p
    if other <= SIGNIFICANT:
        return (
            (FAILS, "the reverse was measured", other)
            if part.any_size
            else (UNSURE, f"{part.unseen}: the reverse was measured", other)
        )
    return UNSURE, NOT_SIGNIFICANT, p
