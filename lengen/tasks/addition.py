"""Multi-operand addition, the sampling of Section 4.2 of "Arithmetic Transformers Can Length-Generalize in
Both Operand Length and Count".

    operands  57 48 96      answer  201
"""

import torch

from lengen import digits
from lengen.tasks.base import OperandError, Problems, Task, decimal


class Addition(Task):
    """Sums of 2 to m operands of 1 to n digits."""

    def train(self, n: int, length: int, count: int, generator: torch.Generator) -> Problems:
        """S_A(length, count): two equally sized chunks, shuffled.

        In both, the number of operands is uniform on [2:count]. In the first each operand has its own
        length, uniform on [1:length]; in the second one such length is shared by all operands.
        """
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
        numbers = [decimal(text) for text in operands]
        width = max(map(len, numbers))
        return Problems(digits.from_strings(numbers, width)[None], torch.tensor([[len(text) for text in numbers]]))

    def answer(self, problems: Problems) -> list[str]:
        width = problems.operands.shape[2] + len(str(problems.operands.shape[1]))
        total = digits.running_sums(problems.operands, width)[:, -1]
        return [
            "".join(map(str, reversed(row[:length])))
            for row, length in zip(total.tolist(), digits.significant(total).tolist(), strict=True)
        ]
