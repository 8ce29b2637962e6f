"""Consecutive ids: the place in the sequence."""

import torch
from torch import Tensor

from lengen.position_ids.base import PositionIds


class Consecutive(PositionIds):
    """0, 1, 2, ... from the beginning of the sequence; the same for every example."""

    levels = 1

    def offsets(
        self, highest: Tensor, sizes: Tensor, generator: torch.Generator | None, keys: Tensor | None = None
    ) -> Tensor:
        return torch.zeros_like(highest[:1])

    def ids(self, coordinates: Tensor, offsets: Tensor, places: Tensor) -> Tensor:
        return places[None]
