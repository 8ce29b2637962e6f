"""Keys and values of the tokens seen so far, so that writing one more token costs one token."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from lengen.config.spec import ModelSpec
from lengen.data.writer import Batch


class LayerCache(NamedTuple):
    """Keys and values of one layer, (B, H, capacity, D); rows are filled up to each example's own length."""

    keys: Tensor
    values: Tensor


@dataclass
class Cache:
    """Keys, values and position ids of the tokens seen so far; every example has a length of its own."""

    layers: list[LayerCache]
    ids: Tensor
    """(levels, B, capacity) ids of the cached tokens."""
    memory: tuple[LayerCache, ...] = ()
    """Keys and values of the source, per decoder layer, where there is an encoder."""
    source_ids: Tensor | None = None
    """(levels, B or 1, S) ids of the source."""
    source_mask: Tensor | None = None
    """(B, 1, 1, S) bool, False at padding."""
    prompt: Tensor | None = None
    """(B,) tokens before each response, where the temperature of attention grows with them."""
    output: int = 0
    """The output head that predicts."""

    @classmethod
    def empty(cls, model: ModelSpec, layers: int, batch: Batch, capacity: int, like: Tensor) -> "Cache":
        """Room for ``capacity`` tokens of each example of a batch in ``layers`` layers, of the kind of ``like``."""
        examples = len(batch.tokens)
        shape = (examples, model.heads, capacity, model.head_dim)
        ids = torch.zeros(len(batch.ids), examples, capacity, dtype=torch.long, device=like.device)
        return cls([LayerCache(like.new_zeros(shape), like.new_zeros(shape)) for _ in range(layers)], ids)

    def enter(self, ids: Tensor, places: Tensor) -> Tensor:
        """Write the ids (levels, B or 1, T) of new tokens at their places (B, T).

        Returns:
            (B, 1, T, capacity) bool, the places that each of them sees: those up to its own.
        """
        if ids.shape[0]:
            self.ids.scatter_(2, places.expand(ids.shape[0], -1, -1), ids.expand(-1, len(places), -1))
        return torch.arange(self.ids.shape[2], device=places.device) <= places[:, None, :, None]

    def select(self, rows: Tensor) -> "Cache":
        """The examples at which ``rows`` (B,) is True."""
        keep = rows.to(self.ids.device)

        def chosen(layers: Iterable[LayerCache]) -> list[LayerCache]:
            return [LayerCache(layer.keys[keep], layer.values[keep]) for layer in layers]

        ids, mask = self.source_ids, self.source_mask
        if ids is not None and ids.shape[1] > 1:
            ids = ids[:, keep]
        return Cache(
            chosen(self.layers),
            self.ids[:, keep],
            tuple(chosen(self.memory)),
            ids,
            None if mask is None else mask[keep],
            None if self.prompt is None else self.prompt[keep],
            self.output,
        )
