"""No position ids."""

import torch
from torch import Tensor

from lengen.position_ids.base import PositionIds


class NoPositionIds(PositionIds):
    """No ids at all."""

    def offsets(
        self, highest: Tensor, sizes: Tensor, generator: torch.Generator | None, keys: Tensor | None = None
    ) -> Tensor:
        return highest[:0]

    def ids(self, coordinates: Tensor, offsets: Tensor, places: Tensor) -> Tensor:
        return places.new_zeros(0, 1, places.shape[1])
