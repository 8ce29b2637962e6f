"""Answers and values as sentences, and parts of Markdown pages.

Answers and findings enter, words leave. The words of the answers themselves stand in `reproduce.comparison.recorded`,
and how they look in `reproduce.pages.terminal`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from lengen.metrics.measures import short
from reproduce.comparison.answers import CEILING, FLOOR, Answer, Finding, Reason, Side
from reproduce.comparison.published import PROOF
from reproduce.comparison.recorded import FAILS, HOLDS, REPAIRED, UNSURE
from reproduce.comparison.statements import NOT_SEEN, Part
from reproduce.comparison.values import number


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    r"""Return a table; bars in cells are escaped, and a cell has one line.

    >>> print(table(("a", "b"), [(1, "x|y")]))
    | a | b |
    |---|---|
    | 1 | x\|y |
    """
    lines = ["| " + " | ".join(map(_cell, line)) + " |" for line in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def folded(title: str, text: str, attribute: str = "") -> str:
    """Return a text that opens under its title; the ``attribute`` ``markdown`` is for pages of the site."""
    return f"<details{f' {attribute}' * bool(attribute)}><summary>{title}</summary>\n\n{text.strip()}\n\n</details>"


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")


DAGGER = "†"
"""Marks a statement that is younger than some of its runs."""
COUNTS: Mapping[int, str] = dict(enumerate(["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 2))
NONE_LEARNED = "no training that learned its range"
LONGEST = 50
"""Letters of a reason that says which part it is about, where it is brief."""
BRIEF = 20
"""Most letters of the words of a part, where they are brief."""


# ------------------------------------------------------------------ numbers


def value(amount: float, unit: str) -> str:
    """Return a value without its unit; shares without decimals but near 0 and 100 %."""
    if unit != "%":
        return number(amount)
    return f"{amount:.0f}" if amount == 0 or 0.95 <= amount <= 99 or amount >= 99.95 else f"{amount:.1f}"


def values(seeds: Sequence[float], unit: str) -> str:
    """Return the values of seeds in their unit."""
    return f"{', '.join(value(seed, unit) for seed in seeds)} {unit}".strip() if seeds else ""


def spread(sides: Sequence[Side], unit: str) -> str:
    """Return the smallest and the largest value of all seeds of several experiments."""
    seeds = [seed for side in sides for seed in side.seeds]
    return f"{_ends(seeds, unit)} {unit}".rstrip() if seeds else NONE_LEARNED


def _ends(seeds: Sequence[float], unit: str) -> str:
    low, high = value(min(seeds), unit), value(max(seeds), unit)
    return low if low == high else f"{low} to {high}"


def _median(side: Side, unit: str, trainings: bool) -> str:
    """Return a median with all seeds: ``55 % (five trainings: 18 to 84 %)``, without their number if so chosen."""
    if not side.seeds:
        return NONE_LEARNED
    space = f" {unit}".rstrip()
    middle, ends = f"{value(side.median, unit)}{space}", _ends(side.seeds, unit)
    if len(side.seeds) == 1:
        return middle
    many = COUNTS.get(len(side.seeds), str(len(side.seeds)))
    if "to" not in ends:
        return f"{middle} (all {many} trainings)"
    return f"{middle} ({f'{many} trainings: ' * trainings}{ends}{space})"


def measured(finding: Finding, trainings: bool = True) -> str:
    """Return the left against the right value, with the number of trainings or without; empty if not measured."""
    if not finding.left:
        return ""
    if len(finding.left) < 3:
        left = " and ".join(_median(side, finding.unit, trainings) for side in finding.left)
    else:
        left = spread(finding.left, finding.unit)
    return f"{left} against {spread(finding.right, finding.unit)}" if finding.right else left


def evidence(answer: Answer, trainings: bool = True) -> str:
    """Return the deciding numbers, after how many parts hold of what cannot be told.

    Of three parts or more, the smallest and the largest.
    """
    if answer.word == UNSURE and (held := sum(finding.word == HOLDS for finding in answer.findings)):
        return f"{_held(held, len(answer.findings))}; {measured(answer.deciding[0], trainings)}"
    if len(answer.deciding) < 3:
        return "; ".join(dict.fromkeys(measured(finding, trainings) for finding in answer.deciding))
    return spread([side for finding in answer.deciding for side in finding.left], answer.findings[0].unit)


def _held(held: int, parts: int) -> str:
    return f"{held} of {parts} parts hold{'s' * (held == 1)}"


# ------------------------------------------------------------------ reasons


class Words(NamedTuple):
    """The words of a reason."""

    main: str
    place: str = ""
    """The experiments or records it is about."""
    more: str = ""
    unseen: str = ""
    """The cause that may lie behind it, such as the size of the model."""

    def __str__(self) -> str:
        """Return all sentences of it."""
        first = ": ".join(filter(None, (self.unseen, self.main)))
        return first + f" ({self.place})" * bool(self.place) + f"; {self.more}" * bool(self.more)

    @property
    def brief(self) -> str:
        """Those of a list; none if the size of the model is all there is to say."""
        if self.unseen == NOT_SEEN:
            return f"at this size {self.main}" if self.main else ""
        return ": ".join(filter(None, (self.unseen.partition("; ")[0], self.main)))


def _words(reason: Reason, finding: Finding) -> Words:
    part = finding.part
    names = ", ".join(map(short, reason.experiments))
    needed = f"at least {reason.missing} more {'is' if reason.missing == 1 else 'are'} needed"
    match reason.kind:
        case "not run":
            return Words("not run", names)
        case "not measured":
            return Words("not measured", reason.record)
        case "few trainings":
            return Words(f"{reason.count} training{'s' * (reason.count != 1)} of {names}", more=needed)
        case "few learned":
            return Words(f"{names} learned its range in {reason.count} of {reason.total} trainings", more=needed)
        case "seeds disagree":
            return Words(f"seeds disagree: {reason.count} of {reason.total} meet it", names)
        case "level":
            return Words(_level(part, finding.unit), names)
        case "size":
            return Words("", names, unseen=part.unseen)
        case "both low":
            return Words(f"both medians below {FLOOR:g} %", unseen=part.unseen)
        case "both high":
            return Words(f"both medians above {CEILING:g} %")
        case "reverse":
            return Words("the reverse was measured", unseen="" if part.any_size else part.unseen)
    return Words(reason.kind)


def _level(part: Part, unit: str) -> str:
    """Return the level that was expected."""
    bounds = (("at least", part.least), ("at most", part.most))
    text = " and ".join(f"{word} {number(bound)}" for word, bound in bounds if bound is not None)
    return f"{text} {unit}".strip() + " expected"


def why(finding: Finding) -> str:
    """Return the reason why a part does not hold or cannot be told; empty if it holds."""
    return str(_words(finding.reason, finding)) if finding.reason else ""


def outcome(finding: Finding) -> str:
    """Return the word of a finding, and the reason if there is one."""
    return ": ".join(filter(None, (finding.word, why(finding))))


def _obstacle(answer: Answer) -> tuple[str, Words]:
    """Return the part that an answer fails at, if it has several, and the words of the reason."""
    finding = answer.obstacle
    if finding is None or finding.reason is None:
        return "", Words("")
    return f"{finding.part.words}: " * (len(answer.findings) > 1), _words(finding.reason, finding)


def reason(answer: Answer) -> str:
    """Return the reason why a statement does not hold or cannot be told, or what was repaired; empty if it holds."""
    if answer.word == REPAIRED:
        return answer.statement.repaired
    part, words = _obstacle(answer)
    return f"{part}{words}"


# ------------------------------------------------------------------ sentences


def sentence(answer: Answer) -> str:
    """Return the grounds of an answer: the reason, the numbers and the distance from the paper."""
    return "; ".join(filter(None, (reason(answer), evidence(answer), answer.distance)))


def sentence_of_detail(finding: Finding) -> str:
    """Return the outcome, numbers and distance of a detail."""
    return "; ".join(filter(None, (outcome(finding), measured(finding), finding.distance)))


def mark(answer: Answer) -> str:
    """Return a dagger for a statement that is younger than its runs."""
    return f" {DAGGER}" if answer.younger else ""


def name(answer: Answer) -> str:
    """Return a statement in four words."""
    return answer.statement.short or answer.statement.id.replace("-", " ")


def clause(answer: Answer) -> str:
    """Return the sentence of an answer in brackets, for a list.

    It has numbers without counts of trainings, of what cannot be told the reason alone.
    """
    if answer.word == UNSURE:
        part, words = _obstacle(answer)
        return _bracketed(f"{part}{words._replace(place='')}")
    numbers = evidence(answer, trainings=False)
    why = reason(answer) if answer.word == FAILS else ""
    near = f", {answer.distance}" if answer.distance else ""
    return f" ({'; '.join(filter(None, (why, numbers)))}{near})" if numbers else ""


def phrase(answer: Answer) -> str:
    """Return in brackets the shares that decided, from the worst training to the best, of comparisons the first.

    Of what cannot be told the reason, or how many parts hold and the shares of the others.
    """
    if answer.word == UNSURE:
        return _bracketed(_open(answer))
    findings = answer.deciding
    if not findings or findings[0].unit != "%" or answer.distance == PROOF:
        return ""
    if findings[0].right:  # further comparisons are of other trainings
        return _bracketed(_against(findings[0]))
    sides = [finding.left for finding in findings]
    shares = list(dict.fromkeys(spread(some, "%") for some in (sides if len(sides) < 3 else [sum(sides, ())])))
    first = findings[0].part
    if first.region == "trained_length" and len(shares) == 2:
        return _bracketed(f"{shares[0]} in range, {shares[1]} {findings[1].part.words}")
    of = f"{first.words.partition(',')[0]}: " if len(findings) < len(answer.findings) else ""
    return _bracketed(f"{of}{'; '.join(shares)}")


def _open(answer: Answer) -> str:
    """Return the reason, in brief, why an answer cannot be told."""
    findings = [finding for finding in answer.findings if finding.left and finding.unit == "%"]
    if held := sum(finding.word == HOLDS for finding in findings):
        rest = ", ".join(_brief(finding) for finding in findings if finding.word != HOLDS)
        return f"{_held(held, len(findings))}; {rest}"
    part, words = _obstacle(answer)
    obstacle = answer.obstacle.reason if answer.obstacle else None
    if findings and obstacle and obstacle.kind in ("both low", "both high"):
        return _against(findings[0])
    if findings and not words.brief:
        return spread(findings[0].left, "%")
    return words.brief if len(part) + len(words.brief) > LONGEST else f"{part}{words.brief}"


def _brief(finding: Finding) -> str:
    """Return the shares of a part, after its words if they are few."""
    shares = _against(finding) if finding.right else spread(finding.left, "%")
    return f"{finding.part.words} {shares}" if len(finding.part.words) <= BRIEF else shares


def _against(finding: Finding) -> str:
    """Return the shares of the two sides of a comparison."""
    seeds = [seed for side in finding.left for seed in side.seeds]
    return f"{_ends(seeds, '%') if seeds else NONE_LEARNED} against {spread(finding.right, '%')}"


def _bracketed(text: str) -> str:
    return f" ({text})" if text else ""
