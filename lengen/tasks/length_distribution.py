"""A skewed distribution of training lengths.

Appendix B of "Improving Length-Generalization in Transformers via Task Hinting": 80 % of the examples have one of the
lengths 2 to 5 (increment: 2 to 4), equally, the others one of the longer lengths, equally.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lengen.digits.lazy import torch

if TYPE_CHECKING:
    from torch import Generator, Tensor


SHORTEST = 2
"""Shortest training sequence of the tasks with a skewed distribution of lengths."""


class Skew(NamedTuple):
    """A distribution of lengths: ``share`` of the mass on 2 to ``short``, the rest on longer ones; 0: uniform."""

    short: int = 0
    share: float = 0.0

    def weights(self, longest: int) -> Tensor:
        """Return (longest - 1,) probabilities of the lengths 2 to ``longest``, float64.

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

    def lengths(self, n: int, longest: int, generator: Generator) -> Tensor:
        """Return (n,) lengths, shuffled; systematic sampling: each length is drawn as often as its probability, to one.

        One random number moves a comb of ``n`` equal steps over the distribution, so each draw has that distribution,
        and the mean length of few draws varies little.
        """
        comb = (torch.rand((), generator=generator, dtype=torch.float64) + torch.arange(n)) / n
        edges = self.weights(longest).cumsum(0)[:-1]
        return (SHORTEST + torch.searchsorted(edges, comb, right=True))[torch.randperm(n, generator=generator)]
