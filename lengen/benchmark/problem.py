"""Problems of the benchmark: their lines of JSON, how they are drawn, and the frozen files."""

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from functools import cache, lru_cache
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec

from lengen.benchmark.tasks import CHAINS, SINCE_2, TASKS, Task, TaskError, task_of
from lengen.data.reading_problems import BYTE_ORDER_MARK, filled, listed, parted

PROTOCOL = "lengen-text/"
"""Name of a protocol without its version."""
EXAMPLES = 300
"""Problems of a length of protocol 2, over its cells."""
CHAINED = 100
"""Problems of a length and a chain of carries."""


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


def drawn(task: Task, cell: tuple[int, int], examples: int, stream: str, name: str, split: str) -> list[Problem]:
    """Return the problems of a cell: the first different ones of a stream, at most a tenth of those that there are."""
    random = Random(f"{PROTOCOL}{stream} {task.name} {cell[0]} {cell[1]}")
    wanted = max(1, min(examples, task.possible(*cell) // 10))
    different: dict[tuple[str, ...], None] = {}
    for _ in range((2 if split in CHAINS else 100) * wanted):
        if len(different) == wanted:
            break
        different.setdefault(task.draw(random, *cell, split))
    name = f"{name}/length={cell[0]}/count={cell[1]}"
    return [of_operands(task, f"{name}/{place:04}", cell, row, split) for place, row in enumerate(different)]


def of_cells(task: Task, size: int, split: str = "uniform", longest: int = 0) -> Iterator[Problem]:
    """Yield the problems of protocol 2 of a size; those with chains of carries begin at the longest trained length.

    ``longest``: of cells up to this length alone.
    """
    cells, examples = task.cells(size), EXAMPLES
    if split in CHAINS:
        lengths = [length for length in task.lengths(size) if length >= size] if task.chains else []
        cells, examples = [(length, length if task.second else 1) for length in lengths], CHAINED
    beside = Counter(map(max, cells))
    for cell in cells:
        if not longest or max(cell) <= longest:
            part = -(-examples // beside[max(cell)])
            yield from drawn(task, cell, part, f"2 {split}", f"{task.name}/2/{split}", split)


def training(
    task: Task, size: int, seed: int, examples: int, held_out: Set[str] = frozenset(), version: int = 2
) -> Iterator[Problem]:
    """Yield training problems of a size: each length uniform on 1 to ``size``.

    Prompts that are ``held_out`` never occur.
    """
    random = Random(f"{PROTOCOL}{version} train {task.name} {size} {seed}")
    name = f"{task.name}/train/seed={seed}" if version == 1 else f"{task.name}/{version}/train/seed={seed}"
    done = 0
    while done < examples:
        length, second = (1 + int(random.random() * size) for _ in range(2))
        count = max(second, 2) if task.second == "operands" else second if task.second else 1
        if task.name == "subtraction":
            length, count = max(length, count), min(length, count)
        operands = task.draw(random, length, count)
        if task.prompt(operands) not in held_out:
            yield of_operands(task, f"{name}/{done:07}", (length, count), operands, "train")
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
        stated = _of_json(text)
        if stated.task != task.name:
            raise TaskError(f"'{text[:60]}' is a problem of {stated.task}, not of {task.name}")
        operands = task.read_prompt(stated.prompt)
        return _checked(of_operands(task, stated.id, stated.cell, operands, stated.split), stated.answer, task)
    parts, answer = parted(text, task.operator, table=not task.apart)
    operands = task.checked(parts, text)
    second = {"digits": len(operands[-1]), "operands": len(operands)}.get(task.second, 1)
    length = len(operands) if task.apart else max(map(len, operands)) if task.fixed else len(operands[0])
    cell = (max(map(len, operands)) if task.second == "operands" else length, second)
    return _checked(of_operands(task, id or task.prompt(operands), cell, operands), answer, task)


def _checked(problem: Problem, answer: str, task: Task) -> Problem:
    if answer.strip() and task.cleaned(answer) != problem.answer:
        raise TaskError(f"'{problem.prompt}': the answer is {problem.answer}, not {answer.strip()}")
    return problem


def _of_json(text: str) -> Problem:
    try:
        values = json.loads(text)
        fields = [values[name] for name in Problem._fields[:-1]]  # a problem need not say of which split it is
        return msgspec.convert([*fields, values.get("split", "test")], Problem)
    except (ValueError, TypeError, KeyError, RecursionError, msgspec.ValidationError):
        raise TaskError(
            f"'{text[:60]}' is not a problem of the benchmark: expected JSON with id, task, prompt and answer (texts), "
            "length and count (numbers) and operands (a list of texts)"
        ) from None


def read_lines(lines: Iterable[str], task: Task | str | None = None, name: str = "problems") -> list[Problem]:
    """Return problems of a file, one a line; raises `TaskError` that names up to five wrong lines."""
    task = task_of(task) if isinstance(task, str) else task
    problems, wrong = [], []
    for number, text in filled(lines, header=task is not None):
        try:
            if task is None and not text.startswith("{"):
                raise TaskError(f"'{text[:60]}' does not name its task")
            problems.append(_of_json(text) if task is None else read_line(text, task, f"{name}/{number}"))
        except TaskError as error:
            wrong.append(f"line {number}: {error}")
    wrong += [f"{n} lines have the id {id!r}" for id, n in Counter(problem.id for problem in problems).items() if n > 1]
    if wrong:
        raise TaskError(f"{name}: {listed(wrong)}")
    return problems


FOLDER = Path(__file__).parent / "problems"
CHECKSUMS, CHECKSUMS_2 = FOLDER / "checksums.json", FOLDER / "checksums-2.json"


def made(task: Task, size: int = 0) -> str:
    """Return the text of a task's frozen file; with a size that of all problems of protocol 2. The same everywhere."""
    if size:
        return _text(problem for split in SPLITS for problem in of_cells(task, size, split))
    cells = sorted({cell for size in task.sizes(1) for cell in task.cells(size, 1)})
    return _text(problem for cell in cells for problem in drawn(task, cell, task.examples, "1 test", task.name, "test"))


def _text(problems: Iterable[Problem]) -> str:
    return "".join(f"{problem.line()}\n" for problem in problems)


def checksum(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def checksums(version: int = 1) -> dict[str, str]:
    """Return the SHA-256 of the problems of each task, in protocol 2 of each task and size, as ``addition/6``."""
    sums: dict[str, str] = json.loads((CHECKSUMS if version == 1 else CHECKSUMS_2).read_text(encoding="utf-8"))
    return sums


def sum_of(task: str, size: int, version: int) -> str:
    """Return the SHA-256 that the header of a submission names."""
    return checksums(version)[task if version == 1 else f"{task}/{size}"]


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


@lru_cache(maxsize=8)
def _of_size(name: str, size: int, split: str) -> tuple[Problem, ...]:
    return tuple(of_cells(TASKS[name], size, split))


WRITE = "python -m lengen.benchmark"
SPLITS = ("uniform", *CHAINS)
"""Splits that are tested."""


def frozen(task: str, size: int | None = None, version: int = 2, split: str = "uniform") -> list[Problem]:
    """Return the test problems of a trained size, or of all sizes; raises `TaskError`.

    ``split`` is one of `SPLITS`, or "carry": all that have a chain of carries.
    """
    known = task_of(task, version)
    splits = tuple(CHAINS) if split == "carry" else (split,)
    if set(splits) <= {*CHAINS} and not (known.chains and version > 1):
        known_to = "addition, subtraction or successor of protocol 2"
        raise TaskError(f"{task} has no carries to chain; expected split='test', or {known_to}")
    if version == 1:
        cells = set(known.cells(size, 1)) if size is not None else None
        return [problem for problem in _problems(task) if cells is None or problem.cell in cells]
    sizes = known.sizes() if size is None else (size,)
    every = {problem.id: problem for size in sizes for part in splits for problem in _of_size(task, size, part)}
    return list(every.values())


def held_out(task: str, size: int) -> frozenset[str]:
    """Return the prompts that no training problem of a size is: all that protocol 2 tests up to that length."""
    known = task_of(task)
    parts = ((other, split) for other in known.sizes() for split in SPLITS)
    return frozenset(problem.prompt for part in parts for problem in of_cells(known, *part, longest=size))


def write() -> None:
    """Write all files and their checksums."""
    texts = {name: made(task) for name, task in TASKS.items() if name not in SINCE_2}
    for name, text in texts.items():
        (FOLDER / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    ladders = {f"{task.name}/{size}": checksum(made(task, size)) for task in TASKS.values() for size in task.sizes()}
    for path, sums in ((CHECKSUMS, {name: checksum(text) for name, text in texts.items()}), (CHECKSUMS_2, ladders)):
        path.write_text(json.dumps(sums, indent=1) + "\n", encoding="utf-8")
