"""States inside a model: keys and values of the tokens seen so far, and intermediate values that are kept."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor

from lengen.data.batch_and_random_spaces import Batch
from lengen.settings.model import ModelSpec

Kind = Literal["queries", "scores", "attention", "residuals"]


class Residuals(NamedTuple):
    """The residual stream (B, T, C) of one applied block."""

    attended: Tensor
    """Input of the feed-forward network: the stream after attention, and after cross-attention if there is one."""
    fed: Tensor
    """After the feed-forward network: what the next block reads."""


class Record:
    """Keeps intermediate values by name; hand it to `Transformer.predict`, then read the lists.

    Each list has one entry per applied block: a shared block, or one in a loop, has one per application. What was not
    asked for stays empty. Keeping changes no output: weights and scores are computed beside the fused kernel, from the
    queries, keys and biases that it gets.

        record = Record("attention", "residuals")
        logits = model.predict(batch, record)
        record.attention[0]["self"]  # (B, H, Q, K) of the first block

    Raises `ValueError` for a name that it does not know.
    """

    def __init__(self, *kinds: Kind) -> None:
        for kind in kinds:
            if kind not in get_args(Kind):
                raise ValueError(f"a record of {kind!r} cannot be kept: ask for some of {', '.join(get_args(Kind))}")
        self.kinds = frozenset(kinds)
        self.queries: list[dict[str, Tensor]] = []
        """"self" and "cross": (B, H, Q, D) as they meet the keys, rotated and tempered."""
        self.scores: list[dict[str, Tensor]] = []
        """"self" and "cross": (B, H, Q, K) before mask and softmax, biases included."""
        self.attention: list[dict[str, Tensor]] = []
        """"self" and "cross": (B, H, Q, K) weights that the values are summed with (before dropout)."""
        self.residuals: list[Residuals] = []
        self.encoder: Record | None = None
        """Record of the encoder beside a decoder."""

    def keep(self, kind: Literal["queries", "scores", "attention"], name: str, value: Tensor) -> None:
        """Enter what the attention of that name kept; "self" is the first of every block."""
        entries: list[dict[str, Tensor]] = getattr(self, kind)
        if name == "self":
            entries.append({})
        entries[-1][name] = value


class LayerCache(NamedTuple):
    """Keys and values of one layer, (B, H, capacity, D); rows are filled up to each example's own length."""

    keys: Tensor
    values: Tensor

    def join(self, new: "LayerCache", places: Tensor) -> None:
        """Write keys and values (B, H, T, D) of new tokens at their places (B or 1, T)."""
        if len(places) == 1:
            self.keys.index_copy_(2, places[0], new.keys)
            self.values.index_copy_(2, places[0], new.values)
        else:
            index = places[:, None, :, None].expand_as(new.keys)
            self.keys.scatter_(2, index, new.keys)
            self.values.scatter_(2, index, new.values)


@dataclass
class Cache:
    """Keys, values and position ids of the tokens seen so far; every example has a length of its own."""

    layers: list[LayerCache]
    ids: Tensor
    """(levels, B or 1, capacity) ids of the cached tokens."""
    memory: tuple[LayerCache, ...] = ()
    """Keys and values of the source, per decoder layer, if there is an encoder."""
    source_ids: Tensor | None = None
    """(levels, B or 1, S) ids of the source."""
    source_mask: Tensor | None = None
    """(B, 1, 1, S) bool, False at padding."""
    prompt: Tensor | None = None
    """(B,) tokens before each response, where attention depends on them."""
    output: int = 0
    """The output head that predicts."""
    loops: Tensor | None = None
    """(B,) times the stack is applied to each example, if that is a function of its length."""

    @classmethod
    def empty(cls, model: ModelSpec, layers: int, batch: Batch, capacity: int, like: Tensor) -> "Cache":
        """Return room for ``capacity`` tokens of each example in ``layers`` layers, of the kind of ``like``."""
        examples = len(batch.tokens)
        shape = (examples, model.heads, capacity, model.head_dim)
        ids = torch.zeros(len(batch.ids), examples, capacity, dtype=torch.long, device=like.device)
        return cls([LayerCache(like.new_zeros(shape), like.new_zeros(shape)) for _ in range(layers)], ids)

    def enter(self, ids: Tensor, places: Tensor) -> Tensor:
        """Write the ids (levels, B or 1, T) of new tokens at their places (B or 1, T).

        Returns:
            (B or 1, 1, T, capacity) bool, the places that each of them sees: those up to its own.
        """
        levels, rows, _ = self.ids.shape
        if levels:
            self.ids.scatter_(2, places.expand(levels, rows, -1), ids.expand(-1, rows, -1))
        return torch.arange(self.ids.shape[2], device=places.device) <= places[:, None, :, None]

    def part(self, rows: slice | Tensor, width: int | None = None) -> "Cache":
        """Return the first ``width`` places of some examples.

        Of a slice in the same memory: what is written there is written here.
        """

        def cut(layers: Iterable[LayerCache], width: int | None = None) -> list[LayerCache]:
            return [LayerCache(layer.keys[rows, :, :width], layer.values[rows, :, :width]) for layer in layers]

        ids = _examples(self.ids, rows)[:, :, :width]
        source = None if self.source_ids is None else _examples(self.source_ids, rows)
        held = (self.source_mask, self.prompt, self.loops)
        mask, prompt, loops = (None if each is None else each[rows] for each in held)
        return Cache(cut(self.layers, width), ids, tuple(cut(self.memory)), source, mask, prompt, self.output, loops)

    def select(self, rows: Tensor) -> "Cache":
        """Return the examples at which ``rows`` (B,) is True."""
        return self.part(rows.to(self.ids.device))


def _examples(ids: Tensor, rows: slice | Tensor) -> Tensor:
    """Return ids (levels, B or 1, T) of some examples; those that all share stay shared."""
    return ids if ids.shape[1] == 1 else ids[:, rows]
