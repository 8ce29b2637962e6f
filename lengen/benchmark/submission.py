"""A submission: the header submission.json and the predictions beside it."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from lengen.benchmark.frozen import checksums, frozen
from lengen.benchmark.scoring import PredictionError, Row, by_seed, read_predictions, score
from lengen.benchmark.tasks import TaskError, task_of
from lengen.results.records import Grid

PROTOCOL = "lengen-text/1"
HEADER = "submission.json"
PREDICTIONS = ("predictions.jsonl.gz", "predictions.jsonl")


class Trained(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Training data of a model."""

    length: tuple[int, int]
    """Shortest and longest operand."""
    count: tuple[int, int]
    """Least and most of the second axis."""
    examples: Annotated[int, msgspec.Meta(ge=0)]
    """Training examples seen."""


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Who made the predictions, and from what."""

    protocol: Literal["lengen-text/1"]
    model: str
    task: str
    size: int
    """The trained size, which decides the problems."""
    kind: Literal["trained", "constructed", "program", "prompted"]
    parameters: int
    seeds: tuple[int, ...]
    problems_sha256: str
    trained: Trained | None = None
    scratchpad: bool = False
    hints: str = "none"
    order: Literal["most significant first", "units first"] = "most significant first"
    """Order of the digits of predictions."""
    code: str = ""
    """Address of the code."""
    note: str = ""


def header(model: str, task: str, size: int, **fields: Any) -> Header:
    """A header of this protocol and these problems."""
    made = {"protocol": PROTOCOL, "problems_sha256": checksums()[task_of(task).name], "seeds": (0,), "parameters": 0}
    return msgspec.convert(made | {"model": model, "task": task, "size": size} | fields, Header)


def write_submission(folder: Path, head: Header, rows: Sequence[Row]) -> list[Path]:
    """Write the two files of a submission; predictions of other seeds that are there stay."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / PREDICTIONS[0]
    kept = [row for row in read_predictions(path) if row.get("seed", 0) not in head.seeds] if path.exists() else []
    found = by_seed([*kept, *rows])
    lines = [
        json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for part in found.values() for row in part
    ]
    path.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
    text = msgspec.json.format(msgspec.json.encode(msgspec.structs.replace(head, seeds=tuple(found))), indent=1)
    (folder / HEADER).write_bytes(text + b"\n")
    return [folder / HEADER, path]


def read_header(path: Path) -> Header:
    """The header of a file; raises `PredictionError`."""
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Header)
        known = task_of(found.task)
        known.cells(found.size)
    except (OSError, msgspec.DecodeError, TaskError) as error:
        raise PredictionError(f"{path}: {error}; docs/benchmark.md lists the fields of a header") from None
    if found.problems_sha256 != checksums()[found.task]:
        raise PredictionError(f"{path}: problems_sha256 is not that of the frozen problems of {found.task}")
    if found.trained is not None and found.trained.length[1] > found.size:
        raise PredictionError(
            f"{path}: trained on lengths up to {found.trained.length[1]} and scored at size {found.size}: choose a "
            f"size of {', '.join(map(str, known.sizes))} that is at least as long"
        )
    return found


def read_submission(folder: Path) -> tuple[Header, dict[int, Grid]]:
    """The header of a folder and the grid of every seed; raises `PredictionError`."""
    found = read_header(folder / HEADER)
    files = [folder / name for name in PREDICTIONS if (folder / name).is_file()]
    if len(files) != 1:
        raise PredictionError(f"{folder}: expected one of {' and '.join(PREDICTIONS)} beside {HEADER}")
    rows = by_seed(read_predictions(files[0]))
    if tuple(rows) != tuple(sorted(found.seeds)):
        raise PredictionError(f"{files[0]}: predictions are of seeds {list(rows)}, {HEADER} names {list(found.seeds)}")
    asked = frozen(found.task, found.size)
    return found, {seed: score(asked, part, units_first=found.order == "units first") for seed, part in rows.items()}
