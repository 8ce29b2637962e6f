"""The less frequent of two numbers.

It is an auxiliary task of sorting, Section 3.1 and Appendix B of "Improving Length-Generalization in Transformers via
Task Hinting".

    sequence  5 5 5 4 5      the rarer number  4
"""

from __future__ import annotations

from lengen.digits import Generator, OperandError, Problems, Tensor, torch
from lengen.tasks.base import Extent
from lengen.tasks.sequence_base import OfAlphabet, distinct, number, shuffled

LARGEST_DIFFERENCE = 5
"""Most that the rarer number of a sequence may be short of the other."""


class Counting(OfAlphabet, tag="count", frozen=True):
    """The rarer of the two numbers of a sequence, the smaller one at a tie: 5 5 5 4 5 ⊥ 4.

    Half of the sequences of even length have both equally often; a tie needs an even length, and a length of 2 has
    nothing else. Otherwise the difference is uniform on what the length allows, at most 5.

    Example:
        >>> import lengen
        >>> task = lengen.Counting(longest=5)
        >>> task.text(task.parse(["3", "5"]))
        ['3']
    """

    PLACEWISE = False
    LEAST_LENGTH = 2  # both numbers occur

    def extent(self, shape: tuple[int, ...]) -> Extent:
        return Extent(shape, 1)

    def of_lengths(self, lengths: Tensor, generator: Generator) -> Problems:
        pair = distinct(len(lengths), self.alphabet, 2, generator)
        odd = lengths % 2
        most = (lengths - 2).clamp(max=LARGEST_DIFFERENCE)  # both occur
        choices = (most + odd) // 2  # 1, 3, 5 at odd lengths, 2, 4 at even ones
        drawn = (torch.rand(len(lengths), generator=generator, dtype=torch.float64) * choices).long()
        tie = (odd == 0) & ((torch.rand(len(lengths), generator=generator) < 0.5) | (choices == 0))
        difference = (2 * drawn + 2 - odd).masked_fill(tie, 0)
        rarer = (lengths - difference) // 2
        places = torch.arange(int(lengths.max()))
        sequences = torch.where(places < rarer[:, None], pair[:, :1], pair[:, 1:]) * (places < lengths[:, None])
        return Problems(shuffled(sequences, lengths, generator)[:, None], lengths[:, None])

    def parse(self, operands: list[str]) -> Problems:
        numbers = [number(text, self.alphabet) for text in operands]
        if len(set(numbers)) != 2:
            raise OperandError(f"count takes a sequence of two different numbers, got {len(set(numbers))}")
        return Problems(torch.tensor([[numbers]]), torch.tensor([[len(numbers)]]))

    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        return rarer(problems.operands[:, 0])[:, None]


def rarer(sequences: Tensor) -> Tensor:
    """Return (B,) of two numbers in each sequence (B, W) the one that occurs less often; the smaller if neither does.

    >>> rarer(torch.tensor([[5, 5, 5, 4, 5], [5, 4, 5, 4, 0]])).tolist()
    [4, 4]
    """
    high = sequences.amax(dim=1)
    low = torch.where(sequences > 0, sequences, high[:, None]).amin(dim=1)
    more = (sequences == low[:, None]).sum(dim=1) > (sequences == high[:, None]).sum(dim=1)
    return torch.where(more, high, low)
