"""What every format provides: numbers to write, their layout, and how to read an answer back."""

from typing import Protocol

import torch
from torch import Tensor

from lengen import digits
from lengen.formats.layout import UNUSED, Layout
from lengen.tasks.base import Problems
from lengen.vocab import END, PAD, Vocab


class Format(Protocol):
    """How a problem is written: padding, reversal, scratchpads."""

    vocab: Vocab
    """The symbols it writes; a larger vocabulary may take its place before use."""
    levels: int
    """Levels of coordinates its layouts carry."""
    minimal: bool
    """Leading zeros are dropped, so that problems of one shape differ in length."""
    separators: str
    """Characters after the last of which the final answer stands; empty: the answer is the whole response."""
    ends: bool = True
    """A response ends with an end token; False: its length is known, and exactly so many tokens are written."""
    last_token_only: bool
    """The final answer is the last token before the end (parity)."""

    def numbers(self, problems: Problems) -> Tensor:
        """(B, R, W) digits, least significant first, of every number the sequence may show, answers included."""

    def shapes(self, problems: Problems) -> Tensor:
        """(B, S) integers that decide the layout."""

    def layout(self, shape: tuple[int, ...], rows: int) -> Layout:
        """The layout of one shape, for problems held with ``rows`` operand rows."""

    def significant(self, numbers: Tensor) -> Tensor:
        """(B, R) digits that are written of each of these (B, R, W) ``numbers``, where the format is `minimal`."""
        return digits.significant(numbers)


def follow(format: Format, planned: Tensor, written: Tensor, slot: Tensor) -> Tensor:
    """Coordinates of the newest token of a response that the model writes itself.

    Where numbers are padded the prompt alone fixes every slot: they are ``planned``. Without padding a number ends
    where the model ends it, so the tokens decide: a separator opens the next number, a digit is one place
    further. That needs the least significant digit first; `lengen.formats.can_run_free` says so.

    Args:
        planned: coordinates of the padded layout's response slots, (levels, B, R).
        written: the response so far, (B, R) token ids, meaningful up to and including ``slot``.
        slot: (B,) index of the newest token.

    Returns:
        (levels, B) its coordinates.
    """
    if not format.minimal:
        return planned.gather(2, slot.expand(len(planned), -1)[:, :, None])[:, :, 0]
    position = torch.arange(written.shape[1])
    ids = torch.tensor([format.vocab.id(c) for c in format.separators], dtype=written.dtype)
    separators = torch.isin(written, ids) & (position <= slot[:, None])
    place = slot + 1 - (separators * (position + 1)).amax(dim=1)  # tokens since the newest separator, 0 at one
    levels = torch.stack([place, separators.sum(dim=1)])[: format.levels]
    newest = written.gather(1, slot[:, None])[:, 0]
    return torch.where(newest == END, UNUSED, levels)


def final_answer(format: Format, response: Tensor) -> Tensor:
    """The final answer of each response, left-aligned and padded: (B, R) token ids to (B, R).

    It stands between the last separator and the first end token; a response without an end is read to its
    end, as the source papers' code does.

    >>> from lengen.formats import AdditionFormat
    >>> f = AdditionFormat()
    >>> f.vocab.decode(final_answer(f, f.vocab.encode("000>750>501>102$")[None])[0])
    '102'
    """
    ended = (response == END).cumsum(dim=1) > 0
    body = ~ended & (response != PAD)
    position = torch.arange(1, response.shape[1] + 1)
    size = (body * position).amax(dim=1)  # not their number: a model may write padding between tokens
    if format.last_token_only:
        start = (size - 1).clamp(min=0)
    else:
        ids = torch.tensor([format.vocab.id(c) for c in format.separators], dtype=response.dtype)
        start = ((torch.isin(response, ids) & body) * position).amax(dim=1)
    index = torch.arange(response.shape[1]) + start[:, None]
    inside = index < size[:, None]
    return torch.where(inside, response.gather(1, index.clamp(max=response.shape[1] - 1)), PAD)
