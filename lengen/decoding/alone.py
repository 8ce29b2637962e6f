"""Responses of a network that has no cache: it reads all of its text anew for every token."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import pad

from lengen.data.batch import Batch, response_start
from lengen.data.writer import Writer
from lengen.digits.problems import Problems
from lengen.formats.vocab import END, PAD
from lengen.models.foreign import Foreign

Choose = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Logits (N, V), examples (N,) and response slots (N,) to tokens (N,)."""


@torch.no_grad()
def write_alone(model: Foreign, writer: Writer, problems: Problems, choose: Choose) -> Tensor:
    """Return responses (B, R) as `lengen.decoding.decoding.write` does, padded after the end token."""
    batch = writer.write(problems)
    start, (planned, slots, offsets) = response_start(batch), writer.plan(problems)
    rows, size = torch.arange(len(start)), int(slots.max())
    more = max(0, int(start.max()) + size - batch.tokens.shape[1])
    prompt = pad(torch.arange(batch.tokens.shape[1]) < start[:, None], (0, more))
    tokens = pad(batch.tokens, (0, more)).masked_fill(~prompt, PAD)
    ids = pad(batch.ids.expand(-1, len(start), -1), (0, more)) * prompt
    text, done = torch.full((len(start), size), PAD), torch.zeros(len(start), dtype=torch.bool)
    for place in range(size):
        at = start + place
        end = int(at.max()) + 1
        so_far = Batch(tokens[:, :end], ids[:, :, :end], ~prompt[:, :end], batch.source, batch.output)
        logits, left = model.predict(so_far.to(model.device)).cpu(), ~done
        newest = torch.full_like(start, PAD)
        newest[left] = choose(logits[rows[left], at[left] - 1], rows[left], torch.full_like(start, place)[left])
        text[:, place] = tokens[rows, at] = newest
        done = done | ((newest == END) & writer.format.ends) | (place + 1 >= slots)
        if bool(done.all()):
            break
        coordinates = writer.follow(planned, text, torch.full_like(start, place))
        ids[:, rows, at] = writer.scheme.ids(coordinates[:, :, None], offsets, at[:, None])[:, :, 0]
    return text
