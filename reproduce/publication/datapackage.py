"""datapackage.json: every committed CSV file, and what its columns mean (Data Package 1.0, datapackage.org).

Files of one kind share one schema, a file of its own. A table beside a picture has the columns that its figure needs,
and no schema.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from reproduce.comparison.rows import COLUMNS as ROW_COLUMNS
from reproduce.publication.claims import COLUMNS as CLAIM_COLUMNS
from reproduce.publication.facts import Facts

Field = tuple[str, str, str]
"""Name, type, meaning."""

LENGTH: Field = ("length", "integer", "digits of the operands, or how many symbols a sequence has")
COUNT: Field = ("count", "integer", "operands, or digits of the second factor; empty where there is one axis")
MODE: Field = (
    "mode",
    "string",
    "teacher_forced: the true response stands in the context; free_running: the model's own; sampled: the model's own, "
    "drawn at temperature 1",
)
VERDICT: tuple[Field, ...] = (
    ("place", "string", "where it stands in the publication"),
    ("statement", "string", "what is claimed, in one sentence"),
    ("headline", "boolean", "whether it is among the claims of abstract and contributions, with which the paper opens"),
    ("relation", "string", "how the measured value must stand to the threshold"),
    ("by", "string", "published: the threshold is printed; required: it is ours, the paper says it in words"),
    ("profile", "string", "size of the runs: cpu and night on two cores, paper as published"),
    ("verdict", "string", "reproduced, differs, undecided, untested, floor or not run (docs: how verdicts are given)"),
    ("ci_low", "number", "lower end of the 95 % interval over examples and seeds"),
    ("ci_high", "number", "upper end of it"),
    ("n", "integer", "problems asked, over all seeds"),
    ("seeds", "integer", "trainings from different random numbers"),
    ("frozen", "string", "whether the claim is older than its runs: yes, no or unknown"),
    ("why", "string", "why it is not decided"),
    ("decide", "string", "what would decide it"),
    ("command", "string", "what makes the runs it rests on"),
)
CLAIM: tuple[Field, ...] = (
    ("claim", "string", "paper/claim, an id that stays"),
    ("paper", "string", "folder of the paper"),
    ("arxiv", "string", "arXiv identifier of the paper"),
    ("openreview", "string", "OpenReview forum of the paper"),
    ("counts_as", "string", "the claim as which it counts: itself, or the one that it is a part of"),
    ("threshold", "string", "what the measured value is held against"),
    ("measured", "number", "value of the runs"),
    *VERDICT,
)
COMPARISON: tuple[Field, ...] = (
    ("kind", "string", "claim, or a published number"),
    ("id", "string", "id within the paper"),
    ("published", "string", "published value, or what a claim asks"),
    ("aggregation", "string", "what was measured, and how it is made one value"),
    ("ours", "string", "value of the runs"),
    ("deviations", "string", "numbers of the deviations from the publication, then remarks"),
    ("counts_as", "string", "the claim as which it counts"),
    ("scale", "string", "what the value is: a share, a difference of shares, or empty for anything else"),
    ("examples_low", "number", "lower end of the 95 % interval over examples alone"),
    ("examples_high", "number", "upper end of it"),
    ("seeds_low", "number", "lower end of the 95 % interval over seeds alone"),
    ("seeds_high", "number", "upper end of it"),
    ("left", "number", "of a difference: the value that the other is taken from"),
    ("right", "number", "of a difference: the value that is taken from it"),
    ("left_at", "string", "length of all test problems behind ours, or behind left; empty where they have several"),
    ("right_at", "string", "length of all test problems behind right; empty where they have several"),
    *VERDICT,
)
RUN: tuple[Field, ...] = (
    ("variant", "string", "third part of the name of an experiment: paper/figure/variant"),
    ("profile", "string", "size of the run: cpu and night on two cores, paper as published"),
    ("seed", "integer", "random numbers of the training"),
)
TABLES: Mapping[str, tuple[Field, ...]] = {
    "scores": (*RUN, LENGTH, COUNT, MODE),
    "metrics": (
        *RUN,
        ("step", "integer", "updates made"),
        ("name", "string", "what is measured while training"),
        ("value", "number", "its value"),
    ),
    "keys": (
        *RUN,
        LENGTH,
        COUNT,
        ("layer", "integer", "layer, from 0"),
        ("head", "integer", "head, from 0"),
        ("steps", "integer", "predictions looked at"),
        ("keys_sum", "integer", "over these, the fewest keys that hold 90 % of the softmax"),
    ),
    "comparison": COMPARISON,
    "claims": CLAIM,
}
"""Kind of a file, which is its name without the ending -> its columns; scores.csv has one more for each count."""
COUNTED = {"n": "problems tested", "correct": "problems whose whole response is right"}
"""Counts of every cell; the name of another says what it counts."""
ORDERED = {"claims": CLAIM_COLUMNS, "comparison": ROW_COLUMNS}
"""Columns in the order of the file, where it is not that of `TABLES`."""
WORDS = {
    "scores": "Counts by tested cell",
    "metrics": "Training curves",
    "keys": "Keys that attention holds on to",
    "comparison": "Published and measured",
    "claims": "Every claim with its verdict",
}


def schemas() -> dict[str, str]:
    """File name -> schema of a kind of table; the fields stand in the order of the columns."""
    return {f"{kind}.json": json.dumps(_schema(kind), indent=1) + "\n" for kind in TABLES if kind != "scores"}


def _schema(kind: str) -> dict[str, list[Any]]:
    known = {name: {"name": name, "type": sort, "description": words} for name, sort, words in TABLES[kind]}
    fields = [known[name] for name in ORDERED.get(kind, known)]
    return {"fields": fields, "missingValues": [""]}


def package(facts: Facts) -> str:
    """The descriptor, one line for each file."""
    results = facts.repository / "results"
    head = {
        "name": "lengen-suite-results",
        "title": "Length generalization of arithmetic transformers: published claims against committed runs",
        "version": facts.version,
        "licenses": [{"name": "MIT", "path": "https://spdx.org/licenses/MIT"}],
    }
    return with_lines(head, "resources", [_resource(path, results) for path in _tables(facts)])


def with_lines(head: Mapping[str, object], name: str, items: Iterable[Mapping[str, object]]) -> str:
    """JSON of an object whose last value is a list of objects, each in a line of its own: it reads and differs well.

    >>> print(with_lines({"a": 1}, "b", [{"c": 2}, {"c": 3}]))
    {
     "a": 1,
     "b": [
      {"c": 2},
      {"c": 3}
     ]
    }
    <BLANKLINE>
    """
    first = json.dumps(head, indent=1, ensure_ascii=False).removesuffix("\n}")
    lines = ",\n  ".join(json.dumps(item, ensure_ascii=False) for item in items)
    return f'{first},\n "{name}": [\n  {lines}\n ]\n}}\n'


def _tables(facts: Facts) -> Iterator[Path]:
    """All CSV files: the claims, then those of each paper, without what a running command leaves in hidden folders."""
    yield facts.repository / "results" / "claims.csv"
    for name in facts.rows:
        folder = facts.reference.path / name
        for path in sorted(folder.rglob("*.csv")):
            if not any(part.startswith(".") for part in path.relative_to(folder).parts):
                yield path


def _resource(path: Path, results: Path) -> dict[str, object]:
    where = path.relative_to(results).as_posix()
    name = where.removeprefix("reference/").removesuffix(".csv").replace("/", ".").lower()
    found: dict[str, object] = {"name": name, "path": where}
    if path.stem in TABLES:
        schema = _scores(path) if path.stem == "scores" else f"schemas/{path.stem}.json"
        found |= {"title": WORDS[path.stem], "schema": schema}
    return found


def _scores(path: Path) -> dict[str, object]:
    """The schema of a table of scores, whose counts are those of its figure."""
    with path.open(encoding="utf-8") as file:
        counts = file.readline().strip().split(",")[len(TABLES["scores"]) :]
    schema = _schema("scores")
    fields = [{"name": name, "type": "number", "description": COUNTED.get(name, "")} for name in counts]
    return {**schema, "fields": [*schema["fields"], *({k: v for k, v in f.items() if v} for f in fields)]}
