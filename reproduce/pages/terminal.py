"""Layout on a terminal: tables as wide as it is, a comparison, an encoded problem, the projections of a probe.

Comparisons and plain values enter, text leaves. No torch, no matplotlib; rich is loaded where there is a table.
"""

import itertools
import math
import shutil
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from reproduce.comparison.answers import Answer, Finding
from reproduce.comparison.compare import Comparison
from reproduce.comparison.lines import Line
from reproduce.comparison.numbers import number
from reproduce.comparison.recorded import MET, WORDS
from reproduce.pages import text

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console, RenderableType
    from rich.table import Column, Table
    from rich.text import Text

NO_BREAK = "\ue000"
"""Stands for a space at which no line may end, until it is printed: rich breaks lines at every kind of space."""
BREAK = "\x1f"
"""Stands for a place without a space at which a line may end."""
GAP = 2
"""Spaces between the columns of a table."""
FOLDED = 4
"""Fewest characters of a column that wraps."""
PIPED_WIDTH = 180
"""Characters of a line where there is no terminal."""
HEIGHT = 24
"""Lines of a terminal, which no table depends on: rich, without it, looks it up for each cell."""
NARROWEST = 40
"""Characters of a line on a terminal that is narrower: it breaks the line itself, and no word is lost."""


def width() -> int:
    """Characters of a line: what COLUMNS says, else of the terminal, else `PIPED_WIDTH`; `NARROWEST` at least."""
    return max(NARROWEST, shutil.get_terminal_size((PIPED_WIDTH, 24)).columns)


def table(*columns: str | tuple[str, Literal["left", "right"]]) -> "Table":
    """An empty table without lines, from names of columns, or names with the side that their cells keep to.

    The first column gives way where a terminal is narrow, the others stay whole.
    """
    from rich.table import Table

    made = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False)
    for place, column in enumerate(columns):
        name, justify = (column, "left") if isinstance(column, str) else column
        made.add_column(name, justify=justify, no_wrap=place > 0, overflow="fold")  # type: ignore[arg-type]
    return made


def unbroken(words: str) -> str:
    """Words that stay on one line; `show` prints them with spaces."""
    return words.replace(" ", NO_BREAK)


def breakable(words: str, behind: str) -> str:
    """Return words whose lines may end behind a mark as well."""
    return words.replace(behind, behind + BREAK)


def entry(name: str, said: str) -> "RenderableType":
    """A cell with a name and, under it and indented, what is said of it."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    return Group(Text(breakable(name, "/"), "bold"), Padding(Text(said), (0, 0, 0, 2)))


def tell(*lines: str) -> None:
    """Print sentences, none of their lines longer than `width`; what goes on below is indented."""
    for line in lines:
        begin = line[: len(line) - len(line.lstrip())]
        wrapped = textwrap.TextWrapper(width(), begin, f"{begin}  ", break_long_words=False, break_on_hyphens=False)
        print(wrapped.fill(line.strip()))


def show(*parts: "RenderableType") -> None:
    """Print tables and texts, no line longer than `width`, unless the longest word of a table needs it."""
    from rich.console import Console
    from rich.table import Table

    console = Console(width=10 * PIPED_WIDTH, height=HEIGHT, highlight=False, markup=False, emoji=False)
    console.width = max([width(), *(_least(part, console) for part in parts if isinstance(part, Table))])
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    lines = captured.get().replace(NO_BREAK, " ").replace(BREAK, "").splitlines()
    print("\n".join(map(str.rstrip, lines)))


def _least(shown: "Table", console: "Console") -> int:
    """Return the characters of a line in which names and columns that do not wrap are whole."""
    from rich.measure import Measurement

    def needs(column: "Column") -> int:
        cells = [Measurement.get(console, console.options, cell) for cell in (column.header, *column.cells)]
        return max(cell.maximum if column.no_wrap else cell.minimum for cell in cells)

    first, *others = shown.columns
    return needs(first) + sum(GAP + (needs(column) if column.no_wrap else FOLDED) for column in others)


def projections(found: Mapping[str, "np.ndarray"], most: int = 3, limit: int | None = None) -> str:
    """A line per token, layer and stage of a probe: the ``most`` symbols with the largest projections on each basis.

    ``limit``: characters of a line; there are fewer symbols where they would be more.
    """
    rows: list[tuple[str, ...]] = [("position", "token", "layer", "MLP", "encoder basis", "decoder basis")]
    vocabulary = found["vocabulary"].tolist()
    layers, stages, positions, _ = found["encoder"].shape
    for position, layer, stage in itertools.product(range(positions), range(layers), range(stages)):
        sides = []
        for basis in ("encoder", "decoder"):
            values = found[basis][layer, stage, position].astype(float)
            largest = (-values).argsort(kind="stable")[:most]
            sides.append("  ".join(f"{vocabulary[place]} {values[place]:.2f}" for place in largest))
        where = (str(position), str(found["tokens"][position]), str(layer + 1), ("before", "after")[stage])
        rows.append((*where, *sides))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    if limit is not None and most > 1 and max(map(len, lines)) > limit:
        return projections(found, most - 1, limit)
    return "\n".join(lines)


def aligned(encoded: Mapping[str, Any], most: int | None = None) -> str:
    """An encoded problem as rows with one column per token: tokens, each level of ids, loss.

    ``most``: characters of a line; what is longer goes on below an empty line.
    """
    if "source" in encoded:
        inner = None if most is None else most - 2
        sides = ((side, textwrap.indent(aligned(encoded[side], inner), "  ")) for side in ("source", "target"))
        return "\n\n".join(f"{side}\n{text}" for side, text in sides)
    rows = {"tokens": encoded["tokens"]}
    levels = encoded["position_ids"]
    rows |= {f"ids {level}" if len(levels) > 1 else "ids": ids for level, ids in enumerate(levels, start=1)}
    if "loss" in encoded:
        rows["loss"] = encoded["loss"]
    columns = [[str(cell) for cell in column] for column in zip(*rows.values(), strict=True)]
    label = max(map(len, rows))
    blocks: list[list[list[str]]] = [[]]
    left = room = math.inf if most is None else most - label - 1
    for column in columns:
        width = 1 + max(map(len, column))
        if width > left and blocks[-1]:
            blocks.append([])
            left = room
        blocks[-1].append([cell.rjust(width - 1) for cell in column])
        left -= width
    return "\n\n".join(
        "\n".join(
            f"{name:<{label}}  {' '.join(cells)}" for name, cells in zip(rows, zip(*block, strict=True), strict=True)
        )
        for block in blocks
    )


NOTE = f"{text.DAGGER} written or reworded after some of its runs."


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
    return [*parts, Text(NOTE, "dim")] if any(answer.younger for answer in reference.answers) else parts


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

    words = Text(whose).append(answer.word, text.LOOKS[answer.word].colour)
    if not whose:
        words.append(f"  {answer.statement.words}{text.mark(answer)}")
    below = "; ".join(filter(None, (text.sentence(answer), "" if whose else f"id {answer.statement.id}")))
    return [words, Padding(Text(below, "dim"), (0, 0, 0, 2))] if below else [words]


def _detail(found: Finding) -> "list[RenderableType]":
    """Return what a detail compares and its outcome, of a statement that rests on other experiments."""
    from rich.padding import Padding
    from rich.text import Text

    below = Padding(Text(text.sentence_of_detail(found), "dim"), (0, 0, 0, 2))
    return [Text(f"detail: {found.part.words}"), below]


def in_words(counts: Counter[str]) -> "Text":
    """Return how many statements have which answer; what none has is left out.

    >>> from reproduce.pages.terminal import NO_BREAK
    >>> in_words(Counter({"holds": 1, "cannot tell": 3})).plain.replace(NO_BREAK, " ")
    '1 holds, 3 cannot tell'
    """
    from rich.text import Text

    answers = ((f"{counts[word]} {word}", text.LOOKS[word].colour) for word in WORDS if counts[word])
    return Text(", ").join(Text(unbroken(words), colour) for words, colour in answers)
