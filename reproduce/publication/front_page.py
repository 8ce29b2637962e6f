"""Comparisons on the front page: a line per paper, and the main statements of one.

Comparisons enter, Markdown leaves.
"""

import re
from collections.abc import Sequence

from reproduce.comparison.answers import Answer
from reproduce.comparison.compare import Comparison
from reproduce.comparison.distance import SHORTER
from reproduce.comparison.recorded import FAILS, HOLDS, REPAIRED, UNSURE, WORDS
from reproduce.output.markdown import table
from reproduce.publication import overview
from reproduce.runs.catalogue import CATALOGUE


def sentence(found: Sequence[Comparison]) -> str:
    """Return what was found, in one sentence or two."""
    met, compared = (sum(getattr(one.score, name) for one in found) for name in ("within_5", "compared"))
    counts = {word: sum(one.counts[word] for one in found) for word in WORDS}
    several = {HOLDS: "hold", REPAIRED: "hold once a proof is repaired", FAILS: "do not hold", UNSURE: UNSURE}
    told = [f"{counts[word]} {several[word]}" for word in (HOLDS, REPAIRED, FAILS) if counts[word]]
    last = f", and {counts[UNSURE]} cannot be told yet" if counts[UNSURE] else ""
    return (
        f"**{met} of {compared} published values are met within 5 points** at the papers' own lengths; "
        f"of {sum(counts.values())} main statements {', '.join(told) or 'none holds'}{last}."
    )


def first(found: Sequence[Comparison]) -> str:
    """Return what was found, and the picture with its alternative text and its caption."""
    squares = ", ".join(f"{sum(one.counts[word] for one in found)} {word}" for word in WORDS)
    return (
        f"{sentence(found)}\n\n![Squares of the main statements: {squares}. {overview.right(found)}]"
        f"(results/{overview.FILE})\n\n"
        "*Left: what each paper states, and if we see it. Right: medians over trainings; published values are hollow.*"
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
        last = f"- Published values: **{score.within_5} of {score.compared}** within 5 points."
    else:
        last = f"- Published values: none of {score.printed} stands beside ours yet ({SHORTER})."
    return "\n".join([*told, last])


def _shares(one: Answer) -> str:
    """Return the medians that decided, with the part that they are of if it is open."""
    numbers = re.sub(r" \([^)]*\)", "", one.numbers)
    if "%" not in numbers:
        return ""
    open_part = next((part.part.words for part in one.findings if part.word != HOLDS and part.numbers), "")
    return f" ({open_part}: {numbers})" if open_part and len(one.findings) > 1 else f" ({numbers})"


def scores(found: Sequence[Comparison]) -> str:
    """Return a line for each paper: published values that are met, then its main statements by answer."""
    return table(
        ["paper", "published values within 5 points (2)", "main statements"],
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
    return f"**{score.within_5} of {score.compared}** ({score.within_2}); {score.printed} printed"


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
    """Return the main statements with their answers, a line each."""
    return "\n".join(f"- **{one.word}**: {one.statement.words}{_because(one)}" for one in found.answers)


def _because(one: Answer) -> str:
    """Return what was measured if it holds, in brackets, or the reason why nobody can tell."""
    if one.word == UNSURE:
        return f" ({one.reason.partition(' (')[0]})" if one.reason else ""
    numbers = re.sub(r"\(\w+ trainings: ", "(", one.numbers)
    near = f", {one.distance}" if one.distance else ""
    return f" ({numbers}{near})" if numbers else ""
