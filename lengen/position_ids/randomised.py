"""Randomised ids: a sorted draw from those of longer sequences."""

import torch
from torch import Tensor

from lengen.position_ids.base import PositionIds
from lengen.problems import OperandError
from lengen.randomness import mix


class Randomised(PositionIds):
    """Ids drawn from 0 to ``largest`` without repetition, then sorted, as in longer sequences (Ruoss et al. 2023).

    In testing they are drawn too, for each example; from the problem itself, so that it always has the same ids.
    """

    def __init__(self, largest: int) -> None:
        self.largest = largest

    def offsets(
        self, highest: Tensor, sizes: Tensor, generator: torch.Generator | None, keys: Tensor | None = None
    ) -> Tensor:
        """(longest, B): the id of each place."""
        if int(sizes.max()) > self.largest + 1:
            raise OperandError(
                f"these operands make a sequence of up to {int(sizes.max())} tokens, and randomised ids go up to "
                f"{self.largest} (data.position_ids.max_position): shorten them or raise it"
            )
        shape = (len(sizes), self.largest + 1)
        if generator is not None:
            return self._drawn(sizes, torch.rand(shape, generator=generator))
        seeds = torch.zeros_like(sizes) if keys is None else keys
        order = mix(seeds[:, None] ^ mix(torch.arange(self.largest + 1) + sizes[:, None] * (1 << 32)))
        return self._drawn(sizes, order)

    def _drawn(self, sizes: Tensor, order: Tensor) -> Tensor:
        chosen = order.argsort(dim=1)[:, : int(sizes.max())]
        outside = torch.arange(chosen.shape[1]) >= sizes[:, None]
        return chosen.masked_fill(outside, self.largest).sort(dim=1).values.T

    def ids(self, coordinates: Tensor, offsets: Tensor, places: Tensor) -> Tensor:
        places = places.expand(offsets.shape[1], -1).clamp(max=len(offsets) - 1)
        return offsets.T.gather(1, places)[None]
