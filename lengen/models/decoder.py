"""A decoder-only transformer: tokens and position ids in, logits out.

Nothing here knows which task it solves or which encoding it has: positions arrive as integers with the data, and
enter through the encoding's entry points.
"""

import torch
from torch import Tensor

from lengen.config.spec import ModelSpec
from lengen.data.batch import Batch, response_start
from lengen.models.blocks import Context
from lengen.models.transformer import Cache, Transformer, initialise


class Decoder(Transformer):
    """Decoder-only transformer."""

    def __init__(self, model: ModelSpec, tokens: int, sizes: tuple[int, ...], outputs: int = 1) -> None:
        super().__init__(model, tokens, sizes, outputs=outputs)
        initialise(self)

    def _context(self, tokens: Tensor, ids: Tensor, prompt: Tensor | None) -> Context:
        counted = self._counted(torch.arange(tokens.shape[1], device=tokens.device)[None], prompt)
        return Context(self.encoding, ids, ids, self.encoding.bias(ids, ids), None, counted=counted)

    def _prompt(self, batch: Batch) -> Tensor | None:
        """(B,) tokens before each response, where temperatures grow with them."""
        grows = self.spec.temperature != "none" and self.spec.temperature_of == "prompt"
        return response_start(batch) if grows else None

    def forward(self, tokens: Tensor, ids: Tensor, prompt: Tensor | None = None, head: int = 0) -> Tensor:
        """Logits (B, T, V) after each token, from (B, T) tokens and (levels, B or 1, T) ids.

        ``prompt`` (B,) holds the tokens before each response, where temperatures grow with them.
        """
        context = self._context(tokens, ids, prompt)
        x = embedded = self._embed(tokens, ids)
        for layer, block in enumerate(self.stack()):
            x = block(self._injected(x, embedded, ids, layer, len(self.blocks)), context)
        return self._logits(x, head)

    def predict(self, batch: Batch) -> Tensor:
        logits: Tensor = self(batch.tokens[:, :-1], batch.ids[:, :, :-1], self._prompt(batch), batch.head)
        return logits

    def residuals(self, batch: Batch) -> list[tuple[Tensor, Tensor]]:
        """The residual stream (B, T, C) of every layer, after its attention and after its feed-forward network."""
        context = self._context(batch.tokens, batch.ids, self._prompt(batch))
        x = embedded = self._embed(batch.tokens, batch.ids)
        found = []
        for layer, block in enumerate(self.stack()):
            found.append(block.halves(self._injected(x, embedded, batch.ids, layer, len(self.blocks)), context))
            x = found[-1][1]
        return found

    def attention(self, batch: Batch, softmax: bool = True) -> list[dict[str, Tensor]]:
        tokens, ids = batch.tokens[:, :-1], batch.ids[:, :, :-1]
        context = self._context(tokens, ids, self._prompt(batch))
        x = embedded = self._embed(tokens, ids)
        found = []
        for layer, block in enumerate(self.stack()):
            x = self._injected(x, embedded, ids, layer, len(self.blocks))
            found.append(block.weights(x, context, softmax=softmax))
            x = block(x, context)
        return found

    def cache(self, batch: Batch, capacity: int) -> Cache:
        cache = self._empty_cache(batch, capacity)
        cache.prompt, cache.head = self._prompt(batch), batch.head
        return cache

    def extend(self, cache: Cache, tokens: Tensor, ids: Tensor, places: Tensor) -> Tensor:
        context = self._grown(cache, tokens, ids, places)
        x = embedded = self._embed(tokens, ids)
        for layer, (block, cached) in enumerate(zip(self.stack(), cache.layers, strict=True)):
            x = block(self._injected(x, embedded, ids, layer, len(self.blocks)), context, cached)
        return self._logits(x, cache.head)
