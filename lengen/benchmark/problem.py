"""Problems of the benchmark: their lines of JSON, the frozen files, and files that others read."""

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec

from lengen.benchmark.tasks import TASKS, Task, TaskError, task_of
from lengen.data.lines import BYTE_ORDER_MARK, cleaned, filled, listed, parted


class Problem(NamedTuple):
    """One line of a file of problems."""

    id: str
    task: str
    length: int
    count: int  # type: ignore[assignment]
    operands: tuple[str, ...]
    prompt: str
    answer: str
    split: str = "test"

    @property
    def cell(self) -> tuple[int, int]:
        """Return the test cell that counts it."""
        return self.length, self.count

    def line(self) -> str:
        """Return the line of JSON of this problem."""
        return json.dumps(self._asdict(), separators=(",", ":"), ensure_ascii=False)


def of_operands(task: Task, id: str, cell: tuple[int, int], operands: tuple[str, ...], split: str = "test") -> Problem:
    """Return a problem with the prompt and the answer of its operands."""
    return Problem(id, task.name, *cell, operands, task.prompt(operands), task.answer(operands), split)


def drawn(task: Task, length: int, count: int) -> list[Problem]:
    """Return the frozen problems of a cell: different ones, at most a tenth of those that there are."""
    random = Random(f"lengen-text/1 test {task.name} {length} {count}")
    wanted = max(1, min(task.examples, task.possible(length, count) // 10))
    found: dict[tuple[str, ...], None] = {}
    for _ in range(100 * wanted):
        if len(found) < wanted:
            found.setdefault(task.draw(random, length, count))
    name = f"{task.name}/length={length}/count={count}"
    return [of_operands(task, f"{name}/{i:04}", (length, count), one) for i, one in enumerate(found)]


def training(task: Task, size: int, seed: int, examples: int, held_out: Set[str] = frozenset()) -> Iterator[Problem]:
    """Yield training problems of a size: each length uniform on 1 to ``size``.

    Prompts that are ``held_out`` never occur.
    """
    random = Random(f"lengen-text/1 train {task.name} {size} {seed}")
    done = 0
    while done < examples:
        length, second = (1 + int(random.random() * size) for _ in range(2))
        count = max(second, 2) if task.second == "operands" else second if task.second else 1
        operands = task.draw(random, length, count)
        if task.prompt(operands) not in held_out:
            yield of_operands(task, f"{task.name}/train/seed={seed}/{done:07}", (length, count), operands, "train")
            done += 1


def read_line(text: str, task: Task | str, id: str = "") -> Problem:
    """Return a problem of a line of JSON, of ``12+34=46``, of ``12+34`` or, but for sorting, of ``12,34,46``.

    Raises `TaskError`.

    >>> read_line("12+34=46", "addition").answer, read_line("012,34,46", "addition").prompt
    ('46', '12+34=')
    """
    task = task_of(task) if isinstance(task, str) else task
    text = text.removeprefix(BYTE_ORDER_MARK).strip()
    if text.startswith("{"):
        given = _of_json(text)
        if given.task != task.name:
            raise TaskError(f"'{text[:60]}' is a problem of {given.task}, not of {task.name}")
        operands = task.read_prompt(given.prompt)
        return _checked(of_operands(task, given.id, given.cell, operands, given.split), given.answer, task)
    parts, answer = parted(text, task.operator, table=task.name != "sorting")
    operands = task.checked(parts, text)
    second = {"digits": len(operands[-1]), "operands": len(operands)}.get(task.second, 1)
    length = len(operands) if task.name == "sorting" else max(map(len, operands)) if task.fixed else len(operands[0])
    cell = (max(map(len, operands)) if task.second == "operands" else length, second)
    return _checked(of_operands(task, id or task.prompt(operands), cell, operands), answer, task)


def _checked(problem: Problem, answer: str, task: Task) -> Problem:
    if answer.strip() and of_task(answer, task) != problem.answer:
        raise TaskError(f"'{problem.prompt}': the answer is {problem.answer}, not {answer.strip()}")
    return problem


def _of_json(text: str) -> Problem:
    try:
        values = json.loads(text)
        given = [values[name] for name in Problem._fields[:-1]]  # a problem need not say of which split it is
        return msgspec.convert([*given, values.get("split", "test")], Problem)
    except (ValueError, TypeError, KeyError, RecursionError, msgspec.ValidationError):
        raise TaskError(
            f"'{text[:60]}' is not a problem of the benchmark: expected JSON with id, task, prompt and answer (texts), "
            "length and count (numbers) and operands (a list of texts)"
        ) from None


def read_lines(lines: Iterable[str], task: Task | str | None = None, name: str = "problems") -> list[Problem]:
    """Return problems of a file, one a line; raises `TaskError` that names up to five wrong lines."""
    task = task_of(task) if isinstance(task, str) else task
    found, wrong = [], []
    for number, text in filled(lines, header=task is not None):
        try:
            if task is None and not text.lstrip().startswith("{"):
                raise TaskError(f"'{text.strip()[:60]}' does not name its task")
            found.append(_of_json(text) if task is None else read_line(text, task, f"{name}/{number}"))
        except TaskError as error:
            wrong.append(f"line {number}: {error}")
    wrong += [f"{n} lines have the id {id!r}" for id, n in Counter(one.id for one in found).items() if n > 1]
    if wrong:
        raise TaskError(f"{name}: {listed(wrong)}")
    return found


def of_task(text: str, task: Task, units_first: bool = False) -> str:
    """Return an answer of a task as it is compared."""
    return cleaned(text, number=task.numbers, apart=task.name == "sorting", units_first=units_first)


FOLDER = Path(__file__).parent / "problems"
CHECKSUMS = FOLDER / "checksums.json"


def made(task: Task) -> str:
    """Return the text of a task's file, drawn anew: the same on every machine."""
    cells = sorted({cell for size in task.sizes for cell in task.cells(size)})
    return "".join(f"{problem.line()}\n" for cell in cells for problem in drawn(task, *cell))


def checksum(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def checksums() -> dict[str, str]:
    """Return the SHA-256 of the problems of each task."""
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


COLUMNS = ("id", "task", "length", "count", "prompt", "answer", "text", "split")
"""Columns of tables of problems: those that its lines have."""
Lines = Iterable[Mapping[str, Any]]
"""Problems as plain data."""


def _jsonl(lines: Lines, folder: Path, name: str) -> list[Path]:
    return _written(folder / f"{name}.jsonl", (json.dumps(line, ensure_ascii=False) for line in lines))


def _txt(lines: Lines, folder: Path, name: str) -> list[Path]:
    return _written(folder / f"{name}.txt", (line.get("text") or line["prompt"] + line["answer"] for line in lines))


def _written(path: Path, lines: Iterable[str]) -> list[Path]:
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(f"{line}\n" for line in lines)
    return [path]


def _csv(lines: Lines, folder: Path, name: str) -> list[Path]:
    path = folder / f"{name}.csv"
    _table(lines).to_csv(path, index=False, lineterminator="\n")
    return [path]


def _parquet(lines: Lines, folder: Path, name: str) -> list[Path]:
    path = folder / f"{name}.parquet"
    _table(lines).to_parquet(path, index=False)
    return [path]


def _table(lines: Lines) -> Any:
    import pandas as pd

    frame = pd.DataFrame(list(lines))
    return frame[[column for column in COLUMNS if column in frame.columns]]


def _lm_eval(lines: Lines, folder: Path, name: str) -> list[Path]:
    """Return a file of problems and a task of the evaluation harness for every length."""
    by: dict[int, list[Mapping[str, Any]]] = {}
    for line in lines:
        by.setdefault(max(line["length"], line["count"]), []).append(line)
    ignored = json.dumps(_ignored([line["answer"] for some in by.values() for line in some]))
    written: list[Path] = []
    for length, some in sorted(by.items()):
        (data,) = _jsonl(some, folder, f"{name}-{length:03}")
        task = folder / f"lengen_{name}_{length:03}.yaml".replace("-", "_")
        text = HARNESS.format(task=task.stem, data=data.resolve().as_posix(), ignored=ignored)
        task.write_text(text, encoding="utf-8")
        written += [data, task]
    return written


def _ignored(answers: Sequence[str]) -> list[str]:
    """Return patterns of what means nothing in answers: blanks but between numbers, leading zeros but of strings."""
    blanks = "^\\s+|[\\s$]+$" if any(" " in answer for answer in answers) else "[\\s$]"
    strings = any(len(answer) > 1 and answer.startswith("0") for answer in answers)
    return [blanks] if strings else [blanks, "^0+(?=[0-9])"]


HARNESS = """\
task: {task}
dataset_path: json
dataset_kwargs: {{data_files: {{test: "{data}"}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{prompt}}}}"
doc_to_target: "{{{{answer}}}}"
target_delimiter: ""
generation_kwargs: {{until: ["\\n"], do_sample: false}}
metric_list:
  - {{metric: exact_match, aggregation: mean, higher_is_better: true, regexes_to_ignore: {ignored}}}
metadata: {{version: 1.0}}
"""
WRITERS: Mapping[str, Callable[[Lines, Path, str], list[Path]]] = {
    "jsonl": _jsonl, "txt": _txt, "csv": _csv, "parquet": _parquet, "lm-eval": _lm_eval,
}  # fmt: skip
