"""Comparison rows as CSV, Markdown, JSON and a terminal table; the same rows always give the same bytes.

`Row` objects enter, text (or a rich table) leaves. The columns of the CSV are a contract.
"""

import csv
import dataclasses
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

SETTING = "hyper-parameter"
COLOURS = {"reproduced": "green", "differs": "red", "undecided": "yellow"}

RULES = """\
A **claim** is reproduced when its inequality holds with the 95 % Wilson intervals over the pooled examples apart *and*
every seed on the same side; it differs when the opposite holds in that sense; otherwise it is undecided. For
comparisons the value is the difference (left minus right) of the least favourable pair, its interval Newcombe's; what
every side reached is in the remarks. Measures that are no proportions (keys per step) have no interval over examples:
the bounds are those of the smallest and largest seed.

A **number** is compared only with runs of exactly the published setting (paper profile); any other is "not
comparable". It is taken as the paper took it, median over seeds cell by cell, and its interval is Wilson's at the
examples of one seed. A **setting** is compared with the paper-profile specification itself, which needs no run.

Spread over seeds stands in the remarks and is never pooled with the interval over examples. Where the paper speaks in
words ("completely fail"), the threshold is ours and the entry says "in words". An experiment compared outside its
trained range that did not learn within it (below 0.9 there) is named in the remarks: such a comparison shows that one
method learns and the other does not, not that one extrapolates better."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the comparison; the fields are the columns of comparison.csv, in order."""

    kind: str
    """number or claim."""
    id: str
    place: str
    statement: str
    relation: str
    published: object
    aggregation: str
    ours: object = None
    ci_low: float | None = None
    ci_high: float | None = None
    n: int | None = None
    seeds: int | None = None
    profile: str
    verdict: str
    """reproduced, differs, undecided, not comparable or not run."""
    deviations: str = ""
    """Numbers of the deviations, then remarks on this comparison."""
    command: str = ""


COLUMNS = tuple(item.name for item in dataclasses.fields(Row))


def show(value: object) -> str:
    """A value as text: four decimals, three significant digits where those would hide it, nothing for None or NaN.

    >>> show(0.9), show(3e-05), show(50000), show(True), show(None), show([1, 30])
    ('0.9000', '3e-05', '50000', 'true', '', '[1, 30]')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        if value.is_integer() and abs(value) >= 10:
            return str(int(value))
        return f"{value:.3g}" if 0 < abs(value) < 1e-3 else f"{value:.4f}"
    return str(value)


def to_csv(rows: Sequence[Row]) -> str:
    """The comparison as CSV with the columns of `COLUMNS`; numbers with a fixed number of decimals."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([show(getattr(row, name)) for name in COLUMNS] for row in rows)
    return out.getvalue()


def to_json(rows: Sequence[Row]) -> str:
    """The comparison as a JSON list of objects; floats rounded like in the CSV, missing values null."""
    return json.dumps([{name: _plain(getattr(row, name)) for name in COLUMNS} for row in rows], indent=1) + "\n"


def _plain(value: object) -> object:
    return (float(show(value)) if not math.isnan(value) else None) if isinstance(value, float) else value


def to_markdown(
    paper: str, reference: Sequence[Row], yours: Sequence[Row] = (), deviations: Mapping[str, str] | None = None
) -> str:
    """Claims, numbers and settings as tables: published | reference, and yours where rows of it are given."""
    claims = [row for row in reference if row.kind == "claim"]
    numbers = [row for row in reference if row.kind == "number" and row.aggregation != SETTING]
    settings = [row for row in reference if row.aggregation == SETTING]
    # The local store may have runs at a profile that the reference lacks: its rows follow.
    known = {(row.id, row.profile) for row in reference}
    claims += [row for row in yours if row.kind == "claim" and (row.id, row.profile) not in known]
    wrong = [row for row in settings if row.verdict != "reproduced"]
    parts = [
        f"# {paper}: published and measured",
        _tally(reference, "Reference") + (" " + _tally(yours, "Yours") if yours else ""),
        "## Claims",
        _table(claims, reference, yours),
        "## Numbers",
        _table(numbers, reference, yours),
        "## Settings",
        f"{len(settings) - len(wrong)} of {len(settings)} published hyper-parameters equal the paper-profile "
        f"specifications; all stand in comparison.csv.",
        *([_table(wrong, reference, ())] if wrong else []),
        "## How verdicts are given",
        RULES,
    ]
    if deviations:
        parts += ["## Deviations", "\n".join(f"- **{name}** {text}" for name, text in deviations.items())]
    return "\n\n".join(parts) + "\n"


def _tally(rows: Sequence[Row], name: str) -> str:
    claims = [row.verdict for row in rows if row.kind == "claim"]
    order = ("reproduced", "differs", "undecided", "not run")
    return f"{name}: {len(claims)} claims checked, " + ", ".join(f"{claims.count(word)} {word}" for word in order) + "."


def _table(rows: Sequence[Row], reference: Sequence[Row], yours: Sequence[Row]) -> str:
    there = {(row.kind, row.id, row.profile): row for row in reference}
    # A number has one row whichever profile it found runs at, a claim one per profile.
    here = {(row.kind, row.id, row.profile if row.kind == "claim" else ""): row for row in yours}
    head = ["id", "place", "statement", "profile", "published", "reference", *(["yours"] if yours else []), "remarks"]
    lines = [line(head), line(["---"] * len(head))]
    for row in rows:
        mine = here.get((row.kind, row.id, row.profile if row.kind == "claim" else ""))
        told = there.get((row.kind, row.id, row.profile))
        remarks = (mine or row).deviations if mine is not None and mine.seeds else row.deviations
        cells = [row.id, row.place, row.statement, row.profile, f"{row.relation} {show(row.published)}", _cell(told)]
        lines.append(line([*cells, *([_cell(mine)] if yours else []), remarks]))
    return "\n".join(lines)


def _cell(row: Row | None) -> str:
    """Verdict, value, interval, examples and seeds in one table cell."""
    if row is None:
        return "not run"
    if row.ours is None:
        return row.verdict
    size = f", n {row.n}, {row.seeds} seed{'' if row.seeds == 1 else 's'}" if row.seeds else ""
    return f"**{row.verdict}** {show(row.ours)}{interval(row)}{size}"


def interval(row: Row) -> str:
    """The 95 % interval of a row in brackets, after a space; nothing where there is none."""
    return f" [{show(row.ci_low)}, {show(row.ci_high)}]" if row.ci_low is not None else ""


def line(cells: Sequence[str]) -> str:
    """One row of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def to_rich_table(rows: Sequence[Row], settings: bool = False) -> "Table":
    """The comparison for a terminal; hyper-parameters only when ``settings`` is true or they differ."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title="Published and measured", title_justify="left", expand=False)
    for name in ("id", "statement", "published", "ours"):
        table.add_column(name, overflow="fold")
    for name in ("n", "seeds", "profile", "verdict"):
        table.add_column(name, no_wrap=True, justify="right" if name in ("n", "seeds") else "left")
    for row in rows:
        if row.aggregation == SETTING and row.verdict == "reproduced" and not settings:
            continue
        cells = [row.id, row.statement, f"{row.relation} {show(row.published)}", f"{show(row.ours)}{interval(row)}"]
        cells += [show(row.n), show(row.seeds), row.profile]
        table.add_row(*map(Text, cells), Text(row.verdict, style=COLOURS.get(row.verdict, "dim")))
    return table
