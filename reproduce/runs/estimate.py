"""Estimates of the time of a run, before it has run. Does not import torch.

What enters is a specification; what leaves are seconds on one processor core, which the profiles smoke, cpu and night
are made for, or on one GPU, which paper is made for.
Operations are counted in `lengen.training.operations`; the rates are measured averages. The progress display corrects
both by what it sees.
"""

import os
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from lengen.results.machine import ROUNDS_NATIVELY, machine
from lengen.settings.sections import VALIDATION
from lengen.settings.spec import Spec
from lengen.training.operations import (
    STEP,
    core_rate,
    forward,
    padding,
    sizes,
    trained_cells,
    training_operations,
    verifying,
)

ROUNDED = 2.0
"""Speed-up of a core by products of bfloat16 operands, compiled if that pays: 1.5 to 2.8 on a processor that has them;
on another such a training takes as long as with float32 products."""
GPU_RATE = 1.5e14
"""Operations per second of one large GPU (bfloat16, batches of hundreds)."""
GPU_STEP = 0.002
"""Seconds of a step on a GPU, and again for each block, that do not depend on its size: a processor starts the kernels.
Six blocks took 14 ms and two 6 on one H200, with CUDA graphs; a core's are `lengen.training.operations.STEP`."""
START = {"core": 1.0, "gpu": 80.0}
"""Seconds to build data and model (and, on a GPU, to compile)."""
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
    """Estimate the seconds of one run of ``spec`` on what its profile is made for: a GPU for paper, else one core."""
    return cost_on(spec, gpu=profile == "paper")


def cost_on(spec: Spec, *, gpu: bool, made: float = 1.0) -> Cost:
    """Estimate the seconds of one run of ``spec`` on a GPU, or on one core, whatever its profile.

    ``made`` is the share of its updates that it makes before it stops early.
    """
    parts = [_cost(part, gpu, rounds_natively()) for part in spec.trainings()]
    return Cost(made * sum(part.train for part in parts), parts[-1].measure)


@cache
def rounds_natively() -> bool:
    """Return True on a processor that multiplies bfloat16 numbers; another gains nothing by rounding."""
    return bool(ROUNDS_NATIVELY & set(machine().instruction_sets))


@cache  # experiments share specifications
def _cost(spec: Spec, gpu: bool, natively: bool) -> Cost:
    device = "gpu" if gpu else "core"
    blocks = spec.model.encoder_layers + spec.model.layers * spec.model.loops
    rate, step = (GPU_RATE, GPU_STEP * (1 + blocks)) if gpu else (core_rate(spec.model), STEP)
    train, test = spec.train, spec.test
    model, data = sizes(spec)
    training, validating = training_operations(spec), 0.0
    if train.steps:
        validating = verifying(model, data, *trained_cells(spec)) * padding(spec) * train.evaluations * VALIDATION
    cells = len(test.lengths) * len(test.counts)
    each = cells * verifying(model, data, test.lengths, test.counts)
    testing = each * test.examples
    testing *= 1 + DECODING * (test.free_running and model.causal and not spec.constructed)  # hardly errs
    testing += each * (test.track * train.evaluations + 2 * test.sampled)
    averaged = [data.tokens(length, count) for length, count in test.attention]
    testing += sum(forward(model, *pair) for pair in averaged) * test.attention_examples
    if not gpu and natively and train.precision == "bf16-products":
        training /= ROUNDED
    return Cost(
        START[device] + (training + validating) / rate + train.steps * step,
        testing / rate + cells * step,
    )


def in_words(seconds: float) -> str:
    """Return a duration as people say it: 40 s, 12 min, 3.5 h, 60 days.

    >>> [in_words(value) for value in (0.2, 40, 130, 750, 12600, 5184000)]
    ['1 s', '40 s', '2 min', '12 min', '3.5 h', '60 days']
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h" if seconds < 1000 * 3600 else f"{round(seconds / 86400):,} days"


def usable_cores() -> int:
    """Return the number of processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def makespan(seconds: Sequence[float], workers: int) -> float:
    """Return the time until all are done when each worker always takes the longest that is left."""
    loads = [0.0] * max(1, workers)
    for value in sorted(seconds, reverse=True):
        loads[loads.index(min(loads))] += value
    return max(loads)
