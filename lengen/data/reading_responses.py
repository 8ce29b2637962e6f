"""Reading a response while it is written, and the final answer once it is complete."""

import torch
from torch import Tensor

from lengen.formats.base import END, PAD, UNUSED, Vocab, Written
from lengen.settings.sections import DataSpec


def can_run_free(data: DataSpec) -> bool:
    """Return True if a model can be given position ids for text of its own.

    It cannot where coupled ids depend on a length not yet written: without padding and most significant digit
    first, the id of a number's first digit is its length. The published figure for that setting is
    teacher-forced, where the true length is in the ids.
    """
    format = data.format.build(data.task)
    return not (format.follows and data.position_ids.FOLLOWS and not format.reversed_answer)


def follow(format: Written, vocab: Vocab, planned: Tensor, written: Tensor, slot: Tensor) -> Tensor:
    """Return coordinates of the newest token of a response that the model writes itself.

    Where numbers are padded the prompt alone fixes every slot: they are ``planned``. Without padding a number ends
    where the model ends it, so the tokens decide: a separator opens the next number, a digit is one place
    further. That needs the least significant digit first; `can_run_free` says so.

    Args:
        vocab: the symbols that are written.
        planned: coordinates of the padded layout's response slots, (levels, B, R).
        written: the response so far, (B, R) token ids, meaningful up to and including ``slot``.
        slot: (B,) index of the newest token.

    Returns:
        (levels, B) its coordinates.
    """
    if not format.follows:
        return planned.gather(2, slot.expand(len(planned), -1)[:, :, None])[:, :, 0]
    position = torch.arange(written.shape[1])
    ids = torch.tensor([vocab.id(c) for c in format.separators], dtype=written.dtype)
    separators = torch.isin(written, ids) & (position <= slot[:, None])
    place = slot + 1 - (separators * (position + 1)).amax(dim=1)  # tokens since the newest separator, 0 at one
    levels = torch.stack([place, separators.sum(dim=1)])[: format.levels]
    newest = written.gather(1, slot[:, None])[:, 0]
    return torch.where(newest == END, UNUSED, levels)


def final_answer(format: Written, vocab: Vocab, response: Tensor) -> Tensor:
    """Return the final answer of each response, left-aligned and padded: (B, R) token ids to (B, R).

    It stands between the last separator and the first end token; a response without an end is read to its
    end, as the source papers' code does. Index hints are left out.

    >>> from lengen import Addition, Linear
    >>> format, vocab = Linear(scratchpad=True).build(Addition(digits=3)), Vocab("0123456789+>=")
    >>> vocab.decode(final_answer(format, vocab, vocab.encode("000>750>501>102$")[None])[0])
    '102'
    """
    if format.index_hints:
        response = _without(response, torch.tensor([vocab.id(mark) for mark in format.index_hints]))
    ended = (response == END).cumsum(dim=1) > 0
    body = ~ended & (response != PAD)
    position = torch.arange(1, response.shape[1] + 1)
    size = (body * position).amax(dim=1)  # not their number: a model may write padding between tokens
    if format.last_token_only:
        start = (size - 1).clamp(min=0)
    else:
        ids = torch.tensor([vocab.id(c) for c in format.separators], dtype=response.dtype)
        start = ((torch.isin(response, ids) & body) * position).amax(dim=1)
    index = torch.arange(response.shape[1]) + start[:, None]
    inside = index < size[:, None]
    return torch.where(inside, response.gather(1, index.clamp(max=response.shape[1] - 1)), PAD)


def _without(response: Tensor, tokens: Tensor) -> Tensor:
    """Return responses (B, R) without the given tokens: what is left moves up, and padding fills the end."""
    stays, order = (~torch.isin(response, tokens)).long().sort(dim=1, descending=True, stable=True)
    return torch.where(stays > 0, response.gather(1, order), PAD)
