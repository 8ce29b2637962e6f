"""Comparison rows as CSV, Markdown and JSON, and as a short table for a page; the same rows always give the same bytes.

`Row` objects enter, text leaves.
"""

import json
import math
from collections.abc import Mapping, Sequence

from lengen.records import to_table
from reproduce.comparison import score_card
from reproduce.comparison.effects import asked_of, compared, interval, seeds, show
from reproduce.comparison.rows import COLUMNS, EQUAL, SETTING, Row
from reproduce.comparison.verdicts import OPEN
from reproduce.output.markdown import table

RULES = """\
A **claim** is reproduced if its inequality holds on the whole 95 % interval, differs if it holds nowhere on it, and
is undecided otherwise. The interval adds in squares Wilson's over the test problems (the same for every seed, so they
count once) and Student's over the seeds. For a difference (left minus right, of the least favourable pair), and for a
value without examples, what the seeds add is the wider of two: by the spread of its own sides (Welch's), and by that
of this kind of measure pooled over experiments. Where a cell reads "a against b", interval and threshold are for a
minus b. With fewer than three seeds on a side, or with runs older than the claim, it is undecided whatever they say;
weights set by hand are the same in every seed. If some of the settings that a claim names were not run, the rest can
refute what each of them must satisfy, but confirm nothing; about their pool, or the largest of them, they decide
nothing.

It is **untested** if a model that it rests on has not learned: below 0.95 (median over seeds) in exact match, or in
the claim's own share of right answers, at its longest trained length (or at its most trained operands, where the
claim reads more of them), unless the claim sets another condition; or if it presupposes a claim that is not
reproduced (a part of that claim: undecided, or at the floor, as the whole is). It is at the **floor** if both sides
of a comparison are below 0.01. Claims that say the same thing count once, with the worst verdict among them in the
order differs, untested, floor, undecided, not run, reproduced; of the profiles the largest that has a verdict counts.
The column *frozen* says, from run.json, whether a claim is older than its runs.

A threshold is *published* if the paper prints it, *required* if the paper uses words ("completely fail") and the
number is ours. A published **number** is compared only with runs of exactly the published setting (paper profile),
aggregated as in the paper: median over seeds cell by cell, with an interval over the examples of one seed and over
seeds, of which three are required. Beside it, marked "not comparable", stands what a smaller setting has at the same
multiples of its trained range, if it was tested there. A **setting** is compared with the specification of the paper
profile, which needs no run."""


def to_csv(rows: Sequence[Row]) -> str:
    """The comparison as CSV with the columns of `COLUMNS`; numbers with a fixed number of decimals."""
    return to_table(COLUMNS, ([show(getattr(row, name)) for name in COLUMNS] for row in rows))


def of_papers(rows: Mapping[str, Sequence[Row]], form: str) -> str:
    """The comparisons of several papers as one table, csv or json, whose first column or field is the paper.

    JSON is a list of objects: floats rounded like in the CSV, missing values null.
    """
    every = [(paper, row) for paper, some in rows.items() for row in some]
    if form == "csv":
        cells = ([paper, *(show(getattr(row, name)) for name in COLUMNS)] for paper, row in every)
        return to_table(("paper", *COLUMNS), cells)
    objects = [{"paper": paper} | {name: _plain(getattr(row, name)) for name in COLUMNS} for paper, row in every]
    return json.dumps(objects, indent=1) + "\n"


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
    wrong = [row for row in settings if row.verdict != EQUAL]
    parts = [
        f"# {paper}: published and measured",
        "## Score card",
        score_table(reference, "reference") + ("\n\n" + score_table(yours, "yours") if yours else ""),
        "## Claims",
        _table(claims, reference, yours),
        "## What is open, and what would decide it",
        _open(reference),
        "## Numbers",
        _table(numbers, reference, yours),
        "## Settings",
        f"{len(settings) - len(wrong)} of {len(settings)} published hyper-parameters are equal in the paper-profile "
        f"specifications (settings equal); all stand in comparison.csv.",
        *([_table(wrong, reference, ())] if wrong else []),
        "## How verdicts are given",
        RULES,
    ]
    if deviations:
        parts += ["## Deviations", "\n".join(f"- **{name}** {text}" for name, text in deviations.items())]
    return "\n\n".join(parts) + "\n"


def score_table(rows: Sequence[Row], name: str) -> str:
    """The score card of one store as a Markdown table."""
    return table(
        [name, "claims", *score_card.SHOWN],
        (
            [said, counts.total(), *(counts[verdict] for verdict in score_card.SHOWN)]
            for said, counts in score_card.card(rows)
        ),
    )


def _open(rows: Sequence[Row]) -> str:
    """Claims that are untested, at the floor or undecided, with the reason and what it would take."""
    found = [row for row in score_card.decisive(rows).values() if row.verdict in OPEN]
    if not found:
        return "Nothing."
    found.sort(key=lambda row: not row.headline)
    return table(
        ["id", "profile", "verdict", "why", "what would decide it"],
        ([_id(row), row.profile, row.verdict, row.why, row.decide] for row in found),
    )


def _table(rows: Sequence[Row], reference: Sequence[Row], yours: Sequence[Row]) -> str:
    there = {(row.kind, row.id, row.profile): row for row in reference}
    # A number has one row whichever profile it found runs at, a claim one per profile.
    here = {(row.kind, row.id, row.profile if row.kind == "claim" else ""): row for row in yours}
    limit = "required" if any(row.kind == "claim" for row in rows) else "published"
    head = ["id", "place", "statement", "profile", limit, "reference", *(["yours"] if yours else []), "remarks"]
    lines = []
    for row in rows:
        mine = here.get((row.kind, row.id, row.profile if row.kind == "claim" else ""))
        told = there.get((row.kind, row.id, row.profile))
        shown = mine if mine is not None and mine.seeds else row
        remarks = "; ".join(filter(None, [shown.why, shown.deviations]))
        cells = [_id(row), row.place, row.statement, row.profile, asked_of(row), _cell(told)]
        lines.append([*cells, *([_cell(mine)] if yours else []), remarks])
    return table(head, lines)


def _id(row: Row) -> str:
    return f"{row.id} (headline)" if row.headline else row.id


def _cell(row: Row | None) -> str:
    """Verdict, value, interval, examples and seeds in one table cell."""
    if row is None:
        return "not run"
    if row.ours is None:
        return row.verdict
    size = f", n {row.n}, {seeds(row.seeds)}" if row.seeds else ""
    age = f", frozen: {row.frozen}" if row.frozen else ""
    return f"**{row.verdict}** {compared(row)}{interval(row)}{size}{age}"


def claims_block(rows: Sequence[Row]) -> str:
    """The score card, then the claims: statement, place, what is required, what was measured, verdict with its reason.

    The headline claims alone where a paper marks any, each at the largest profile that has a verdict; where the score
    card counts one by another of its parts, it says so.
    """
    claims = list(score_card.decisive(rows).values())
    marked = [row for row in claims if row.headline]
    whole = score_card.counted_as(rows)
    lines = []
    for row in marked or claims:
        trained = f", {seeds(row.seeds)}" if row.seeds else ""
        measured = f"{compared(row)}{interval(row)}{trained}" if row.ours is not None else ""
        verdict = f"{row.verdict}: {row.why}" if row.why else row.verdict
        if whole[row.id] != row.verdict:
            verdict += f"; counts as {whole[row.id]} with its parts"
        lines.append((row.statement, row.place, asked_of(row), measured, verdict))
    head = ("claim", "place", "required", "measured", "verdict")
    return f"{score_table(rows, 'score card')}\n\n{table(head, lines)}"
