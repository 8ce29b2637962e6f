"""Parity of a bit string, Section 3 of "Arithmetic Transformers Can Length-Generalize in Both Operand Length
and Count".

    operand  0101      answer  0      (two ones: even)      prefix parities  0110
"""

import torch
from torch import Tensor

from lengen.config import tasks as parts
from lengen.problems import OperandError, Problems
from lengen.tasks.base import Task


class Parity(Task):
    """1 where a bit string holds an odd number of ones, else 0."""

    part: parts.Parity

    def train(self, n: int, generator: torch.Generator) -> Problems:
        """Length uniform on [1:bits], then uniform bits."""
        lengths = torch.randint(1, self.part.bits + 1, (n, 1), generator=generator)
        return self._bits(lengths, self.part.bits, generator)

    def test(self, n: int, length: int, count: int, generator: torch.Generator) -> Problems:
        """Uniform bits of exactly the given length."""
        return self._bits(torch.full((n, 1), length), length, generator)

    def parse(self, operands: list[str]) -> Problems:
        if len(operands) != 1:
            raise OperandError(f"parity takes one string of bits, got {len(operands)}")
        if not operands[0] or set(operands[0]) - {"0", "1"}:
            raise OperandError(f"operand '{operands[0]}' is not a string of bits: expected characters 0 and 1 only")
        bits = torch.tensor([[[int(bit) for bit in operands[0]]]])
        return Problems(bits, torch.tensor([[bits.shape[2]]]))

    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        return problems.operands[:, 0].sum(dim=1, keepdim=True) % 2

    def stages(self, name: str, problems: Problems, width: int = 0) -> Tensor:
        """The parity of every prefix."""
        if name != self.part.STAGES:
            raise KeyError(name)
        return problems.operands.cumsum(dim=2) % 2

    def _bits(self, lengths: Tensor, width: int, generator: torch.Generator) -> Problems:
        bits = torch.randint(0, 2, (*lengths.shape, width), generator=generator)
        return Problems(bits * (torch.arange(width) < lengths[..., None]), lengths)
