"""Tasks: the trained range, rows of digits, problems drawn from the published distributions, and their true answers.

Problems are drawn from the published distributions as digit arrays.

A *shape* is a tuple of small integers that decides the place of every symbol in a written problem, for example
(operands, digits of the longest).
"""

from __future__ import annotations

from enum import Enum, auto
from typing import ClassVar, NamedTuple

from lengen import digits
from lengen.digits import Generator, OperandError, Problems, Tensor, mix, torch
from lengen.digits import generator as stream
from lengen.part import Axis, Length, Part, SettingError, Size


class Row(Enum):
    """Kind of a row of digits."""

    SEQUENCE = auto()
    """As long as it is, in reading order: neither padded nor reversed."""
    NUMBER = auto()
    """A number of exactly as many digits as the shape of a problem says."""
    BOUND = auto()
    """A number of at most so many digits: its leading zeros need not be written."""


class Rows(NamedTuple):
    """Kinds of the rows of a task."""

    operands: tuple[Row, ...] = (Row.NUMBER,)
    """Kind of each operand; further ones are like the last."""
    answer: Row = Row.NUMBER
    stages: Row = Row.NUMBER
    """Kind of the intermediate results."""

    def operand(self, i: int) -> Row:
        return self.operands[min(i, len(self.operands) - 1)]

    @property
    def numbers(self) -> bool:
        """True if digits have significance: zeros may be padded, and order reversed."""
        return self.operands[0] is not Row.SEQUENCE


SEQUENCES = Rows((Row.SEQUENCE,), Row.SEQUENCE, Row.SEQUENCE)
"""Rows of a task without numbers."""
BOUNDS = Rows((Row.BOUND,), Row.BOUND, Row.BOUND)
"""Rows of a task whose shapes contain the digits of the longest number alone."""

OPERANDS = "operands"
ANSWER = "answer"

# of products, in two stages
PRODUCTS = "partial products"
SUMS = "sums of products"

# of sums of two operands, digit by digit
CARRIES_IN = "carries in"
SUM_DIGITS = "sum digits"
MODULAR = "sums modulo 10"
PAIR_CARRIES = "pairs that carry"
DOWNWARD_CARRIES = "carries downward"
CARRIES_OUT = "carries out"
TRAILING = "behind a carry"
"""A row that is written only where the units carry."""


DELIMITER = "⊥"
"""Separates a sequence from the question about it."""
DECIMAL = tuple("0123456789")
LARGEST_ALPHABET = 250
"""Token ids of batches are written as bytes."""
CHUNK = 100_000
"""Problems of a fixed set that are drawn at once."""


class Extent(NamedTuple):
    """Digits of the numbers of problems of one shape.

    Example:
        >>> import lengen
        >>> lengen.Addition(digits=3).extent((2, 3))
        Extent(operands=(3, 3), answer=4, stages=(4, 4))
    """

    operands: tuple[int, ...]
    """Digits of each operand; of the longest if the shape does not contain the others."""
    answer: int
    """Digits of the longest answer that could occur."""
    stages: tuple[int, ...] = ()
    """Digits of each intermediate result."""


class Signs(NamedTuple):
    """Symbols of a query besides those of its operands."""

    operator: str = ""
    """Symbol between operands."""
    prefix: bool = False
    """The operator is written before the operands, too."""
    separator: bool = True
    """A separator is written between the operands and the answer."""


class Task(Axis):
    """A task and its trained range.

    Operands and answers are rows of digits. Those of *numbers* stand least significant digit first; those of sequences
    and bit strings, which have no least significant digit, in reading order.

    A new task is a class with these bases, ``class Mirror(lengen.Part, lengen.Task, tag="mirror", frozen=True)``, and
    its fields. It has to write

    - `digits` or, under another name, `longest`: digits of the longest trained operand, of type int;
    - `train` and `test`: draw problems;
    - `parse`: one problem of what a user typed;
    - `answer`: (B, W) digits of the true answers, integers from 0 to ``len(symbols) - 1``, where W is at least the
      digits that `extent` promises;

    and, where it differs from one number in and one of the same length out, `extent` and `shape` (digits by the shape
    of a problem), `ROWS` and `SIGNS` (kinds of the rows, symbols between them), `symbols`, `check` (fields that do not
    go together), `most`, `counts` and `LEAST_COUNT` (a second axis), `STAGES` and `stages` (intermediate results). Of a
    task on one string `lengen.tasks.strings.Strings` has all but `answer`. What a task writes is checked when its
    `TaskData` is made (`lengen.data.task_data.check_first_batch`).

    Example:
        >>> import lengen
        >>> task = lengen.Copy(digits=4)
        >>> task.longest, task.extent((3,)), task.answer(task.parse(["0412"])).tolist()
        (4, Extent(operands=(3,), answer=3, stages=()), [[0, 4, 1, 2]])
    """

    __slots__ = ()
    AXIS = "a task"

    ROWS: ClassVar[Rows] = Rows()
    """Kinds of its operands, answer and intermediate results."""
    SIGNS: ClassVar[Signs] = Signs()
    PLACEWISE: ClassVar[bool] = True
    """Each digit of the answer belongs to a place of the operands; else it depends on all of them."""
    LAST_DIGIT: ClassVar[bool] = False
    """The final answer is the last digit of the answer, or of the intermediate results if those are written: digits
    before it are answers to the first digits."""
    UNITS_FIRST: ClassVar[bool] = False
    """Its answers are written from the units on: a digit needs those before it."""
    MARKS: ClassVar[tuple[str, ...]] = ()
    """Symbols besides digits that answers hold."""
    STAGES: ClassVar[str] = ""
    """Name of the intermediate results that a scratchpad writes; empty: there are none."""
    LEAST_COUNT: ClassVar[int] = 0
    """Smallest value of the second axis that can be tested; 0: problems have no second axis."""

    @property
    def symbols(self) -> tuple[str, ...]:
        """Symbols of its digits, in the order of their values."""
        return DECIMAL

    @property
    def name(self) -> str:
        """Names its random numbers: test problems of tasks of one name are drawn alike."""
        return self.kind

    digits: int
    """Digits of the longest trained operand, where `longest` says nothing else."""

    @property
    def longest(self) -> int:
        """Digits of the longest trained operand."""
        return self.digits

    @property
    def most(self) -> int:
        """Largest trained value of the second axis: operands, or digits of a second factor; 1 if there is none."""
        return 1

    @property
    def trained_lengths(self) -> tuple[int, ...]:
        """Trained operand lengths, each as often as its share."""
        return tuple(range(1, self.longest + 1))

    @property
    def trailing(self) -> int:
        """PAD tokens behind the answer that are training targets."""
        return 0

    @property
    def counts(self) -> tuple[int, ...]:
        """Tested values of the second axis where a setting names none."""
        return (1,)

    def shape(self, length: int, count: int) -> tuple[int, ...]:
        """Return the shape of test problems of operands of ``length`` digits."""
        return (length,)

    def longest_shapes(self, length: int, count: int) -> list[tuple[int, ...]]:
        """Return shapes among which are the longest query and the longest answer of problems of such operands."""
        return [self.shape(length, count)]

    def extent(self, shape: tuple[int, ...]) -> Extent:
        """Return the digits of the numbers of problems of a shape."""
        return Extent((shape[0],), shape[0])

    def place(self, place: int, size: int) -> int:
        """Return the 1-based place among the operands that digit ``place`` of an answer is about.

        The digit's place is 1-based, the answer has ``size`` digits.
        """
        return place

    def check(self) -> None:
        """Raise `SettingError` for fields that do not go together."""

    def check_counts(self, counts: tuple[int, ...]) -> None:
        """Raise `SettingError` for tested values of the second axis, ``test.counts``, that no problem has."""
        if not self.LEAST_COUNT and counts not in ((1,), self.counts):
            fault = f"test.counts={list(counts)}: problems of data.task={self.kind} have no second axis"
            raise SettingError(f"{fault}; expected {list(self.counts)}")
        if min(counts) < self.LEAST_COUNT:
            raise SettingError(
                f"test.counts={list(counts)}: problems of data.task={self.kind} have at least {self.LEAST_COUNT} "
                f"operands; expected numbers of them, such as [{self.LEAST_COUNT}]"
            )

    # ------------------------------------------------------------------ problems

    def train(self, n: int, generator: Generator) -> Problems:
        """Return ``n`` problems of the training distribution."""
        raise NotImplementedError(f"{type(self).__name__} has to write 'train'")

    def fixed_set(self, examples: int, seed: int) -> Problems:
        """Return a training set of so many problems as bytes, drawn in parts, so that its size limits memory."""
        starts = range(0, examples, CHUNK)
        drawn = [self.train(min(CHUNK, examples - start), stream("set", seed, start)).packed() for start in starts]
        return Problems.joined(drawn)

    def validation(self, n: int, generator: Generator) -> Problems:
        """Return ``n`` problems of the training distribution that validate; held-out ones where a task has such."""
        return self.train(n, generator)

    def test(self, n: int, length: int, count: int, generator: Generator) -> Problems:
        """Draw at most ``n`` problems of the test distribution: lengths and count exactly as given."""
        raise NotImplementedError(f"{type(self).__name__} has to write 'test'")

    def parse(self, operands: list[str]) -> Problems:
        """Return one problem from what a user typed; raises `OperandError`."""
        raise NotImplementedError(f"{type(self).__name__} has to write 'parse'")

    def with_subtasks(self, number: int) -> Task:
        """Return the task whose problems have one of so many sub-tasks each.

        Raises `SettingError` for a task without.
        """
        if number:
            raise SettingError(f"data.format: {self.name} has no sub-tasks to ask for")
        return self

    # ------------------------------------------------------------------ numbers

    def shapes(self, problems: Problems) -> Tensor:
        """Return (B, S) the shape of each problem, as `extent` takes it."""
        return problems.lengths

    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        """Return (B, W) digits of the true answers, 0 beyond them: what is trained and scored.

        With a ``width`` numbers are held in exactly so many digits; raises `OperandError` if that is too few.
        """
        raise NotImplementedError(f"{type(self).__name__} has to write 'answer'")

    def stages(self, name: str, problems: Problems, width: int = 0) -> Tensor:
        """Return (B, S, W) digits of named intermediate results; KeyError for a name that the task does not have."""
        raise KeyError(name)

    def padded(self, problems: Problems, width: int = 0) -> Tensor:
        """Return (B, K, W) operands as they are written, padded to ``width`` if it is given."""
        longest = int(problems.lengths.max())
        if width and longest > width:
            raise OperandError(
                f"an operand has {longest} digits, and this model reads and writes numbers of {width} "
                "(data.format.width): shorten it or raise that"
            )
        if not width:
            return problems.operands
        held = problems.operands.shape[2]
        return torch.nn.functional.pad(problems.operands[:, :, :width], (0, max(0, width - held)))

    def rows(self, name: str, problems: Problems, width: int = 0) -> Tensor:
        """Return (B, R, W) places among `symbols` of the rows of a name: operands, answer, or intermediate results."""
        if name == OPERANDS:
            values = self.padded(problems, width)
        elif name == ANSWER:
            values = self.answer(problems, width)[:, None]
        else:
            values = self.stages(name, problems, width)
        return (values - self.first()).clamp(min=0) if self.first() else values

    def answer_sizes(self, problems: Problems) -> Tensor:
        """Return (B,) digits that the answers have without leading zeros."""
        if self.ROWS.numbers and not self.LAST_DIGIT:
            return digits.significant(self.answer(problems))
        shapes, inverse = torch.unique(self.shapes(problems), dim=0, return_inverse=True)
        return torch.tensor([self.extent(tuple(shape)).answer for shape in shapes.tolist()])[inverse]

    def text(self, problems: Problems) -> list[str]:
        """Return the true answers as a person writes them: most significant digit first, without leading zeros."""
        symbols = self.all_symbols
        between = " " if any(len(symbol) > 1 for symbol in symbols) or self.first() else ""
        texts = []
        for row, size in zip(self.answer(problems).tolist(), self.answer_sizes(problems).tolist(), strict=True):
            written = [symbols[value - self.first()] for value in row[:size]]
            if self.LAST_DIGIT:
                written = written[-1:]
            elif self.ROWS.numbers and not self.UNITS_FIRST:
                written.reverse()
            texts.append(between.join(written))
        return texts

    @property
    def all_symbols(self) -> tuple[str, ...]:
        """Symbols by value, marks behind the digits."""
        return (*self.symbols, *self.MARKS)

    def first(self) -> int:
        """Return value of the first symbol: sequences of an alphabet begin with the number 1."""
        return 0


class OfBase(Part, Task, frozen=True):
    """A task on digits of any base: strings, or numbers."""

    digits: Length
    """Digits of the longest trained string or number."""
    base: Size = 10
    """Number of different digits, 2 to 16."""

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple("0123456789abcdef"[: self.base])

    def check(self) -> None:
        if not 2 <= self.base <= 16:
            raise SettingError(f"data.task.base={self.base}: expected a base from 2 to 16")


def fitted(numbers: Tensor, width: int, what: str) -> Tensor:
    """Return numbers (..., W) held in exactly ``width`` digits, as they are without it.

    Raises `OperandError` if one needs more.
    """
    if not width:
        return numbers
    if bool(numbers[..., width:].any()):
        raise OperandError(
            f"a {what} needs more than the {width} digits that this model writes (data.format.width): shorten the "
            "operands or raise that"
        )
    return torch.nn.functional.pad(numbers[..., :width], (0, max(0, width - numbers.shape[-1])))


def decimal(text: str) -> str:
    """Return a typed operand as a plain non-negative decimal number without leading zeros; raises `OperandError`."""
    if not (text.isascii() and text.isdigit()):
        raise OperandError(f"operand '{text}' is not a number: expected digits 0-9 only")
    return text.lstrip("0") or "0"


def of_decimals(texts: list[str]) -> Problems:
    """Return one problem of typed decimal numbers; raises `OperandError`."""
    numbers = [decimal(text) for text in texts]
    width = max(map(len, numbers))
    return Problems(digits.from_strings(numbers, width)[None], torch.tensor([[len(text) for text in numbers]]))


def typed(task: Task, problems: Problems) -> list[list[str]]:
    """Return the operands of each problem as a person writes them, and as `Task.parse` reads them."""
    symbols = task.all_symbols
    problems_typed = []
    for rows, sizes in zip(problems.operands.tolist(), problems.lengths.tolist(), strict=True):
        held = [row[:size] for row, size in zip(rows, sizes, strict=True) if size]
        if task.first():
            problems_typed.append([str(value) for row in held for value in row])
        else:
            order = -1 if task.ROWS.numbers else 1
            problems_typed.append(["".join(symbols[value] for value in row[::order]) for row in held])
    return problems_typed


def keys(operands: Tensor) -> Tensor:
    """Return (B,) int64 keys of problems (B, K, W): equal problems of K operands have equal keys, whatever W.

    Different ones share a key with a chance of about 2**-64, and then one is left out that need not be: what keys
    promise, that no trained problem is tested, holds without exception.
    """
    _, rows, width = operands.shape
    places = torch.arange(width) * rows + torch.arange(rows)[:, None]
    return mix((operands.long() * (mix(places) | 1)).sum(dim=(1, 2)))
