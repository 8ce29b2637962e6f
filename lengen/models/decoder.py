"""A decoder-only transformer: tokens and position ids in, logits out.

Nothing here knows which task it solves or which encoding it has: positions arrive as integers with the data, and
enter through the encoding's entry points.
"""

from typing import final

import torch
from torch import Tensor

from lengen.data.batch import Batch, response_start
from lengen.models.attention import ALL, causal_mask, last_keys
from lengen.models.bias import along_lines
from lengen.models.blocks import Context, biased
from lengen.models.states import Cache, Record, Residuals
from lengen.models.transformer import Transformer
from lengen.settings.spec import ModelSpec


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
        self._initialise()

    def forward(
        self,
        tokens: Tensor,
        ids: Tensor,
        prompt: Tensor | None = None,
        output: int = 0,
        loops: Tensor | None = None,
        record: Record | None = None,
    ) -> Tensor:
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
