"""A decoder-only transformer: tokens and position ids in, logits out.

Nothing here knows which task it solves or which encoding it has: positions arrive as integers with the data, and
enter through the encoding's three entry points.
"""

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from lengen.encodings import build_encoding
from lengen.models.blocks import NORMS, Attention, Block, Context, FeedForward, LayerCache
from lengen.spec import ModelSpec, SpecError


@dataclass
class Cache:
    """Keys, values and position ids of the tokens seen so far; every example has a length of its own."""

    layers: list[LayerCache]
    ids: Tensor
    """(levels, B, capacity) ids of the cached tokens."""


class Decoder(nn.Module):
    """Decoder-only transformer of a specification, for a vocabulary of ``tokens`` and ids up to ``sizes``."""

    def __init__(self, model: ModelSpec, tokens: int, sizes: tuple[int, ...]) -> None:
        super().__init__()
        _check(model)
        self.spec = model
        self.embedding = nn.Embedding(tokens, model.width)
        self.encoding = build_encoding(model, sizes)
        self.blocks = nn.ModuleList(Block(model) for _ in range(model.layers))
        self.norm = NORMS[model.final_norm](model.width)
        self.head = None if model.tied else nn.Linear(model.width, tokens, bias=False)
        INITIALISATIONS[model.init](self, model)

    def _embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.embedding(tokens)
        positions = self.encoding.embed(ids)
        return x if positions is None else x + positions

    def _logits(self, x: Tensor) -> Tensor:
        x = self.norm(x)
        if self.head is None:
            return linear(x * self.spec.width**-0.5, self.embedding.weight)
        logits: Tensor = self.head(x)
        return logits

    def forward(self, tokens: Tensor, ids: Tensor) -> Tensor:
        """Logits (B, T, V) after each token, from (B, T) tokens and (levels, B or 1, T) ids."""
        context = Context(self.encoding, ids, self.encoding.bias(ids, ids), None, None)
        x = self._embed(tokens, ids)
        for block in self.blocks:
            x = block(x, context)
        return self._logits(x)

    def attention(self, tokens: Tensor, ids: Tensor) -> list[Tensor]:
        """Softmax weights of every layer, each (B, H, T, T)."""
        context = Context(self.encoding, ids, self.encoding.bias(ids, ids), None, None)
        x = self._embed(tokens, ids)
        weights = []
        for block in self.blocks:
            weights.append(cast(Block, block).weights(x, context))
            x = block(x, context)
        return weights

    def cache(self, batch: int, capacity: int, levels: int) -> Cache:
        """An empty cache for ``batch`` sequences of up to ``capacity`` tokens."""
        weight = self.embedding.weight
        shape = (batch, self.spec.heads, capacity, self.spec.head_dim)
        layers = [LayerCache(weight.new_zeros(shape), weight.new_zeros(shape)) for _ in self.blocks]
        return Cache(layers, torch.zeros(levels, batch, capacity, dtype=torch.long, device=weight.device))

    def extend(self, cache: Cache, tokens: Tensor, ids: Tensor, places: Tensor) -> Tensor:
        """Logits (B, T, V) after new tokens, which are written into the cache at ``places``.

        A token sees every cached place up to its own, so a place beyond an example's length, or one left
        from a text that was since rewritten, is never seen.

        Args:
            tokens: (B, T) new tokens.
            ids: (levels, B or 1, T) their position ids.
            places: (B, T) their places in the sequence, rising along T.
        """
        if ids.shape[0]:
            cache.ids.scatter_(2, places.expand(ids.shape[0], -1, -1), ids.expand(-1, len(tokens), -1))
        capacity = cache.ids.shape[2]
        mask = torch.arange(capacity, device=places.device) <= places[:, None, :, None]
        context = Context(self.encoding, ids, self.encoding.bias(ids, cache.ids), mask, places)
        x = self._embed(tokens, ids)
        for block, layer in zip(self.blocks, cache.layers, strict=True):
            x = block(x, context, layer)
        return self._logits(x)


def _check(model: ModelSpec) -> None:
    for field, choices in (
        ("norm", NORMS),
        ("final_norm", NORMS),
        ("init", INITIALISATIONS),
        ("activation", ("geglu", "gelu", "relu")),
    ):
        if getattr(model, field) not in choices:
            raise SpecError(f"model.{field}={getattr(model, field)}: expected one of {', '.join(choices)}")


def _t5(decoder: Decoder, model: ModelSpec) -> None:
    """T5's (Raffel et al. 2020, mesh-TensorFlow): queries carry the 1 / sqrt(D) that the scores then lack."""
    for module in decoder.modules():
        if isinstance(module, Attention):
            inner = model.heads * model.head_dim
            query_dim = 1 if model.scale_attention else model.head_dim
            nn.init.normal_(module.query.weight, std=(model.width * query_dim) ** -0.5)
            nn.init.normal_(module.key.weight, std=model.width**-0.5)
            nn.init.normal_(module.value.weight, std=model.width**-0.5)
            nn.init.normal_(module.out.weight, std=inner**-0.5)
        elif isinstance(module, FeedForward):
            _fan_in(module)
    _ends(decoder)


def _normal(decoder: Decoder, model: ModelSpec) -> None:
    """Every matrix N(0, 1 / fan_in)."""
    for block in decoder.blocks:
        _fan_in(block)
    _ends(decoder)


def _fan_in(module: nn.Module) -> None:
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=part.in_features**-0.5)


def _ends(decoder: Decoder) -> None:
    nn.init.normal_(decoder.embedding.weight)
    if decoder.head is not None:
        nn.init.normal_(decoder.head.weight, std=decoder.spec.width**-0.5)


INITIALISATIONS = {"t5": _t5, "normal": _normal}
