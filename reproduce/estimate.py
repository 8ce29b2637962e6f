"""How long a run takes, before it has run; torch-free.

What enters is a specification; what leaves are seconds on one processor core (smoke, cpu) or one GPU (paper).
The count of operations is the usual one (6 per parameter and token in training, 2 in a forward pass, and the
attention products); the rates are measured averages. The progress display corrects both by what it sees.
"""

import statistics
from collections.abc import Sequence
from typing import NamedTuple

from lengen.spec import DataSpec, ModelSpec, Spec

CORE_RATE = 3.5e10
"""Operations per second of one core on models of this size (single precision)."""
GPU_RATE = 1.5e14
"""Operations per second of one large GPU (bfloat16, batches of hundreds)."""
STEP_OVERHEAD = {"core": 0.004, "gpu": 0.003}
"""Seconds of a step that do not depend on its size."""
START = {"core": 1.0, "gpu": 20.0}
"""Seconds to build data and model (and, on a GPU, to load kernels)."""
PADDING = 1.15
"""Tokens computed per token of the data: examples of a batch share the longest length."""
DECODING = 1.5
"""Time to let the model write its own text, per time to verify it, where both are measured."""


class Cost(NamedTuple):
    """Seconds of the two stages of a run."""

    train: float
    measure: float

    @property
    def total(self) -> float:
        return self.train + self.measure


def cost(spec: Spec, profile: str) -> Cost:
    """Estimated seconds of one run of ``spec``: on a GPU at the paper profile, else on one core."""
    parts = [_cost(part, profile) for part in spec.trainings()]
    return Cost(sum(part.train for part in parts), parts[-1].measure)


def _cost(spec: Spec, profile: str) -> Cost:
    device, rate = ("gpu", GPU_RATE) if profile == "paper" else ("core", CORE_RATE)
    lengths = range(1, spec.data.length + 1)
    counts = range(min(2, spec.data.count), spec.data.count + 1)
    tokens = statistics.fmean(sequence(spec.data, length, count) for length in lengths for count in counts) * PADDING
    training = 3 * forward(spec.model, tokens) * spec.train.steps * spec.train.batch
    cells = [sequence(spec.data, length, count) for length in spec.test.lengths for count in spec.test.counts]
    testing = sum(forward(spec.model, tokens) for tokens in cells) * spec.test.examples
    testing *= 1 + DECODING * spec.test.free_running
    averaged = [sequence(spec.data, length, count) for length, count in spec.test.attention]
    testing += sum(forward(spec.model, tokens) for tokens in averaged) * spec.test.attention_examples
    return Cost(
        START[device] + training / rate + spec.train.steps * STEP_OVERHEAD[device],
        testing / rate + len(cells) * STEP_OVERHEAD[device],
    )


def forward(model: ModelSpec, tokens: float) -> float:
    """Operations of one forward pass over a sequence of ``tokens``."""
    return tokens * (2 * parameters(model) + 4 * model.layers * model.heads * model.head_dim * tokens)


def parameters(model: ModelSpec) -> int:
    """Weights that take part in the products of a forward pass, the small vocabulary left out."""
    attention = 4 * model.width * model.heads * model.head_dim
    feed_forward = (3 if model.activation == "geglu" else 2) * model.width * model.ff_width
    return model.layers * (attention + feed_forward)


def sequence(data: DataSpec, length: int, count: int) -> int:
    """Tokens of one example, special tokens included; a count good to some ten percent for any task."""
    if data.fixed_length:
        return (1 + count) * (data.fixed_length + 1) + 3
    if data.task == "parity":
        return length + 3 + (length + 1 if data.scratchpad else 1)
    if data.task == "multiplication":
        products = 2 * count * (length + count + 1) if data.scratchpad else 0
        return length + count + 3 + products + length + count
    partial_sums = (count + 1) * (length + 2) if data.scratchpad else length + 1
    return count * (length + 2) + 3 + partial_sums


def in_words(seconds: float) -> str:
    """A duration as people say it: 40 s, 12 min, 3.5 h.

    >>> [in_words(value) for value in (0.2, 40, 130, 750, 12600)]
    ['1 s', '40 s', '2 min', '12 min', '3.5 h']
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def makespan(seconds: Sequence[float], workers: int) -> float:
    """Time until all are done when each worker always takes the longest that is left."""
    loads = [0.0] * max(1, workers)
    for value in sorted(seconds, reverse=True):
        loads[loads.index(min(loads))] += value
    return max(loads)
