"""Parity of a bit string.

Section 3 of "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count".

    operand  0101      answer  0      (two ones: even)      prefix parities  0110
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lengen.digits.problems import Problems
from lengen.part import Length
from lengen.tasks.base import Extent
from lengen.tasks.strings import OneString

if TYPE_CHECKING:
    from torch import Tensor


class Parity(OneString, tag="parity", frozen=True):
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

    bits: Length
    """Bits of the longest trained string."""

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("0", "1")

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
