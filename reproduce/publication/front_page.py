"""What the front page shows of comparisons: a line per paper, and the main statements of one.

Comparisons enter, Markdown leaves.
"""

import re
from collections.abc import Sequence

from reproduce.comparison.answers import UNSURE, WORDS, Answer
from reproduce.comparison.compare import Comparison
from reproduce.comparison.distance import SHORTER
from reproduce.output.markdown import table
from reproduce.runs.catalogue import CATALOGUE


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
