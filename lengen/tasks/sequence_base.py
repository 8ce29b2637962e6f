"""Common code of tasks on sequences: lengths that a batch can share, skewed ones, numbers of an alphabet."""

from __future__ import annotations

import math
from typing import ClassVar

from lengen.digits import Generator, OperandError, Problems, Tensor, torch
from lengen.part import Count, Part, SettingError, Share, Size
from lengen.tasks.base import LARGEST_ALPHABET, SEQUENCES, Rows, Task

# Appendix B of "Improving Length-Generalization in Transformers via Task Hinting": 80 % of the examples have one of the
# lengths 2 to 5 (increment: 2 to 4), equally, the others one of the longer lengths, equally.


SHORTEST = 2
"""Shortest training sequence of the tasks with a skewed distribution of lengths."""


class Skewed(Part, Task, frozen=True):
    """Tasks whose training lengths are 2 to ``longest``, some of them more often than others."""

    LEAST_LENGTH: ClassVar[int] = 1
    """Shortest length that can be tested."""

    longest: Size
    """Longest trained operand."""
    short: Count = 0
    """Training lengths of 2 to this share a part of the examples of their own (``skew``), those beyond it the rest."""
    skew: Share = 0.0
    """Share of the training examples whose length is at most ``short``; 0: all lengths are equally likely."""

    @property
    def trained_lengths(self) -> tuple[int, ...]:
        if not self.skew:
            return tuple(range(SHORTEST, self.longest + 1))
        short, long = range(SHORTEST, self.short + 1), range(self.short + 1, self.longest + 1)
        # In thousandths, so that the tuple stays short; no length that is trained at all drops out.
        share = min(max(round(1000 * self.skew), 1), 1000 if self.skew == 1 else 999)
        often, seldom = share * len(long), (1000 - share) * len(short)
        unit = math.gcd(often, seldom)
        times = [often // unit] * len(short) + [seldom // unit] * len(long)
        return tuple(length for length, n in zip((*short, *long), times, strict=True) for _ in range(n))

    def check(self) -> None:
        if self.longest < SHORTEST:
            fault = f"data.task.longest={self.longest}: the shortest training sequence has {SHORTEST} tokens"
            raise SettingError(f"{fault}; set that")
        if self.skew and not SHORTEST <= self.short < self.longest:
            fault = f"with data.task.skew={self.skew} expected a length from {SHORTEST} to {self.longest - 1}"
            raise SettingError(f"data.task.short={self.short}: {fault}, below the longest trained")

    def weights(self) -> Tensor:
        """Return (longest - 1,) probabilities of the lengths 2 to ``longest``, float64.

        >>> from lengen import Sorting
        >>> [round(weight, 3) for weight in Sorting(longest=10, short=5, skew=0.8).weights().tolist()]
        [0.2, 0.2, 0.2, 0.2, 0.04, 0.04, 0.04, 0.04, 0.04]
        """
        lengths = torch.arange(SHORTEST, self.longest + 1)
        if not self.skew:
            return torch.full((len(lengths),), 1 / len(lengths), dtype=torch.float64)
        inside = lengths <= self.short
        return torch.where(inside, self.skew / inside.sum().double(), (1 - self.skew) / (~inside).sum().double())

    def draw_lengths(self, n: int, generator: Generator) -> Tensor:
        """Return (n,) lengths, shuffled; systematic sampling: each length is drawn as often as its probability, to one.

        One random number moves a comb of ``n`` equal steps over the distribution, so each draw has that distribution,
        and the mean length of few draws varies little.
        """
        comb = (torch.rand((), generator=generator, dtype=torch.float64) + torch.arange(n)) / n
        edges = self.weights().cumsum(0)[:-1]
        return (SHORTEST + torch.searchsorted(edges, comb, right=True))[torch.randperm(n, generator=generator)]

    def of_lengths(self, lengths: Tensor, generator: Generator) -> Problems:
        """Return training problems of these lengths (B,)."""
        raise NotImplementedError

    def train(self, n: int, generator: Generator) -> Problems:
        """Draw lengths by their `weights`, held as wide as the longest may be."""
        problems = self.of_lengths(self.draw_lengths(n, generator), generator)
        room = self.longest - problems.operands.shape[2]
        return problems._replace(operands=torch.nn.functional.pad(problems.operands, (0, room)))

    def test(self, n: int, length: int, count: int, generator: Generator) -> Problems:
        """Draw as in training, at one length; raises `OperandError` for one that no problem has."""
        if length < self.LEAST_LENGTH:
            fault = f"test.lengths={length}: problems of this task have {self.LEAST_LENGTH} numbers or more"
            raise OperandError(f"{fault}; test from {self.LEAST_LENGTH} on")
        return self.of_lengths(torch.full((n,), length), generator)


class OfAlphabet(Skewed, frozen=True):
    """Sequences of the numbers 1 to ``alphabet``, one token each."""

    ROWS: ClassVar[Rows] = SEQUENCES

    alphabet: Size = 10
    """Sequences are drawn from the numbers 1 to this."""

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(str(number) for number in range(1, self.alphabet + 1))

    def check(self) -> None:
        super().check()
        if not 2 <= self.alphabet <= LARGEST_ALPHABET:
            fault = f"expected an alphabet of 2 to {LARGEST_ALPHABET} numbers"
            raise SettingError(f"data.task.alphabet={self.alphabet}: {fault}")

    def first(self) -> int:
        return 1


def uniform_sequences(lengths: Tensor, alphabet: int, generator: Generator) -> Tensor:
    """Return (B, W) numbers 1 to ``alphabet``, drawn independently with replacement; 0 beyond each length."""
    width = int(lengths.max())
    numbers = torch.randint(1, alphabet + 1, (len(lengths), width), generator=generator)
    return numbers * (torch.arange(width) < lengths[:, None])


def distinct(n: int, alphabet: int, width: int, generator: Generator) -> Tensor:
    """Return (n, width) numbers 1 to ``alphabet``, drawn without replacement."""
    return torch.rand(n, alphabet, generator=generator).argsort(dim=1)[:, :width] + 1


def shuffled(sequences: Tensor, lengths: Tensor, generator: Generator) -> Tensor:
    """Return (B, W) sequences whose first ``lengths`` numbers are in random order."""
    order = torch.rand(sequences.shape, generator=generator)
    outside = torch.arange(sequences.shape[1]) >= lengths[:, None]
    return sequences.gather(1, order.masked_fill(outside, 2.0).argsort(dim=1))


def number(text: str, alphabet: int) -> int:
    """Return a typed number of the alphabet; raises `OperandError`."""
    short = len(text.lstrip("0")) <= len(str(alphabet))  # Python reads no number of 5,000 digits
    if not (text.isascii() and text.isdigit() and short and 1 <= int(text) <= alphabet):
        raise OperandError(f"'{text}' is no number of this alphabet: expected 1 to {alphabet} (data.task.alphabet)")
    return int(text)
