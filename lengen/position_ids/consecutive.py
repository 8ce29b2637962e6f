"""Consecutive ids: the place in the sequence."""

import torch
from torch import Tensor

from lengen.position_ids.base import PositionIds
from lengen.problems import OperandError


class Consecutive(PositionIds):
    """0, 1, 2, ... from the beginning of the sequence; the same for every example."""

    largest = 0
    """Largest id; 0: nothing bounds them, which is so of schemes that begin again."""

    def __init__(self, largest: int = 0) -> None:
        self.largest = largest

    def offsets(
        self, highest: Tensor, sizes: Tensor, generator: torch.Generator | None, keys: Tensor | None = None
    ) -> Tensor:
        if self.largest and int(sizes.max()) > self.largest + 1:
            raise OperandError(
                f"these operands make a sequence of up to {int(sizes.max())} tokens, and consecutive ids go up to "
                f"{self.largest} (data.position_ids.max_position): shorten them or raise it"
            )
        return torch.zeros_like(highest[:1])

    def ids(self, coordinates: Tensor, offsets: Tensor, places: Tensor) -> Tensor:
        return places[None]
