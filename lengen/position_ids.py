"""Coordinates to position ids: integers that belong to tokens and travel with the data.

A scheme turns the coordinates of a layout into ids, one row per level. In training each level of each
example gets a random offset, so that every id is trained; in testing the offset is 1 (Section 4.2 of
"Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count").
"""

from typing import Protocol

import torch
from torch import Tensor

from lengen.config.spec import DataSpec, SpecError
from lengen.formats.layout import UNUSED
from lengen.randomness import generator as stream
from lengen.tasks.base import OperandError
from lengen.vocab import FIRST


class PositionIds(Protocol):
    """How integers are given to tokens."""

    levels: int

    def coordinates(self, tokens: Tensor) -> Tensor | None:
        """Coordinates (levels, B, T) read off tokens (B, T); None where the layout has them."""
        return None

    def offsets(self, highest: Tensor, sizes: Tensor, generator: torch.Generator | None) -> Tensor:
        """What ids are counted from, (any, B), for examples of ``sizes`` (B,) tokens with highest coordinates
        ``highest`` (levels, B); random in training."""

    def ids(self, coordinates: Tensor, offsets: Tensor, places: Tensor) -> Tensor:
        """Ids (levels, B or 1, T) of tokens with these coordinates (levels, B, T), at these places (B or 1, T)."""


class Coupled(PositionIds):
    """Offset plus coordinate; 0 where a level says nothing. Couples what shares a coordinate."""

    def __init__(self, max_position: tuple[int, ...], max_offset: int | None = None) -> None:
        self.levels = len(max_position)
        self.max_position = max_position
        self.max_offset = max_offset

    def offsets(self, highest: Tensor, sizes: Tensor, generator: torch.Generator | None) -> Tensor:
        """1 in testing; in training uniform on [1, max_position - highest coordinate], or up to 1 + ``max_offset``.

        Raises `OperandError` where an id would exceed its level's maximum.
        """
        room = torch.tensor(self.max_position)[:, None] - highest
        if bool((room < 1).any()):
            level = int((room < 1).any(dim=1).int().argmax())
            raise OperandError(
                f"these operands need position ids up to {int(highest[level].max()) + 1} in level {level + 1}, and the "
                f"model has {self.max_position[level]} (data.max_position): shorten them or raise it"
            )
        if generator is None:
            return torch.ones_like(highest)
        if self.max_offset is not None:
            room = room.clamp(max=self.max_offset + 1)
        return 1 + (torch.rand(highest.shape, generator=generator, dtype=torch.float64) * room).long()

    def ids(self, coordinates: Tensor, offsets: Tensor, places: Tensor) -> Tensor:
        """Never beyond the maximum: a model that does not end a number it writes keeps the largest id."""
        largest = torch.tensor(self.max_position, dtype=coordinates.dtype)[:, None, None]
        ids = coordinates + offsets[:, :, None].to(coordinates.dtype)
        return ids.clamp_(max=largest).mul_(coordinates != UNUSED).long()


class Abacus(Coupled):
    """Digits are numbered 1, 2, ... within each number as it is written; everything else is 0 (McLeish et al. 2024).

    With numbers written least significant digit first, digits of one significance share an id. In training all ids of
    an example are moved by the same random offset, up to ``max_offset``.
    """

    def coordinates(self, tokens: Tensor) -> Tensor:
        digit = (tokens >= FIRST) & (tokens < FIRST + 10)
        places = torch.arange(tokens.shape[1]).expand_as(tokens)
        begin = torch.where(digit, -1, places).cummax(dim=1).values  # the last token that is no digit
        return torch.where(digit, places - begin - 1, UNUSED)[None]


class Randomised(PositionIds):
    """Ids drawn from 0 to ``largest`` without repetition, then sorted, as in longer sequences (Ruoss et al. 2023).

    In testing they are drawn too, but once for each number of tokens, so that the same problem has the same ids.
    """

    levels = 1

    def __init__(self, largest: int) -> None:
        self.largest = largest

    def offsets(self, highest: Tensor, sizes: Tensor, generator: torch.Generator | None) -> Tensor:
        """(longest, B): the id of each place."""
        if int(sizes.max()) > self.largest + 1:
            raise OperandError(
                f"these operands make a sequence of up to {int(sizes.max())} tokens, and randomised ids go up to "
                f"{self.largest} (data.max_position): shorten them or raise it"
            )
        if generator is not None:
            return self._drawn(sizes, torch.rand(len(sizes), self.largest + 1, generator=generator))
        unique, inverse = torch.unique(sizes, return_inverse=True)
        rows = [torch.rand(self.largest + 1, generator=stream("randomised", size)) for size in unique.tolist()]
        return self._drawn(unique, torch.stack(rows))[:, inverse]

    def _drawn(self, sizes: Tensor, order: Tensor) -> Tensor:
        chosen = order.argsort(dim=1)[:, : int(sizes.max())]
        outside = torch.arange(chosen.shape[1]) >= sizes[:, None]
        return chosen.masked_fill(outside, self.largest).sort(dim=1).values.T

    def ids(self, coordinates: Tensor, offsets: Tensor, places: Tensor) -> Tensor:
        places = places.expand(offsets.shape[1], -1).clamp(max=len(offsets) - 1)
        return offsets.T.gather(1, places)[None]


class Consecutive(PositionIds):
    """0, 1, 2, ... from the beginning of the sequence; the same for every example."""

    levels = 1

    def offsets(self, highest: Tensor, sizes: Tensor, generator: torch.Generator | None) -> Tensor:
        return torch.zeros_like(highest[:1])

    def ids(self, coordinates: Tensor, offsets: Tensor, places: Tensor) -> Tensor:
        return places[None]


class Cyclic(Consecutive):
    """0, 1, ..., period - 1, 0, 1, ...: cyclic position indexing (Section 4.1 of "From Interpolation to
    Extrapolation")."""

    def __init__(self, period: int) -> None:
        self.period = period

    def ids(self, coordinates: Tensor, offsets: Tensor, places: Tensor) -> Tensor:
        return places[None] % self.period


class NoPositionIds(PositionIds):
    """No ids at all."""

    levels = 0

    def offsets(self, highest: Tensor, sizes: Tensor, generator: torch.Generator | None) -> Tensor:
        return highest[:0]

    def ids(self, coordinates: Tensor, offsets: Tensor, places: Tensor) -> Tensor:
        return places.new_zeros(0, 1, places.shape[1])


def build_position_ids(data: DataSpec, levels: int) -> PositionIds:
    """The scheme a specification names, for a format of ``levels`` levels; raises `SpecError`."""
    if data.position_ids == "consecutive":
        return Consecutive()
    if data.position_ids == "cyclic":
        return Cyclic(data.period)
    if data.position_ids == "none":
        return NoPositionIds()
    if data.position_ids in ("abacus", "randomised"):
        if len(data.max_position) != 1:
            raise SpecError(f"data.max_position={list(data.max_position)}: expected 1 value, the largest id there is")
        if data.position_ids == "randomised":
            return Randomised(data.max_position[0])
        return Abacus(data.max_position, data.max_offset)
    if data.position_ids != "coupled":
        raise SpecError(
            f"data.position_ids={data.position_ids}: expected coupled, consecutive, cyclic, abacus, randomised or none"
        )
    if len(data.max_position) != levels:
        raise SpecError(
            f"data.max_position={list(data.max_position)}: expected {levels} values, one for each level of "
            f"coupled ids of this format"
        )
    return Coupled(data.max_position)
