"""The mechanisms of Section 4 in the residual stream: copy, minimum, identity and successor, denoiser.

The projections they are read from, for every layer, stage and position, are `lengen.decoding.projections`.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from lengen.data.batch import response_start
from lengen.data.task_data import TaskData
from lengen.decoding.projections import Bases, bases, orthogonality, probe, projections
from lengen.digits.problems import Problems
from lengen.formats.vocab import FIRST
from lengen.models import Decoder
from lengen.tasks.sorting import successors

__all__ = ["Bases", "Hits", "bases", "mechanisms", "orthogonality", "probe", "projections"]


class Hits(NamedTuple):
    """Positions that show the mechanisms, and positions that a guess would show.

    A projection is largest among those of the numbers.

    B sequences have I input tokens, and N output tokens that have a larger number in their sequence; of each number
    only its last copy is one of M.
    """

    copy: Tensor
    """(I,) bool: after the first attention layer an input token's largest projection on the encoder basis is itself."""
    copy_throughout: Tensor
    """(I,) bool: after every attention and every MLP."""
    minimum: Tensor
    """(B,) bool: after the first attention layer the delimiter's largest projection on the decoder basis is the minimum
    of the sequence."""
    guessed: Tensor
    """(B,) bool: the minimum is the number 1, so a constant guess of 1 finds it."""
    identity_successor: Tensor
    """(N,) bool: after the second attention layer the two largest projections on the decoder basis are the output token
    and the next larger number of the sequence."""
    denoiser: Tensor
    """(M,) bool: the second MLP lowers the token's projection on itself and leaves the next larger number as the
    largest projection on the decoder basis."""


@torch.no_grad()
def mechanisms(model: Decoder, data: TaskData, problems: Problems) -> Hits:
    """Return the mechanisms of Section 4, on sequences with their true sorted output in context."""
    batch, alphabet = data.writer.write(problems), len(data.vocab) - FIRST - 1
    encoder, decoder = (basis[FIRST : FIRST + alphabet] for basis in bases(model))
    stream = [[half.float().cpu() for half in halves] for halves in model.residuals(batch.to(model.device))]
    sequences, start = problems.operands[:, 0], response_start(batch)

    inside = sequences > 0
    read = torch.stack([half[:, : sequences.shape[1]] @ encoder.T for halves in stream for half in halves])
    copied = (read.argmax(dim=3) + 1 == sequences)[:, inside]  # an input stands at the left, and nothing begins it

    delimiter = (stream[0][0] @ decoder.T)[torch.arange(len(start)), start - 1]
    smallest = sequences.masked_fill(~inside, alphabet + 1).amin(dim=1)

    written = torch.where(batch.loss, batch.tokens - FIRST + 1, 0)
    next = successors(sequences, written)
    asked = batch.loss & (next > written)
    before, after = (half @ decoder.T for half in stream[1])
    two = (before.topk(2, dim=2).indices + 1).sort(dim=2).values[asked]
    wanted = torch.stack([written, next], dim=2)[asked]
    last = asked & (written != written.roll(-1, dims=1))
    own = (written - 1).clamp(min=0)[:, :, None]
    lowered = (after.gather(2, own) < before.gather(2, own))[:, :, 0]
    return Hits(
        copy=copied[0],
        copy_throughout=copied.all(dim=0),
        minimum=delimiter.argmax(dim=1) + 1 == smallest,
        guessed=smallest == 1,
        identity_successor=(two == wanted).all(dim=1),
        denoiser=(lowered & (after.argmax(dim=2) + 1 == next))[last],
    )
