"""A decoder-only transformer: tokens and position ids in, logits out.

Nothing here knows which task it solves or which encoding it has: positions arrive as integers with the data, and
enter through the encoding's entry points.
"""

from torch import Tensor

from lengen.examples import Batch
from lengen.models.base import Cache, Transformer, initialise
from lengen.models.blocks import Context
from lengen.spec import ModelSpec


class Decoder(Transformer):
    """Decoder-only transformer."""

    def __init__(self, model: ModelSpec, tokens: int, sizes: tuple[int, ...]) -> None:
        super().__init__(model, tokens, sizes)
        initialise(self)

    def _context(self, ids: Tensor) -> Context:
        return Context(self.encoding, ids, ids, self.encoding.bias(ids, ids), None)

    def forward(self, tokens: Tensor, ids: Tensor) -> Tensor:
        """Logits (B, T, V) after each token, from (B, T) tokens and (levels, B or 1, T) ids."""
        context = self._context(ids)
        x = embedded = self._embed(tokens, ids)
        for layer, block in enumerate(self.stack()):
            x = block(self._injected(x, embedded, ids, layer, len(self.blocks)), context)
        return self._logits(x)

    def predict(self, batch: Batch) -> Tensor:
        logits: Tensor = self(batch.tokens[:, :-1], batch.ids[:, :, :-1])
        return logits

    def attention(self, batch: Batch, softmax: bool = True) -> list[dict[str, Tensor]]:
        tokens, ids = batch.tokens[:, :-1], batch.ids[:, :, :-1]
        context = self._context(ids)
        x = embedded = self._embed(tokens, ids)
        found = []
        for layer, block in enumerate(self.stack()):
            x = self._injected(x, embedded, ids, layer, len(self.blocks))
            found.append(block.weights(x, context, softmax=softmax))
            x = block(x, context)
        return found

    def cache(self, batch: Batch, capacity: int) -> Cache:
        return self._empty_cache(batch, capacity)

    def extend(self, cache: Cache, tokens: Tensor, ids: Tensor, places: Tensor) -> Tensor:
        context = self._grown(cache, tokens, ids, places)
        x = embedded = self._embed(tokens, ids)
        for layer, (block, cached) in enumerate(zip(self.stack(), cache.layers, strict=True)):
            x = block(self._injected(x, embedded, ids, layer, len(self.blocks)), context, cached)
        return self._logits(x)
