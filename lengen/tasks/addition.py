"""Multi-operand addition.

Sampled as in Section 4.2 of "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count".

    operands  57 48 96      answer  201      running sums  0, 57, 105
"""

from __future__ import annotations

from lengen import digits
from lengen.digits import Generator, OperandError, Problems, Tensor, torch
from lengen.part import Length, Part, SettingError
from lengen.tasks.base import BOUNDS, Extent, Signs, Task, fitted, of_decimals


class Addition(Part, Task, tag="addition", frozen=True):
    """Sums of 2 to ``operands`` numbers of 1 to ``digits`` digits, S_A(digits, operands).

    57+48+96=201; stages: the sums of the first 0, 1, 2, ... operands, or of the first 1, 2, ...

    Example:
        >>> import lengen
        >>> task = lengen.Addition(digits=2)
        >>> task.text(task.parse(["12", "34"]))
        ['46']
    """

    ROWS = BOUNDS
    SIGNS = Signs("+")
    LEAST_COUNT = 2
    STAGES = "running sums"
    counts = (2,)

    digits: Length
    """Digits of the longest trained operand."""
    operands: Length = 2
    """Most trained operands."""
    from_zero: bool = True
    """The stages begin with the sum of no operand, zeros; else with the first operand."""

    @property
    def most(self) -> int:
        return self.operands

    def shape(self, length: int, count: int) -> tuple[int, ...]:
        return count, length

    def extent(self, shape: tuple[int, ...]) -> Extent:
        count, longest = shape
        width = padded_length(longest, count)
        return Extent((longest,) * count, width, (width,) * (count - (not self.from_zero)))

    def check(self) -> None:
        if self.operands < 2:
            raise SettingError(f"data.task.operands={self.operands}: addition needs at least 2 operands")

    def train(self, n: int, generator: Generator) -> Problems:
        """Draw S_A(n, m): two equally sized chunks, shuffled.

        In both, the number of operands is uniform on [2:m]. In the first each operand has its own length, uniform on
        [1:n]; in the second one such length is shared by all operands.
        """
        length, count = self.digits, self.operands
        operands = torch.randint(2, count + 1, (n, 1), generator=generator)
        lengths = torch.randint(1, length + 1, (n, count), generator=generator)
        lengths[n // 2 :] = lengths[n // 2 :, :1]
        lengths = lengths * (torch.arange(count) < operands)
        lengths = lengths[torch.randperm(n, generator=generator)]
        return Problems(digits.sample(lengths, length, generator), lengths)

    def test(self, n: int, length: int, count: int, generator: Generator) -> Problems:
        """Draw T_A(length, count): exactly ``count`` operands of exactly ``length`` digits."""
        lengths = torch.full((n, count), length)
        return Problems(digits.sample(lengths, length, generator), lengths)

    def parse(self, operands: list[str]) -> Problems:
        if len(operands) < 2:
            raise OperandError(f"addition takes two operands or more, got {len(operands)}")
        return of_decimals(operands)

    def shapes(self, problems: Problems) -> Tensor:
        """Return operands and digits of the longest."""
        return torch.stack([(problems.lengths > 0).sum(dim=1), problems.lengths.amax(dim=1)], dim=1)

    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        return sums(problems, width)[:, -1]

    def stages(self, name: str, problems: Problems, width: int = 0) -> Tensor:
        """Return sums of the first 0, 1, ..., K - 1 operands; without the first of these if it is left out."""
        if name != self.STAGES:
            raise KeyError(name)
        return sums(problems, width)[:, 0 if self.from_zero else 1 : -1]


def sums(problems: Problems, width: int = 0) -> Tensor:
    """Return (B, K + 1, W) sums of the first 0, 1, ..., K operands, as wide as the longest that could occur."""
    _, count, held = problems.operands.shape
    wide = padded_length(held, count)
    return fitted(digits.running_sums(problems.operands, max(wide, width)), width, "sum")


def padded_length(digits_each: int, operands: int) -> int:
    """Return the number of digits of the largest sum of ``operands`` numbers of ``digits_each`` digits.

    See Section 4.1 of "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count".

    >>> padded_length(2, 3), padded_length(2, 11), padded_length(2, 10)
    (3, 4, 3)
    """
    return len(str(operands * (10**digits_each - 1)))
