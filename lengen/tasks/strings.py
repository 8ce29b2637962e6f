"""Strings of digits: copied, reversed, and the parity of one."""

from __future__ import annotations

from typing import ClassVar

from lengen import digits
from lengen.digits import Generator, OperandError, Problems, Tensor, torch
from lengen.part import Length, Part
from lengen.tasks.base import SEQUENCES, Extent, OfBase, Rows, Task


class OneString(Task):
    """A task on one string of digits, zeros at its beginning included."""

    __slots__ = ()
    ROWS: ClassVar[Rows] = SEQUENCES

    def train(self, n: int, generator: Generator) -> Problems:
        """Draw a length uniform on 1 to the longest trained, then uniform digits."""
        longest = self.longest
        return self._drawn(torch.randint(1, longest + 1, (n, 1), generator=generator), longest, generator)

    def test(self, n: int, length: int, count: int, generator: Generator) -> Problems:
        """Draw uniform digits of exactly the given length."""
        return self._drawn(torch.full((n, 1), length), length, generator)

    def parse(self, operands: list[str]) -> Problems:
        if len(operands) != 1:
            raise OperandError(f"{self.name} takes one string of digits, got {len(operands)}")
        text, allowed = operands[0].lower(), self.symbols
        if not text or set(text) - set(allowed):
            fault = f"expected characters 0 to {allowed[-1]} only"
            raise OperandError(f"operand '{operands[0]}' is not a string of digits: {fault}")
        return Problems(digits.from_strings([text], len(text)).flip(1)[None], torch.tensor([[len(text)]]))

    def _drawn(self, lengths: torch.Tensor, width: int, generator: Generator) -> Problems:
        values = torch.randint(0, len(self.symbols), (*lengths.shape, width), generator=generator)
        return Problems(values * (torch.arange(width) < lengths[..., None]), lengths)


class Strings(OfBase, OneString, frozen=True):
    """Strings of 1 to ``digits`` random digits, decimal ones or those of another base."""


#     string  0412      answer  0412
#
# Jelassi et al. 2024 ("Repeat After Me") and Zhou et al. 2024 ("What Algorithms can Transformers Learn?") test it.


class Copy(Strings, tag="copy", frozen=True):
    """A string of digits again: 0412=0412.

    Example:
        >>> import lengen
        >>> task = lengen.Copy(digits=4)
        >>> task.text(task.parse(["0412"]))
        ['0412']
    """

    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        return problems.operands[:, 0]


#     string  0412      answer  2140
#
# One of the string tasks of Deletang et al. 2023 ("Neural Networks and the Chomsky Hierarchy").


class Reverse(Strings, tag="reverse", frozen=True):
    """A string of digits from its end to its beginning: 0412=2140.

    Example:
        >>> import lengen
        >>> task = lengen.Reverse(digits=3)
        >>> task.text(task.parse(["041"]))
        ['140']
    """

    def place(self, place: int, size: int) -> int:
        return size + 1 - place

    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        place = problems.lengths - 1 - torch.arange(problems.operands.shape[2])
        return problems.operands[:, 0].gather(1, place.clamp(min=0)) * (place >= 0)


# Section 3 of "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count".
#
#     operand  0101      answer  0      (two ones: even)      prefix parities  0110


class Parity(Part, OneString, tag="parity", frozen=True):
    """1 where a string of 1 to ``bits`` bits holds an odd number of ones, else 0.

    0101=0; stages: the parity of every prefix, 0110, whose last bit is the answer.

    Example:
        >>> import lengen
        >>> task = lengen.Parity(bits=3)
        >>> task.text(task.parse(["110"]))
        ['0']
    """

    PLACEWISE = False
    STAGES = "prefix parities"
    LAST_DIGIT = True
    symbols = ("0", "1")

    bits: Length
    """Bits of the longest trained string."""

    @property
    def longest(self) -> int:
        return self.bits

    def extent(self, shape: tuple[int, ...]) -> Extent:
        return Extent((shape[0],), 1, shape)

    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        return problems.operands[:, 0].sum(dim=1, keepdim=True) % 2

    def stages(self, name: str, problems: Problems, width: int = 0) -> Tensor:
        """Return the parity of every prefix."""
        if name != self.STAGES:
            raise KeyError(name)
        return problems.operands.cumsum(dim=2) % 2
