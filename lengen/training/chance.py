"""Whether a model ever did better than one that ignores what it reads: the losses of a training and its data enter.

A model that ignores its input can do no better than to name each token as often as it occurs in the answers: its loss
is the entropy of that distribution. A training whose loss was never below has learned nothing, and its scores say
nothing about what it was meant to compare.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from lengen.callbacks.metrics_logger import TRAIN_LOSS
from lengen.data.batch import Batch

READINGS = 5
"""Losses in a row whose mean counts: one batch may be easy."""


def entropy(batch: Batch) -> float:
    """Entropy, in nats, of the target tokens of a batch: the loss of the best model that ignores its input."""
    _, counts = torch.unique(batch.tokens[batch.loss], return_counts=True)
    shares: Tensor = counts / counts.sum()
    return float(-(shares * shares.log()).sum())


def lowest(losses: Sequence[float]) -> float:
    """The lowest mean of `READINGS` losses in a row, of all of them where there are fewer; infinite without any.

    >>> lowest([3.0, 1.0]), lowest([9.0, 1.0, 1.0, 1.0, 1.0, 1.0]), lowest([])
    (2.0, 1.0, inf)
    """
    width = min(READINGS, len(losses))
    means = (sum(losses[first : first + width]) / width for first in range(len(losses) - width + 1))
    return min(means, default=math.inf) if losses else math.inf


def at_chance(metrics: Sequence[tuple[int, str, float]], validation: Batch) -> dict[str, object]:
    """``never_left_chance`` with both losses, in nats per token, for a training that never was below; else nothing.

    ``metrics`` are the rows of metrics.csv; auxiliary tasks do not count.
    """
    losses = [value for _, name, value in metrics if name == TRAIN_LOSS]
    least, chance = lowest(losses), entropy(validation)
    if not losses or least < chance:
        return {}
    return {
        "never_left_chance": {"lowest_loss": least, "chance": chance},
        "notes": [
            f"it never left chance: its lowest loss, {least:.3f} nats, is not below the {chance:.3f} of a model that "
            "ignores its input; its scores say nothing about the method"
        ],
    }
