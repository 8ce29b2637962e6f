"""Intermediate values of a pass through the blocks of a model."""

from typing import Literal, NamedTuple, get_args

from torch import Tensor

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

    def __init__(self, *asked: Kind) -> None:
        for kind in asked:
            if kind not in get_args(Kind):
                raise ValueError(f"a record of {kind!r} cannot be kept: ask for some of {', '.join(get_args(Kind))}")
        self.asked = frozenset(asked)
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

    def of_encoder(self) -> "Record":
        """Return a record of the same things, for the encoder."""
        self.encoder = Record(*self.asked)
        return self.encoder
