"""Counting and filling in: the other auxiliary tasks of sorting, Section 3.1 and Appendix B of "Improving
Length-Generalization in Transformers via Task Hinting".

    count   5 5 5 4 5              the rarer number  4
    fill    5 5 5, begun with 5    the rest          5 5
"""

import torch
from torch import Tensor

from lengen.tasks.base import OperandError, Problems
from lengen.tasks.length_distribution import SequenceTask, Skew, distinct, number, shuffled

LARGEST_DIFFERENCE = 5
"""Most that the rarer number of a sequence may be short of the other."""


class Count(SequenceTask):
    """Sequences of two numbers in random order: which occurs less often? The smaller one where neither does.

    Half of the sequences of even length have both equally often; a tie needs an even length, and a length of 2 has
    nothing else. Otherwise the difference is uniform on what the length allows, at most 5.
    """

    def __init__(self, alphabet: int, skew: Skew) -> None:
        self.alphabet = alphabet
        self.skew = skew

    def of_lengths(self, lengths: Tensor, generator: torch.Generator) -> Problems:
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

    def answer(self, problems: Problems) -> list[str]:
        return [str(one) for one in rarer(problems.operands[:, 0]).tolist()]


class Fill(SequenceTask):
    """A number repeated n times, and the first k of them again: n - k are missing.

    n follows the distribution of lengths, k is uniform on 1 to n // 2, as in Figure 3.10, where n = 3 and k = 1.
    ``operands`` (B, 2, W): both sequences.
    """

    def __init__(self, alphabet: int, skew: Skew) -> None:
        self.alphabet = alphabet
        self.skew = skew

    def of_lengths(self, lengths: Tensor, generator: torch.Generator) -> Problems:
        one = torch.randint(1, self.alphabet + 1, (len(lengths),), generator=generator)
        begun = torch.rand(len(lengths), generator=generator, dtype=torch.float64) * (lengths // 2).clamp(min=1)
        return repeated(one, lengths, 1 + begun.long())

    def parse(self, operands: list[str]) -> Problems:
        if len(operands) != 3 or not all(text.isascii() and text.isdigit() for text in operands[1:]):
            raise OperandError("fill takes a number, how often it stands, and how often it is begun with: 5 3 1")
        one, copies, begun = number(operands[0], self.alphabet), int(operands[1]), int(operands[2])
        if not 1 <= begun < copies:
            raise OperandError(f"fill begins with 1 to {copies - 1} of {copies} numbers, got {begun}")
        return repeated(torch.tensor([one]), torch.tensor([copies]), torch.tensor([begun]))

    def answer(self, problems: Problems) -> list[str]:
        missing = (problems.lengths[:, 0] - problems.lengths[:, 1]).tolist()
        return [" ".join([str(one)] * n) for one, n in zip(problems.operands[:, 0, 0].tolist(), missing, strict=True)]


def repeated(numbers: Tensor, copies: Tensor, begun: Tensor) -> Problems:
    """Problems of `Fill`, all arguments (B,)."""
    lengths = torch.stack([copies, begun], dim=1)
    inside = torch.arange(int(copies.max())) < lengths[..., None]
    return Problems(numbers[:, None, None] * inside, lengths)


def rarer(sequences: Tensor) -> Tensor:
    """(B,) of two numbers in each sequence (B, W) the one that occurs less often; the smaller where neither does.

    >>> rarer(torch.tensor([[5, 5, 5, 4, 5], [5, 4, 5, 4, 0]])).tolist()
    [4, 4]
    """
    high = sequences.amax(dim=1)
    low = torch.where(sequences > 0, sequences, high[:, None]).amin(dim=1)
    more = (sequences == low[:, None]).sum(dim=1) > (sequences == high[:, None]).sum(dim=1)
    return torch.where(more, high, low)
