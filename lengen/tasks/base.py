"""What every task provides: problems as digit arrays, drawn from the published distributions, and their true
answers."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor
from torch.nn.functional import pad

from lengen import digits
from lengen.config import tasks as parts
from lengen.config.part import SettingError
from lengen.problems import OperandError, Problems
from lengen.randomness import generator as stream
from lengen.randomness import mix
from lengen.rows import ANSWER, OPERANDS

PART = 100_000
"""Problems of a fixed set that are drawn at once."""


class Task(ABC):
    """The mathematics of a task: which problems exist, how they are drawn, what their true answers are."""

    def __init__(self, part: parts.Task) -> None:
        self.part = part

    # ------------------------------------------------------------------ problems

    @abstractmethod
    def train(self, n: int, generator: torch.Generator) -> Problems:
        """``n`` problems of the training distribution."""

    def fixed_set(self, examples: int, seed: int) -> Problems:
        """A training set of that many problems as bytes, drawn in parts, so that its size is what limits memory."""
        drawn = []
        for start in range(0, examples, PART):
            drawn.append(self.train(min(PART, examples - start), stream("set", seed, start)).packed())
        return Problems(torch.cat([p.operands for p in drawn]), torch.cat([p.lengths for p in drawn]))

    def validation(self, n: int, generator: torch.Generator) -> Problems:
        """``n`` problems of the training distribution that validate; held-out ones where a task has such."""
        return self.train(n, generator)

    @abstractmethod
    def test(self, n: int, length: int, count: int, generator: torch.Generator) -> Problems:
        """At most ``n`` problems of the test distribution: lengths and count exactly as given."""

    @abstractmethod
    def parse(self, operands: list[str]) -> Problems:
        """One problem from what a user typed; raises `OperandError`."""

    def ask(self, kinds: int) -> None:
        """Draw problems that ask for one of so many sub-tasks each; raises `SettingError` for a task without."""
        if kinds:
            raise SettingError(f"data.format: {self.part.name} has no sub-tasks to ask for")

    # ------------------------------------------------------------------ numbers

    def shapes(self, problems: Problems) -> Tensor:
        """(B, S) the shape of each problem, as `lengen.config.tasks.Task.extent` takes it."""
        return problems.lengths

    @abstractmethod
    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        """(B, W) digits of the true answers, 0 beyond them: what is trained and scored.

        With a ``width`` numbers are held in exactly so many digits; raises `OperandError` where that is too few.
        """

    def stages(self, name: str, problems: Problems, width: int = 0) -> Tensor:
        """(B, S, W) digits of named intermediate results; KeyError for a name that the task does not have."""
        raise KeyError(name)

    def operands(self, problems: Problems, width: int = 0) -> Tensor:
        """(B, K, W) operands as they are written, padded to ``width`` where it is given."""
        longest = int(problems.lengths.max())
        if width and longest > width:
            raise OperandError(
                f"an operand has {longest} digits, and this model reads and writes numbers of {width} "
                "(data.format.width): shorten it or raise that"
            )
        if not width:
            return problems.operands
        held = problems.operands.shape[2]
        return pad(problems.operands[:, :, :width], (0, max(0, width - held)))

    def rows(self, name: str, problems: Problems, width: int = 0) -> Tensor:
        """(B, R, W) places among `symbols` of all rows of one name: operands, answer, or intermediate results."""
        if name == OPERANDS:
            values = self.operands(problems, width)
        elif name == ANSWER:
            values = self.answer(problems, width)[:, None]
        else:
            values = self.stages(name, problems, width)
        return (values - self.first()).clamp(min=0) if self.first() else values

    def answer_sizes(self, problems: Problems) -> Tensor:
        """(B,) digits that the answers have without leading zeros."""
        if self.part.NUMBERS and not self.part.LAST:
            return digits.significant(self.answer(problems))
        shapes, inverse = torch.unique(self.shapes(problems), dim=0, return_inverse=True)
        return torch.tensor([self.part.extent(tuple(shape)).answer for shape in shapes.tolist()])[inverse]

    def text(self, problems: Problems) -> list[str]:
        """True answers as a person writes them: numbers most significant digit first, without leading zeros."""
        symbols = self.symbols()
        between = " " if any(len(symbol) > 1 for symbol in symbols) or self.first() else ""
        found = []
        for row, size in zip(self.answer(problems).tolist(), self.answer_sizes(problems).tolist(), strict=True):
            written = [symbols[value - self.first()] for value in row[:size]]
            if self.part.LAST:
                written = written[-1:]
            elif self.part.NUMBERS and not self.part.UNITS_FIRST:
                written.reverse()
            found.append(between.join(written))
        return found

    def symbols(self) -> tuple[str, ...]:
        """Symbols by value, marks behind the digits."""
        return (*self.part.symbols, *self.part.MARKS)

    def first(self) -> int:
        """Value of the first symbol: sequences of an alphabet begin with the number 1."""
        return 0


def fitted(numbers: Tensor, width: int, what: str) -> Tensor:
    """Numbers (..., W) held in exactly ``width`` digits, as they are without it; raises `OperandError` where one needs
    more."""
    if not width:
        return numbers
    if bool(numbers[..., width:].any()):
        raise OperandError(
            f"a {what} needs more than the {width} digits that this model writes (data.format.width): shorten the "
            "operands or raise that"
        )
    return pad(numbers[..., :width], (0, max(0, width - numbers.shape[-1])))


def decimal(text: str) -> str:
    """A typed operand as a plain non-negative decimal number without leading zeros; raises `OperandError`."""
    if not (text.isascii() and text.isdigit()):
        raise OperandError(f"operand '{text}' is not a number: expected digits 0-9 only")
    return text.lstrip("0") or "0"


def of_decimals(texts: list[str]) -> Problems:
    """One problem of typed decimal numbers; raises `OperandError`."""
    numbers = [decimal(text) for text in texts]
    width = max(map(len, numbers))
    return Problems(digits.from_strings(numbers, width)[None], torch.tensor([[len(text) for text in numbers]]))


def keys(operands: Tensor) -> Tensor:
    """(B,) int64 keys of problems (B, K, W): equal problems of K operands have equal keys, whatever W.

    Different ones share a key with a chance of about 2**-64, and then one is left out that need not be: what keys
    promise, that no trained problem is tested, holds without exception.
    """
    _, rows, width = operands.shape
    places = torch.arange(width) * rows + torch.arange(rows)[:, None]
    return mix((operands.long() * (mix(places) | 1)).sum(dim=(1, 2)))
