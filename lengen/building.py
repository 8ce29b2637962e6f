"""The model of a specification: untrained, set by hand, or with the weights of a finished run; no Lightning."""

import importlib
from pathlib import Path

import torch
from safetensors.torch import load_model

from lengen.models import Decoder, Encoder, EncoderDecoder, Transformer
from lengen.randomness import generator
from lengen.spec import Spec
from lengen.task_data import TaskData

DTYPES = {"64-true": torch.float64, "bf16-true": torch.bfloat16}
"""Number format of weights by ``train.precision``; float32 in all others."""


def build_model(spec: Spec, seed: int) -> Transformer:
    """The untrained model of a specification, or the one it constructs; equal seeds give equal weights."""
    model = _untrained(spec, seed)
    if spec.CONSTRUCT:
        module, _, function = spec.CONSTRUCT.partition(":")
        construct = getattr(importlib.import_module(module), function)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.zero_()
            construct(model, spec)
    return model


def _untrained(spec: Spec, seed: int) -> Transformer:
    data = TaskData(spec, seed)
    tokens, sizes = len(data.format.vocab), spec.data.max_position
    with torch.random.fork_rng():
        torch.manual_seed(generator("initialisation", seed).initial_seed())
        if spec.model.architecture == "encoder_decoder":
            return EncoderDecoder(spec.model, tokens, sizes, *_places(data))
        if spec.model.architecture == "encoder":
            return Encoder(spec.model, tokens, sizes)
        return Decoder(spec.model, tokens, sizes, outputs=len(data.streams))


def _places(data: TaskData) -> tuple[int, int]:
    """Response places that predict, and source places, of the longest tested problem."""
    spec = data.spec
    batch = data.writer.write(data.test(max(spec.test.lengths), max(spec.test.counts), 1))
    assert batch.source is not None
    return batch.tokens.shape[1] - 1, batch.source.tokens.shape[1]


def load(spec: Spec, weights: Path | None) -> Transformer:
    """The trained model of a specification; safetensors only, so a foreign file cannot run code.

    Without ``weights`` the model that the specification constructs.
    """
    model = build_model(spec, 0).to(DTYPES.get(spec.train.precision, torch.float32))
    if weights is not None:
        load_model(model, weights)
    return model.eval()
