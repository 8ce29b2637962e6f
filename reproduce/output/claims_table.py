"""Claims and their verdicts on a terminal: the statement as text, under it a line per size and store; score cards.

Rows of the comparison enter, what rich prints leaves: a verdict stands whole in 80 columns.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from reproduce.comparison import lines, score_card
from reproduce.comparison.effects import effect, required, seeds, span
from reproduce.comparison.rows import Row
from reproduce.output.terminal import COLOURS, GAP, entry, table, unbroken, width

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

NOTE = (
    "Intervals are of 95 %; before the one over seeds stands how many seeds there are. Differences of shares have a "
    "sign, and are in percentage points; both sides of each stand in comparison.md."
)
BESIDE = "Runs made with --set beside those of the declared setting; they decide no verdict:"
WIDEST_REQUIRED = 10
"""Characters of that column; bands take more lines."""
NARROWEST_INTERVAL = 10
"""Characters of a column of intervals that is broken into lines, one end in each."""


class Line(NamedTuple):
    """How a claim stands by the runs of one store at one size."""

    size: str
    verdict: str
    required: str
    measured: str
    examples: str
    seeds: str


HEADS = Line("size", "verdict", "required", "measured", "over examples", "over seeds")


def comparison(reference: Sequence[Row], yours: Sequence[Row], reasons: bool = False) -> "list[RenderableType]":
    """Every claim, and the numbers that have a verdict: what is required and what was measured at each size.

    ``reasons``: with the reason under a verdict that is open.
    """
    from rich.padding import Padding
    from rich.text import Text

    entries: dict[str, list[tuple[Row, Line]]] = {}
    for row, whose in [(row, "") for row in reference] + [(row, " yours") for row in yours]:
        if row.kind == "claim" or (row.verdict in COLOURS and row.seeds):
            entries.setdefault(row.id, []).append((row, _line(row, whose)))
    if not entries:
        others = {row.id for row in (*reference, *yours)}
        said = f"No claim; other published values: {len(others)}, which --format csv shows." if others else ""
        return [Text(said or "Nothing is compared there.")]
    columns = zip(HEADS, *(line for found in entries.values() for _, line in found), strict=True)
    widths = _fitted([max(map(len, column)) for column in columns])
    parts: list[RenderableType] = [_lines(HEADS, widths, "bold")]
    for name, found in entries.items():
        row = found[0][0]
        tags = ["headline"] * row.headline + ["threshold of the paper"] * (row.by == "published")
        remark = f" ({', '.join(tags)})" if tags else ""
        parts += [Text(), Text(name, "bold").append(f"{remark}: {row.statement}", "not bold")]
        for row, line in sorted(found, key=lambda item: _order(item[0])):
            parts.append(_lines(line, widths, COLOURS.get(row.verdict, "dim")))
            if reasons and row.why:
                parts.append(Padding(Text(row.why, "dim"), (0, 0, 0, 2)))
    return [*parts, Text(), Text(NOTE, "dim")]


def published(found: Sequence[lines.Line]) -> "list[RenderableType]":
    """Published values beside ours: how many are met, then a line for every one that is compared."""
    from rich.text import Text

    shown = table(
        "experiment",
        ("length", "right"),
        ("published", "right"),
        ("ours", "right"),
        ("points apart", "right"),
        "every seed",
    )
    for line in found:
        if line.compared and line.points is not None:
            value = line.value
            far = abs(line.points) > 5
            at = lines.span(value.lengths) if len(value.lengths) < 4 else f"to {max(value.lengths)}"
            each = " ".join(f"{seed:.0f}" for seed in line.seeds)
            row = [
                value.experiments[0].partition("/")[2],
                at,
                *map(lines.number, (value.published, line.ours, line.points)),
                each,
            ]
            shown.add_row(*(Text(cell, "yellow" if far else "") for cell in row))
    return [Text(str(lines.score(found)), "bold"), Text(), shown, Text()]


def _order(row: Row) -> int:
    return -score_card.LARGEST.index(row.profile)


def _line(row: Row, whose: str) -> Line:
    measured = "" if row.ours is None else effect(row.ours, row.scale)
    over = [
        "" if low is None or high is None else span(low, high, row.scale)
        for low, high in ((row.examples_low, row.examples_high), (row.seeds_low, row.seeds_high))
    ]
    said = f"{row.seeds}: {over[1]}" if over[1] else seeds(row.seeds)
    return Line(f"{row.profile}{whose}", row.verdict, required(row), measured, over[0], said)


def _fitted(widths: Sequence[int]) -> list[int]:
    """As wide as the terminal at most: what is required and the intervals take more lines, sizes and verdicts never."""
    found = dict(zip(Line._fields, widths, strict=True))
    found["required"] = min(found["required"], WIDEST_REQUIRED)
    for name in ("seeds", "examples"):
        excess = sum(found.values()) + GAP * (len(found) - 1) - width()
        found[name] -= max(0, min(excess, found[name] - NARROWEST_INTERVAL))
    return list(found.values())


def _lines(line: Line, widths: Sequence[int], style: str) -> "Table":
    """A line as a table of its own, whose columns are those of all others."""
    from rich.text import Text

    found = table(*line)
    found.show_header = False
    for name, column, fits in zip(Line._fields, found.columns, widths, strict=True):
        column.width, column.no_wrap = fits, name not in ("required", "examples", "seeds")
    found.add_row(*(Text(cell, style if place < 2 or line is HEADS else "") for place, cell in enumerate(line)))
    return found


def score_cards(stores: Mapping[str, Sequence[Row]]) -> "Table":
    """Two lines for each store, by its name: the verdicts on headline claims and on all; none that would be empty."""
    from rich.table import Table

    found = Table.grid(padding=(0, 2, 0, 0))
    for whose, rows in stores.items():
        for name, counts in score_card.card(rows):
            if counts:
                found.add_row(f"{whose}{', ' if whose else ''}{name}", in_words(counts))
    return found


def in_words(counts: Counter[str]) -> "Text":
    """How many claims of how many have which verdict; what none has is left out.

    >>> from reproduce.output.terminal import NO_BREAK
    >>> in_words(Counter({"reproduced": 1, "untested": 3})).plain.replace(NO_BREAK, " ")
    '1 of 4 reproduced, 3 untested'
    """
    from rich.text import Text

    words = [word for word in score_card.SHOWN if counts[word]]
    of = [f" of {counts.total()}", *[""] * len(words)]
    return Text(", ").join(
        Text(unbroken(f"{counts[word]}{some} {word}"), COLOURS.get(word, "dim"))
        for word, some in zip(words, of, strict=False)
    )


def beside(rows: Sequence[tuple[str, ...]]) -> "Table":
    """Runs made with ``--set`` and the declared ones: experiment, profile, seed, what was set, exact match in and
    outside the trained range."""
    found = table("experiment", "size", ("seed", "right"), ("in the\ntrained range", "right"), ("outside", "right"))
    for name, profile, seed, made, inside, outside in rows:
        found.add_row(entry(name, made), profile, seed, inside, outside)
    return found
