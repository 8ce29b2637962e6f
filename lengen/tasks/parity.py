"""Parity of a bit string, Section 3 of "Arithmetic Transformers Can Length-Generalize in Both Operand Length
and Count".

    operand  0101      answer  0      (two ones: even)      prefix parities  0110
"""

from torch import Tensor

from lengen.problems import Problems
from lengen.tasks.strings import StringTask


class Parity(StringTask):
    """1 where a bit string holds an odd number of ones, else 0."""

    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        return problems.operands[:, 0].sum(dim=1, keepdim=True) % 2

    def stages(self, name: str, problems: Problems, width: int = 0) -> Tensor:
        """The parity of every prefix."""
        if name != self.part.STAGES:
            raise KeyError(name)
        return problems.operands.cumsum(dim=2) % 2
