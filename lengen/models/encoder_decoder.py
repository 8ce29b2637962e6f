"""An encoder-decoder transformer: the query is read by an encoder, the response written by a decoder beside it.

"From Interpolation to Extrapolation: Complete Length Generalization for Arithmetic Transformers", Section 3.3. The
encoder may have no block at all: then the decoder attends to the embeddings of the query, as in the authors' code.
One embedding serves both sides. A fixed bias (`lengen.models.fixed_bias`) is added in every decoder layer.
"""

import torch
from torch import Tensor, nn

from lengen.config.spec import ModelSpec
from lengen.data.batch import Batch, Source
from lengen.models.attention import causal_mask, closed_rows
from lengen.models.blocks import Block, Context, LayerCache
from lengen.models.fixed_bias import build_bias
from lengen.models.transformer import Cache, Transformer, initialise
from lengen.vocab import PAD


class EncoderDecoder(Transformer):
    """Encoder-decoder for responses of up to ``rows`` places and queries of up to ``columns``.

    The two sizes matter only to a model with a fixed bias.
    """

    def __init__(self, model: ModelSpec, tokens: int, sizes: tuple[int, ...], rows: int, columns: int) -> None:
        super().__init__(model, tokens, sizes, cross=True)
        own = min(model.encoder_layers, 1) if model.shared else model.encoder_layers
        self.encoder = nn.ModuleList(Block(model) for _ in range(own))
        self.bias = build_bias(model, rows, columns)
        initialise(self)

    def encode(self, source: Source) -> tuple[Tensor, Tensor]:
        """The encoder's output (B, S, C), and (B, 1, 1, S) bool, False at padding."""
        mask = (source.tokens != PAD)[:, None, None]
        context = Context(self.encoding, source.ids, source.ids, self.encoding.bias(source.ids, source.ids), mask)
        x = embedded = self._embed(source.tokens, source.ids)
        for layer, block in enumerate(self._repeated(self.encoder, self.spec.encoder_layers)):
            x = block(self._injected(x, embedded, source.ids, layer, len(self.encoder)), context)
        return x, mask

    def memory(self, source: Source) -> tuple[tuple[LayerCache, ...], Tensor]:
        """What each decoder layer attends to in the source, and the mask of its padding."""
        encoded, mask = self.encode(source)
        layers = [block.cross.memory(encoded, self.encoding, source.ids) for block in self.stack() if block.cross]
        return tuple(layers), mask

    def _contexts(self, own: Context, source_ids: Tensor, mask: Tensor, places: Tensor) -> tuple[Context, Context]:
        """Contexts of self- and cross-attention of tokens at ``places`` (B or 1, T), fixed biases added."""
        crossing = Context(self.encoding, own.query_ids, source_ids, None, mask)
        if self.bias is None or own.mask is None:
            return own, crossing
        fixed, cross = self.bias.rows(places, own.mask.shape[-1], mask.shape[-1])
        return _biased(own, fixed, own.mask), _biased(crossing, cross, mask)

    def _teacher_forced(self, batch: Batch) -> tuple[Tensor, Context, Context, tuple[LayerCache, ...]]:
        source = _source(batch)
        tokens, ids = batch.tokens[:, :-1], batch.ids[:, :, :-1]
        size = tokens.shape[1]
        memory, mask = self.memory(source)
        visible = causal_mask(size, tokens.device) if self.spec.causal else mask.new_ones(size, size)
        if self.bias is not None:
            self.bias.check(size, mask.shape[-1])
        own = Context(self.encoding, ids, ids, self.encoding.bias(ids, ids), visible)
        context, crossing = self._contexts(own, source.ids, mask, torch.arange(size, device=tokens.device)[None])
        return self._embed(tokens, ids), context, crossing, memory

    def forward(self, batch: Batch) -> Tensor:
        """Logits (B, T - 1, V) of every response token but the first."""
        embedded, context, crossing, memory = self._teacher_forced(batch)
        x = embedded
        for layer, (block, read) in enumerate(zip(self.stack(), memory, strict=True)):
            x = self._injected(x, embedded, context.query_ids, layer, len(self.blocks))
            x = block(x, context, None, crossing, read)
        return self._logits(x)

    def predict(self, batch: Batch) -> Tensor:
        logits: Tensor = self(batch)
        return logits

    def attention(self, batch: Batch, softmax: bool = True) -> list[dict[str, Tensor]]:
        embedded, context, crossing, memory = self._teacher_forced(batch)
        x, found = embedded, []
        for layer, (block, read) in enumerate(zip(self.stack(), memory, strict=True)):
            x = self._injected(x, embedded, context.query_ids, layer, len(self.blocks))
            found.append(block.weights(x, context, crossing, read, softmax))
            x = block(x, context, None, crossing, read)
        return found

    def cache(self, batch: Batch, capacity: int) -> Cache:
        source = _source(batch)
        if self.bias is not None:
            self.bias.check(batch.tokens.shape[1] - 1, source.tokens.shape[1])
        cache = self._empty_cache(batch, capacity)
        cache.memory, cache.source_mask = self.memory(source)
        cache.source_ids = source.ids
        return cache

    def extend(self, cache: Cache, tokens: Tensor, ids: Tensor, places: Tensor) -> Tensor:
        assert cache.source_ids is not None and cache.source_mask is not None
        seen = self._grown(cache, tokens, ids, places)
        context, crossing = self._contexts(seen, cache.source_ids, cache.source_mask, places)
        x = embedded = self._embed(tokens, ids)
        for layer, (block, own, read) in enumerate(zip(self.stack(), cache.layers, cache.memory, strict=True)):
            x = block(self._injected(x, embedded, ids, layer, len(self.blocks)), context, own, crossing, read)
        return self._logits(x)


def _biased(context: Context, fixed: Tensor, mask: Tensor) -> Context:
    """A fixed bias added to a context. A row that it closes entirely reads nothing: no softmax over nothing (NaN)."""
    closed = closed_rows(fixed, mask)
    fixed = fixed.masked_fill(closed, 0.0)
    return context._replace(bias=fixed if context.bias is None else context.bias + fixed, closed=closed)


def _source(batch: Batch) -> Source:
    if batch.source is None:
        raise ValueError("an encoder-decoder needs batches with a source: write them with a Writer that splits")
    return batch.source
