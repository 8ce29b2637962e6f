"""Coordinates to position ids: integers that belong to tokens and travel with the data.

A scheme turns the coordinates of a layout into ids, one row per level. In training each level of each
example gets a random offset, so that every id is trained; in testing the offset is 1 (Section 4.2 of
"Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count").
"""

from typing import Protocol

import torch
from torch import Tensor

from lengen.formats.layout import UNUSED
from lengen.spec import DataSpec, SpecError
from lengen.tasks.base import OperandError


class PositionIds(Protocol):
    """How integers are given to tokens."""

    levels: int

    def offsets(self, highest: Tensor, generator: torch.Generator | None) -> Tensor:
        """Offsets (levels, B) for examples whose highest coordinates are ``highest`` (levels, B)."""

    def ids(self, coordinates: Tensor, offsets: Tensor, places: Tensor) -> Tensor:
        """Ids (levels, B or 1, T) of tokens with these coordinates (levels, B, T), at these places (B or 1, T)."""


class Coupled:
    """Offset plus coordinate; 0 where a level says nothing. Couples what shares a coordinate."""

    def __init__(self, max_position: tuple[int, ...]) -> None:
        self.levels = len(max_position)
        self.max_position = max_position

    def offsets(self, highest: Tensor, generator: torch.Generator | None) -> Tensor:
        """1 in testing; in training uniform on [1, max_position - highest coordinate].

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
        return 1 + (torch.rand(highest.shape, generator=generator, dtype=torch.float64) * room).long()

    def ids(self, coordinates: Tensor, offsets: Tensor, places: Tensor) -> Tensor:
        """Never beyond the maximum: a model that does not end a number it writes keeps the largest id."""
        largest = torch.tensor(self.max_position, dtype=coordinates.dtype)[:, None, None]
        ids = coordinates + offsets[:, :, None].to(coordinates.dtype)
        return ids.clamp_(max=largest).mul_(coordinates != UNUSED).long()


class Consecutive:
    """0, 1, 2, ... from the beginning of the sequence; the same for every example."""

    levels = 1

    def offsets(self, highest: Tensor, generator: torch.Generator | None) -> Tensor:
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


class NoPositionIds:
    """No ids at all."""

    levels = 0

    def offsets(self, highest: Tensor, generator: torch.Generator | None) -> Tensor:
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
    if data.position_ids != "coupled":
        raise SpecError(f"data.position_ids={data.position_ids}: expected coupled, consecutive, cyclic or none")
    if len(data.max_position) != levels:
        raise SpecError(
            f"data.max_position={list(data.max_position)}: expected {levels} values, one for each level of "
            f"coupled ids of this format"
        )
    return Coupled(data.max_position)
