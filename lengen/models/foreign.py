"""Networks of anybody's in the place of a transformer of this suite: all they need is ``predict(batch)``."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Protocol, cast, runtime_checkable

import torch
from torch import Tensor, nn

from lengen.data.batch import Batch


@runtime_checkable
class Predicting(Protocol):
    """A network that can be measured; with ``attention(batch)``, as of `lengen.Transformer`, its attention, too."""

    def predict(self, batch: Batch) -> Tensor:
        """Return logits (B, T - 1, V) of every token of the batch but the first."""


class Foreign:
    """A `Predicting` network: no cache, so `lengen.decoding` lets it read its text anew for every token."""

    writes_in_order = False
    spec = SimpleNamespace(causal=True)
    attention: Callable[[Batch], list[dict[str, Tensor]]]

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self.predict = cast(Predicting, module).predict
        if hasattr(module, "attention"):
            self.attention = cast(Any, module).attention

    @property
    def device(self) -> torch.device:
        """Device of the network."""
        return next((one.device for one in self.module.parameters()), torch.device("cpu"))

    def eval(self) -> "Foreign":
        """Stop dropping anything."""
        self.module.eval()
        return self
