"""What a metric is: counts over the responses of a test cell, one of them per another, stored under their names.

No torch here nor in the files of the metrics, which only call methods of the tensors they are given: what compares and
draws asks for names and words alone. `lengen.metrics.counted` makes a torchmetrics class of any metric.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor

    from lengen.formats.base import Written
    from lengen.vocab import Vocab


class Responses(NamedTuple):
    """Responses of one test cell in one mode, beside the true ones."""

    written: "Tensor"
    """(B, R) token ids, padded on the right."""
    reference: "Tensor"
    """(B, S) token ids, padded on the right; R and S may differ."""
    format: "Written | None" = None
    """How they are written, where a metric asks for parts of them."""
    vocab: "Vocab | None" = None
    """The symbols they are written with."""


@dataclass(frozen=True)
class Metric:
    """A rate over examples or tokens: ``numerator`` per ``denominator``, both names of counts."""

    name: str
    words: str
    """What is measured, for tables and axes."""
    counts: Callable[[Responses], Mapping[str, float]]
    """The counts that this metric adds, by name; `n` and `reference_tokens` are always there."""
    numerator: str
    denominator: str = "n"
    proportion: bool = True
    """The numerator counts successes among the denominator, so intervals for proportions hold."""
    higher_is_better: bool = True
    own_text: bool = False
    """Counted only of text that the model wrote itself, not where the true prefix stands in the context."""
