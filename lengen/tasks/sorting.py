"""Sorting, and finding a successor: Section 3 of "Improving Length-Generalization in Transformers via Task Hinting".

sequence  5 3 1 4 2      sorted  1 2 3 4 5      successor of 4  5
"""

import torch
from torch import Tensor

from lengen.tasks.base import OperandError, Problems
from lengen.tasks.length_distribution import SequenceTask, Skew, distinct, number, shuffled, uniform_sequences

ABOVE = 10_000
"""Larger than any number of an alphabet."""


class Sorting(SequenceTask):
    """Sequences of numbers 1 to ``alphabet``, to be put in order.

    A share ``repeats`` of the training sequences, of length l, draws from only l // 2 numbers (Appendix B).
    """

    def __init__(self, alphabet: int, skew: Skew, repeats: float = 0.0) -> None:
        self.alphabet = alphabet
        self.skew = skew
        self.repeats = repeats

    def of_lengths(self, lengths: Tensor, generator: torch.Generator) -> Problems:
        sequences = self.sequences(lengths, generator)
        return Problems(sequences[:, None], lengths[:, None])

    def sequences(self, lengths: Tensor, generator: torch.Generator) -> Tensor:
        """(B, W) training sequences of these lengths."""
        numbers = uniform_sequences(lengths, self.alphabet, generator)
        if not self.repeats:
            return numbers
        few = (lengths // 2).clamp(1, self.alphabet)
        pool = distinct(len(lengths), self.alphabet, int(few.max()), generator)
        place = torch.rand(numbers.shape, generator=generator, dtype=torch.float64) * few[:, None]
        repeated = pool.gather(1, place.long()) * (numbers > 0)
        chosen = torch.rand(len(lengths), 1, generator=generator) < self.repeats
        return torch.where(chosen, repeated, numbers)

    def test(self, n: int, length: int, count: int, generator: torch.Generator) -> Problems:
        """Uniform sequences for ``count`` 1; beyond it rep(length, count) of Section 3.1: length // count different
        numbers, each ``count`` times, the rest drawn uniformly with replacement; in random order.

        Raises `OperandError` where the alphabet has fewer numbers.
        """
        lengths = torch.full((n,), length)
        numbers = uniform_sequences(lengths, self.alphabet, generator)
        if count > 1:
            different = length // count
            if different > self.alphabet:
                raise OperandError(
                    f"rep({length}, {count}) needs {different} different numbers and the alphabet has {self.alphabet}: "
                    f"raise data.alphabet or lower test.lengths"
                )
            pool = distinct(n, self.alphabet, different, generator).repeat_interleave(count, dim=1)
            numbers[:, : pool.shape[1]] = pool
            numbers = shuffled(numbers, lengths, generator)
        return Problems(numbers[:, None], lengths[:, None])

    def parse(self, operands: list[str]) -> Problems:
        if not operands:
            raise OperandError("sorting takes one number or more, got none")
        numbers = torch.tensor([number(text, self.alphabet) for text in operands])
        return Problems(numbers[None, None], torch.tensor([[len(operands)]]))

    def answer(self, problems: Problems) -> list[str]:
        rows = ascending(problems.operands[:, 0], problems.lengths[:, 0]).tolist()
        return [" ".join(map(str, row[:n])) for row, n in zip(rows, problems.lengths[:, 0].tolist(), strict=True)]


class Successor(Sorting):
    """A sequence, and one of its numbers: which comes next in order?

    The number is that at a random position (Appendix B), among those with a larger one in the sequence; where all are
    equal it is its own successor. ``operands`` (B, 2, W): the sequence, and the number at place 0.
    """

    def of_lengths(self, lengths: Tensor, generator: torch.Generator) -> Problems:
        sequences = self.sequences(lengths, generator)
        inside = sequences > 0
        smaller = inside & (sequences < sequences.amax(dim=1, keepdim=True))
        possible = torch.where(smaller.any(dim=1, keepdim=True), smaller, inside)
        place = possible.float().multinomial(1, generator=generator)
        return asked(sequences, lengths, sequences.gather(1, place)[:, 0])

    test = SequenceTask.test  # not Sorting's: there is no rep(length, count)

    def parse(self, operands: list[str]) -> Problems:
        if len(operands) < 2 or operands[-1] not in operands[:-1]:
            raise OperandError("successor takes a sequence and then one of its numbers again, as in 5 3 1 4 2 4")
        *sequence, one = (number(text, self.alphabet) for text in operands)
        return asked(torch.tensor([sequence]), torch.tensor([len(sequence)]), torch.tensor([one]))

    def answer(self, problems: Problems) -> list[str]:
        return [str(one) for one in successors(problems.operands[:, 0], problems.operands[:, 1, :1])[:, 0].tolist()]


def asked(sequences: Tensor, lengths: Tensor, numbers: Tensor) -> Problems:
    """Problems of a sequence (B, W) and a number (B,) asked about it."""
    second = torch.zeros_like(sequences)
    second[:, 0] = numbers
    return Problems(torch.stack([sequences, second], dim=1), torch.stack([lengths, torch.ones_like(lengths)], dim=1))


def ascending(sequences: Tensor, lengths: Tensor) -> Tensor:
    """(B, W) the sequences in order; 0 beyond each length.

    >>> ascending(torch.tensor([[5, 3, 1, 0]]), torch.tensor([3])).tolist()
    [[1, 3, 5, 0]]
    """
    outside = torch.arange(sequences.shape[1]) >= lengths[:, None]
    return sequences.masked_fill(outside, ABOVE).sort(dim=1).values.masked_fill(outside, 0)


def successors(sequences: Tensor, numbers: Tensor) -> Tensor:
    """(B, N) the smallest larger number in each sequence (B, W), of numbers (B, N); themselves where there is none.

    >>> successors(torch.tensor([[5, 3, 1, 5]]), torch.tensor([[1, 3, 5]])).tolist()
    [[3, 5, 5]]
    """
    larger = sequences[:, None] > numbers[:, :, None]
    next = torch.where(larger, sequences[:, None], ABOVE).amin(dim=2)
    return torch.where(next == ABOVE, numbers, next)
