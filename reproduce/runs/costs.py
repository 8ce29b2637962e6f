"""Cost of runs: what planned ones will take here, what stored ones took; and how far these got.

What enters is a specification; what leaves are seconds on one processor core, which the profiles smoke, cpu and night
are made for, or on one GPU, which paper is made for.
Operations are counted in `lengen.training.operation_counts`; the rates are measured averages. The progress display
corrects both by what it sees.
"""

import math
import os
from collections.abc import Sequence
from functools import cache
from statistics import median
from typing import NamedTuple

from lengen.metrics.run_measures import shares
from lengen.results.records import Run
from lengen.settings.sections import VALIDATION
from lengen.settings.spec import Spec
from lengen.this_machine import ROUNDS_NATIVELY, machine
from lengen.training import operation_counts as operations

ROUNDED = 2.0
"""Speed-up of a core by products of bfloat16 operands, compiled if that pays: 1.5 to 2.8 on a processor that has them;
on another such a training takes as long as with float32 products."""
GPU_RATE = 1.5e14
"""Operations per second of one large GPU (bfloat16, batches of hundreds)."""
GPU_STEP = 0.002
"""Seconds of a step on a GPU, and again for each block, that do not depend on its size: a processor starts the kernels.
Six blocks took 14 ms and two 6 on one H200, with CUDA graphs; a core's are `lengen.training.operation_counts.STEP`."""
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


def cost_on(spec: Spec, *, gpu: bool, made: float = 1.0, natively: bool | None = None) -> Cost:
    """Estimate the seconds of one run of ``spec`` on a GPU, or on one core, whatever its profile.

    ``made`` is the share of its updates that it makes before it stops early; ``natively`` says whether the core
    multiplies bfloat16 numbers, None: as this one.
    """
    natively = rounds_natively() if natively is None else natively
    parts = [_cost(part, gpu, natively) for part in spec.trainings()]
    return Cost(made * sum(part.train for part in parts), parts[-1].measure)


@cache
def rounds_natively() -> bool:
    """Return True on a processor that multiplies bfloat16 numbers; another gains nothing by rounding."""
    return bool(ROUNDS_NATIVELY & set(machine().instruction_sets))


@cache  # experiments share specifications
def _cost(spec: Spec, gpu: bool, natively: bool) -> Cost:
    device = "gpu" if gpu else "core"
    blocks = spec.model.encoder_layers + spec.model.layers * spec.model.loops
    rate, step = (GPU_RATE, GPU_STEP * (1 + blocks)) if gpu else (operations.core_rate(spec.model), operations.STEP)
    train, test = spec.train, spec.test
    model, data = operations.sizes(spec)
    training, validating = operations.training_operations(spec), 0.0
    if train.steps:
        validating = operations.verifying(model, data, *operations.trained_cells(spec)) * operations.padding(spec)
    validating *= train.evaluations * VALIDATION
    cells = len(test.lengths) * len(test.counts)
    each = cells * operations.verifying(model, data, test.lengths, test.counts)
    testing = each * test.examples
    testing *= 1 + DECODING * (test.free_running and model.causal and not spec.constructed)  # hardly errs
    testing += each * (test.track * train.evaluations + 2 * test.sampled)
    averaged = [data.tokens(length, count) for length, count in test.attention]
    testing += sum(operations.forward(model, *pair) for pair in averaged) * test.attention_examples
    if not gpu and natively and train.precision == "bf16-products":
        training /= ROUNDED
    return Cost(START[device] + (training + validating) / rate + train.steps * step, testing / rate + cells * step)


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


def updates_made(spec: Spec, runs: Sequence[Run]) -> float | None:
    """Return the share of its updates that a run of this setting makes.

    It is all, or as many as the median of ``runs`` if it stops early, yet no fewer than its ``patience`` needs; None if
    there are no runs to tell.
    """
    train = spec.train
    if not train.stop_at:
        return 1.0
    if not runs:
        return None
    share = median(run.scalar("steps", train.steps) for run in runs) / train.steps
    return min(max(share, train.patience / train.evaluations), 1.0)


def training(run: Run) -> float:
    """Return the seconds of training its model.

    Before checkpoints kept the time, ``seconds_training`` of an interrupted run had those of its last process alone;
    seconds a step, times steps, tell them.
    """
    return max(number(run, "seconds_training"), run.scalar("steps", 0.0) * number(run, "seconds_per_step"))


def tokens(run: Run) -> float:
    """Return the tokens that its model was trained on, as the run counted them: padding included."""
    return number(run, "tokens_per_second") * training(run)


def measuring(run: Run) -> float:
    """Return the seconds of measuring, since the last interruption."""
    return number(run, "seconds_measuring")


def whole(run: Run) -> float:
    """Return the seconds that making the run took, at least.

    ``seconds`` is that of its last process alone, and with what was done between trainings.
    """
    return max(number(run, "seconds"), training(run) + measuring(run))


def number(run: Run, name: str) -> float:
    """Return a number of run.json; 0 where it holds none."""
    value = run.info.get(name)
    return value if isinstance(value, int | float) else 0.0


def accuracies(done: Run) -> tuple[str, str]:
    """Return `shares` as percentages."""
    inside, outside = ("not tested" if math.isnan(rate) else f"{100 * rate:.1f} %" for rate in shares(done))
    return inside, outside
