"""Common code of tasks on strings of digits: drawing and reading them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from lengen.digits import digits
from lengen.digits.lazy import torch
from lengen.digits.problems import OperandError, Problems
from lengen.part import Length, Part, SettingError, Size
from lengen.tasks.base import Task
from lengen.tasks.rows import SEQUENCES, Rows

if TYPE_CHECKING:
    from torch import Generator


class OneString(Part, Task, frozen=True):
    """A task on one string of digits, zeros at its beginning included."""

    ROWS: ClassVar[Rows] = SEQUENCES

    def train(self, n: int, generator: Generator) -> Problems:
        """Return length uniform on 1 to the longest trained, then uniform digits."""
        longest = self.longest
        return self._drawn(torch.randint(1, longest + 1, (n, 1), generator=generator), longest, generator)

    def test(self, n: int, length: int, count: int, generator: Generator) -> Problems:
        """Return uniform digits of exactly the given length."""
        return self._drawn(torch.full((n, 1), length), length, generator)

    def parse(self, operands: list[str]) -> Problems:
        if len(operands) != 1:
            raise OperandError(f"{self.name} takes one string of digits, got {len(operands)}")
        text, allowed = operands[0].lower(), self.symbols
        if not text or set(text) - set(allowed):
            raise OperandError(
                f"operand '{operands[0]}' is not a string of digits: expected characters 0 to {allowed[-1]} only"
            )
        return Problems(digits.from_strings([text], len(text)).flip(1)[None], torch.tensor([[len(text)]]))

    def _drawn(self, lengths: torch.Tensor, width: int, generator: Generator) -> Problems:
        values = torch.randint(0, len(self.symbols), (*lengths.shape, width), generator=generator)
        return Problems(values * (torch.arange(width) < lengths[..., None]), lengths)


class Strings(OneString, frozen=True):
    """Strings of 1 to ``digits`` random digits, decimal ones or those of another base."""

    digits: Length
    """Digits of the longest trained string."""
    base: Size = 10
    """Number of different digits, 2 to 16."""

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple("0123456789abcdef"[: self.base])

    def check(self) -> None:
        if not 2 <= self.base <= 16:
            raise SettingError(f"data.task.base={self.base}: expected a base from 2 to 16")

    @property
    def longest(self) -> int:
        return self.digits
