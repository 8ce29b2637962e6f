"""Looks of the answers, and text on a terminal.

No torch, no matplotlib; rich is loaded where there is a table.
"""

import itertools
import math
import shutil
import textwrap
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from reproduce.comparison.last_comparison import CONTRADICTED, HOLDS, NOT_SEEN, OPEN, REPAIRED, WORDS

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console, RenderableType
    from rich.table import Column, Table


class AnswerLook(NamedTuple):
    """Look of an answer."""

    plural: str
    colour: str
    """On a terminal."""
    fill: str
    """In a picture: colours that colour-blind eyes tell from one another."""
    sign: str
    """For those who see no colours."""


LOOKS: Mapping[str, AnswerLook] = {
    HOLDS: AnswerLook("hold", "green", "#7fb9dd", "✓"),
    REPAIRED: AnswerLook("hold once repaired", "green", "#dfeef7", "✓*"),
    CONTRADICTED: AnswerLook(CONTRADICTED, "red", "#f0a35e", "✗"),
    NOT_SEEN: AnswerLook(NOT_SEEN, "yellow", "#f3dfa2", "–"),
    OPEN: AnswerLook(OPEN, "yellow", "#e4e4e4", "?"),
}


def plural(word: str, count: int) -> str:
    """Return an answer as so many statements have it."""
    return word if count == 1 else LOOKS[word].plural


def counted(counts: Counter[str]) -> str:
    """Return the number of statements by answer in words, for each answer that any has."""
    return ", ".join(f"{counts[word]} {plural(word, counts[word])}" for word in WORDS if counts[word])


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
    """Return the characters of a line: by COLUMNS, else the terminal, else `PIPED_WIDTH`; `NARROWEST` at least."""
    return max(NARROWEST, shutil.get_terminal_size((PIPED_WIDTH, 24)).columns)


def table(*columns: str | tuple[str, Literal["left", "right"]]) -> "Table":
    """Return an empty table without lines, from names of columns, or names with the side their cells keep to.

    The first column gives way where a terminal is narrow, the others stay whole.
    """
    from rich.table import Table

    made = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False)
    for place, column in enumerate(columns):
        name, justify = (column, "left") if isinstance(column, str) else column
        made.add_column(name, justify=justify, no_wrap=place > 0, overflow="fold")  # type: ignore[arg-type]
    return made


def unbroken(words: str) -> str:
    """Return words that stay on one line; `show` prints them with spaces."""
    return words.replace(" ", NO_BREAK)


def breakable(words: str, behind: str) -> str:
    """Return words whose lines may end behind a mark as well."""
    return words.replace(behind, behind + BREAK)


def entry(name: str, text: str) -> "RenderableType":
    """Return a cell with a name and, under it and indented, what is said of it."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    return Group(Text(breakable(name, "/"), "bold"), Padding(Text(text), (0, 0, 0, 2)))


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


def projections(arrays: Mapping[str, "np.ndarray"], most: int = 3, limit: int | None = None) -> str:
    """Return a line per token, layer and stage of a probe.

    It has the ``most`` symbols with the largest projections on each basis.

    ``limit``: characters of a line; there are fewer symbols where they would be more.
    """
    rows: list[tuple[str, ...]] = [("position", "token", "layer", "MLP", "encoder basis", "decoder basis")]
    vocabulary = arrays["vocabulary"].tolist()
    layers, stages, positions, _ = arrays["encoder"].shape
    for position, layer, stage in itertools.product(range(positions), range(layers), range(stages)):
        sides = []
        for basis in ("encoder", "decoder"):
            values = arrays[basis][layer, stage, position].astype(float)
            largest = (-values).argsort(kind="stable")[:most]
            sides.append("  ".join(f"{vocabulary[place]} {values[place]:.2f}" for place in largest))
        where = (str(position), str(arrays["tokens"][position]), str(layer + 1), ("before", "after")[stage])
        rows.append((*where, *sides))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    if limit is not None and most > 1 and max(map(len, lines)) > limit:
        return projections(arrays, most - 1, limit)
    return "\n".join(lines)


def aligned(encoded: Mapping[str, Any], most: int | None = None) -> str:
    """Return an encoded problem as rows with one column per token: tokens, each level of ids, loss.

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
    named = (zip(rows, zip(*block, strict=True), strict=True) for block in blocks)
    return "\n\n".join("\n".join(f"{name:<{label}}  {' '.join(cells)}" for name, cells in block) for block in named)
