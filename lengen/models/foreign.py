"""Networks of anybody's in the place of a transformer of this suite: all they need is ``predict(batch)``."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any, Protocol, cast, runtime_checkable

import torch
from torch import Tensor, nn

from lengen.data.batch import Batch


@contextmanager
def answering(network: nn.Module) -> Iterator[None]:
    """Let a network answer in evaluation mode and without gradients; each of its parts has its own mode back then."""
    modes = {part: part.training for part in network.modules()}
    network.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for part, mode in modes.items():
            part.training = mode


@runtime_checkable
class Predicting(Protocol):
    """A network that can be measured; with ``attention(batch)``, as of `lengen.Transformer`, its attention, too."""

    def predict(self, batch: Batch) -> Tensor:
        """Return logits (B, T - 1, V) of every token of the batch but the first."""


def logits_of(network: Predicting, batch: Batch) -> Tensor:
    """Return the logits (B, T - 1, V) of a network; raises `TypeError` for anything of another shape."""
    logits = network.predict(batch)
    rows, length = batch.tokens.shape
    shape = tuple(logits.shape) if isinstance(logits, Tensor) else ()
    if len(shape) != 3 or shape[:2] != (rows, length - 1):
        raise TypeError(
            f"{type(network).__name__}.predict gave {shape or type(logits).__name__}; expected logits "
            f"({rows}, {length - 1}, vocabulary): a row for every token of the batch but the first"
        )
    return logits


class Foreign:
    """A `Predicting` network: no cache, so `lengen.decoding` lets it read its text anew for every token."""

    writes_in_order = False
    spec = SimpleNamespace(causal=True)
    attention: Callable[[Batch], list[dict[str, Tensor]]]

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self.predict = partial(logits_of, cast(Predicting, module))
        if hasattr(module, "attention"):
            self.attention = cast(Any, module).attention

    @property
    def device(self) -> torch.device:
        """Device of the network."""
        return next((one.device for one in self.module.parameters()), torch.device("cpu"))
