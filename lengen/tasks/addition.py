"""Multi-operand addition, the sampling of Section 4.2 of "Arithmetic Transformers Can Length-Generalize in
Both Operand Length and Count".

    operands  57 48 96      answer  201      running sums  0, 57, 105
"""

import torch
from torch import Tensor

from lengen import digits
from lengen.config import tasks as parts
from lengen.problems import OperandError, Problems
from lengen.tasks.base import Task, fitted, of_decimals


class Addition(Task):
    """Sums of 2 to m operands of 1 to n digits."""

    part: parts.Addition

    def train(self, n: int, generator: torch.Generator) -> Problems:
        """S_A(n, m): two equally sized chunks, shuffled.

        In both, the number of operands is uniform on [2:m]. In the first each operand has its own length, uniform on
        [1:n]; in the second one such length is shared by all operands.
        """
        length, count = self.part.digits, self.part.operands
        operands = torch.randint(2, count + 1, (n, 1), generator=generator)
        lengths = torch.randint(1, length + 1, (n, count), generator=generator)
        lengths[n // 2 :] = lengths[n // 2 :, :1]
        lengths = lengths * (torch.arange(count) < operands)
        lengths = lengths[torch.randperm(n, generator=generator)]
        return Problems(digits.sample(lengths, length, generator), lengths)

    def test(self, n: int, length: int, count: int, generator: torch.Generator) -> Problems:
        """T_A(length, count): exactly ``count`` operands of exactly ``length`` digits."""
        lengths = torch.full((n, count), length)
        return Problems(digits.sample(lengths, length, generator), lengths)

    def parse(self, operands: list[str]) -> Problems:
        if len(operands) < 2:
            raise OperandError(f"addition takes two operands or more, got {len(operands)}")
        return of_decimals(operands)

    def shapes(self, problems: Problems) -> Tensor:
        """Operands and digits of the longest."""
        return torch.stack([(problems.lengths > 0).sum(dim=1), problems.lengths.amax(dim=1)], dim=1)

    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        return sums(problems, width)[:, -1]

    def stages(self, name: str, problems: Problems, width: int = 0) -> Tensor:
        """Sums of the first 0, 1, ..., K - 1 operands; without the first of these where it is left out."""
        if name != self.part.STAGES:
            raise KeyError(name)
        return sums(problems, width)[:, 0 if self.part.from_zero else 1 : -1]


def sums(problems: Problems, width: int = 0) -> Tensor:
    """(B, K + 1, W) sums of the first 0, 1, ..., K operands, as wide as the longest that could occur."""
    _, count, held = problems.operands.shape
    wide = parts.padded_length(held, count)
    return fitted(digits.running_sums(problems.operands, max(wide, width)), width, "sum")
