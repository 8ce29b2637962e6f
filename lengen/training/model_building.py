"""The model of a specification: untrained, set by hand, or with the weights of a finished run; no Lightning."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import nn

from lengen.data.task_data import TaskData
from lengen.digits import generator
from lengen.models import Decoder, Encoder, EncoderDecoder, Transformer
from lengen.models.weight_files import fill
from lengen.part import SettingError
from lengen.settings import model as config
from lengen.settings.sections import NUMBER_FORMATS
from lengen.settings.spec import Spec, declared

# Threads meet at a barrier after every operation. Those of a small model take microseconds; when another process has a
# core, all wait for the one that does not run.


SMALL = 200_000
"""Parameters of a model whose training one thread does best."""
SINGLE = 10_000_000
"""Parameters of a model that answers a single problem, a token at a time, with one thread best."""
CHOSEN_BY = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Environment variables by which a user chooses threads: then nothing is changed."""


def one_is_best(model: nn.Module, most: int) -> bool:
    """Return True if the model is on a CPU, has at most so many parameters, and the user has not chosen the threads."""
    if any(name in os.environ for name in CHOSEN_BY):
        return False
    parameters = list(model.parameters())
    return sum(each.numel() for each in parameters) <= most and all(each.device.type == "cpu" for each in parameters)


@contextmanager
def few_threads(model: nn.Module, most: int = SINGLE) -> Iterator[None]:
    """Use one thread within, if that is best for this model; as many as before after it."""
    before = torch.get_num_threads()
    if before == 1 or not one_is_best(model, most):
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def build_model(spec: Spec, seed: int) -> Transformer:
    """Return the untrained model of a specification, or the one it constructs; equal seeds give equal weights.

    Args:
        spec: The setting.
        seed: Decides the initial weights.

    Raises:
        SettingError: A setting that cannot be.

    Example:
        >>> import lengen
        >>> spec = lengen.setting("copy", layers=1)
        >>> sum(weight.numel() for weight in lengen.build_model(spec, seed=0).parameters())
        42310
    """
    return model_for(TaskData(spec, seed), seed)


def model_for(data: TaskData, seed: int) -> Transformer:
    """Return the model of `build_model` for existing data, which knows the numbers of tokens and places."""
    spec = data.spec
    model: Transformer
    tokens, sizes = len(data.vocab), spec.data.position_ids.sizes
    with torch.random.fork_rng(devices=[]):  # weights are drawn on the processor, wherever they will be trained
        torch.default_generator.manual_seed(generator("initialisation", seed).initial_seed())
        if isinstance(spec.model.architecture, config.EncoderDecoder):
            model = EncoderDecoder(spec.model, tokens, sizes, *_places(data))
        elif isinstance(spec.model.architecture, config.Encoder):
            model = Encoder(spec.model, tokens, sizes)
        else:
            model = Decoder(spec.model, tokens, sizes, outputs=len(data.streams))
    if spec.constructed:
        construct = declared(spec, "constructions")
        if construct is None:
            raise SettingError(f"{type(spec).__name__}: its paper declares no construction of the weights")
        set_by_hand(model, lambda model: construct(model, spec))
    return model


def set_by_hand(model: Transformer, set_weights: Callable[[Transformer], None]) -> None:
    """Set all parameters to zero, then let ``set_weights(model)`` set those that are not."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        set_weights(model)


def _places(data: TaskData) -> tuple[int, int]:
    """Return response places that predict, and source places, of the longest problem that is trained or tested."""
    test, task = data.spec.test, data.spec.data.task
    shapes = data.format.longest(max(*test.lengths, task.longest), max(*test.counts, task.most))
    sides = [data.format.layout(shape).split(data.writer.hands_over) for shape in shapes]
    return max(len(written.symbols) for _, written in sides) - 1, max(len(query.symbols) for query, _ in sides)


def load(spec: Spec, weights: Path | None) -> Transformer:
    """Return the trained model of a specification; nothing in a file of weights is executed (`fill`).

    Without ``weights`` the model that the specification constructs. Raises `WeightsError`.
    """
    held = NUMBER_FORMATS.get(spec.train.precision, NUMBER_FORMATS["32-true"])  # mixed: weights are float32
    model = build_model(spec, 0).to(getattr(torch, held.name))
    if weights is not None:
        fill(model, weights)
    return model.eval()
