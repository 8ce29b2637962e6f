"""Filling in what is missing.

It is an auxiliary task of sorting, Section 3.1 and Appendix B of "Improving Length-Generalization in Transformers via
Task Hinting".

    a number 3 times  5 5 5      begun with  5      the rest  5 5
"""

from __future__ import annotations

from lengen.digits import Generator, OperandError, Problems, Tensor, torch
from lengen.part import LONGEST, Count
from lengen.tasks.base import DELIMITER, Extent, Signs
from lengen.tasks.sequence_base import OfAlphabet, number


class Filling(OfAlphabet, tag="fill", frozen=True):
    """A number n times, then k of them again, then the n - k that are missing: 5 5 5 ⊥ 5 ⊥ 5 5.

    n follows the distribution of lengths, k is uniform on 1 to n // 2, as in Figure 3.10, where n = 3 and k = 1.
    ``operands`` (B, 2, W): both sequences.

    Example:
        >>> import lengen
        >>> task = lengen.Filling(longest=5)
        >>> task.text(task.parse(["5", "3", "1"]))
        ['5 5']
    """

    SIGNS = Signs(DELIMITER)
    LEAST_LENGTH = 2  # something is missing

    padding: Count = 0
    """PAD tokens behind the answer that are trained too; the printed mask has two."""

    @property
    def trailing(self) -> int:
        return self.padding

    def shape(self, length: int, count: int) -> tuple[int, ...]:
        return length, max(1, length // 2)

    def longest_shapes(self, length: int, count: int) -> list[tuple[int, ...]]:
        return [(length, 1), (length, max(1, length // 2))]

    def extent(self, shape: tuple[int, ...]) -> Extent:
        return Extent(shape, shape[0] - shape[1])

    def of_lengths(self, lengths: Tensor, generator: Generator) -> Problems:
        numbers = torch.randint(1, self.alphabet + 1, (len(lengths),), generator=generator)
        begun = torch.rand(len(lengths), generator=generator, dtype=torch.float64) * (lengths // 2).clamp(min=1)
        return repeated(numbers, lengths, 1 + begun.long())

    def parse(self, operands: list[str]) -> Problems:
        if len(operands) != 3 or not all(text.isascii() and text.isdigit() for text in operands[1:]):
            fault = "the number, how often to repeat it, and how many copies are given: 5 3 1"
            raise OperandError(f"fill takes three numbers: {fault}")
        value, (copies, begun) = number(operands[0], self.alphabet), map(typed, operands[1:])
        if copies > LONGEST:
            raise OperandError(f"fill repeats a number up to {LONGEST} times, and was asked for more: lower the second")
        if not 1 <= begun < copies:
            raise OperandError(f"fill begins with 1 to {copies - 1} of {copies} numbers, got {begun}")
        return repeated(torch.tensor([value]), torch.tensor([copies]), torch.tensor([begun]))

    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        """Return the number, as often as it is missing."""
        missing = problems.lengths[:, :1] - problems.lengths[:, 1:]
        return problems.operands[:, 0, :1] * (torch.arange(problems.operands.shape[2]) < missing)


def typed(count: str) -> int:
    """Return a typed count; beyond `LONGEST` it matters no more how far."""
    digits = count.lstrip("0") or "0"
    return int(digits) if len(digits) <= len(str(LONGEST)) else LONGEST + 1


def repeated(numbers: Tensor, copies: Tensor, begun: Tensor) -> Problems:
    """Return problems of `Filling`, all arguments (B,)."""
    lengths = torch.stack([copies, begun], dim=1)
    inside = torch.arange(int(copies.max())) < lengths[..., None]
    return Problems(numbers[:, None, None] * inside, lengths)
