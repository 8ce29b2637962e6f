"""A comparison on a terminal: published values beside ours, then the main statements with their answers.

Comparisons enter, what rich prints leaves.
"""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from reproduce.comparison.answers import Answer, Finding
from reproduce.comparison.compare import Comparison
from reproduce.comparison.pages import DAGGER, mark
from reproduce.comparison.statements import WORDS
from reproduce.comparison.values import MET, Line, number
from reproduce.output.terminal import COLOURS, table, unbroken

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

NOTE = f"{DAGGER} written or reworded after some of its runs."


MANY = 24
"""Values of which only those apart are printed."""


def whole(reference: Comparison, yours: Comparison | None, every: bool = False) -> "list[RenderableType]":
    """Return the score, the values beside ours and the statements of one paper.

    Of many values those are left out that are met, by stored and by local runs, unless ``every`` one is asked for.
    """
    from rich.text import Text

    shown = reference.beside or (yours.beside if yours else [])
    missed = {line.value.id for line in (*reference.beside, *(yours.beside if yours else ())) if line.apart > MET}
    apart = shown if every or len(shown) <= MANY else [line for line in shown if line.value.id in missed]
    parts: list[RenderableType] = [score(reference, yours, len(apart) < len(shown))]
    if shown:
        parts += [Text(), _values(apart, yours)]
    for answer in reference.answers:
        parts += [Text(), *_answer(answer, "")]
        other = next((one for one in yours.answers if one.statement.id == answer.statement.id), None) if yours else None
        if other is not None and other.distance:
            parts += _answer(other, "yours: ")
    for detail in reference.details:
        parts += [Text(), *_detail(detail)]
    if not reference.answers and not reference.lines and not reference.details:
        parts.append(Text("Nothing is compared there."))
    return [*parts, Text(NOTE, "dim")] if any(map(mark, reference.answers)) else parts


def score(reference: Comparison, yours: Comparison | None = None, left_out: bool = False) -> "Text":
    """Return how many published values are met and how many statements have which answer."""
    from rich.text import Text

    found = (
        Text(f"{reference.score}", "bold") if reference.score.compared else Text("no published value beside ours yet")
    )
    if yours is not None and yours.score.compared:
        found.append(f"; yours: {yours.score}")
    if left_out:
        found.append("; --all prints them")
    if reference.answers:
        found.append("\n").append(in_words(reference.counts))
        found.append(f" of {len(reference.answers)} statement{'s' * (len(reference.answers) != 1)}")
    return found


def _values(shown: Sequence[Line], yours: Comparison | None) -> "Table":
    """Return a line for each value: published, ours, points apart and every seed; with yours if there are any."""
    from rich.text import Text

    mine = {line.value.id: line for line in (yours.beside if yours else ())}
    heads = ["length", "published", "ours", *(["yours"] if mine else []), "points"]
    found = table("experiment", *((head, "right") for head in heads), "every seed")
    found.columns[0].no_wrap, found.columns[-1].no_wrap = True, False  # the seeds give way, not the names
    for line in shown:
        cells = [line.name, line.value.at, line.value.printed, number(line.ours)]
        if mine:
            cells.append(number(mine[line.value.id].ours) if line.value.id in mine else "")
        cells += [number(line.gap), " ".join(f"{seed:.3g}" for seed in line.seeds)]
        style = "yellow" if line.apart > MET else ""
        found.add_row(*(Text(cell, style) for cell in cells))
    return found


def _answer(answer: Answer, whose: str) -> "list[RenderableType]":
    from rich.padding import Padding
    from rich.text import Text

    words = Text(whose).append(answer.word, COLOURS[answer.word])
    if not whose:
        words.append(f"  {answer.statement.words}{mark(answer)}")
    told = [answer.reason, answer.numbers, answer.distance, "" if whose else f"id {answer.statement.id}"]
    below = Padding(Text("; ".join(filter(None, told)), "dim"), (0, 0, 0, 2))
    return [words, below] if any(told) else [words]


def _detail(found: Finding) -> "list[RenderableType]":
    """Return what a detail compares and its outcome, of a statement that rests on other experiments."""
    from rich.padding import Padding
    from rich.text import Text

    told = "; ".join(filter(None, (found.outcome, found.numbers, found.distance)))
    return [Text(f"detail: {found.part.words}"), Padding(Text(told, "dim"), (0, 0, 0, 2))]


def in_words(counts: Counter[str]) -> "Text":
    """Return how many statements have which answer; what none has is left out.

    >>> from reproduce.output.terminal import NO_BREAK
    >>> in_words(Counter({"holds": 1, "cannot tell": 3})).plain.replace(NO_BREAK, " ")
    '1 holds, 3 cannot tell'
    """
    from rich.text import Text

    return Text(", ").join(Text(unbroken(f"{counts[word]} {word}"), COLOURS[word]) for word in WORDS if counts[word])
