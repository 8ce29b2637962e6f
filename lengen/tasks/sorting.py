"""Sorting, and finding a successor: Section 3 of "Improving Length-Generalization in Transformers via Task Hinting".

sequence  5 3 1 4 2      sorted  1 2 3 4 5      successor of 4  5
"""

from __future__ import annotations

from lengen.digits import Generator, OperandError, Problems, Tensor, torch
from lengen.part import Share
from lengen.tasks.base import DELIMITER, Extent, Signs
from lengen.tasks.sequence_base import OfAlphabet, distinct, number, shuffled, uniform_sequences

ABOVE = 10_000
"""Larger than any number of an alphabet."""


class Sorting(OfAlphabet, tag="sorting", frozen=True):
    """Sequences of numbers, put in order: 5 3 1 4 2 ⊥ 1 2 3 4 5.

    A tested count is how often each number stands there; 1 draws them independently.

    Example:
        >>> import lengen
        >>> task = lengen.Sorting(longest=3)
        >>> task.text(task.parse(["3", "1", "2"]))
        ['1 2 3']
    """

    LEAST_COUNT = 1

    repeats: Share = 0.0
    """Share of the training sequences, of length l, that draw from only l // 2 numbers."""

    def of_lengths(self, lengths: Tensor, generator: Generator) -> Problems:
        sequences = repeating_sequences(lengths, self.alphabet, self.repeats, generator)
        return Problems(sequences[:, None], lengths[:, None])

    def test(self, n: int, length: int, count: int, generator: Generator) -> Problems:
        """Draw uniform sequences for ``count`` 1.

        Beyond it rep(length, count) of Section 3.1: length // count different numbers, each ``count`` times, the rest
        drawn uniformly with replacement; in random order.

        Raises `OperandError` if the alphabet has fewer numbers.
        """
        lengths = torch.full((n,), length)
        numbers = uniform_sequences(lengths, self.alphabet, generator)
        if count > 1:
            different = length // count
            if different > self.alphabet:
                raise OperandError(
                    f"rep({length}, {count}) needs {different} different numbers and the alphabet has "
                    f"{self.alphabet}: raise data.task.alphabet or lower test.lengths"
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

    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        return ascending(problems.operands[:, 0], problems.lengths[:, 0])


class NextLarger(OfAlphabet, tag="next_larger", frozen=True):
    """The number that follows one of a sequence in order, its successor there: 5 3 1 4 2 ⊥ 4 5.

    The number asked about is that at a random position (Appendix B), among those with a successor; if no number has one
    it is its own successor. ``operands`` (B, 2, W): the sequence, and the number at place 0.

    Example:
        >>> import lengen
        >>> task = lengen.NextLarger(longest=3)
        >>> task.text(task.parse(["3", "1", "2", "1"]))
        ['2']
    """

    SIGNS = Signs(DELIMITER, separator=False)
    PLACEWISE = False
    name = "successor"

    repeats: Share = 0.0
    """Share of the training sequences, of length l, that draw from only l // 2 numbers."""
    copies: bool = False
    """A number that stands in the sequence more than once is followed by itself, as in the sorted sequence; else by the
    next larger one."""

    def shape(self, length: int, count: int) -> tuple[int, ...]:
        return length, 1

    def extent(self, shape: tuple[int, ...]) -> Extent:
        return Extent(shape, 1)

    def of_lengths(self, lengths: Tensor, generator: Generator) -> Problems:
        sequences = repeating_sequences(lengths, self.alphabet, self.repeats, generator)
        inside = sequences > 0
        followed = inside & (sequences < sequences.amax(dim=1, keepdim=True))
        if self.copies:
            followed |= inside & repeated(sequences, sequences)
        possible = torch.where(followed.any(dim=1, keepdim=True), followed, inside)
        place = possible.float().multinomial(1, generator=generator)
        return asked(sequences, lengths, sequences.gather(1, place)[:, 0])

    def parse(self, operands: list[str]) -> Problems:
        *sequence, last = (number(text, self.alphabet) for text in operands or ("",))
        if last not in sequence:
            raise OperandError("successor takes a sequence and then one of its numbers again, as in 5 3 1 4 2 4")
        return asked(torch.tensor([sequence]), torch.tensor([len(sequence)]), torch.tensor([last]))

    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        sequences, numbers = problems.operands[:, 0], problems.operands[:, 1, :1]
        larger = successors(sequences, numbers)
        return torch.where(repeated(sequences, numbers), numbers, larger) if self.copies else larger


def repeating_sequences(lengths: Tensor, alphabet: int, repeats: float, generator: Generator) -> Tensor:
    """Return (B, W) training sequences of these lengths.

    A share ``repeats`` of them, of length l, draws from only l // 2 numbers (Appendix B).
    """
    numbers = uniform_sequences(lengths, alphabet, generator)
    if not repeats:
        return numbers
    few = (lengths // 2).clamp(1, alphabet)
    pool = distinct(len(lengths), alphabet, int(few.max()), generator)
    place = torch.rand(numbers.shape, generator=generator, dtype=torch.float64) * few[:, None]
    repeated = pool.gather(1, place.long()) * (numbers > 0)
    chosen = torch.rand(len(lengths), 1, generator=generator) < repeats
    return torch.where(chosen, repeated, numbers)


def repeated(sequences: Tensor, numbers: Tensor) -> Tensor:
    """Return where numbers (B, N) stand more than once in their sequence (B, W).

    >>> repeated(torch.tensor([[5, 3, 5]]), torch.tensor([[3, 5]])).tolist()
    [[False, True]]
    """
    return (sequences[:, None] == numbers[:, :, None]).sum(dim=2) > 1


def asked(sequences: Tensor, lengths: Tensor, numbers: Tensor) -> Problems:
    """Return problems of a sequence (B, W) and a number (B,) of it."""
    second = torch.zeros_like(sequences)
    second[:, 0] = numbers
    return Problems(torch.stack([sequences, second], dim=1), torch.stack([lengths, torch.ones_like(lengths)], dim=1))


def ascending(sequences: Tensor, lengths: Tensor) -> Tensor:
    """Return (B, W) the sequences in order; 0 beyond each length.

    >>> ascending(torch.tensor([[5, 3, 1, 0]]), torch.tensor([3])).tolist()
    [[1, 3, 5, 0]]
    """
    outside = torch.arange(sequences.shape[1]) >= lengths[:, None]
    return sequences.masked_fill(outside, ABOVE).sort(dim=1).values.masked_fill(outside, 0)


def successors(sequences: Tensor, numbers: Tensor) -> Tensor:
    """Return (B, N) the smallest larger number in each sequence (B, W), of numbers (B, N); themselves if there is none.

    >>> successors(torch.tensor([[5, 3, 1, 5]]), torch.tensor([[1, 3, 5]])).tolist()
    [[3, 5, 5]]
    """
    larger = sequences[:, None] > numbers[:, :, None]
    next = torch.where(larger, sequences[:, None], ABOVE).amin(dim=2)
    return torch.where(next == ABOVE, numbers, next)
