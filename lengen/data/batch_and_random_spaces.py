"""Batches for a model, and the random spaces that training queries may hold."""

from typing import NamedTuple

import torch
from torch import Tensor

from lengen.digits import Problems, mix
from lengen.tasks.base import keys


class Source(NamedTuple):
    """Input of an encoder: the query, apart from the response."""

    tokens: Tensor
    """(B, S) int64 token ids, padded on the right."""
    ids: Tensor
    """(levels, B or 1, S) int64 position ids."""


class Batch(NamedTuple):
    """Written problems."""

    tokens: Tensor
    """(B, T) int64 token ids: ``$ query = response $``, or ``$ response $`` beside a source; padded on the right."""
    ids: Tensor
    """(levels, B or 1, T) int64 position ids; 0 at both ``$`` and at padding for coupled ids."""
    loss: Tensor
    """(B, T) bool: the token is a training target (response and end)."""
    source: Source | None = None
    """The query, where an encoder reads it."""
    output: int = 0
    """The output head it is for: 0 the task's, then those of its auxiliary tasks."""
    scale: Tensor | None = None
    """0-d float, of a training batch: what the summed loss is divided by."""

    def to(self, device: torch.device) -> "Batch":
        """Return the same batch on a device."""
        source = self.source and Source(self.source.tokens.to(device), self.source.ids.to(device))
        tokens, ids, loss = self.tokens.to(device), self.ids.to(device), self.loss.to(device)
        return self._replace(tokens=tokens, ids=ids, loss=loss, source=source)


def response_start(batch: Batch) -> Tensor:
    """Return (B,) index of the first response token: how many tokens the prompt has."""
    return batch.loss.int().argmax(dim=1)


# Section 4.2.1 of "Length Generalization on Multi-Digit Integer Addition with Transformers" (Ibrahimli 2024).
#
# The number of spaces is uniform on 0 to int(ratio * L), where L counts the tokens of the query after its opening
# ``$``, the ``=`` included: the text's own example, ``$1 23 +4 5 6=579$``, has four spaces at a ratio of 0.5. (The
# author's code leaves the ``=`` out and allows three.) Spaces stand before, between and behind the operands, never
# behind the ``=``. The author inserts them one after another, each at a uniformly random place of the growing text,
# which makes every arrangement of n spaces among the tokens equally likely: a gap that holds s spaces has s + 1 places,
# so it is chosen with a chance proportional to s + 1, which is Polya's urn. Here the arrangement is drawn at once, for
# whole batches.


class Spaces(NamedTuple):
    """Distribution of the random spaces."""

    ratio: float
    """Largest number of spaces per token of the query."""
    token: int
    """Token id of a space."""
    fresh: bool
    """Anew whenever a problem is seen; else a problem keeps its spaces for the whole run."""
    seed: int
    """Seed of the run: what keeps the spaces of two runs apart if they are not fresh."""

    def arrange(self, problems: Problems, lengths: Tensor, generator: torch.Generator) -> Tensor:
        """Return (B, S) bool: which of the places hold a space.

        Queries have ``lengths`` (B,) tokens before their ``=``.
        """
        most = (self.ratio * (lengths + 1).double()).long()
        shape = (len(lengths), 1 + int(lengths.max()) + int(most.max()))
        if self.fresh:
            drawn = torch.rand(shape, generator=generator)
        else:
            places = mix(torch.arange(shape[1]) + self.seed * (1 << 32))
            drawn = ((mix(keys(problems.operands)[:, None] ^ places) >> 11) & ((1 << 53) - 1)) * 2.0**-53
        count = (drawn[:, 0] * (most + 1)).long()
        outside = torch.arange(shape[1] - 1) >= (lengths + count)[:, None]
        order = drawn[:, 1:].masked_fill(outside, 2.0).argsort(dim=1)  # a random order of the places there are
        first = torch.arange(shape[1] - 1) < count[:, None]
        return torch.zeros_like(first).scatter_(1, order, first)


def spread(arranged: Tensor, opening: Tensor, width: int) -> Tensor:
    """Return the origin of each token of the spaced sequences: (B, width + spaces) indices, -1 at a space.

    Args:
        arranged: (B, S) bool from `Spaces.arrange`.
        opening: (B,) tokens before the first place of ``arranged``.
        width: tokens of the longest sequence without spaces; indices from there on stand for padding.
    """
    most = int(arranged.sum(dim=1).max())
    spaces = torch.zeros(len(arranged), int(opening.max()) + arranged.shape[1] + width + most, dtype=torch.bool)
    spaces.scatter_(1, opening[:, None] + torch.arange(arranged.shape[1]), arranged)
    spaces = spaces[:, : width + most]
    index = torch.arange(width + most) - spaces.cumsum(dim=1)
    return index.masked_fill(spaces, -1)
