"""What every model is made of around its blocks: token embedding, position encoding, output head, initialisation."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from lengen.config.spec import ModelSpec, SpecError
from lengen.data.batch import Batch
from lengen.encodings import build_encoding, sinusoids
from lengen.models.blocks import NORMS, Attention, Block, Context, FeedForward, LayerCache


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
    head: int = 0
    """The output head that predicts."""

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
            self.head,
        )


class Transformer(nn.Module):
    """A transformer of a specification, for a vocabulary of ``tokens`` and position ids up to ``sizes``.

    ``outputs`` is the number of output heads: one for the task, one for each auxiliary task (`Batch.head`).
    """

    writes_in_order = True
    """Tokens of a response are written one after another; False where all are written at once."""

    def __init__(
        self, model: ModelSpec, tokens: int, sizes: tuple[int, ...], *, cross: bool = False, outputs: int = 1
    ) -> None:
        super().__init__()
        _check(model)
        self.spec = model
        self.embedding = nn.Embedding(tokens, model.width)
        self.encoding = build_encoding(model, sizes)
        self.blocks = nn.ModuleList(Block(model, cross) for _ in range(1 if model.shared else model.layers))
        self.norm = NORMS[model.final_norm](model.width)
        bias = model.biases or model.head_bias
        self.head = None if model.tied else nn.Linear(model.width, tokens, bias=bias)
        self.others = nn.ModuleList(nn.Linear(model.width, tokens, bias=bias) for _ in range(outputs - 1))
        self.dropout = nn.Dropout(model.dropout)

    def predict(self, batch: Batch) -> Tensor:
        """Logits (B, T - 1, V) of every token of the batch but the first."""
        raise NotImplementedError

    def attention(self, batch: Batch, softmax: bool = True) -> list[dict[str, Tensor]]:
        """Softmax weights of every layer, or with ``softmax`` False the scores before it.

        "self": (B, H, T - 1, T - 1), row t of the prediction of token t + 1; "cross": (B, H, T - 1, S).
        """
        raise NotImplementedError

    def cache(self, batch: Batch, capacity: int) -> Cache:
        """An empty cache for sequences of up to ``capacity`` tokens, of the problems of ``batch``."""
        raise NotImplementedError

    def extend(self, cache: Cache, tokens: Tensor, ids: Tensor, places: Tensor) -> Tensor:
        """Logits (B, T, V) after new tokens, which are written into the cache at ``places``.

        A token sees every cached place up to its own, so a place beyond an example's length, or one left
        from a text that was since rewritten, is never seen.

        Args:
            tokens: (B, T) new tokens.
            ids: (levels, B or 1, T) their position ids.
            places: (B, T) their places in the sequence, rising along T.
        """
        raise NotImplementedError

    @property
    def device(self) -> torch.device:
        return self.embedding.weight.device

    def stack(self) -> list[Block]:
        """The blocks in the order they are applied."""
        return self._repeated(self.blocks, self.spec.layers)

    def _repeated(self, modules: nn.ModuleList, layers: int) -> list[Block]:
        blocks = [cast(Block, block) for block in modules]
        return blocks * ((layers if self.spec.shared else 1) * self.spec.loops)

    def _embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.embedding(tokens)
        if self.spec.scale_embedding:
            x = x * self.spec.width**0.5
        positions = None if self.spec.inject == "coordinates" else self.encoding.embed(ids)
        out: Tensor = self.dropout(x if positions is None else x + positions)
        return out

    def _injected(self, x: Tensor, embedded: Tensor, ids: Tensor, layer: int, blocks: int) -> Tensor:
        """What the ``layer``-th of the applied blocks reads: the residual stream, and what a recurrent step adds.

        A step begins at every application of the first of ``blocks`` blocks. The embedded input is added to all steps
        but the first (input injection: Figure 2.2 of "Length Generalization on Multi-Digit Integer Addition with
        Transformers"); positions and a sinusoid of the step to all (Universal Transformer: Dehghani et al. 2018).
        """
        step, first = layer // blocks, layer % blocks == 0
        if self.spec.inject == "input" and first and step:
            return x + embedded
        if self.spec.inject == "coordinates" and first:
            positions = self.encoding.embed(ids)
            moment = sinusoids(torch.tensor([step + 1], device=x.device), self.spec.width)
            return x + moment if positions is None else x + positions + moment
        return x

    def _logits(self, x: Tensor, head: int = 0) -> Tensor:
        x = self.norm(x)
        if self.head is None:
            return linear(x * self.spec.width**-0.5, self.embedding.weight)
        logits: Tensor = self.others[head - 1](x) if head else self.head(x)
        return logits

    def _counted(self, places: Tensor, prompt: Tensor | None) -> Tensor | None:
        """What temperatures grow with, (B or 1, T): tokens up to each of ``places``, or those of a ``prompt`` (B,)."""
        if self.spec.temperature == "none":
            return None
        return places + 1 if prompt is None else prompt[:, None].expand(-1, places.shape[1])

    def _empty_cache(self, batch: Batch, capacity: int) -> Cache:
        weight, examples = self.embedding.weight, len(batch.tokens)
        shape = (examples, self.spec.heads, capacity, self.spec.head_dim)
        layers = [LayerCache(weight.new_zeros(shape), weight.new_zeros(shape)) for _ in self.stack()]
        return Cache(layers, torch.zeros(len(batch.ids), examples, capacity, dtype=torch.long, device=weight.device))

    def _grown(self, cache: Cache, tokens: Tensor, ids: Tensor, places: Tensor) -> Context:
        """Enter the ids of new tokens into the cache; what they then see of it."""
        if ids.shape[0]:
            cache.ids.scatter_(2, places.expand(ids.shape[0], -1, -1), ids.expand(-1, len(tokens), -1))
        mask = torch.arange(cache.ids.shape[2], device=places.device) <= places[:, None, :, None]
        counted = self._counted(places, cache.prompt)
        bias = self.encoding.bias(ids, cache.ids)
        return Context(self.encoding, ids, cache.ids, bias, mask, places, counted=counted)


def _check(model: ModelSpec) -> None:
    for field, choices in (
        ("norm", NORMS),
        ("final_norm", NORMS),
        ("init", INITIALISATIONS),
        ("activation", ("geglu", "gelu", "relu")),
    ):
        if getattr(model, field) not in choices:
            raise SpecError(f"model.{field}={getattr(model, field)}: expected one of {', '.join(choices)}")


def initialise(model: Transformer) -> None:
    """Draw all weights as the specification says; biases start at zero."""
    INITIALISATIONS[model.spec.init](model, model.spec)
    for module in model.modules() if model.spec.biases else _heads(model):
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)


def _t5(transformer: Transformer, model: ModelSpec) -> None:
    """T5's (Raffel et al. 2020, mesh-TensorFlow): queries carry the 1 / sqrt(D) that the scores then lack."""
    for module in transformer.modules():
        if isinstance(module, Attention):
            inner = model.heads * model.head_dim
            query_dim = 1 if model.scale_attention else model.head_dim
            nn.init.normal_(module.query.weight, std=(model.width * query_dim) ** -0.5)
            nn.init.normal_(module.key.weight, std=model.width**-0.5)
            nn.init.normal_(module.value.weight, std=model.width**-0.5)
            nn.init.normal_(module.out.weight, std=inner**-0.5)
        elif isinstance(module, FeedForward):
            _fan_in(module)
    _ends(transformer)


def _normal(transformer: Transformer, model: ModelSpec) -> None:
    """Every matrix N(0, 1 / fan_in)."""
    for module in transformer.modules():
        if isinstance(module, Block):
            _fan_in(module)
    _ends(transformer)


def _xavier(transformer: Transformer, model: ModelSpec) -> None:
    """Every matrix uniform with variance 2 / (fan_in + fan_out) (Glorot & Bengio 2010), embedding and head too."""
    for parameter in transformer.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)


def _fan_in(module: nn.Module) -> None:
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=part.in_features**-0.5)


def _ends(transformer: Transformer) -> None:
    nn.init.normal_(transformer.embedding.weight)
    for head in _heads(transformer):
        nn.init.normal_(head.weight, std=transformer.spec.width**-0.5)


def _heads(transformer: Transformer) -> list[nn.Linear]:
    """The output heads that are no shared embedding."""
    return [] if transformer.head is None else [transformer.head, *(cast(nn.Linear, one) for one in transformer.others)]


INITIALISATIONS = {"t5": _t5, "normal": _normal, "xavier": _xavier}
