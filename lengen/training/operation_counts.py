"""The work of a training in operations, from its specification alone, and the seconds it takes a core.

The count is the usual one (6 per parameter and token in training, 2 in a forward pass, and the attention products),
over a few cells of a long axis; the rates are measured averages.
"""

from collections.abc import Sequence
from functools import cache
from statistics import fmean

from lengen.settings.model import EncoderDecoder, ModelSpec
from lengen.settings.sections import DataSpec
from lengen.settings.spec import Spec, replace

CORE_RATE = {"geglu": 6.0e10, "gelu": 5.2e10, "relu": 4.5e10}
"""Operations per second of one core on models of this size (single precision), by activation; fitted to the runs of the
four papers at the cpu profile, two at a time on two cores with AMX: 12, 17, 11 and 14 minutes where this says 12, 13,
13 and 16."""
NARROW = 0.65
"""Share of that rate which a core reaches with models narrower than 128: small products, many other operations."""
STEP = 0.004
"""Seconds of a step on a core that do not depend on its size."""
PADDING = 1.15
"""Tokens computed per token of the data: examples of a batch share the longest length."""
STRETCHES = 8
"""Values of a long axis that are counted."""


def training_seconds(spec: Spec) -> float:
    """Return the seconds that the training of ``spec`` is foreseen to take one core, with products in single precision.

    A function of the specification alone, so that the choices made by it are the same for every seed and machine.
    """
    return training_operations(spec) / core_rate(spec.model) + spec.train.steps * STEP


def core_rate(model: ModelSpec) -> float:
    """Return the number of operations per second of one core on this model."""
    return CORE_RATE[model.activation] * (NARROW if model.width < 128 else 1.0)


@cache
def training_operations(spec: Spec) -> float:
    """Return the number of operations of the training of ``spec``."""
    train, (model, data) = spec.train, sizes(spec)
    if not train.steps:
        return 0.0
    examples = [_forward(model, data, *trained_cells(spec))]
    examples += [  # hints train in turn, over lengths of their own
        _forward(model, replace(data, task=hint), hint.trained_lengths, (hint.most,)) for hint in spec.data.hints
    ]
    return 3 * fmean(examples) * train.steps * train.batch * padding(spec)


def trained_cells(spec: Spec) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return lengths and counts of the main task that are trained."""
    task = spec.data.task
    return task.trained_lengths, tuple(range(min(2, task.most), task.most + 1))


def padding(spec: Spec) -> float:
    """Return tokens computed per token of the data."""
    return 1.0 if spec.data.format.width or spec.train.one_length else PADDING


def sizes(spec: Spec) -> tuple[ModelSpec, DataSpec]:
    """Return the model and data of a specification, with nothing but what decides their cost.

    Models that differ in other fields take equally long.
    """
    model, data = ModelSpec(**{name: getattr(spec.model, name) for name in SIZES}), spec.data
    return model, DataSpec(task=data.task, format=data.format, spaces=data.spaces)


SIZES = ("layers", "heads", "width", "head_dim", "ff_width", "architecture", "activation", "loops", "loops_by_length")
"""Fields of a model that decide its cost."""


@cache  # models of a paper are few sizes, tested on the same cells
def _forward(model: ModelSpec, data: DataSpec, lengths: tuple[int, ...], counts: tuple[int, ...]) -> float:
    """Count `forward` of an average cell."""
    return fmean(forward(model, *pair) for pair in _tokens(data, lengths, counts))


@cache
def verifying(model: ModelSpec, data: DataSpec, lengths: tuple[int, ...], counts: tuple[int, ...]) -> float:
    """Count `verify` of an average cell."""
    return fmean(verify(model, *pair) for pair in _tokens(data, lengths, counts))


@cache
def _tokens(data: DataSpec, lengths: tuple[int, ...], counts: tuple[int, ...]) -> list[tuple[float, float]]:
    """Count tokens of prompt and response in cells of `some` lengths and counts; both grow smoothly along either."""
    return [data.tokens(length, count) for length in some(lengths) for count in some(counts)]


def some(axis: Sequence[int]) -> Sequence[int]:
    """Return the middles of `STRETCHES` equal stretches of a long axis of consecutive values; any other axis whole.

    >>> some(range(1, 49)), some((2, 3)), some((1, 2, 5, 10, 20, 50, 100, 200, 500))
    ([4, 10, 16, 22, 28, 34, 40, 46], (2, 3), (1, 2, 5, 10, 20, 50, 100, 200, 500))
    """
    if len(axis) <= STRETCHES or axis[-1] - axis[0] >= len(axis):
        return axis
    return [axis[(2 * stretch + 1) * len(axis) // (2 * STRETCHES)] for stretch in range(STRETCHES)]


def verify(model: ModelSpec, prompt: float, response: float) -> float:
    """Return the operations to decide exact match: one forward pass; one a token where earlier see later ones."""
    return forward(model, prompt, response) if model.causal else response * forward(model, prompt, response / 2)


def forward(model: ModelSpec, prompt: float, response: float) -> float:
    """Return the number of operations of one forward pass over a prompt and a response of so many tokens.

    The small vocabulary is left out.

    A decoder beside an encoder projects queries and outputs of the response, keys and values of the prompt.
    """
    if not isinstance(model.architecture, EncoderDecoder):
        loops = 1 if model.loops_by_length is None else model.loops_of(prompt, response)
        return loops * stack(model, model.layers, prompt + response)
    inner = model.heads * model.head_dim
    crossing = 4 * model.width * inner * (prompt + response) + 4 * inner * prompt * response
    return stack(model, model.encoder_layers, prompt) + stack(model, model.layers, response) + model.layers * crossing


def stack(model: ModelSpec, layers: int, length: float) -> float:
    """Return the number of operations of ``layers`` blocks on a sequence that attends to itself."""
    return layers * model.loops * length * (2 * model.block_weights + 4 * model.heads * model.head_dim * length)
