"""Two mechanisms in the residual stream, Section 4: the delimiter finds the minimum, outputs find their successor.

The projections they are read from, for every layer, stage and position, are `lengen.inspection.projections`.
"""

import torch
from torch import Tensor

from lengen.data.batch import response_start
from lengen.data.task_data import TaskData
from lengen.inspection.projections import Bases, bases, orthogonality, probe, projections
from lengen.models import Decoder
from lengen.tasks import Problems
from lengen.tasks.sorting import successors
from lengen.vocab import FIRST

__all__ = ["Bases", "bases", "mechanisms", "orthogonality", "probe", "projections"]


@torch.no_grad()
def mechanisms(model: Decoder, data: TaskData, problems: Problems) -> tuple[Tensor, Tensor]:
    """How often the two mechanisms of Section 4 are there, on sequences with their true sorted output in context.

    minimum, (B,) bool: after the first attention layer, the delimiter's largest projection on the decoder basis of the
    numbers is the minimum of the sequence.
    identity and successor, (N,) bool: after the second attention layer, the two largest projections of an output token
    are itself and the next larger number of the sequence; tokens that have no larger one are left out.
    """
    batch, alphabet = data.writer.write(problems), len(data.vocab) - FIRST - 1
    decoder = bases(model).decoder[FIRST : FIRST + alphabet]
    stream = model.residuals(batch.to(model.device))
    first, second = (stream[layer][0].float().cpu() @ decoder.T for layer in (0, 1))
    sequences, start = problems.operands[:, 0], response_start(batch)
    delimiter = first[torch.arange(len(start)), start - 1]
    smallest = sequences.masked_fill(sequences == 0, alphabet + 1).amin(dim=1)
    minimum = delimiter.argmax(dim=1) + 1 == smallest

    written = torch.where(batch.loss, batch.tokens - FIRST + 1, 0)
    next = successors(sequences, written)
    asked = batch.loss & (next > written)
    two = (second.topk(2, dim=2).indices + 1).sort(dim=2).values[asked]
    wanted = torch.stack([written, next], dim=2)[asked]
    return minimum, (two == wanted).all(dim=1)
