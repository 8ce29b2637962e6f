"""A submission, its header and predictions, and the table of all that are committed."""

import gzip
import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from lengen.benchmark import scoring
from lengen.benchmark.problem import PROTOCOL, frozen, sum_of
from lengen.benchmark.scoring import Prediction, PredictionError, Scores, by_seed, over_seeds
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


def write_submission(folder: Path, head: Header, rows: Sequence[Prediction]) -> list[Path]:
    """Write the two files of a submission. Predictions of other seeds and splits stay, and so does their header.

    Raises `PredictionError` if they are of another model, task, size or order of digits.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / PREDICTIONS[0]
    if path.exists() and (folder / HEADER).exists():
        there = _decoded(folder / HEADER)
        for name in SAME:
            old, new = getattr(there, name), getattr(head, name)
            if old != new:
                raise PredictionError(f"{folder} has predictions of {name} {old}, not {new}: name a new folder")
        if set(there.seeds) - set(head.seeds):
            head = msgspec.structs.replace(there, seeds=head.seeds)
    before = scoring.read_predictions(path) if path.exists() else []
    new = {(row.get("seed", 0), chain_of(row["id"])) for row in rows}
    others = [row for row in before if (row.get("seed", 0), chain_of(row["id"])) not in new]
    seeds = by_seed([*others, *rows])
    lines = [json.dumps(row, separators=(",", ":")) + "\n" for part in seeds.values() for row in part]
    path.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
    text = msgspec.json.format(msgspec.json.encode(msgspec.structs.replace(head, seeds=tuple(seeds))), indent=1)
    (folder / HEADER).write_bytes(text + b"\n")
    return [folder / HEADER, path]


def _decoded(path: Path) -> Header:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Header)
    except OSError as error:
        raise PredictionError(f"{path} cannot be read ({error.strerror}): name the folder of a submission") from None
    except msgspec.DecodeError as error:
        raise PredictionError(f"{path}: {error}; docs/benchmark.md lists the fields of a header") from None


def read_header(path: Path) -> Header:
    """Return the header of a file; raises `PredictionError`."""
    head = _decoded(path)
    try:
        known = task_of(head.task, head.version)
        known.lengths(head.size, head.version)
    except TaskError as error:
        raise PredictionError(f"{path}: {error}; docs/benchmark.md lists the fields of a header") from None
    if head.problems_sha256 != sum_of(head.task, head.size, head.version):
        raise PredictionError(f"{path}: problems_sha256 is not that of the frozen problems of {head.task}")
    if head.kind == "trained" and not head.parameters:
        raise PredictionError(f"{path}: parameters is 0; expected the number of those of a trained model")
    if head.kind == "trained" and head.trained is None:
        raise PredictionError(f"{path}: expected 'trained', with length, count and examples, as kind is trained")
    if head.trained is not None:
        for name, (_, most) in (("length", head.trained.length), ("count", head.trained.count)):
            if most > (head.size if name == "length" or known.second else 1):
                raise PredictionError(
                    f"{path}: trained.{name} up to {most} and scored at size {head.size}: choose a size of "
                    f"{', '.join(map(str, known.sizes(head.version)))} that is at least as long"
                )
    return head


def read_submission(folder: Path, split: str = "uniform") -> tuple[Header, dict[int, Scores]]:
    """Return the header of a folder and the grid of every seed; of another split those of seeds that answer it.

    Raises `PredictionError`, also for seeds with equal faults.
    """
    head = read_header(folder / HEADER)
    files = [folder / name for name in PREDICTIONS if (folder / name).is_file()]
    if len(files) != 1:
        raise PredictionError(f"{folder}: expected one of {' and '.join(PREDICTIONS)} beside {HEADER}")
    predictions, file = scoring.read_predictions(files[0]), files[0]
    scoring.check_given(predictions, f"{file}: ")
    rows = by_seed(predictions)
    if tuple(rows) != tuple(sorted(head.seeds)):
        raise PredictionError(f"{file}: predictions are of seeds {list(rows)}, {HEADER} names {list(head.seeds)}")
    rows = {seed: [row for row in part if chain_of(row["id"]) == split] for seed, part in rows.items()}
    if split != "uniform":
        rows = {seed: part for seed, part in rows.items() if part}
    problems = frozen(head.task, head.size, head.version, split) if rows else []
    units_first = head.order == "units first"
    right = {(problem.id, problem.answer) for problem in problems}
    faults: dict[frozenset[tuple[str, str | None]], int] = {}
    for seed, part in rows.items() if head.kind == "trained" else ():
        wrong = frozenset((row["id"], scoring.answer_of(row, head.task, units_first)) for row in part) - right
        if wrong and wrong in faults:
            raise PredictionError(
                f"{file}: seeds {faults[wrong]} and {seed} have the same {len(wrong)} wrong predictions; expected "
                f"those of trainings of their own"
            )
        faults[wrong] = seed
    return head, {seed: scoring.score(problems, part, units_first=units_first) for seed, part in rows.items()}


def chain_of(id: str) -> str:
    """Return the split of a problem by its id."""
    return next((split for split in CHAINS if f"/2/{split}/" in id), "uniform")


FOLDER, PAGE = Path("results/benchmark"), Path("docs/benchmark.md")
"""Committed submissions, a folder each, and the page with the table, in a checkout."""
PUBLISHED = "published.toml"
"""File of the values of the literature beside the folders."""
BLOCK = re.compile(r"(<!-- submissions: begin [^\n]*-->\n).*?(<!-- submissions: end -->)", re.DOTALL)
Place = tuple[int, int, int, float]


def _measured(head: Header, grids: dict[int, Scores]) -> dict[str, list[Any]]:
    """Return each of the `scoring.Measures` of a submission, one value per seed."""
    seeds = [scoring.measures(grid, head.size) for grid in grids.values()]
    return dict(zip(scoring.Measures._fields, map(list, zip(*seeds, strict=True)), strict=True))


def row(folder: Path) -> tuple[Place, dict[str, object]]:
    """Return the cells of a submission, after its place: tasks in their order, sizes, the largest area first."""
    head, grids = read_submission(folder)
    chains = read_submission(folder, "carry-all")[1].values() if task_of(head.task).chains else ()
    measures = _measured(head, grids)
    area = over_seeds(measures["area"])
    cells = {
        "task": head.task,
        "size": head.size,
        "protocol": head.version,
        "model": head.model,
        "kind": head.kind,
        "reach": over_seeds(measures["reach"]).text(0),
        "in range": over_seeds(measures["in_range"]).text(),
        **{
            f"{multiple:g}x": over_seeds(rates).text()
            for multiple, rates in zip(scoring.SHOWN, zip(*measures["at"], strict=True), strict=True)
        },
        "area": area.text(),
        "carries": over_seeds([grid.reach for grid in chains]).text(0) if chains else "-",
        "edits": over_seeds(measures["edits"]).text(),
        "absent": max(measures["absent"]),
        "seeds": len(measures["area"]),
        "parameters": f"{head.parameters:,}",
        "examples": f"{head.trained.examples:,}" if head.trained else "-",
    }
    return (list(TASKS).index(head.task), head.size, -head.version, -area.median), cells


def eval_results(folder: Path, dataset: str) -> str:
    """Return a submission as a file of ``.eval_results`` in a model's repository, for a dataset of ``export --hub``."""
    head, grids = read_submission(folder)
    measures = _measured(head, grids)
    area, seeds = over_seeds(measures["area"]).text(), f"median of {len(grids)} seeds" if len(grids) > 1 else "one seed"
    entry = {
        "dataset": {"id": dataset, "task_id": f"{head.task}_{head.size}"},
        "value": over_seeds(measures["reach"]).median,
        "notes": f"reach, {head.protocol}, {head.kind}, {seeds}; area {area}",
    }
    return f"- {json.dumps(entry)}\n"


def _markdown(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    first, *lines = ("|" + "".join(f" {cell} |" if cell != "" else " |" for cell in cells) for cells in (head, *rows))
    return "\n".join([first, re.sub("[^|]+", "---", first), *lines]) + "\n"


def table_of(rows: Iterable[tuple[Place, dict[str, object]]]) -> str:
    """Return a table in Markdown."""
    cells = [cells for _, cells in sorted(rows, key=lambda row: (row[0], str(row[1])))]
    return _markdown(cells[0], (line.values() for line in cells)) if cells else ""


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
    hollow = (("○", *msgspec.structs.astuple(entry)) for entry in published(folder / PUBLISHED))
    return f"{measured}\nAs published (kind `published`):\n\n{_markdown(('', *Published.__struct_fields__), hollow)}"


def page(text: str, folder: Path) -> str:
    """Return a page with its table written anew."""
    return BLOCK.sub(lambda block: f"{block[1]}{table(folder)}{block[2]}", text)
