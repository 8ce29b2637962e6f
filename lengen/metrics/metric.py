"""Metrics: named counts over the responses of a test cell, and ratios of them.

No torch here nor in the files of the metrics, which only call methods of the tensors they are given: what compares and
draws asks for names and words alone. `lengen.metrics.counted` makes a torchmetrics class of any metric.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor

    from lengen.formats.base import Written
    from lengen.formats.vocab import Vocab


class Responses(NamedTuple):
    """Responses of one test cell in one mode, beside the true ones."""

    written: "Tensor"
    """(B, R) token ids, padded on the right."""
    reference: "Tensor"
    """(B, S) token ids, padded on the right; R and S may differ."""
    format: "Written | None" = None
    """Format of the responses, for metrics that need parts of them."""
    vocab: "Vocab | None" = None
    """The symbols they are written with."""


def check_responses(written: object, reference: object) -> None:
    """Raise `ValueError` unless both are token ids of equally many responses."""
    for name, given in (("written", written), ("reference", reference)):
        if getattr(given, "ndim", None) != 2 or not hasattr(given, "is_floating_point"):
            shape = tuple(given.shape) if hasattr(given, "shape") else repr(given)[:60]
            raise ValueError(
                f"{name} responses are {type(given).__name__} {shape}: expected a tensor (B, R) of token ids, padded "
                "on the right; TaskData.vocab.encode makes them of text"
            )
        if given.is_floating_point():
            raise ValueError(f"{name} responses are {given.dtype}: expected token ids, not logits or probabilities")  # type: ignore[attr-defined]
        if (given < 0).any():  # type: ignore[operator, attr-defined]
            raise ValueError(f"{name} responses hold {int(given.min())}: expected token ids from 0 on; pad with PAD, 0")  # type: ignore[attr-defined]
    if len(written) != len(reference):  # type: ignore[arg-type]
        raise ValueError(
            f"{len(written)} written responses and {len(reference)} reference responses: expected equal numbers"  # type: ignore[arg-type]
        )


@dataclass(frozen=True)
class Metric:
    """A rate over examples or tokens: ``numerator`` per ``denominator``, both names of counts."""

    name: str
    words: str
    """Name for tables and axes."""
    counts: Callable[[Responses], Mapping[str, float]]
    """The counts that this metric adds, by name; `n` and `reference_tokens` are always there."""
    numerator: str
    denominator: str = "n"
    proportion: bool = True
    """The numerator counts successes among the denominator, so intervals for proportions hold."""
    higher_is_better: bool = True
    own_text: bool = False
    """Counted only of text that the model wrote itself, without the true prefix in the context."""
