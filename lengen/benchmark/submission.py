"""A submission, its header and predictions, and the table of all that are committed."""

import gzip
import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from lengen.benchmark.problem import PROTOCOL, frozen, sum_of
from lengen.benchmark.scoring import (
    PredictionError,
    Row,
    Scores,
    answer_of,
    by_seed,
    check_given,
    measures,
    over_seeds,
    read_predictions,
    score,
)
from lengen.benchmark.tasks import CHAINS, TASKS, TaskError, task_of

HEADER = "submission.json"
PREDICTIONS = ("predictions.jsonl.gz", "predictions.jsonl")
NAME = r"[^|<>\n\r]{1,120}"
"""One line of plain text, which a table can print."""


class Trained(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Training data of a model."""

    length: tuple[int, int]
    """Shortest and longest operand."""
    count: tuple[int, int]
    """Least and most of the second axis."""
    examples: Annotated[int, msgspec.Meta(ge=1)]
    """Training examples seen."""

    def __post_init__(self) -> None:
        for name, (least, most) in (("length", self.length), ("count", self.count)):
            if not 1 <= least <= most:
                raise ValueError(f"trained.{name} is {least} to {most}; expected least and most, from 1 on")


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Who made the predictions, and from what."""

    protocol: Literal["lengen-text/1", "lengen-text/2"]
    model: Annotated[str, msgspec.Meta(pattern=f"^{NAME}$")]
    task: str
    size: int
    """The trained size, which decides the problems."""
    kind: Literal["trained", "constructed", "program", "prompted"]
    parameters: Annotated[int, msgspec.Meta(ge=0)]
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

    @property
    def version(self) -> int:
        """Version of the protocol."""
        return int(self.protocol.removeprefix(PROTOCOL))

    def __post_init__(self) -> None:
        if not self.seeds or len({*self.seeds}) < len(self.seeds):
            raise ValueError(f"seeds are {[*self.seeds]}; expected one or more, each once")
        if self.trained is not None and self.kind in ("constructed", "program"):
            raise ValueError(f"a model that is {self.kind} has no 'trained'; expected kind trained")


SAME = ("protocol", "model", "task", "size", "order")
"""Fields that all seeds of a submission share."""


def header(model: str, task: str, size: int, version: int = 2, **fields: Any) -> Header:
    """Return a header of a protocol and these problems.

    Raises `PredictionError` for a name that a table cannot print.
    """
    if not re.fullmatch(NAME, model):
        raise PredictionError(f"name {model!r:.60}: expected one line of 1 to 120 characters without |, < and >")
    task_of(task, version).lengths(size, version)
    made = {"protocol": f"{PROTOCOL}{version}", "problems_sha256": sum_of(task, size, version), "seeds": (0,)}
    return msgspec.convert(made | {"parameters": 0, "model": model, "task": task, "size": size} | fields, Header)


def write_submission(folder: Path, head: Header, rows: Sequence[Row]) -> list[Path]:
    """Write the two files of a submission. Predictions of other seeds and splits stay, and so does their header.

    Raises `PredictionError` if they are of another model, task, size or order of digits.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / PREDICTIONS[0]
    if path.exists() and (folder / HEADER).exists():
        there = _decoded(folder / HEADER)
        others = set(there.seeds) - set(head.seeds)
        for name in SAME:
            old, new = getattr(there, name), getattr(head, name)
            if old != new:
                raise PredictionError(f"{folder} has predictions of {name} {old}, not {new}: name a new folder")
        if others:
            head = msgspec.structs.replace(there, seeds=head.seeds)
    before = read_predictions(path) if path.exists() else []
    new = {(row.get("seed", 0), chain_of(row["id"])) for row in rows}
    kept = [row for row in before if (row.get("seed", 0), chain_of(row["id"])) not in new]
    found = by_seed([*kept, *rows])
    lines = [json.dumps(row, separators=(",", ":")) + "\n" for part in found.values() for row in part]
    path.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
    text = msgspec.json.format(msgspec.json.encode(msgspec.structs.replace(head, seeds=tuple(found))), indent=1)
    (folder / HEADER).write_bytes(text + b"\n")
    return [folder / HEADER, path]


def _decoded(path: Path) -> Header:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Header)
    except (OSError, msgspec.DecodeError) as error:
        raise PredictionError(f"{path}: {error}; docs/benchmark.md lists the fields of a header") from None


def read_header(path: Path) -> Header:
    """Return the header of a file; raises `PredictionError`."""
    found = _decoded(path)
    try:
        known = task_of(found.task, found.version)
        known.lengths(found.size, found.version)
    except TaskError as error:
        raise PredictionError(f"{path}: {error}; docs/benchmark.md lists the fields of a header") from None
    if found.problems_sha256 != sum_of(found.task, found.size, found.version):
        raise PredictionError(f"{path}: problems_sha256 is not that of the frozen problems of {found.task}")
    if found.kind == "trained" and not found.parameters:
        raise PredictionError(f"{path}: parameters is 0; expected the number of those of a trained model")
    if found.kind == "trained" and found.trained is None:
        raise PredictionError(f"{path}: expected 'trained', with length, count and examples, as kind is trained")
    if found.trained is not None:
        for name, (_, most) in (("length", found.trained.length), ("count", found.trained.count)):
            if most > (found.size if name == "length" or known.second else 1):
                raise PredictionError(
                    f"{path}: trained.{name} up to {most} and scored at size {found.size}: choose a size of "
                    f"{', '.join(map(str, known.sizes(found.version)))} that is at least as long"
                )
    return found


def read_submission(folder: Path, split: str = "uniform") -> tuple[Header, dict[int, Scores]]:
    """Return the header of a folder and the grid of every seed; of another split those of seeds that answer it.

    Raises `PredictionError`, also for seeds with equal faults.
    """
    found = read_header(folder / HEADER)
    files = [folder / name for name in PREDICTIONS if (folder / name).is_file()]
    if len(files) != 1:
        raise PredictionError(f"{folder}: expected one of {' and '.join(PREDICTIONS)} beside {HEADER}")
    given = read_predictions(files[0])
    check_given(given, f"{files[0]}: ")
    rows = by_seed(given)
    if tuple(rows) != tuple(sorted(found.seeds)):
        raise PredictionError(f"{files[0]}: predictions are of seeds {list(rows)}, {HEADER} names {list(found.seeds)}")
    rows = {seed: [one for one in part if chain_of(one["id"]) == split] for seed, part in rows.items()}
    if split != "uniform":
        rows = {seed: part for seed, part in rows.items() if part}
    asked = frozen(found.task, found.size, found.version, split) if rows else []
    units_first = found.order == "units first"
    right = {(problem.id, problem.answer) for problem in asked}
    faults: dict[frozenset[tuple[str, str | None]], int] = {}
    for seed, part in rows.items() if found.kind == "trained" else ():
        wrong = frozenset((row["id"], answer_of(row, found.task, units_first)) for row in part) - right
        if wrong and wrong in faults:
            raise PredictionError(
                f"{files[0]}: seeds {faults[wrong]} and {seed} have the same {len(wrong)} wrong predictions; expected "
                f"those of trainings of their own"
            )
        faults[wrong] = seed
    return found, {seed: score(asked, part, units_first=units_first) for seed, part in rows.items()}


def chain_of(id: str) -> str:
    """Return the split of a problem by its id."""
    return next((split for split in CHAINS if f"/2/{split}/" in id), "uniform")


FOLDER, PAGE = Path("results/benchmark"), Path("docs/benchmark.md")
"""Committed submissions, a folder each, and the page with the table, in a checkout."""
PUBLISHED = "published.toml"
"""File of the values of the literature beside the folders."""
BLOCK = re.compile(r"(<!-- submissions: begin [^\n]*-->\n).*?(<!-- submissions: end -->)", re.DOTALL)
COLUMNS = [
    "task",
    "size",
    "protocol",
    "model",
    "kind",
    "reach",
    "in_range",
    "1.5x",
    "2x",
    "3x",
    "area",
    "carries",
    "edits",
    "absent",
    "seeds",
    "parameters",
    "examples",
]


Place = tuple[int, int, int, float]


def row(folder: Path) -> tuple[Place, str]:
    """Return the line of a submission, after its place: tasks in their order, sizes, the largest area first."""
    header, grids = read_submission(folder)
    _, chains = read_submission(folder, "carry-all") if task_of(header.task).chains else (header, {})
    found = [measures(grid, header.size) for grid in grids.values()]
    numbers = [over_seeds(values).text() for values in zip(*(one.at for one in found), strict=True)]
    cells = (
        header.task,
        header.size,
        header.version,
        header.model,
        header.kind,
        over_seeds([one.reach for one in found]).text(0),
        over_seeds([one.in_range for one in found]).text(),
        *numbers,
        over_seeds([one.area for one in found]).text(),
        over_seeds([grid.reach for grid in chains.values()]).text(0) if chains else "-",
        over_seeds([one.edits for one in found]).text(),
        max(one.absent for one in found),
        len(found),
        f"{header.parameters:,}",
        f"{header.trained.examples:,}" if header.trained else "-",
    )
    place = (
        list(TASKS).index(header.task),
        header.size,
        -header.version,
        -over_seeds([one.area for one in found]).median,
    )
    return place, f"| {' | '.join(map(str, cells))} |"


def eval_results(folder: Path, dataset: str) -> str:
    """Return a submission as a file of ``.eval_results`` in a model's repository, for a dataset of ``export --hub``."""
    header, grids = read_submission(folder)
    found = [measures(grid, header.size) for grid in grids.values()]
    area = over_seeds([one.area for one in found]).text()
    entry = {
        "dataset": {"id": dataset, "task_id": f"{header.task}_{header.size}"},
        "value": over_seeds([one.reach for one in found]).median,
        "notes": f"reach, {header.protocol}, {header.kind}, median of {len(found)} seeds; area {area}",
    }
    return f"- {json.dumps(entry)}\n"


def table_of(rows: Iterable[tuple[Place, str]]) -> str:
    """Return a table in Markdown."""
    lines = [line for _, line in sorted(rows)]
    head = f"| {' | '.join(COLUMNS).replace('_', ' ')} |"
    return "\n".join([head, "|" + "---|" * len(COLUMNS), *lines]) + "\n"


class Published(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A value of the literature on a task of the benchmark, which nobody ran here."""

    task: str
    trained: Annotated[int, msgspec.Meta(ge=1)]
    """Longest trained length."""
    tested: str
    """Lengths that the number is of."""
    exact: str
    """Exact match, as it is printed."""
    method: Annotated[str, msgspec.Meta(pattern=f"^{NAME}$")]
    source: Annotated[str, msgspec.Meta(pattern="arXiv:")]


def published(path: Path) -> list[Published]:
    """Return the published rows of a file, by task and trained length; raises `PredictionError`."""
    try:
        rows = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8"))["row"], list[Published])
        return sorted(rows, key=lambda row: (list(TASKS).index(task_of(row.task).name), row.trained))
    except (OSError, ValueError, KeyError) as error:
        raise PredictionError(f"{path}: {error}; expected rows with {', '.join(Published.__struct_fields__)}") from None


def table(folder: Path) -> str:
    """Return the table of all submissions of a folder and, hollow and apart, that of what is published."""
    measured = table_of(row(path.parent) for path in sorted(folder.glob(f"*/{HEADER}")))
    if not (folder / PUBLISHED).is_file():
        return measured
    fields = Published.__struct_fields__
    head = f"| | {' | '.join(fields)} |\n|" + "---|" * (len(fields) + 1)
    lines = [f"| ○ | {' | '.join(map(str, msgspec.structs.astuple(one)))} |" for one in published(folder / PUBLISHED)]
    return "\n".join([measured, "As published (kind `published`):\n", head, *lines]) + "\n"


def page(text: str, folder: Path) -> str:
    """Return a page with its table written anew."""
    return BLOCK.sub(lambda found: f"{found[1]}{table(folder)}{found[2]}", text)
