"""The frozen problems: a compressed file of JSON lines a task, and the SHA-256 of each file's text."""

import gzip
import hashlib
import json
from functools import cache
from pathlib import Path

from lengen.benchmark.problem import Problem, drawn, read_lines
from lengen.benchmark.tasks import TASKS, Task, TaskError, task_of

FOLDER = Path(__file__).parent / "problems"
CHECKSUMS = FOLDER / "checksums.json"


def made(task: Task) -> str:
    """Return the text of a task's file, drawn anew: the same on every machine."""
    cells = sorted({cell for size in task.sizes for cell in task.cells(size)})
    return "".join(f"{problem.line()}\n" for cell in cells for problem in drawn(task, *cell))


def checksum(text: str) -> str:
    """Return SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def checksums() -> dict[str, str]:
    """Return SHA-256 of the problems of each task."""
    found: dict[str, str] = json.loads(CHECKSUMS.read_text(encoding="utf-8"))
    return found


@cache
def _problems(name: str) -> tuple[Problem, ...]:
    path = FOLDER / f"{name}.jsonl.gz"
    try:
        text = gzip.decompress(path.read_bytes()).decode()
    except (OSError, EOFError, ValueError) as error:
        raise TaskError(f"{path} cannot be read ({error}): restore it, or write it again with {WRITE}") from None
    if checksum(text) != checksums()[name]:
        raise TaskError(f"{path} is not the frozen file: its SHA-256 differs from {CHECKSUMS.name}; restore it")
    return tuple(read_lines(text.splitlines(), name=path.name))


WRITE = "python -m lengen.benchmark"


def frozen(task: str, size: int | None = None) -> list[Problem]:
    """Return the frozen problems of a task, or those of a trained size; raises `TaskError`."""
    known = task_of(task)
    if size is None:
        return list(_problems(task))
    cells = set(known.cells(size))
    return [problem for problem in _problems(task) if problem.cell in cells]


def write() -> None:
    """Write all files and their checksums."""
    texts = {name: made(task) for name, task in TASKS.items()}
    for name, text in texts.items():
        (FOLDER / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    sums = {name: checksum(text) for name, text in texts.items()}
    CHECKSUMS.write_text(json.dumps(sums, indent=1) + "\n", encoding="utf-8")
