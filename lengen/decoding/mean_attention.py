"""Attention of a trained model, averaged over problems of its longest trained operands."""

from collections.abc import Callable

import torch
from torch import Tensor

from lengen.data.batch import Batch, response_start
from lengen.data.task_data import TaskData
from lengen.digits import Problems, generator
from lengen.models import Transformer
from lengen.tasks.base import Row

Sides = dict[str, Tensor]
"""Attention (B, H, Q, K) by name: "self" what a response reads of itself, "cross" what it reads of the query."""


def longest_problems(data: TaskData, wanted: int, seed: int) -> Problems:
    """Return training problems whose operands have the trained length, the single digit of N x 1 aside."""
    task, stream = data.spec.data.task, generator("calibration", seed)
    found: list[Problems] = []
    while sum(len(part.lengths) for part in found) < wanted:
        drawn = data.task.train(8 * wanted, stream)
        lengths = drawn.lengths[:, :1] if task.ROWS.numbers and task.ROWS.operand(1) is Row.SEQUENCE else drawn.lengths
        found.append(drawn.select((lengths == task.longest).all(dim=1).nonzero()[:, 0]))
    width = max(part.operands.shape[2] for part in found)
    assert all(part.operands.shape[2] == width for part in found)
    joined = Problems(torch.cat([p.operands for p in found]), torch.cat([p.lengths for p in found]))
    return joined.select(torch.arange(wanted))


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
