"""Adding one: Section 6 and Appendix B of "Improving Length-Generalization in Transformers via Task Hinting".

operand  123      answer  124
"""

import torch
from torch import Tensor

from lengen import digits
from lengen.tasks.base import OperandError, Problems, decimal
from lengen.tasks.length_distribution import SequenceTask, Skew


class Increment(SequenceTask):
    """Numbers without leading zeros; a share ``nines`` of the training ones ends in 1 to all digits that are 9."""

    def __init__(self, skew: Skew, nines: float = 0.0) -> None:
        self.skew = skew
        self.nines = nines

    def of_lengths(self, lengths: Tensor, generator: torch.Generator) -> Problems:
        problems = self._uniform(lengths, generator)
        tail = 1 + (torch.rand(len(lengths), generator=generator, dtype=torch.float64) * lengths).long()
        chosen = torch.rand(len(lengths), generator=generator) < self.nines
        nine = chosen[:, None] & (torch.arange(problems.operands.shape[2]) < tail[:, None])
        return problems._replace(operands=problems.operands.masked_fill(nine[:, None], 9))

    def test(self, n: int, length: int, count: int, generator: torch.Generator) -> Problems:
        """Uniform over the numbers of exactly this length."""
        return self._uniform(torch.full((n,), length), generator)

    def _uniform(self, lengths: Tensor, generator: torch.Generator) -> Problems:
        lengths = lengths[:, None]
        return Problems(digits.sample(lengths, int(lengths.max()), generator), lengths)

    def parse(self, operands: list[str]) -> Problems:
        if len(operands) != 1:
            raise OperandError(f"increment takes one number, got {len(operands)}")
        text = decimal(operands[0])
        return Problems(digits.from_strings([text], len(text))[None], torch.tensor([[len(text)]]))

    def answer(self, problems: Problems) -> list[str]:
        rows, sizes = incremented(problems)
        return ["".join(map(str, row[:n]))[::-1] for row, n in zip(rows.tolist(), sizes.tolist(), strict=True)]


def incremented(problems: Problems) -> tuple[Tensor, Tensor]:
    """(B, W + 1) digits of operand + 1, least significant first, and (B,) how many there are."""
    result = torch.nn.functional.pad(problems.operands[:, 0], (0, 1))
    result[:, 0] += 1
    result = digits.carry(result)
    return result, digits.significant(result)


def carries(problems: Problems) -> Tensor:
    """(B, W + 1) 1 where a place of operand + 1 hands a carry on: the units 9 and all 9s that follow."""
    nines = problems.operands[:, 0] == 9
    return torch.nn.functional.pad(nines.long().cumprod(dim=1), (0, 1))
