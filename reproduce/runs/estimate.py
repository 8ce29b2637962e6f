"""How long a run takes, before it has run; torch-free.

What enters is a specification; what leaves are seconds on one processor core, which the profiles smoke, cpu and night
are made for, or on one GPU, which paper is made for.
The count of operations is the usual one (6 per parameter and token in training, 2 in a forward pass, and the
attention products), over a few cells of a long axis; the rates are measured averages. The progress display corrects
both by what it sees.
"""

import os
from collections.abc import Sequence
from functools import cache
from statistics import fmean
from typing import NamedTuple

from lengen.config.model import EncoderDecoder, ModelSpec
from lengen.config.sections import VALIDATION, DataSpec
from lengen.config.spec import Spec, replace

CORE_RATE = {"geglu": 6.0e10, "gelu": 5.2e10, "relu": 4.5e10}
"""Operations per second of one core on models of this size (single precision), by activation; fitted to the runs of the
four papers at the cpu profile, two at a time on two cores with AMX: 12, 17, 11 and 14 minutes where this says 12, 13,
13 and 16."""
NARROW = 0.65
"""Share of that rate which a core reaches with models narrower than 128: small products, many other operations."""
ROUNDED = 2.0
"""How many times as fast a core trains with products of bfloat16 operands, compiled where that pays: 1.5 to 2.8 on a
processor that has them."""
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
    """Estimated seconds of one run of ``spec`` on what its profile is made for: a GPU for paper, else one core."""
    return cost_on(spec, gpu=profile == "paper")


def cost_on(spec: Spec, *, gpu: bool) -> Cost:
    """Estimated seconds of one run of ``spec`` on a GPU, or on one core, whatever its profile."""
    parts = [_cost(part, gpu) for part in spec.trainings()]
    return Cost(sum(part.train for part in parts), parts[-1].measure)


@cache  # experiments share specifications
def _cost(spec: Spec, gpu: bool) -> Cost:
    device = "gpu" if gpu else "core"
    core_rate = CORE_RATE[spec.model.activation] * (NARROW if spec.model.width < 128 else 1.0)
    rate = GPU_RATE if gpu else core_rate
    train, test = spec.train, spec.test
    model, data = _size(spec.model), DataSpec(task=spec.data.task, format=spec.data.format, spaces=spec.data.spaces)
    task = data.task
    padding = 1.0 if getattr(data.format, "width", 0) or train.one_length else PADDING
    training = validating = 0.0
    if train.steps:
        trained = task.trained_lengths, tuple(range(min(2, task.most), task.most + 1))
        examples = [_forward(model, data, *trained)]
        for hint in spec.data.hints:  # which train in turn, over lengths of their own
            examples.append(_forward(model, replace(data, task=hint), hint.trained_lengths, (hint.most,)))
        training = 3 * fmean(examples) * train.steps * train.batch
        validating = _verify(model, data, *trained) * train.evaluations * VALIDATION
    cells = len(test.lengths) * len(test.counts)
    each = cells * _verify(model, data, test.lengths, test.counts)
    testing = each * test.examples
    testing *= 1 + DECODING * (test.free_running and model.causal and not spec.constructed)  # hardly errs
    testing += each * (test.track * train.evaluations + 2 * test.sampled)
    averaged = [data.tokens(length, count) for length, count in test.attention]
    testing += sum(forward(model, *pair) for pair in averaged) * test.attention_examples
    if not gpu and train.precision == "bf16-products":
        training /= ROUNDED
    return Cost(
        START[device] + padding * (training + validating) / rate + train.steps * STEP_OVERHEAD[device],
        testing / rate + cells * STEP_OVERHEAD[device],
    )


def _size(model: ModelSpec) -> ModelSpec:
    """A model of this size whose other fields are at their default: models that differ in those take equally long."""
    return ModelSpec(
        layers=model.layers,
        heads=model.heads,
        width=model.width,
        head_dim=model.head_dim,
        ff_width=model.ff_width,
        architecture=model.architecture,
        activation=model.activation,
        loops=model.loops,
        loops_by_length=model.loops_by_length,
    )


@cache  # models of a paper are few sizes, tested on the same cells
def _forward(model: ModelSpec, data: DataSpec, lengths: tuple[int, ...], counts: tuple[int, ...]) -> float:
    """`forward` of an average cell."""
    return fmean(forward(model, *pair) for pair in _tokens(data, lengths, counts))


@cache
def _verify(model: ModelSpec, data: DataSpec, lengths: tuple[int, ...], counts: tuple[int, ...]) -> float:
    """`verify` of an average cell."""
    if model.causal:
        return _forward(model, data, lengths, counts)
    return fmean(verify(model, *pair) for pair in _tokens(data, lengths, counts))


@cache
def _tokens(data: DataSpec, lengths: tuple[int, ...], counts: tuple[int, ...]) -> list[tuple[float, float]]:
    """Tokens of prompt and response in the cells of `some` lengths and counts: both grow smoothly along either."""
    return [data.tokens(length, count) for length in some(lengths) for count in some(counts)]


def some(axis: Sequence[int], most: int = 8) -> Sequence[int]:
    """Of a long axis of consecutive values the middles of so many equal stretches; any other axis whole.

    >>> some(range(1, 31), 5), some((2, 3), 5), some((1, 2, 5, 10, 20, 50, 100), 5)
    ([4, 10, 16, 22, 28], (2, 3), (1, 2, 5, 10, 20, 50, 100))
    """
    if len(axis) <= most or axis[-1] - axis[0] >= len(axis):
        return axis
    return [axis[(2 * stretch + 1) * len(axis) // (2 * most)] for stretch in range(most)]


def verify(model: ModelSpec, prompt: float, response: float) -> float:
    """Operations to decide exact match: one forward pass; one per token where earlier tokens see later ones."""
    return forward(model, prompt, response) if model.causal else response * forward(model, prompt, response / 2)


def forward(model: ModelSpec, prompt: float, response: float) -> float:
    """Operations of one forward pass over a prompt and a response of so many tokens, the small vocabulary left out.

    A decoder beside an encoder projects queries and outputs of the response, keys and values of the prompt.
    """
    if not isinstance(model.architecture, EncoderDecoder):
        loops = 1 if model.loops_by_length is None else model.loops_of(prompt, response)
        return loops * stack(model, model.layers, prompt + response)
    inner = model.heads * model.head_dim
    crossing = 4 * model.width * inner * (prompt + response) + 4 * inner * prompt * response
    return stack(model, model.encoder_layers, prompt) + stack(model, model.layers, response) + model.layers * crossing


def stack(model: ModelSpec, layers: int, length: float) -> float:
    """Operations of ``layers`` blocks on a sequence that attends to itself."""
    return layers * model.loops * length * (2 * model.block_weights + 4 * model.heads * model.head_dim * length)


def in_words(seconds: float) -> str:
    """A duration as people say it: 40 s, 12 min, 3.5 h, 60 days.

    >>> [in_words(value) for value in (0.2, 40, 130, 750, 12600, 5184000)]
    ['1 s', '40 s', '2 min', '12 min', '3.5 h', '60 days']
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h" if seconds < 1000 * 3600 else f"{round(seconds / 86400):,} days"


def usable_cores() -> int:
    """Processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def makespan(seconds: Sequence[float], workers: int) -> float:
    """Time until all are done when each worker always takes the longest that is left."""
    loads = [0.0] * max(1, workers)
    for value in sorted(seconds, reverse=True):
        loads[loads.index(min(loads))] += value
    return max(loads)
