"""Deciding whether a model answers right: in one forward pass, or by letting it write, with or without a cache.

Greedy decoding reproduces the reference exactly when, and only when, the most likely token after every correct prefix
is the reference token. So one pass over prompt and reference (`verify`) decides exact match, and tells where the model
first diverges; from there, and only there, it has to write, with a key-value cache.

`read` and `go_on` do the same in less time, for whole test cells: what a prompt's tokens would predict is not made, and
what was read is not read again.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from lengen.data.batch_and_random_spaces import Batch, response_start
from lengen.data.batch_writer import Writer
from lengen.digits import Problems
from lengen.formats.base import END, PAD
from lengen.models import Transformer
from lengen.models.cache_and_record import Cache
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


class Verified(NamedTuple):
    """Result of one forward pass over prompt and reference; responses are left-aligned, padded on the right.

    All of it is on the device of the batch.
    """

    reference: Tensor
    """(B, R) token ids of the true responses."""
    predicted: Tensor
    """(B, R) most likely token after each correct prefix (teacher-forced); padding where the reference has it."""
    agreed: Tensor
    """(B,) tokens before the first divergence; the response's length if there is none."""
    correct: Tensor
    """(B,) bool: no divergence."""


@torch.no_grad()
def verify(model: Transformer, batch: Batch) -> Verified:
    """Return predictions after each correct prefix and where they first differ from the reference.

    A model in which tokens see later ones has to write instead: its prediction is of its own text so far.

    Args:
        model: The network.
        batch: B problems with their true responses, as `TaskData.writer` writes them.

    Returns:
        References and predictions (B, R), the number of tokens that agree (B,), and what is right as a whole (B,).

    Example:
        >>> import lengen
        >>> data = lengen.TaskData(lengen.setting("copy", digits=2), seed=0)
        >>> model = lengen.build_model(data.spec, seed=0)
        >>> data.vocab.decode(lengen.verify(model, data.writer.write(data.task.parse(["01"]))).reference[0])
        '01$'
    """
    if model.spec.causal:
        best = model.predict(batch.to(model.device)).argmax(dim=-1).to(batch.tokens.device)
    else:
        best = _written_whole(model, batch)
    return _compared(batch, best)


def _compared(batch: Batch, best: Tensor) -> Verified:
    """Return the most likely tokens (B, T - 1) after each of the batch's tokens beside the reference."""
    index, inside = responses(batch)
    sizes = inside.sum(dim=1)
    reference, predicted = true_responses(batch), torch.where(inside, best.gather(1, index - 1), PAD)
    agreed = (predicted == reference).int().cumprod(dim=1).sum(dim=1).minimum(sizes)
    return Verified(reference, predicted, agreed, agreed == sizes)


def true_responses(batch: Batch) -> Tensor:
    """Return (B, R) token ids of the true responses, left-aligned and padded on the right."""
    index, inside = responses(batch)
    return torch.where(inside, batch.tokens.gather(1, index), PAD)


def responses(batch: Batch) -> tuple[Tensor, Tensor]:
    """Return (B, R) places of the tokens of each response in the batch, and bool, True if it has so many."""
    sizes = batch.loss.sum(dim=1)
    slots = torch.arange(int(sizes.max()), device=sizes.device)
    return (response_start(batch)[:, None] + slots).clamp(max=batch.tokens.shape[1] - 1), slots < sizes[:, None]


def _written_whole(model: Transformer, batch: Batch) -> Tensor:
    """Return (B, T - 1) tokens, each predicted from the text written so far, all of which sees all of it.

    No cache helps.
    """
    here = batch.tokens.device
    batch = batch.to(model.device)
    first = int(response_start(batch)[0])
    tokens, best = batch.tokens.clone(), torch.zeros_like(batch.tokens[:, 1:])
    for place in range(first, tokens.shape[1]):
        so_far = Batch(tokens[:, : place + 1], batch.ids[:, :, : place + 1], batch.loss[:, : place + 1], batch.source)
        best[:, place - 1] = tokens[:, place] = model.predict(so_far)[:, -1].argmax(dim=-1)
    return best.to(here)


TOKENS_AT_ONCE = 40_000
"""Tokens of one evaluation batch: bounds memory at any length."""
TOKENS_ON_A_GPU = 400_000
"""The same on a GPU, where a step of decoding takes as long for ten times as many."""
PARAMETERS_ON_A_GPU = 5_000_000
"""Parameters of a model up to which it reads so many there; a larger one, which keeps more of each, reads fewer."""


def at_once(writer: Writer, problems: Problems, model: Transformer) -> int:
    """Return the number of problems in one evaluation batch of a model, by its device and size."""
    tokens = TOKENS_AT_ONCE
    if model.device.type != "cpu":
        size = sum(each.numel() for each in model.parameters())
        tokens = max(tokens, int(TOKENS_ON_A_GPU * min(1.0, PARAMETERS_ON_A_GPU / max(1, size))))
    return max(1, tokens // int(writer.lengths(problems).max()))


READ_AT_ONCE = 3_000
"""Tokens of one pass of `read` on a CPU: what a layer makes of them stays in its caches, and in pages it has."""


class Reading(NamedTuple):
    """Result of `read`, and the state that `go_on` needs to write from there."""

    verified: Verified
    start: Tensor
    """(B,) tokens before each response."""
    cache: Cache | None
    """All that was read, with room for the longest response; None of a model that has no cache."""

    def select(self, rows: Tensor) -> "Reading":
        """Return the examples at which ``rows`` (B,) is True."""
        verified = Verified(*(part[rows] for part in self.verified))
        return Reading(verified, self.start[rows], None if self.cache is None else self.cache.select(rows))


@torch.no_grad()
def read(model: Transformer, writer: Writer, problems: Problems) -> Reading:
    """Return the result of `verify` for the written problems, and the cache of all that was read."""
    written = writer.write(problems)
    start = response_start(written)
    if not (model.writes_in_order and model.spec.causal):
        return Reading(verify(model, written), start, None)
    batch = written.to(model.device)
    examples, size = batch.tokens.shape
    cache = model.cache(batch, max(size - 1, int(start.max() + writer.plan(problems)[1].max())))
    first = int(start.min()) - 1  # the earliest token after which anything is predicted
    places = torch.arange(size - 1, device=model.device)[None]
    best = torch.zeros_like(batch.tokens[:, 1:])
    shared = batch.ids.shape[1] == 1
    rows_at_once = max(1, READ_AT_ONCE // size) if model.device.type == "cpu" else examples
    for begin in range(0, examples, rows_at_once):
        rows = slice(begin, begin + rows_at_once)
        tokens, ids = batch.tokens[rows], batch.ids if shared else batch.ids[:, rows]
        prompt, whole = cache.part(rows, first), cache.part(rows, size - 1)
        if shared:  # what all share stays one row: a bias is then made once, not for every example
            prompt.ids, whole.ids = cache.ids[:, :1, :first], cache.ids[:, :1, : size - 1]
        if first:
            model.remember(prompt, tokens[:, :first], ids[:, :, :first], places[:, :first])
        logits = model.extend(whole, tokens[:, first:-1], ids[:, :, first:-1], places[:, first:])
        best[rows, first:] = logits.argmax(dim=-1)
    if shared:
        cache.ids[:] = cache.ids[:, :1].clone()
    return Reading(_compared(written, best.to(written.tokens.device)), start, cache)


def most_likely(logits: Tensor, rows: Tensor, slots: Tensor) -> Tensor:
    """Return the way of greedy decoding."""
    return logits.argmax(dim=-1)


def sampled(generator: torch.Generator) -> Choose:
    """Return the way of sampling at temperature 1, from the whole vocabulary."""
    return lambda logits, rows, slots: logits.float().softmax(dim=-1).multinomial(1, generator=generator)[:, 0]


@torch.no_grad()
def generate(model: Transformer, writer: Writer, problems: Problems, choose: Choose = most_likely) -> Tensor:
    """Return responses, written with a key-value cache: (B, R) token ids, padded after the end token.

    Position ids go on by the format's rule, never by the reference. A response stops at its end token, where the
    format has one, or at the length of the padded layout.

    Args:
        model: The network.
        writer: Writes problems as the setting does (`TaskData.writer`).
        problems: B problems.
        choose: Takes logits (N, V), the examples (N,) they belong to and the response slots (N,) they are for, and
            gives the tokens (N,).

    Raises:
        OperandError: Problems that the position ids or the format have no room for.

    Example:
        >>> import lengen
        >>> data = lengen.TaskData(lengen.setting("copy", digits=2), seed=0)
        >>> model = lengen.build_model(data.spec, seed=0)
        >>> lengen.generate(model, data.writer, data.task.parse(["01"])).shape[0]
        1
    """
    if isinstance(model, Foreign):
        return write_alone(model, writer, problems, choose)
    batch = writer.write(problems)
    if not (model.writes_in_order and model.spec.causal):
        written = verify(model, batch).predicted
        ended = (written == END).long()
        return written.masked_fill(ended.cumsum(dim=1) > ended, PAD)
    start = response_start(batch)
    size = int(writer.plan(problems)[1].max())
    prefix = int(start.max())
    cache = model.cache(batch.to(model.device), prefix + size)
    # Places of the reference beyond an example's own prompt are overwritten before they can be seen.
    tokens, ids = batch.tokens[:, :prefix].to(model.device), batch.ids[:, :, :prefix].to(model.device)
    last, none = _read_prefix(model, cache, tokens, ids, start - 1), torch.zeros_like(start)
    newest, left = choose(last, torch.arange(len(start)), none), torch.ones_like(start, dtype=torch.bool)
    return _go_on(model, writer, problems, cache, start, none[:, None], none, newest, left, choose)


PREFIX_AT_ONCE = 1_024
"""Tokens of one pass over a prefix: scores of one pass are so many times the keys, 1.3 GB for a prompt of 10,000."""


def _read_prefix(model: Transformer, cache: Cache, tokens: Tensor, ids: Tensor, last: Tensor) -> Tensor:
    """Let tokens (B, T) join the cache, `PREFIX_AT_ONCE` at a time; return the logits (B, V) at ``last`` (B,)."""
    places = torch.arange(tokens.shape[1], device=model.device)[None]
    rows, newest = torch.arange(len(last)), None
    for begin in range(0, tokens.shape[1], PREFIX_AT_ONCE):
        end = min(begin + PREFIX_AT_ONCE, tokens.shape[1])
        here = slice(begin, end)
        seen = cache if end == tokens.shape[1] and not begin else cache.part(slice(None), end)
        logits = model.extend(seen, tokens[:, here], ids[:, :, here], places[:, here]).cpu()
        chosen = logits[rows, (last - begin).clamp(0, end - begin - 1)]
        newest = chosen if newest is None else torch.where((last >= begin)[:, None], chosen, newest)
    assert newest is not None
    return newest


@torch.no_grad()
def go_on(model: Transformer, writer: Writer, problems: Problems, reading: Reading) -> Tensor:
    """Write the text of `generate` from where the ``reading`` of these problems diverges: (B, R) token ids.

    The first token of the model's own is known, and all before it is in the cache, which is overwritten.
    """
    verified, start, cache = reading
    if cache is None:
        return generate(model, writer, problems)
    first = verified.agreed.clamp(max=verified.predicted.shape[1] - 1)
    newest = verified.predicted.gather(1, first[:, None])[:, 0]
    left = ~verified.correct
    return _go_on(model, writer, problems, cache, start, verified.reference, verified.agreed, newest, left, most_likely)


def _go_on(
    model: Transformer, writer: Writer, problems: Problems, cache: Cache, start: Tensor, reference: Tensor,
    agreed: Tensor, newest: Tensor, left: Tensor, choose: Choose,
) -> Tensor:  # fmt: skip
    """Let examples that are ``left`` (B,) write on after their ``newest`` token, which follows ``agreed`` ones."""
    planned, slots, offsets = writer.plan(problems)
    size, device = int(slots.max()), model.device
    written = torch.full((len(start), size), PAD)
    width = min(size, reference.shape[1])  # the reference may come from a batch with longer responses
    written[:, :width] = torch.where(torch.arange(width) < agreed[:, None], reference[:, :width], PAD)
    rows, slot, done = torch.arange(len(start)), agreed.minimum(slots - 1), ~left
    text = written.clone()  # of the examples in ``rows``; all that follows is copied once for many tokens, not for each
    while True:
        text[(~done).nonzero()[:, 0], slot[~done]] = newest[~done]
        done = done | ((newest == END) & writer.format.ends) | (slot + 1 >= slots)
        if bool(done.all()):
            written[rows] = text
            return written
        if 2 * int(done.sum()) >= len(rows):  # shrink once half of the work would be for nothing
            written[rows] = text
            cache, text = cache.select(~done), text[~done]
            planned, offsets, start, slots = planned[:, ~done], offsets[:, ~done], start[~done], slots[~done]
            rows, slot, newest, done = rows[~done], slot[~done], newest[~done], done[~done]
        coordinates = writer.follow(planned, text, slot)
        place = (start + slot)[:, None]  # finished examples stay where they are: nobody reads what they write
        ids = writer.scheme.ids(coordinates[:, :, None], offsets, place).to(device)
        seen = cache.part(slice(None), int(place.max()) + 1)
        last = model.extend(seen, newest[:, None].to(device), ids, place.to(device))[:, -1].cpu()
        slot = torch.where(done, slot, slot + 1)
        newest[~done] = choose(last[~done], rows[~done], slot[~done])
