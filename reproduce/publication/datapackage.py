"""datapackage.json: every committed CSV file, and what its columns mean (Data Package 1.0, datapackage.org).

Files of one kind share one schema, a file of its own. A table beside a picture has the columns that its figure needs,
and no schema.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from reproduce.pages.facts import Facts

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
STATEMENT: tuple[Field, ...] = (
    ("statement", "string", "paper/statement, an id that stays"),
    ("paper", "string", "folder of the paper"),
    ("arxiv", "string", "arXiv identifier of the paper"),
    ("openreview", "string", "OpenReview forum of the paper"),
    ("place", "string", "where it stands in the publication"),
    ("words", "string", "what the paper says"),
    ("answer", "string", "holds, holds once repaired, does not hold, cannot tell"),
    ("reason", "string", "why it cannot be told, or what was repaired"),
    ("distance", "string", "published setting or lengths, shorter problems, no training, problems of this suite"),
    ("numbers", "string", "what was measured: medians with all seeds"),
    ("p", "number", "largest probability of the permutation tests that decided; of the reverse if that was measured"),
    ("seeds", "integer", "fewest trainings on a side"),
    ("problems", "integer", "fewest distinct test problems of a seed"),
    ("after_runs", "boolean", "written or reworded after some of its runs"),
    ("command", "string", "what makes the runs it rests on"),
)
PUBLISHED: tuple[Field, ...] = (
    ("paper", "string", "folder of the paper"),
    ("place", "string", "where it is printed"),
    ("experiment", "string", "experiments it is about"),
    ("length", "string", "tested lengths, neighbours as ranges"),
    ("count", "string", "tested counts of operands, or digits of the second factor"),
    ("published", "number", "printed value, shares in percent"),
    ("ours", "number", "median over seeds, of many lengths or counts the worst; empty if nothing can be compared"),
    ("points", "number", "ours less published"),
    ("distance", "string", "published setting, published lengths, shorter problems; empty if nothing was run"),
    ("seeds", "integer", "trainings from different random numbers"),
    ("relation", "string", "= for a number, >= and others for a printed bound"),
    ("unit", "string", "% for shares"),
    ("profile", "string", "size of the runs"),
    ("compared", "string", "experiment whose values are compared, of several the least favourable; empty if pooled"),
    ("each_seed", "string", "value of every seed; of many lengths or counts its own worst"),
    ("id", "string", "id within the paper"),
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
    "statements": STATEMENT,
    "published": PUBLISHED,
}
"""Kind of a file, which is its name without the ending -> its columns."""
FURTHER: Mapping[str, Mapping[str, str]] = {
    "scores": {"n": "problems tested", "correct": "problems whose whole response is right"},
    "metrics": {
        "train_loss": "cross entropy of the batch of this step, nats per target token",
        "val_exact_match": "exact match of the validation problems",
    },
}
"""Kinds with a further column for each thing that their runs counted or logged; the name of another says what it is."""
WORDS = {
    "scores": "Counts by tested cell",
    "metrics": "Training curves",
    "keys": "Keys that attention holds on to",
    "statements": "Main statements with their answers",
    "published": "Published measurements beside ours",
}


def schemas() -> dict[str, str]:
    """File name -> schema of a kind of table; the fields stand in the order of the columns."""
    return {f"{kind}.json": json.dumps(_schema(kind), indent=1) + "\n" for kind in TABLES if kind not in FURTHER}


def _schema(kind: str) -> dict[str, list[Any]]:
    known = {name: {"name": name, "type": sort, "description": words} for name, sort, words in TABLES[kind]}
    return {"fields": list(known.values()), "missingValues": [""]}


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
    """All CSV files: the two tables, then those of each paper; none of the hidden folders of a running command."""
    yield facts.repository / "results" / "published.csv"
    yield facts.repository / "results" / "statements.csv"
    for name in facts.compared:
        folder = facts.reference.path / name
        for path in sorted(folder.rglob("*.csv")):
            if not any(part.startswith(".") for part in path.relative_to(folder).parts):
                yield path


def _resource(path: Path, results: Path) -> dict[str, object]:
    where = path.relative_to(results).as_posix()
    name = where.removeprefix("reference/").removesuffix(".csv").replace("/", ".").lower()
    found: dict[str, object] = {"name": name, "path": where}
    if path.stem in TABLES:
        schema = _further(path) if path.stem in FURTHER else f"schemas/{path.stem}.json"
        found |= {"title": WORDS[path.stem], "schema": schema}
    return found


def _further(path: Path) -> dict[str, object]:
    """The schema of a table whose further columns are those of its figure."""
    schema, known = _schema(path.stem), FURTHER[path.stem]
    with path.open(encoding="utf-8") as file:
        names = file.readline().strip().split(",")[len(schema["fields"]) :]
    fields = [{"name": name, "type": "number", "description": known.get(name, "")} for name in names]
    return {**schema, "fields": [*schema["fields"], *({k: v for k, v in f.items() if v} for f in fields)]}
