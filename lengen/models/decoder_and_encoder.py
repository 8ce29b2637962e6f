"""Transformers from blocks: a decoder, an encoder that fills the response at once, an encoder beside a decoder."""

from typing import final

import torch
from torch import Tensor

from lengen.data.batch_and_random_spaces import Batch, Source, response_start
from lengen.formats.base import PAD
from lengen.models.attention import ALL, causal_mask, last_keys
from lengen.models.blocks import Context, biased
from lengen.models.cache_and_record import Cache, LayerCache, Record, Residuals
from lengen.models.calibrated_bias import FixedBias, along_lines, beside_encoder
from lengen.models.transformer import Stack, Transformer, initialise
from lengen.settings.model import ModelSpec

# Nothing here knows which task it solves or which encoding it has: positions arrive as integers with the data, and
# enter through the encoding's entry points.


@final
class Decoder(Transformer):
    """Decoder-only transformer."""

    seen: Tensor | None
    """(H,) how many of the last keys each head sees, where a bias closes some."""

    def __init__(self, model: ModelSpec, tokens: int, sizes: tuple[int, ...], outputs: int = 1) -> None:
        super().__init__(model, tokens, sizes, outputs=outputs)
        bias = model.attention_bias
        self.lines = along_lines(bias, model.heads) if bias is not None and bias.LINES else None
        last = () if bias is None or bias.LINES else bias.last_keys(model.heads)
        seen = torch.tensor([ALL if n is None else n for n in last]) if last else None
        self.register_buffer("seen", seen, persistent=False)
        initialise(self)

    def forward(
        self, tokens: Tensor, ids: Tensor, prompt: Tensor | None = None, output: int = 0, loops: Tensor | None = None,
        record: Record | None = None,
    ) -> Tensor:  # fmt: skip
        """Return logits (B, T, V) after each token, from (B, T) tokens and (levels, B or 1, T) ids.

        ``prompt`` (B,) holds the tokens before each response, where attention depends on them; ``output`` is the
        number of the output head; ``loops`` (B,) how often the stack is applied, if that depends on the problem.
        """
        return self._logits(self._stream(tokens, ids, prompt, loops, record), output)

    def predict(self, batch: Batch, record: Record | None = None) -> Tensor:
        tokens, ids = batch.tokens[:, :-1], batch.ids[:, :, :-1]
        return self._forward(tokens, ids, self._prompt(batch), batch.output, self._loops(batch), record=record)

    def residuals(self, batch: Batch) -> list[Residuals]:
        """Return the residual stream (B, T, C) of every layer, of all tokens of the batch."""
        record = Record("residuals")
        self._stream(batch.tokens, batch.ids, self._prompt(batch), self._loops(batch), record)
        return record.residuals

    def cache(self, batch: Batch, capacity: int) -> Cache:
        loops = self._loops(batch)
        layers = len(self.stack()) * (1 if loops is None else int(loops.max()))
        cache = Cache.empty(self.spec, layers, batch, capacity, self.embedding.weight)
        cache.prompt, cache.output, cache.loops = self._prompt(batch), batch.output, loops
        return cache

    def extend(self, cache: Cache, tokens: Tensor, ids: Tensor, places: Tensor) -> Tensor:
        x = self.blocks(self._embed(tokens, ids), self._grown(cache, ids, places), cache.layers, ending=self.norm)
        return self._logits(x, cache.output)

    def remember(self, cache: Cache, tokens: Tensor, ids: Tensor, places: Tensor) -> None:
        self.blocks.remember(self._embed(tokens, ids), self._grown(cache, ids, places), cache.layers, self.norm)

    def _stream(
        self, tokens: Tensor, ids: Tensor, prompt: Tensor | None, loops: Tensor | None, record: Record | None
    ) -> Tensor:
        context = self._context(tokens, ids, prompt)._replace(loops=loops)
        x: Tensor = self.blocks(self._embed(tokens, ids), context, record=record, ending=self.norm)
        return x

    def _context(self, tokens: Tensor, ids: Tensor, prompt: Tensor | None) -> Context:
        places = torch.arange(tokens.shape[1], device=tokens.device)[None]
        mask = None if self.seen is None else last_keys(places, tokens.shape[1], self.seen)
        counted = self._counted(places, prompt)
        context = Context(self.encoding, ids, ids, self.encoding.bias(ids, ids), mask, counted=counted)
        visible = causal_mask(tokens.shape[1], tokens.device)
        return context if self.lines is None else self._lined(context._replace(mask=visible), places, prompt)

    def _lined(self, context: Context, places: Tensor, prompt: Tensor | None) -> Context:
        """Return the context with the bias along lines of tokens at ``places`` (B or 1, T).

        Its mask has as many keys as there are.
        """
        assert self.lines is not None and prompt is not None and context.mask is not None
        return biased(context, self.lines(places, context.mask.shape[-1], prompt), context.mask)

    def _grown(self, cache: Cache, ids: Tensor, places: Tensor) -> Context:
        context = super()._grown(cache, ids, places)._replace(loops=cache.loops)
        if self.lines is not None:
            return self._lined(context, places, cache.prompt)
        if self.seen is None or context.mask is None:
            return context
        return context._replace(mask=context.mask & last_keys(places, context.mask.shape[-1], self.seen))

    def _prompt(self, batch: Batch) -> Tensor | None:
        """Return (B,) tokens before each response, where attention depends on them."""
        return response_start(batch) if self.spec.reads_prompts else None


# "From Interpolation to Extrapolation: Complete Length Generalization for Arithmetic Transformers", Section 3.3. The
# encoder may have no block at all: then the decoder attends to the embeddings of the query, as in the authors' code.
# One embedding serves both sides. A fixed bias (`lengen.models.calibrated_bias`) is added in every decoder layer.


# The architecture that "From Interpolation to Extrapolation" cites beside its own (Table 1, RPE: Jelassi et al. 2023),
# there with one block applied again and again (``shared``).


@final
class Encoder(Transformer):
    """Encoder-only transformer; blanks are padding tokens.

    `attention` differs in one thing: row t is of token t itself, which this model fills in.
    """

    writes_in_order = False

    def __init__(self, model: ModelSpec, tokens: int, sizes: tuple[int, ...]) -> None:
        super().__init__(model, tokens, sizes)
        initialise(self)

    def forward(self, tokens: Tensor, ids: Tensor, loss: Tensor, record: Record | None = None) -> Tensor:
        """Return logits (B, T, V) at every place; tokens where ``loss`` (B, T) is True are not seen."""
        mask = ((tokens != PAD) | loss)[:, None, None]
        loops = self._loops(Batch(tokens, ids, loss))
        context = Context(self.encoding, ids, ids, self.encoding.bias(ids, ids), mask, loops=loops)
        embedded = self._embed(torch.where(loss, PAD, tokens), ids)
        return self._logits(self.blocks(embedded, context, record=record, ending=self.norm))

    def predict(self, batch: Batch, record: Record | None = None) -> Tensor:
        return self._forward(batch.tokens, batch.ids, batch.loss, record=record)[:, 1:]


@final
class EncoderDecoder(Transformer):
    """Encoder-decoder for responses of up to ``rows`` places and queries of up to ``columns``.

    The two sizes matter only to a model with a fixed bias.
    """

    def __init__(self, model: ModelSpec, tokens: int, sizes: tuple[int, ...], rows: int, columns: int) -> None:
        super().__init__(model, tokens, sizes, cross=True)
        self.encoder = Stack(model, model.encoder_layers)
        # Stored weights name it so; everything else says `attention_bias`.
        fixed = model.attention_bias
        self.bias = None if fixed is None else beside_encoder(fixed, model.heads, rows, columns)
        initialise(self)

    @property
    def attention_bias(self) -> FixedBias | None:
        """The fixed bias of the decoder's attention."""
        return self.bias

    def forward(self, tokens: Tensor, ids: Tensor, source: Source, record: Record | None = None) -> Tensor:
        """Return logits (B, T, V) after each token, from (B, T) tokens, (levels, B or 1, T) ids and the query."""
        size = tokens.shape[1]
        memories, mask = self.memory(source, record)
        visible = causal_mask(size, tokens.device) if self.spec.causal else mask.new_ones(size, size)
        if self.attention_bias is not None:
            self.attention_bias.check(size, mask.shape[-1])
        own = Context(self.encoding, ids, ids, self.encoding.bias(ids, ids), visible)
        context, crossing = self._contexts(own, source.ids, mask, torch.arange(size, device=tokens.device)[None])
        embedded = self._embed(tokens, ids)
        return self._logits(self.blocks(embedded, context, (), crossing, memories, record, self.norm))

    def predict(self, batch: Batch, record: Record | None = None) -> Tensor:
        return self._forward(batch.tokens[:, :-1], batch.ids[:, :, :-1], _source(batch), record=record)

    def encode(self, source: Source, record: Record | None = None) -> tuple[Tensor, Tensor]:
        """Return the encoder's output (B, S, C), and (B, 1, 1, S) bool, False at padding."""
        mask = (source.tokens != PAD)[:, None, None]
        context = Context(self.encoding, source.ids, source.ids, self.encoding.bias(source.ids, source.ids), mask)
        if record is not None:
            record.encoder = Record(*record.kinds)
        inner = record and record.encoder
        return self.encoder(self._embed(source.tokens, source.ids), context, record=inner), mask

    def memory(self, source: Source, record: Record | None = None) -> tuple[tuple[LayerCache, ...], Tensor]:
        """Return the keys and values of the source for each decoder layer, and the mask of its padding."""
        encoded, mask = self.encode(source, record)
        layers = [block.cross.memory(encoded, self.encoding, source.ids) for block in self.stack() if block.cross]
        return tuple(layers), mask

    def cache(self, batch: Batch, capacity: int) -> Cache:
        source = _source(batch)
        if self.attention_bias is not None:
            self.attention_bias.check(batch.tokens.shape[1] - 1, source.tokens.shape[1])
        cache = Cache.empty(self.spec, len(self.stack()), batch, capacity, self.embedding.weight)
        cache.memory, cache.source_mask = self.memory(source)
        cache.source_ids = source.ids
        return cache

    def extend(self, cache: Cache, tokens: Tensor, ids: Tensor, places: Tensor) -> Tensor:
        assert cache.source_ids is not None and cache.source_mask is not None
        seen = self._grown(cache, ids, places)
        context, crossing = self._contexts(seen, cache.source_ids, cache.source_mask, places)
        embedded = self._embed(tokens, ids)
        return self._logits(self.blocks(embedded, context, cache.layers, crossing, cache.memory, ending=self.norm))

    def _contexts(self, own: Context, source_ids: Tensor, mask: Tensor, places: Tensor) -> tuple[Context, Context]:
        """Return contexts of self- and cross-attention of tokens at ``places`` (B or 1, T), fixed biases added."""
        crossing = Context(self.encoding, own.query_ids, source_ids, None, mask)
        if self.attention_bias is None or own.mask is None:
            return own, crossing
        fixed, cross = self.attention_bias.rows(places, own.mask.shape[-1], mask.shape[-1])
        return biased(own, fixed, own.mask), biased(crossing, cross, mask)


def _source(batch: Batch) -> Source:
    if batch.source is None:
        raise ValueError("an encoder-decoder needs batches with a source: write them with a Writer that splits")
    return batch.source
