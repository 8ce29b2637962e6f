"""The model of a specification: untrained, set by hand, or with the weights of a finished run; no Lightning."""

from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import load_model

from lengen.config.sections import NUMBER_FORMATS
from lengen.config.spec import Spec
from lengen.data.task_data import TaskData
from lengen.encodings import check_levels
from lengen.models import Decoder, Encoder, EncoderDecoder, Transformer
from lengen.randomness import generator


def build_model(spec: Spec, seed: int, data: TaskData | None = None) -> Transformer:
    """The untrained model of a specification, or the one it constructs; equal seeds give equal weights.

    ``data``, which says how many tokens and places there are, is that of the specification; it is made where absent.
    """
    model = _untrained(spec, seed, data or TaskData(spec, seed))
    if spec.constructed:
        set_by_hand(model, spec.construct)
    return model


def set_by_hand(model: Transformer, set_weights: Callable[[Transformer], None]) -> None:
    """Set all parameters to zero, then let ``set_weights(model)`` set those that are not."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        set_weights(model)


def _untrained(spec: Spec, seed: int, data: TaskData) -> Transformer:
    check_levels(spec.model.encoding, spec.data.position_ids, levels=data.writer.scheme.levels)
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
    held = NUMBER_FORMATS.get(spec.train.precision, NUMBER_FORMATS["32-true"])  # mixed: weights are float32
    model = build_model(spec, 0).to(getattr(torch, held.name))
    if weights is not None:
        load_model(model, weights)
    return model.eval()
