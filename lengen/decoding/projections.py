"""Projections of the residual stream on the embedding and on the output head.

Encoder basis: the rows of the embedding table. Decoder basis: the columns of W, the output head's matrix (here the rows
of ``head.weight``); neither its bias nor the scale of the final norm is folded in. Pre and post: the residual stream
after the attention and after the feed-forward network of a layer. Section 4 of "Improving Length-Generalization in
Transformers via Task Hinting".
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from lengen.data.batch import Batch
from lengen.data.task_data import TaskData
from lengen.formats.base import FIRST
from lengen.models import Decoder, Transformer


class Bases(NamedTuple):
    """Vectors that belong to tokens."""

    encoder: Tensor
    """(V, C) rows of the embedding table."""
    decoder: Tensor
    """(V, C) columns of W."""


def bases(model: Transformer) -> Bases:
    """Return encoder and decoder basis of a model with an output head of its own."""
    assert model.head is not None
    return Bases(model.embedding.weight.detach().cpu(), model.head.weight.detach().cpu())


def orthogonality(found: Bases, numbers: int) -> dict[str, float]:
    """Measure how nearly orthogonal and equally long the basis vectors of the first ``numbers`` symbols are.

    ``encoder_cosine``, ``decoder_cosine``: mean absolute cosine of two different vectors of a basis;
    ``between_cosine``: of one vector each. ``encoder_norm_spread``, ``decoder_norm_spread``: deviation of the lengths
    over their mean. Random directions in C dimensions have a mean absolute cosine of about sqrt(2 / (pi C)).
    """
    kept = [basis[FIRST : FIRST + numbers].double() for basis in found]
    units = [basis / basis.norm(dim=1, keepdim=True) for basis in kept]
    different = ~torch.eye(numbers, dtype=torch.bool)
    values = {"between_cosine": (units[0] @ units[1].T).abs().mean()}
    for name, basis, unit in zip(found._fields, kept, units, strict=True):
        lengths = basis.norm(dim=1)
        values[f"{name}_cosine"] = (unit @ unit.T).abs()[different].mean()
        values[f"{name}_norm_spread"] = lengths.std(correction=0) / lengths.mean()
    return {name: float(value) for name, value in values.items()}


@torch.no_grad()
def projections(model: Decoder, batch: Batch) -> dict[str, Tensor]:
    """Return dot products of the residual stream with both bases: "encoder" and "decoder", each (layers, 2, B, T, V).

    The second axis is pre, post.
    """
    stream = torch.stack([torch.stack(halves) for halves in model.residuals(batch.to(model.device))]).float().cpu()
    return {name: stream @ basis.T for name, basis in bases(model)._asdict().items()}


def probe(model: Decoder, data: TaskData, operands: list[str]) -> dict[str, np.ndarray]:
    """Return projections of one problem, its true response in context.

    These are Figures 4.12 to 4.14 for every position and layer.

    ``tokens`` (T,) and ``vocabulary`` (V,) as text; ``encoder`` and ``decoder`` (layers, 2, T, V) float16.
    """
    batch = data.writer.write(data.task.parse(operands))
    name = data.vocab.decode
    arrays = {key: value[:, :, 0].numpy().astype(np.float16) for key, value in projections(model, batch).items()}
    tokens = np.array([name([token]) for token in batch.tokens[0]])
    vocabulary = np.array(["PAD", *(name([token]) for token in range(1, len(data.vocab)))])
    return {"tokens": tokens, "vocabulary": vocabulary, **arrays}
