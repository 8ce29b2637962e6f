"""Common frame of all models around their blocks: token embedding, position encoding, output heads."""

from abc import ABC, abstractmethod
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from lengen.data.batch import Batch
from lengen.encodings.base import built
from lengen.models.blocks import NORMS, Block, Context
from lengen.models.cache import Cache
from lengen.models.initialisation import initialise
from lengen.models.loops import loops_of
from lengen.models.record import Record
from lengen.models.stack import Stack
from lengen.settings.spec import ModelSpec


class Transformer(nn.Module, ABC):
    """The network of a specification; `lengen.Decoder`, `lengen.Encoder` and `lengen.EncoderDecoder` are settings that
    choose one.

    Args:
        model: The setting of the network.
        tokens: Size of the vocabulary, V.
        sizes: Largest position id of each level; empty if nothing bounds them.
        cross: Blocks also attend to an encoder.
        outputs: Output heads: one for the task, one for each auxiliary task (`Batch.output`).

    Example:
        >>> import lengen
        >>> model = lengen.build_model(lengen.setting("copy", digits=3), seed=0)
        >>> isinstance(model, lengen.Transformer), model.writes_in_order
        (True, True)
    """

    writes_in_order = True
    """Tokens of a response are written one after another; False if all are written at once."""

    def __init__(
        self, model: ModelSpec, tokens: int, sizes: tuple[int, ...], *, cross: bool = False, outputs: int = 1
    ) -> None:
        super().__init__()
        self.spec = model
        self.embedding = nn.Embedding(tokens, model.width)
        self.encoding = built(model.encoding, model, sizes)
        self.blocks = Stack(model, model.layers, cross)
        self.norm = NORMS[model.final_norm](model.width)
        output_bias = model.linear_bias or model.output_bias
        self.head = None if model.tied else nn.Linear(model.width, tokens, bias=output_bias)
        # The heads of auxiliary tasks; stored weights name them so.
        self.others = nn.ModuleList(nn.Linear(model.width, tokens, bias=output_bias) for _ in range(outputs - 1))
        self.dropout = nn.Dropout(model.dropout)

    @abstractmethod
    def predict(self, batch: Batch, record: Record | None = None) -> Tensor:
        """Return logits (B, T - 1, V) of every token of the batch but the first.

        The ``record`` keeps its intermediate values.
        """

    @abstractmethod
    def cache(self, batch: Batch, capacity: int) -> Cache:
        """Return an empty cache for sequences of up to ``capacity`` tokens, of the problems of ``batch``."""

    @abstractmethod
    def extend(self, cache: Cache, tokens: Tensor, ids: Tensor, places: Tensor) -> Tensor:
        """Return logits (B, T, V) after new tokens, which are written into the cache at ``places``.

        A token sees every cached place up to its own, so a place beyond an example's length, or one left
        from a text that was since rewritten, is never seen.

        Args:
            tokens: (B, T) new tokens.
            ids: (levels, B or 1, T) their position ids.
            places: (B or 1, T) their places in the sequence, rising along T.
        """

    def remember(self, cache: Cache, tokens: Tensor, ids: Tensor, places: Tensor) -> None:
        """Extend without logits of the new tokens: only what later ones read of them is made."""
        self.extend(cache, tokens, ids, places)

    def attention(self, batch: Batch, softmax: bool = True) -> list[dict[str, Tensor]]:
        """Return softmax weights of every layer, or with ``softmax`` False the scores before it.

        "self": (B, H, T - 1, T - 1), row t of the prediction of token t + 1; "cross": (B, H, T - 1, S).
        """
        record = Record("attention" if softmax else "scores")
        self.predict(batch, record)
        return record.attention if softmax else record.scores

    @property
    def device(self) -> torch.device:
        return self.embedding.weight.device

    @property
    def outputs(self) -> list[nn.Linear]:
        """The output heads that do not share the token embedding: the task's, then those of its auxiliary tasks."""
        auxiliary = [cast(nn.Linear, output) for output in self.others]
        return auxiliary if self.head is None else [self.head, *auxiliary]

    def stack(self) -> list[Block]:
        """Return the blocks in the order they are applied."""
        return self.blocks.applied()

    def _initialise(self) -> None:
        initialise(self, self.spec, (self.embedding, self.outputs))

    def _forward(self, *arguments: object, record: Record | None) -> Tensor:
        """Return `forward`; in training compiled if it was compiled, never while something is recorded."""
        plain = record is not None or not self.training
        logits: Tensor = self.forward(*arguments, record=record) if plain else self(*arguments)
        return logits

    def _embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.embedding(tokens)
        if self.spec.scale_embedding:
            x = x * self.spec.width**0.5
        positions = None if self.spec.inject == "coordinates" else self.encoding.embed(ids)
        out: Tensor = self.dropout(x if positions is None else x + positions.to(x.dtype))
        return out

    def _logits(self, x: Tensor, output: int = 0) -> Tensor:
        x = self.norm(x)
        if self.head is None:
            return linear(x * self.spec.width**-0.5, self.embedding.weight)
        logits: Tensor = self.outputs[output](x)
        return logits

    def _counted(self, places: Tensor, prompt: Tensor | None) -> Tensor | None:
        """Return the count that temperatures grow with, (B or 1, T).

        These are tokens up to each of ``places``, or those of a ``prompt`` (B,).
        """
        if self.spec.tempered is None:
            return None
        return places + 1 if prompt is None else prompt[:, None].expand(-1, places.shape[1])

    def _loops(self, batch: Batch) -> Tensor | None:
        """Return (B,) times the stack is applied to each example, if that is a function of its length."""
        rule = self.spec.loops_by_length
        return None if rule is None else loops_of(rule, batch)

    def _grown(self, cache: Cache, ids: Tensor, places: Tensor) -> Context:
        """Enter the ids of new tokens into the cache; what they then see of it."""
        mask = cache.enter(ids, places)
        counted = self._counted(places, cache.prompt)
        bias = self.encoding.bias(ids, cache.ids)
        return Context(self.encoding, ids, cache.ids, bias, mask, places, counted=counted)
