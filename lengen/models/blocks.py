"""The parts every model is made of: normalisation, feed-forward network, attention with a cache, one block.

Axes: B batch, T tokens, C width of the residual stream, H heads, D head dimension.
"""

from typing import Any, NamedTuple

from torch import Tensor, nn

from lengen.encodings.base import Encoding
from lengen.models.activations_and_norms import ACTIVATIONS, RMSNorm, Rounds
from lengen.models.attention import Temperature, attend, attention_scores, attention_weights, causal_mask, closed_rows
from lengen.models.cache_and_record import LayerCache, Record, Residuals
from lengen.settings.model import ModelSpec

NORMS: dict[str, Any] = {"rmsnorm": RMSNorm, "layernorm": nn.LayerNorm, "none": lambda width: nn.Identity()}


class FeedForward(Rounds):
    """GEGLU (Shazeer 2020), or a two-matrix network with GELU or ReLU."""

    def __init__(self, model: ModelSpec) -> None:
        super().__init__()
        width, hidden, bias = model.width, model.ff_width, model.linear_bias
        self.gate = nn.Linear(width, hidden, bias=bias) if model.activation == "geglu" else None
        self.enter = nn.Linear(width, hidden, bias=bias)
        self.leave = nn.Linear(hidden, width, bias=bias)
        self.activation = ACTIVATIONS[model.activation]
        self.dropout = nn.Dropout(model.dropout)

    def forward(self, x: Tensor) -> Tensor:
        if self.gate is None:
            (hidden,) = self.products(x, self.enter)
            hidden = self.activation(hidden)
        else:
            gate, hidden = self.products(x, self.gate, self.enter)
            hidden = self.activation(gate) * hidden
        (out,) = self.products(self.dropout(hidden), self.leave)
        return out


class Context(NamedTuple):
    """Inputs of attention besides the residual stream; the same for all layers of a forward pass."""

    encoding: Encoding
    query_ids: Tensor
    """(levels, B or 1, T) ids of the tokens passed in."""
    key_ids: Tensor
    """(levels, B or 1, K) ids of the tokens that are seen."""
    score_bias: Tensor | None
    """Added to the scores of every layer: of the encoding, and fixed."""
    mask: Tensor | None
    """Visible keys; None for plain causal attention over the tokens passed in."""
    places: Tensor | None = None
    """(B or 1, T) rows of the cache to write; None without a cache."""
    closed: Tensor | None = None
    """(B or 1, H, T, 1) bool: rows that read nothing, because a fixed bias closes every key; their bias is finite."""
    counted: Tensor | None = None
    """(B or 1, T) tokens that the temperature of each query grows with; None if no layer has one."""
    loops: Tensor | None = None
    """(B,) times the stack is applied to each example; None if it is the same for all."""


def biased(context: Context, fixed: Tensor, mask: Tensor) -> Context:
    """Return a fixed bias added to a context.

    A row that it closes entirely reads nothing: no softmax over nothing (NaN).
    """
    closed = closed_rows(fixed, mask)
    fixed = fixed.masked_fill(closed, 0.0)
    joint = fixed if context.score_bias is None else context.score_bias + fixed
    return context._replace(score_bias=joint, closed=closed)


class Attention(Rounds):
    """Multi-head attention with a head dimension of its own, over the tokens passed in or over an encoder's."""

    def __init__(self, model: ModelSpec) -> None:
        super().__init__()
        inner = model.heads * model.head_dim
        self.heads = model.heads
        self.scale = model.head_dim**-0.5 if model.scale_attention else 1.0
        self.query = nn.Linear(model.width, inner, bias=model.linear_bias)
        self.key = nn.Linear(model.width, inner, bias=model.linear_bias)
        self.value = nn.Linear(model.width, inner, bias=model.linear_bias)
        self.out = nn.Linear(inner, model.width, bias=model.linear_bias)
        self.dropout = model.dropout
        self.temperature = None
        if model.tempered is not None:
            heads = model.heads if model.tempered.per_head else 0
            self.temperature = Temperature(model.tempered.form, model.tempered.start, heads)

    def _heads(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)

    def _factor(self, context: Context) -> Tensor | None:
        """Return the factor by which the temperature multiplies logits, (B or 1, 1 or H, T, 1)."""
        if self.temperature is None or context.counted is None:
            return None
        factor: Tensor = self.temperature(context.counted)
        return factor

    def _queries(self, product: Tensor, context: Context) -> Tensor:
        query = context.encoding.rotate(self._heads(product), context.query_ids)
        factor = self._factor(context)
        # one product on queries instead of one on all logits, in the precision of the keys
        return query if factor is None else (query * factor).to(query.dtype)

    def memory(self, x: Tensor, encoding: Encoding, ids: Tensor) -> LayerCache:
        """Return keys and values of tokens ``x`` (B, K, C) with these ids."""
        key, value = self.products(x, self.key, self.value)
        return self._memory(key, value, encoding, ids)

    def _memory(self, key: Tensor, value: Tensor, encoding: Encoding, ids: Tensor) -> LayerCache:
        return LayerCache(encoding.rotate(self._heads(key), ids), self._heads(value))

    def _added(self, query: Tensor, context: Context) -> Tensor | None:
        """Return the terms added to the scores, broadcastable to (B, H, T, K)."""
        related = context.encoding.relate(query, context.query_ids, context.key_ids)
        bias = context.score_bias
        if bias is not None and (factor := self._factor(context)) is not None:
            bias = bias * factor
        if related is None:
            return bias
        return related * self.scale if bias is None else related * self.scale + bias

    def forward(
        self, x: Tensor, context: Context, cache: LayerCache | None = None, memory: LayerCache | None = None,
        record: Record | None = None, name: str = "self",
    ) -> Tensor:  # fmt: skip
        """Attend from the tokens ``x`` to themselves, to a ``cache`` that they join, or to another ``memory``.

        A ``record`` keeps what it asks for under ``name``.
        """
        if memory is None:
            query_product, key, value = self.products(x, self.query, self.key, self.value)
            key, value = self._memory(key, value, context.encoding, context.query_ids)
        else:
            (query_product,) = self.products(x, self.query)
            key, value = memory
        query = self._queries(query_product, context)
        if cache is not None and context.places is not None:
            cache.join(LayerCache(key, value), context.places)
            key, value = cache
        added = self._added(query, context)
        if record is not None:
            self._keep(record, name, query, key, added, context)
        dropout = self.dropout if self.training else 0.0
        mixed = attend(query, key, value, self.scale, added, context.mask, dropout)
        if context.closed is not None:
            mixed = mixed.masked_fill(context.closed, 0.0)
        (out,) = self.products(mixed.transpose(1, 2).flatten(-2), self.out)
        return out

    def _keep(
        self, record: Record, name: str, query: Tensor, key: Tensor, added: Tensor | None, context: Context
    ) -> None:
        if "queries" in record.kinds:
            record.keep("queries", name, query)
        if "scores" in record.kinds:
            record.keep("scores", name, attention_scores(query, key, self.scale, added))
        if "attention" in record.kinds:
            mask = causal_mask(query.shape[2], query.device) if context.mask is None else context.mask
            weights = attention_weights(query, key, self.scale, added, mask)
            closed = context.closed
            record.keep("attention", name, weights if closed is None else weights.masked_fill(closed, 0.0))


class Block(nn.Module):
    """Attention, then in a decoder beside an encoder cross-attention, then feed-forward; each with a residual.

    norm_place decides what is normalised: ``pre`` x + f(N(x)); ``post`` N(x + f(x)); ``pre_post``
    N(x + f(N(x))), as in "Arithmetic Transformers Can Length-Generalize ..."; ``sandwich`` x + N(f(N(x))).
    """

    def __init__(self, model: ModelSpec, cross: bool = False) -> None:
        super().__init__()
        norm = NORMS[model.norm]

        def make(used: bool) -> nn.Module:
            return norm(model.width) if used else nn.Identity()

        before, after = model.norm_place != "post", model.norm_place != "pre"
        branches = 3 if cross else 2
        self.attention = Attention(model)
        self.cross = Attention(model) if cross else None
        self.feed_forward = FeedForward(model)
        self.before = nn.ModuleList(make(before) for _ in range(branches))
        self.after = nn.ModuleList(make(after) for _ in range(branches))
        self.on_branch = model.norm_place == "sandwich"
        self.dropout = nn.Dropout(model.dropout)

    def _join(self, x: Tensor, branch: Tensor, norm: nn.Module) -> Tensor:
        branch = self.dropout(branch)
        out: Tensor = x + norm(branch) if self.on_branch else norm(x + branch)
        return out

    def forward(
        self, x: Tensor, context: Context, cache: LayerCache | None = None, crossing: Context | None = None,
        memory: LayerCache | None = None, record: Record | None = None,
    ) -> Tensor:  # fmt: skip
        """Return the residual stream (B, T, C) after this block.

        Arguments as in `lengen.models.transformer.Stack.forward`.
        """
        x = self._join(x, self.attention(self.before[0](x), context, cache, record=record), self.after[0])
        if self.cross is not None and crossing is not None:
            read = self.cross(self.before[1](x), crossing, memory=memory, record=record, name="cross")
            x = self._join(x, read, self.after[1])
        attended = x
        x = self._join(x, self.feed_forward(self.before[-1](x)), self.after[-1])
        if record is not None and "residuals" in record.kinds:
            record.residuals.append(Residuals(attended, x))
        return x
