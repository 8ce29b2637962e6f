"""Multiplication of two numbers.

Sampled as in Section 5.2 of "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count".

    operands  37 925      answer  34225      partial products  185 74 333      their running sums  185 925 34225
"""

from __future__ import annotations

from lengen import digits
from lengen.digits import Generator, OperandError, Problems, Tensor, torch
from lengen.part import Length, Part
from lengen.tasks.base import PRODUCTS, SUMS, Extent, Row, Rows, Signs, Task, fitted, of_decimals


class Multiplication(Part, Task, tag="multiplication", frozen=True):
    """Products of a number of 1 to ``digits`` and one of 1 to ``second_digits`` digits, S_M(digits, second_digits).

    37*925=34225; stages: the products of the first number with the last 1, 2, ... digits of the second.

    Example:
        >>> import lengen
        >>> task = lengen.Multiplication(digits=2, second_digits=2)
        >>> task.text(task.parse(["12", "34"]))
        ['408']
    """

    ROWS = Rows(answer=Row.BOUND, stages=Row.BOUND)
    SIGNS = Signs("*")
    LEAST_COUNT = 1
    STAGES = "running sums"

    digits: Length
    """Digits of the longest trained first operand."""
    second_digits: Length
    """Digits of the longest trained second operand."""

    @property
    def most(self) -> int:
        return self.second_digits

    def shape(self, length: int, count: int) -> tuple[int, ...]:
        return length, count

    def extent(self, shape: tuple[int, ...]) -> Extent:
        return Extent(shape, sum(shape), (sum(shape),) * (shape[1] - 1))

    def train(self, n: int, generator: Generator) -> Problems:
        """Draw S_M(n, m): first length uniform on [1:n], second uniform on [1:m]."""
        length, count = self.digits, self.second_digits
        first = torch.randint(1, length + 1, (n,), generator=generator)
        second = torch.randint(1, count + 1, (n,), generator=generator)
        lengths = torch.stack([first, second], dim=1)
        return Problems(digits.sample(lengths, max(length, count), generator), lengths)

    def test(self, n: int, length: int, count: int, generator: Generator) -> Problems:
        """Draw T_M(length, count): both lengths exactly as given."""
        lengths = torch.tensor([[length, count]]).expand(n, 2)
        return Problems(digits.sample(lengths, max(length, count), generator), lengths)

    def parse(self, operands: list[str]) -> Problems:
        if len(operands) != 2:
            raise OperandError(f"multiplication takes two operands, got {len(operands)}")
        return of_decimals(operands)

    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        return fitted(self._sums(problems)[:, -1], width, "product")

    def stages(self, name: str, problems: Problems, width: int = 0) -> Tensor:
        """Return products of the first operand and each digit of the second.

        Or the running sums of these, shifted: all of them for the two-stage scratchpad, all but the last, which is the
        answer, for a plain one.
        """
        if name == PRODUCTS:
            a, b = problems.operands.unbind(dim=1)
            return digits.partial_products(a, b, a.shape[1] + 1)
        if name == SUMS:
            return self._sums(problems)
        if name == self.STAGES:
            return fitted(self._sums(problems), width, "product")
        raise KeyError(name)

    def _sums(self, problems: Problems) -> Tensor:
        a, b = problems.operands.unbind(dim=1)
        held = a.shape[1]
        return digits.shifted_sums(digits.partial_products(a, b, held + 1), 2 * held)
