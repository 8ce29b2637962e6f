"""Greedy responses of a network that has no cache: it reads all of its text anew for every token."""

import torch
from torch import Tensor
from torch.nn.functional import pad

from lengen.data.batch import Batch, response_start
from lengen.data.writer import Writer
from lengen.digits.problems import Problems
from lengen.formats.vocab import END, PAD
from lengen.models.foreign import Foreign


@torch.no_grad()
def write_alone(model: Foreign, writer: Writer, problems: Problems) -> Tensor:
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
        so_far = Batch(tokens[:, :end], ids[:, :, :end], ~prompt[:, :end])
        best = model.predict(so_far.to(model.device)).argmax(dim=-1).cpu()
        newest = best[rows, at - 1].masked_fill(done, PAD)
        text[:, place] = tokens[rows, at] = newest
        done = done | ((newest == END) & writer.format.ends) | (place + 1 >= slots)
        if bool(done.all()):
            break
        coordinates = writer.follow(planned, text, torch.full_like(start, place))
        ids[:, rows, at] = writer.scheme.ids(coordinates[:, :, None], offsets, at[:, None])[:, :, 0]
    return text
