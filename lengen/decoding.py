"""Deciding whether a model answers right: in one forward pass, or by letting it write.

Greedy decoding reproduces the reference exactly when, and only when, the most likely token after every correct prefix
is the reference token. So one pass over prompt and reference (`verify`) decides exact match, and tells where the
model first diverges; from there, and only there, `write` lets it go on with a key-value cache.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from lengen.data.writer import Batch, Writer, response_start
from lengen.models import Transformer
from lengen.tasks import Problems
from lengen.vocab import END, PAD


class Verified(NamedTuple):
    """What one forward pass over prompt and reference says; responses are left-aligned, padded on the right.

    All of it is on the device of the batch.
    """

    reference: Tensor
    """(B, R) token ids of the true responses."""
    predicted: Tensor
    """(B, R) most likely token after each correct prefix (teacher-forced); padding where the reference has it."""
    agreed: Tensor
    """(B,) tokens before the first divergence; the response's length where there is none."""
    correct: Tensor
    """(B,) bool: no divergence."""


@torch.no_grad()
def verify(model: Transformer, batch: Batch) -> Verified:
    """Predictions after each correct prefix and where they first differ from the reference.

    A model in which tokens see later ones has to write instead: its prediction is of its own text so far.
    """
    if model.spec.causal:
        best = model.predict(batch.to(model.device)).argmax(dim=-1).to(batch.tokens.device)
    else:
        best = _written_whole(model, batch)
    start = response_start(batch)
    sizes = batch.loss.sum(dim=1)
    slots = torch.arange(int(sizes.max()), device=sizes.device)
    index = (start[:, None] + slots).clamp(max=batch.tokens.shape[1] - 1)
    inside = slots < sizes[:, None]
    reference = torch.where(inside, batch.tokens.gather(1, index), PAD)
    predicted = torch.where(inside, best.gather(1, index - 1), PAD)
    agreed = (predicted == reference).int().cumprod(dim=1).sum(dim=1).minimum(sizes)
    return Verified(reference, predicted, agreed, agreed == sizes)


def _written_whole(model: Transformer, batch: Batch) -> Tensor:
    """(B, T - 1) tokens, each predicted from the text written so far, all of which sees all of it; no cache helps."""
    here = batch.tokens.device
    batch = batch.to(model.device)
    first = int(response_start(batch)[0])
    tokens, best = batch.tokens.clone(), torch.zeros_like(batch.tokens[:, 1:])
    for place in range(first, tokens.shape[1]):
        so_far = Batch(tokens[:, : place + 1], batch.ids[:, :, : place + 1], batch.loss[:, : place + 1], batch.source)
        best[:, place - 1] = tokens[:, place] = model.predict(so_far)[:, -1].argmax(dim=-1)
    return best.to(here)


Choose = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Logits (N, V), examples (N,) and response slots (N,) to tokens (N,)."""


def most_likely(logits: Tensor, rows: Tensor, slots: Tensor) -> Tensor:
    """Greedy decoding."""
    return logits.argmax(dim=-1)


def sampled(generator: torch.Generator) -> Choose:
    """Sampling at temperature 1, from the whole vocabulary."""
    return lambda logits, rows, slots: logits.float().softmax(dim=-1).multinomial(1, generator=generator)[:, 0]


@torch.no_grad()
def write(
    model: Transformer,
    writer: Writer,
    problems: Problems,
    agreed: Tensor | None = None,
    reference: Tensor | None = None,
    choose: Choose = most_likely,
) -> Tensor:
    """Greedy responses with a key-value cache: (B, R) token ids, padded after the end token.

    ``choose`` takes logits (N, V), the examples (N,) they belong to and the response slots (N,) they are for, and
    gives the tokens (N,): the most likely ones unless told otherwise.

    Position ids go on by the format's rule, never by the reference. A response stops at its end token, where the
    format has one, or at the length of the padded layout. With ``agreed`` and ``reference`` from `verify`, the first
    ``agreed`` tokens are taken as written (the model would write them) and decoding starts after them.
    """
    batch = writer.write(problems)
    if not (model.writes_in_order and model.spec.causal):
        written = verify(model, batch).predicted
        ended = (written == END).long()
        return written.masked_fill(ended.cumsum(dim=1) > ended, PAD)
    start = response_start(batch)
    planned, slots, offsets = writer.plan(problems)
    size = int(slots.max())
    if agreed is None or reference is None:
        agreed, reference = torch.zeros_like(start), torch.full((len(start), size), PAD)
    written = torch.full((len(start), size), PAD)
    width = min(size, reference.shape[1])  # the reference may come from a batch with longer responses
    written[:, :width] = torch.where(torch.arange(width) < agreed[:, None], reference[:, :width], PAD)
    device = model.device
    prefix = int((start + agreed).max())
    spare = int(start.max()) + size  # the place finished examples write to; no other example sees that far
    cache = model.cache(batch.to(device), spare + 1)
    # Places of the reference beyond an example's own prefix are overwritten before they can be seen.
    places = torch.arange(prefix).expand(len(start), -1).to(device)
    logits = model.extend(cache, batch.tokens[:, :prefix].to(device), batch.ids[:, :, :prefix].to(device), places)
    last = logits.cpu()[torch.arange(len(start)), start + agreed - 1]

    rows, slot = torch.arange(len(start)), agreed.minimum(slots - 1)
    done = agreed == batch.loss.sum(dim=1)  # right to the end: nothing is left to write
    newest = torch.full((len(start),), END)
    while True:
        newest[~done] = choose(last[~done], rows[~done], slot[~done])
        written[rows[~done], slot[~done]] = newest[~done]
        done = done | ((newest == END) & writer.format.ends) | (slot + 1 >= slots[rows])
        if bool(done.all()):
            return written
        if 2 * int(done.sum()) >= len(rows):  # shrink once half of the work would be for nothing
            cache = cache.select(~done)
            rows, slot, newest, done = rows[~done], slot[~done], newest[~done], done[~done]
        coordinates = writer.follow(planned[:, rows], written[rows], slot)
        place = torch.where(done, spare, start[rows] + slot)[:, None]
        ids = writer.scheme.ids(coordinates[:, :, None], offsets[:, rows], place)
        logits = model.extend(cache, newest[:, None].to(device), ids.to(device), place.to(device))
        last = logits[:, -1].cpu()
        slot = torch.where(done, slot, slot + 1)
