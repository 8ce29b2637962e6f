"""Position coupling: tokens that share a coordinate share an id."""

import torch
from torch import Tensor

from lengen.formats.layout import UNUSED
from lengen.position_ids.base import PositionIds
from lengen.problems import OperandError


class Coupled(PositionIds):
    """Offset plus coordinate; 0 where a level says nothing. Couples what shares a coordinate."""

    def __init__(self, max_position: tuple[int, ...], max_offset: int | None = None) -> None:
        self.levels = len(max_position)
        self.max_position = max_position
        self.max_offset = max_offset

    def offsets(
        self, highest: Tensor, sizes: Tensor, generator: torch.Generator | None, keys: Tensor | None = None
    ) -> Tensor:
        """1 in testing; in training uniform on [1, max_position - highest coordinate], or up to 1 + ``max_offset``.

        Raises `OperandError` where an id would exceed its level's maximum.
        """
        highest = highest[: self.levels]
        room = torch.tensor(self.max_position)[:, None] - highest
        if bool((room < 1).any()):
            level = int((room < 1).any(dim=1).int().argmax())
            raise OperandError(
                f"these operands need position ids up to {int(highest[level].max()) + 1} in level {level + 1}, and the "
                f"model has {self.max_position[level]} (data.position_ids.max_position): shorten them or raise it"
            )
        if generator is None:
            return torch.ones_like(highest)
        if self.max_offset is not None:
            room = room.clamp(max=self.max_offset + 1)
        return 1 + (torch.rand(highest.shape, generator=generator, dtype=torch.float64) * room).long()

    def ids(self, coordinates: Tensor, offsets: Tensor, places: Tensor) -> Tensor:
        """Never beyond the maximum: a model that does not end a number it writes keeps the largest id."""
        coordinates = coordinates[: self.levels]
        largest = torch.tensor(self.max_position, dtype=coordinates.dtype)[:, None, None]
        ids = coordinates + offsets[:, :, None].to(coordinates.dtype)
        return ids.clamp_(max=largest).mul_(coordinates != UNUSED).long()
