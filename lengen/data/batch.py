"""Batches for a model: tokens, position ids and targets of many examples."""

from typing import NamedTuple

import torch
from torch import Tensor


class Source(NamedTuple):
    """Input of an encoder: the query, apart from the response."""

    tokens: Tensor
    """(B, S) int64 token ids, padded on the right."""
    ids: Tensor
    """(levels, B or 1, S) int64 position ids."""


class Batch(NamedTuple):
    """One training batch."""

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

    def to(self, device: torch.device) -> "Batch":
        """Return the same batch on a device."""
        source = self.source and Source(self.source.tokens.to(device), self.source.ids.to(device))
        return Batch(self.tokens.to(device), self.ids.to(device), self.loss.to(device), source, self.output)


def response_start(batch: Batch) -> Tensor:
    """Return (B,) index of the first response token: how many tokens the prompt has."""
    return batch.loss.int().argmax(dim=1)


class TrainBatch(NamedTuple):
    """A batch and the weight of its tokens."""

    tokens: Tensor
    ids: Tensor
    loss: Tensor
    scale: Tensor
    """0-d float: what the summed loss is divided by."""
    source: Source | None = None
    output: int = 0
    """The output head it trains."""
