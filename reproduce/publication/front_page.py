"""Comparisons on the front page: a line per paper, and the main statements of one.

Comparisons enter, Markdown leaves.
"""

import re
from collections import Counter
from collections.abc import Sequence

from reproduce.comparison.answers import FEWEST_OF_A_LEVEL, Answer, Finding, span_of
from reproduce.comparison.compare import Comparison
from reproduce.comparison.pages import score_of
from reproduce.comparison.published import PROOF, SHORTER
from reproduce.comparison.statements import FAILS, HOLDS, NOT_SEEN, REPAIRED, UNSURE, WORDS
from reproduce.comparison.values import MET, hard
from reproduce.markdown import table
from reproduce.output import overview
from reproduce.runs.catalogue import CATALOGUE

LONGEST = 50
"""Letters of a reason that says which part it is about."""
BRIEF = 20
"""Most letters of the words of a part."""


def sentence(found: Sequence[Comparison]) -> str:
    """Return what was found, in one sentence or two."""
    met, compared = (sum(getattr(one.score, name) for one in found) for name in ("within_5", "compared"))
    counts = _counts(found)
    easier = sum(overview.look(one) == overview.EASIER for each in found for one in each.answers)
    told = [
        f"{count} {words}"
        for count, words in (
            (counts[HOLDS] - easier, "hold there"),
            (easier, f"hold on {SHORTER}"),
            (counts[REPAIRED], "once a proof is repaired"),
            (counts[FAILS], _plural(FAILS, counts[FAILS])),
        )
        if count
    ]
    last = f", and {counts[UNSURE]} cannot be told yet" if counts[UNSURE] else ""
    beyond = hard(line for one in found for line in one.lines)
    return (
        f"**{met} of {compared} published values are met within {MET} points** at the papers' own lengths "
        f"({beyond.within_5} of the {beyond.compared} beyond the trained range and above {MET} %); "
        f"of {sum(counts.values())} main statements {', '.join(told) or 'none holds'}{last}. {_rest(found)}"
    ).strip()


def _rest(found: Sequence[Comparison]) -> str:
    """Return how many values rest on few trainings, and how many answers are of words younger than their runs."""
    compared = [line for one in found for line in one.lines if line.compared]
    few = sum(line.trained < FEWEST_OF_A_LEVEL for line in compared)
    told_apart = [answer for one in found for answer in one.answers if answer.word != UNSURE]
    late = sum(answer.younger for answer in told_apart)
    told = [f"{few} value{'s rest' if few > 1 else ' rests'} on one or two trainings"] * bool(few)
    told += [f"{late} of the {len(told_apart)} decided were worded after some runs"] * bool(late)
    return f"{'; '.join(told)}." if told else ""


def _counts(found: Sequence[Comparison]) -> Counter[str]:
    """Number of statements of all papers together, by answer."""
    return sum((one.counts for one in found), Counter())


def first(found: Sequence[Comparison]) -> str:
    """Return what was found, and the picture with its alternative text and its caption."""
    return (
        f"{sentence(found)}\n\n"
        f"![{overview.right(found)}](results/{overview.FILE})\n\n"
        "*Left: the statements. Right: medians over trainings; published values are hollow.* "
        "New: [eight findings](docs/findings.md)."
    )


def seen(found: Comparison) -> str:
    """Return the main statements in lines of one answer and one distance, then the published values that are met."""
    groups: dict[tuple[str, str], list[str]] = {}
    for one in sorted(found.answers, key=lambda one: WORDS.index(one.word)):
        near = "" if one.word == UNSURE else f", {one.distance}"
        groups.setdefault((one.word, near), []).append(f"{overview.short(one)}{_shares(one)}")
    told = [f"- **{word[0].upper()}{word[1:]}**{near}: {'; '.join(some)}." for (word, near), some in groups.items()]
    score = found.score
    if score.compared:
        last = f"- Published values: **{score.within_5} of {score.compared}** within 5 points ({_places(found)})."
    else:
        last = f"- Published values: none of {score.printed} stands beside ours yet."
    return "\n".join([*told, last])


def _places(found: Comparison) -> str:
    """Return the tables and figures whose values stand beside ours: ``Tables 1 and 3, Figure 4.5, text``."""
    each = [line.value.place for line in found.lines if line.compared]
    places, told = " ".join(each), []
    for kind in ("Table", "Figure"):
        lists = re.findall(rf"{kind}s? ((?:[\d.]*\d(?:, | and )?)+)", places)
        *some, last = sorted(set(re.findall(r"[\d.]*\d", " ".join(lists))), key=float) or [""]
        told += [f"{kind}s {', '.join(some)} and {last}" if some else f"{kind} {last}"] * bool(last)
    return ", ".join([*told, *["text"] * any(not re.search("Table|Figure", place) for place in each)])


def _shares(one: Answer) -> str:
    """Return the shares that decided, from the worst training to the best, of comparisons the first."""
    if one.word == UNSURE:
        return _why(one)
    found = one.deciding
    if not found or found[0].unit != "%" or one.distance == PROOF:
        return ""
    if found[0].right:  # further comparisons are of other trainings
        return f" ({_against(found[0])})"
    sides = [part.left for part in found] if len(found) < 3 else [sum((part.left for part in found), ())]
    shares = list(dict.fromkeys(span_of(some, "%") for some in sides))
    if found[0].part.region == "trained_length" and len(shares) == 2:
        return f" ({shares[0]} in range, {shares[1]} {found[1].part.words})"
    some = f"{found[0].part.words.partition(',')[0]}: " if len(found) < len(one.findings) else ""
    return f" ({some}{'; '.join(shares)})"


def _against(found: Finding) -> str:
    """Return the shares of the two sides of a comparison."""
    return f"{span_of(found.left, '%').removesuffix(' %')} against {span_of(found.right, '%')}"


def _part(found: Finding) -> str:
    """Return the shares of a part, after its words if they are few."""
    shares = _against(found) if found.right else span_of(found.left, "%")
    return f"{found.part.words} {shares}" if len(found.part.words) <= BRIEF else shares


def _why(one: Answer) -> str:
    """Return the reason of what nobody can tell; where parts hold, how many and the shares of the others."""
    measured = [part for part in one.findings if part.left and part.unit == "%"]
    reason = re.split(r" \(|; ", one.reason)[0].replace(f"{NOT_SEEN}: ", "at this size ").removesuffix(NOT_SEEN)
    held = sum(part.word == HOLDS for part in measured)
    if held:
        told = ", ".join(_part(part) for part in measured if part.word != HOLDS)
        return f" ({held} of {len(measured)} parts hold{'s' * (held == 1)}; {told})"
    if "medians" in reason and measured:
        return f" ({_against(measured[0])})"
    if not reason and measured:
        return f" ({span_of(measured[0].left, '%')})"
    brief = reason.partition(": ")[2] if len(reason) > LONGEST else ""
    return f" ({brief or reason})" if reason else ""


def scores(found: Sequence[Comparison]) -> str:
    """Return a line for each paper: published values that are met, then its main statements by answer."""
    return table(
        ["paper", "published values within 5 points (within 2)", "main statements"],
        (
            [f"{CATALOGUE.paper(one.paper).number} {one.paper.replace('_', ' ')}", met(one), counted(one)]
            for one in found
        ),
    )


def met(found: Comparison) -> str:
    """Return how many published values are met; the reason if none stands beside ours."""
    score = found.score
    if not score.compared:
        return f"none of {score.printed} beside ours yet: {SHORTER}" if score.printed else "none printed"
    return f"**{score.within_5} of {score.compared}** ({score.within_2}), of {score.printed} published accuracies"


def counted(found: Comparison) -> str:
    """Return how many statements have each answer that any has."""
    counts = found.counts
    return ", ".join(f"{counts[word]} {_plural(word, counts[word])}" for word in WORDS if counts[word])


def _plural(word: str, count: int) -> str:
    if count == 1:
        return word
    return {"holds": "hold", "holds once repaired": "hold once repaired", "does not hold": "do not hold"}.get(
        word, word
    )


def answer(found: Comparison) -> str:
    """Return the main statements with their answers, a line each, and how many published values are met."""
    told = "\n".join(f"- **{one.word}**: {one.statement.words}{_because(one)}" for one in found.answers)
    return f"{told}\n\n{score_of(found)}".strip()


def _because(one: Answer) -> str:
    """Return in brackets what was measured, after the reason if it does not hold; or why nobody can tell."""
    if one.word == UNSURE:
        return f" ({one.reason.partition(' (')[0]})" if one.reason else ""
    numbers = re.sub(r"\(\w+ trainings: ", "(", one.numbers)
    near = f", {one.distance}" if one.distance else ""
    reason = f"{one.reason}; " if one.word == FAILS and one.reason else ""
    return f" ({reason}{numbers}{near})" if numbers else ""
