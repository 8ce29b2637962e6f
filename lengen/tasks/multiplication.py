"""Multiplication of two numbers, the sampling of Section 5.2 of "Arithmetic Transformers Can
Length-Generalize in Both Operand Length and Count".

    operands  37 925      answer  34225
"""

import torch

from lengen import digits
from lengen.tasks.base import OperandError, Problems, Task, decimal


class Multiplication(Task):
    """Products of a number of 1 to n digits and a number of 1 to m digits."""

    def train(self, n: int, length: int, count: int, generator: torch.Generator) -> Problems:
        """S_M(length, count): first length uniform on [1:length], second uniform on [1:count]."""
        first = torch.randint(1, length + 1, (n,), generator=generator)
        second = torch.randint(1, count + 1, (n,), generator=generator)
        lengths = torch.stack([first, second], dim=1)
        return Problems(digits.sample(lengths, max(length, count), generator), lengths)

    def test(self, n: int, length: int, count: int, generator: torch.Generator) -> Problems:
        """T_M(length, count): both lengths exactly as given."""
        lengths = torch.tensor([[length, count]]).expand(n, 2)
        return Problems(digits.sample(lengths, max(length, count), generator), lengths)

    def parse(self, operands: list[str]) -> Problems:
        if len(operands) != 2:
            raise OperandError(f"multiplication takes two operands, got {len(operands)}")
        numbers = [decimal(text) for text in operands]
        width = max(map(len, numbers))
        return Problems(digits.from_strings(numbers, width)[None], torch.tensor([[len(text) for text in numbers]]))

    def answer(self, problems: Problems) -> list[str]:
        a, b = problems.operands.unbind(dim=1)
        width = problems.operands.shape[2]
        product = digits.shifted_sums(digits.partial_products(a, b, width + 1), 2 * width)[:, -1]
        return [
            "".join(map(str, reversed(row[:length])))
            for row, length in zip(product.tolist(), digits.significant(product).tolist(), strict=True)
        ]
