"""The inside of a trained model: mean attention, and projections of the residual stream.

Encoder basis: the rows of the embedding table. Decoder basis: the columns of W, the output head's matrix (here the rows
of ``head.weight``); neither its bias nor the scale of the final norm is folded in. Pre and post: the residual stream
after the attention and after the feed-forward network of a layer. Section 4 of "Improving Length-Generalization in
Transformers via Task Hinting".
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from lengen.data.batch_and_random_spaces import Batch, response_start
from lengen.data.task_data import TaskData
from lengen.digits import Problems, generator
from lengen.formats.base import FIRST
from lengen.models import Decoder, Transformer
from lengen.tasks.base import Row

Sides = dict[str, Tensor]
"""Attention (B, H, Q, K) by name: "self" what a response reads of itself, "cross" what it reads of the query."""


def longest_problems(data: TaskData, wanted: int, seed: int) -> Problems:
    """Return training problems whose operands have the trained length, the single digit of N x 1 aside."""
    task, stream = data.spec.data.task, generator("calibration", seed)
    parts: list[Problems] = []
    while sum(len(part.lengths) for part in parts) < wanted:
        drawn = data.task.train(8 * wanted, stream)
        lengths = drawn.lengths[:, :1] if task.ROWS.numbers and task.ROWS.operand(1) is Row.SEQUENCE else drawn.lengths
        parts.append(drawn.select((lengths == task.longest).all(dim=1).nonzero()[:, 0]))
    return Problems.joined(parts).select(torch.arange(wanted))


def of_response(rows: int) -> Callable[[Batch, Sides], Sides]:
    """Return the self-attention of a decoder without encoder as the two sides that one beside an encoder has.

    Response places are the last token of the prompt and those behind it, each of which predicts the next; ``rows`` of
    them are taken, all of which every response has to have. All prompts of a batch have one length. That last token is
    the end of the query and the beginning of the response, so both sides have it.
    """

    def sides(batch: Batch, attention: Sides) -> Sides:
        starts, written = response_start(batch), batch.loss.sum(dim=1)
        if int(starts.min()) != int(starts.max()) or int(written.min()) < rows:
            raise ValueError(
                f"prompts of {int(starts.min())} to {int(starts.max())} tokens, responses from {int(written.min())} "
                f"tokens on: expected prompts of one length and responses of at least {rows} tokens"
            )
        prompt = int(starts[0])
        places = slice(prompt - 1, prompt - 1 + rows)
        seen = attention["self"][:, :, places]
        return {"self": seen[..., places], "cross": seen[..., :prompt]}

    return sides


@torch.no_grad()
def mean_attention(
    model: Transformer,
    data: TaskData,
    problems: Problems,
    softmax: bool = True,
    sides: Callable[[Batch, Sides], Sides] = lambda batch, attention: attention,
) -> Sides:
    """Return attention of the last layer averaged over problems, in float64: "self" (H, M, M), "cross" (H, M, N).

    What lies above the diagonal of "self" is -inf, scores and probabilities (``softmax``) alike: no softmax sees it.
    """
    total: Sides = {}
    for part in problems.parts():
        batch = data.writer.write(part).to(model.device)
        for name, weights in sides(batch, model.attention(batch, softmax)[-1]).items():
            summed = weights.cpu().double().sum(dim=0)  # some devices have no float64
            total[name] = total[name] + summed if name in total else summed
    mean = {name: value / len(problems.lengths) for name, value in total.items()}
    above = torch.ones(mean["self"].shape[1:], dtype=torch.bool).triu(1)
    mean["self"] = mean["self"].masked_fill(above, float("-inf"))
    return mean


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


def orthogonality(both: Bases, numbers: int) -> dict[str, float]:
    """Measure how nearly orthogonal and equally long the basis vectors of the first ``numbers`` symbols are.

    ``encoder_cosine``, ``decoder_cosine``: mean absolute cosine of two different vectors of a basis;
    ``between_cosine``: of one vector each. ``encoder_norm_spread``, ``decoder_norm_spread``: deviation of the lengths
    over their mean. Random directions in C dimensions have a mean absolute cosine of about sqrt(2 / (pi C)).
    """
    digits = [basis[FIRST : FIRST + numbers].double() for basis in both]
    units = [basis / basis.norm(dim=1, keepdim=True) for basis in digits]
    different = ~torch.eye(numbers, dtype=torch.bool)
    values = {"between_cosine": (units[0] @ units[1].T).abs().mean()}
    for name, basis, unit in zip(both._fields, digits, units, strict=True):
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
