"""Answers and values as sentences, and parts of Markdown pages.

Answers and findings enter, words leave. The words of the answers themselves stand in
`reproduce.comparison.last_comparison`, and how they look in `reproduce.pages.terminal`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from lengen.metrics.run_measures import short
from reproduce.comparison.last_comparison import CONTRADICTED, HOLDS, REPAIRED, UNDECIDED
from reproduce.comparison.published_statements import Part
from reproduce.comparison.published_values import number
from reproduce.comparison.statement_answers import BAND, CEILING, FLOOR, Answer, Finding, Reason, Side

K = TypeVar("K")
V = TypeVar("V")


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    r"""Return a table; bars in cells are escaped, and a cell has one line.

    >>> print(table(("a", "b"), [(1, "x|y")]))
    | a | b |
    |---|---|
    | 1 | x\|y |
    """
    lines = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in line] for line in (head, *rows)]
    first, *others = (f"| {' | '.join(cells)} |" for cells in lines)
    return "\n".join([first, "|" + "---|" * len(head), *others])


def grouped(items: Iterable[V], key: Callable[[V], K]) -> dict[K, list[V]]:
    """Return items by a key, in the order in which the keys occur."""
    groups: dict[K, list[V]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def folded(title: str, text: str, attribute: str = "") -> str:
    """Return a text that opens under its title; the ``attribute`` ``markdown`` is for pages of the site."""
    return f"<details{f' {attribute}' * bool(attribute)}><summary>{title}</summary>\n\n{text.strip()}\n\n</details>"


DAGGER = "†"
"""Marks a statement that is younger than some of its runs."""
COUNTS: Mapping[int, str] = dict(enumerate(["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 2))
NONE_LEARNED = "no training that learned its range"


# ------------------------------------------------------------------ numbers


def value(amount: float, unit: str) -> str:
    """Return a value without its unit; shares without decimals but near 0 and 100 %."""
    if unit != "%":
        return number(amount)
    return f"{amount:.0f}" if amount == 0 or 0.95 <= amount <= 99 or amount >= 99.95 else f"{amount:.1f}"


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
    """Return the deciding numbers; if parts have several answers, each with the answer and its numbers.

    Of three parts or more that all hold, the smallest and the largest.
    """
    if answer.mixed:
        others = [_missed(finding, trainings) for finding in answer.findings if finding.word != HOLDS]
        return "; ".join(filter(None, (_held(answer), *others)))
    if len(answer.deciding) < 3:
        return "; ".join(dict.fromkeys(measured(finding, trainings) for finding in answer.deciding))
    return spread([side for finding in answer.deciding for side in finding.left], answer.findings[0].unit)


def _held(answer: Answer) -> str:
    """Return the parts that hold."""
    words = [finding.part.words for finding in answer.findings if finding.word == HOLDS]
    return f"{HOLDS}: {', '.join(words)}" if words else ""


def _missed(finding: Finding, trainings: bool) -> str:
    numbers = measured(finding, trainings)
    return f"{finding.word}: {finding.part.words}" + f", {numbers}" * bool(numbers)


def listed(words: Sequence[str]) -> str:
    """Return words as a list.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


# ------------------------------------------------------------------ reasons


def why(finding: Finding) -> str:
    """Return the reason why a part does not hold and what would settle it; empty if it holds."""
    if finding.reason is None:
        return ""
    following = finding.part.next if finding.word in UNDECIDED else ""
    return "; ".join(filter(None, (_why(finding.reason, finding), f"next: {following}" * bool(following))))


def _why(reason: Reason, finding: Finding) -> str:
    part, names = finding.part, ", ".join(map(short, reason.experiments))
    needed = f"at least {reason.missing} more {'is' if reason.missing == 1 else 'are'} needed"
    place = f" ({names})" * bool(names)
    words: Mapping[str, str] = {
        "not run": f"not run{place}",
        "not measured": f"not measured ({reason.record})",
        "few trainings": f"{reason.count} training{'s' * (reason.count != 1)} of {names}; {needed}",
        "few learned": f"{names} learned its range in {reason.count} of {reason.total} trainings; {needed}",
        "seeds disagree": f"seeds disagree: {reason.count} of {reason.total} meet it{place}",
        **dict.fromkeys(("level", "missed"), f"{_level(part, finding.unit)}{place}"),
        "both low": f"both medians below {FLOOR:g} %",
        "both high": f"both medians above {CEILING:g} %",
        "reverse": "the reverse was measured",
        "apart": f"they lie more than {BAND:g} points apart",
        "refuted": part.refuted,
    }
    return words.get(reason.kind, reason.kind)


def _level(part: Part, unit: str) -> str:
    """Return the level that was expected."""
    bounds = (("at least", part.least), ("at most", part.most))
    text = " and ".join(f"{word} {number(bound)}" for word, bound in bounds if bound is not None)
    return f"{text} {unit}".strip() + " expected"


def outcome(finding: Finding) -> str:
    """Return the word of a finding, and the reason if there is one."""
    return ": ".join(filter(None, (finding.word, why(finding))))


def reason(answer: Answer) -> str:
    """Return the reason why a statement does not hold, or what was repaired; empty if it holds."""
    if answer.word == REPAIRED:
        return answer.statement.repaired
    if answer.obstacle is None:
        return ""
    return f"{answer.obstacle.part.words}: " * (len(answer.findings) > 1) + why(answer.obstacle)


# ------------------------------------------------------------------ sentences


def sentence(answer: Answer) -> str:
    """Return the grounds of an answer: the reason, the numbers and the distance from the paper.

    Of what is contradicted, the distance by name.
    """
    grounds = why(answer.obstacle) if answer.mixed and answer.obstacle else reason(answer)
    differs = next((finding.differs for finding in answer.deciding if finding.differs), "")
    but_for = f", as published but for {differs}" * (answer.word == CONTRADICTED and bool(differs))
    return "; ".join(filter(None, (evidence(answer), grounds, f"{answer.distance}{but_for}")))


def mark(answer: Answer) -> str:
    """Return a dagger for a statement that is younger than its runs."""
    return f" {DAGGER}" if answer.younger else ""


def name(answer: Answer) -> str:
    """Return a statement in four words."""
    return answer.statement.short or answer.statement.id.replace("-", " ")


def clause(answer: Answer) -> str:
    """Return the sentence of an answer in brackets, for a list; its numbers without counts of trainings."""
    numbers = evidence(answer, trainings=False)
    grounds = why(answer.obstacle) if answer.obstacle else ""
    near = f", {answer.distance}" if answer.distance else ""
    words = f"{'; '.join(filter(None, (numbers, grounds)))}{near}"
    return f" ({words})" * bool(words)
