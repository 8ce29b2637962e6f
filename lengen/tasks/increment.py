"""Adding one: Section 6 and Appendix B of "Improving Length-Generalization in Transformers via Task Hinting".

operand  129      answer  130      with the carry that each digit hands on, units first  0↑1 3↑0 1↑0
"""

from __future__ import annotations

from lengen import digits
from lengen.digits import Generator, OperandError, Problems, Tensor, torch
from lengen.part import Share
from lengen.tasks.base import Extent, Row, Rows, fitted, of_decimals
from lengen.tasks.sequence_base import Skewed


class Increment(Skewed, tag="increment", frozen=True):
    """Adding one to a number of 2 to ``longest`` digits: 123⊥124; stages: the carry out of every place.

    Example:
        >>> import lengen
        >>> task = lengen.Increment(longest=3)
        >>> task.text(task.parse(["199"]))
        ['200']
    """

    STAGES = "carries out"
    MARKS = ("↑",)

    repeats: Share = 0.0
    """Share of the training numbers that end in nines."""

    def shape(self, length: int, count: int) -> tuple[int, ...]:
        return length, length

    def longest_shapes(self, length: int, count: int) -> list[tuple[int, ...]]:
        return [(length, length + 1)]  # all nines

    def extent(self, shape: tuple[int, ...]) -> Extent:
        return Extent(shape[:1], shape[1], shape[1:])

    def of_lengths(self, lengths: Tensor, generator: Generator) -> Problems:
        problems = self._uniform(lengths, generator)
        tail = 1 + (torch.rand(len(lengths), generator=generator, dtype=torch.float64) * lengths).long()
        chosen = torch.rand(len(lengths), generator=generator) < self.repeats
        nine = chosen[:, None] & (torch.arange(problems.operands.shape[2]) < tail[:, None])
        return problems._replace(operands=problems.operands.masked_fill(nine[:, None], 9))

    def test(self, n: int, length: int, count: int, generator: Generator) -> Problems:
        """Return numbers drawn uniformly, all of exactly this length."""
        return self._uniform(torch.full((n,), length), generator)

    def _uniform(self, lengths: Tensor, generator: Generator) -> Problems:
        lengths = lengths[:, None]
        return Problems(digits.sample(lengths, int(lengths.max()), generator), lengths)

    def parse(self, operands: list[str]) -> Problems:
        if len(operands) != 1:
            raise OperandError(f"increment takes one number, got {len(operands)}")
        return of_decimals(operands)

    def shapes(self, problems: Problems) -> Tensor:
        """Return digits of operand and result: all nines have one more."""
        return torch.stack([problems.lengths[:, 0], incremented(problems)[1]], dim=1)

    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        return fitted(incremented(problems)[0], width, "result")

    def stages(self, name: str, problems: Problems, width: int = 0) -> Tensor:
        """Return the carry out of every place."""
        if name != self.STAGES:
            raise KeyError(name)
        marks = carries(problems)
        return torch.nn.functional.pad(marks, (0, max(0, width - marks.shape[1])))[:, None]


class Carries(Increment, tag="carries", frozen=True):
    """Adding one, with the carry that each digit hands on, units first: 123⊥4↑02↑01↑0.

    Example:
        >>> import lengen
        >>> task = lengen.Carries(longest=3)
        >>> task.text(task.parse(["199"]))
        ['0↑10↑12↑0']
    """

    STAGES = ""
    ROWS = Rows(answer=Row.SEQUENCE)
    UNITS_FIRST = True

    def extent(self, shape: tuple[int, ...]) -> Extent:
        return Extent(shape[:1], 3 * shape[1])

    def place(self, place: int, size: int) -> int:
        """Return the place of a digit, which its arrow and its carry share."""
        return (place + 2) // 3

    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        result = incremented(problems)[0]
        arrow = torch.full_like(result, len(self.symbols))
        return torch.stack([result, arrow, carries(problems)], dim=2).flatten(1)

    def answer_sizes(self, problems: Problems) -> Tensor:
        return 3 * incremented(problems)[1]


def incremented(problems: Problems) -> tuple[Tensor, Tensor]:
    """Return (B, W + 1) digits of operand + 1, least significant first, and (B,) how many there are."""
    result = torch.nn.functional.pad(problems.operands[:, 0], (0, 1))
    result[:, 0] += 1
    result = digits.carry(result)
    return result, digits.significant(result)


def carries(problems: Problems) -> Tensor:
    """Return (B, W + 1) 1 where a place of operand + 1 hands a carry on: the units 9 and all 9s that follow."""
    nines = problems.operands[:, 0] == 9
    return torch.nn.functional.pad(nines.long().cumprod(dim=1), (0, 1))
