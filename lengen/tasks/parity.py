"""Parity of a bit string, Section 3 of "Arithmetic Transformers Can Length-Generalize in Both Operand Length
and Count".

    operand  0101      answer  0      (two ones: even)
"""

import torch

from lengen.tasks.base import OperandError, Problems, Task


class Parity(Task):
    """1 where a bit string holds an odd number of ones, else 0."""

    def train(self, n: int, length: int, count: int, generator: torch.Generator) -> Problems:
        """Length uniform on [1:length], then uniform bits; ``count`` has no meaning here."""
        lengths = torch.randint(1, length + 1, (n, 1), generator=generator)
        return self._bits(lengths, length, generator)

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

    def answer(self, problems: Problems) -> list[str]:
        return [str(ones % 2) for ones in problems.operands[:, 0].sum(dim=1).tolist()]

    def _bits(self, lengths: torch.Tensor, width: int, generator: torch.Generator) -> Problems:
        bits = torch.randint(0, 2, (*lengths.shape, width), generator=generator)
        return Problems(bits * (torch.arange(width) < lengths[..., None]), lengths)
