"""What tasks on sequences share: training lengths from a skewed distribution, problems drawn for given lengths.

Appendix B of "Improving Length-Generalization in Transformers via Task Hinting": 80 % of the examples have one of the
lengths 2 to 5 (increment: 2 to 4), equally, the others one of the longer lengths, equally.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from lengen.tasks.base import OperandError, Problems, Task

SHORTEST = 2
"""Shortest training sequence."""


class Skew(NamedTuple):
    """A distribution of lengths: ``share`` of the mass on 2 to ``short``, the rest on longer ones; 0: uniform."""

    short: int = 0
    share: float = 0.0

    def weights(self, longest: int) -> Tensor:
        """(longest - 1,) probabilities of the lengths 2 to ``longest``, float64.

        >>> [round(weight, 3) for weight in Skew(5, 0.8).weights(10).tolist()]
        [0.2, 0.2, 0.2, 0.2, 0.04, 0.04, 0.04, 0.04, 0.04]
        """
        lengths = torch.arange(SHORTEST, longest + 1)
        if not self.share:
            return torch.full((len(lengths),), 1 / len(lengths), dtype=torch.float64)
        inside = lengths <= self.short
        mass = torch.tensor([1 - self.share, self.share], dtype=torch.float64)
        sizes = torch.stack([(~inside).sum(), inside.sum()])
        return (mass / sizes)[inside.long()]

    def lengths(self, n: int, longest: int, generator: torch.Generator) -> Tensor:
        """(n,) lengths, shuffled; systematic sampling: each length is drawn as often as its probability says, to one.

        One random number moves a comb of ``n`` equal steps over the distribution, so each draw has that distribution,
        and the mean length of few draws varies little.
        """
        comb = (torch.rand((), generator=generator, dtype=torch.float64) + torch.arange(n)) / n
        edges = self.weights(longest).cumsum(0)[:-1]
        return (SHORTEST + torch.searchsorted(edges, comb, right=True))[torch.randperm(n, generator=generator)]


class SequenceTask(Task):
    """A task whose problems are drawn for given lengths, so that a batch can share one."""

    skew: Skew

    def of_lengths(self, lengths: Tensor, generator: torch.Generator) -> Problems:
        """Training problems of these lengths (B,)."""
        raise NotImplementedError

    def train(self, n: int, length: int, count: int, generator: torch.Generator) -> Problems:
        """Lengths by `Skew`, held as wide as the longest may be; ``count`` has no meaning in training."""
        problems = self.of_lengths(self.skew.lengths(n, length, generator), generator)
        room = length - problems.operands.shape[2]
        return problems._replace(operands=torch.nn.functional.pad(problems.operands, (0, room)))

    def test(self, n: int, length: int, count: int, generator: torch.Generator) -> Problems:
        """As in training, at one length."""
        return self.of_lengths(torch.full((n,), length), generator)


def uniform_sequences(lengths: Tensor, alphabet: int, generator: torch.Generator) -> Tensor:
    """(B, W) numbers 1 to ``alphabet``, drawn independently with replacement; 0 beyond each length."""
    width = int(lengths.max())
    numbers = torch.randint(1, alphabet + 1, (len(lengths), width), generator=generator)
    return numbers * (torch.arange(width) < lengths[:, None])


def distinct(n: int, alphabet: int, width: int, generator: torch.Generator) -> Tensor:
    """(n, width) numbers 1 to ``alphabet``, drawn without replacement."""
    return torch.rand(n, alphabet, generator=generator).argsort(dim=1)[:, :width] + 1


def shuffled(sequences: Tensor, lengths: Tensor, generator: torch.Generator) -> Tensor:
    """(B, W) sequences whose first ``lengths`` numbers stand in random order."""
    order = torch.rand(sequences.shape, generator=generator)
    outside = torch.arange(sequences.shape[1]) >= lengths[:, None]
    return sequences.gather(1, order.masked_fill(outside, 2.0).argsort(dim=1))


def number(text: str, alphabet: int) -> int:
    """A typed number of the alphabet; raises `OperandError`."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= alphabet):
        raise OperandError(f"'{text}' is no number of this alphabet: expected 1 to {alphabet} (data.alphabet)")
    return int(text)
