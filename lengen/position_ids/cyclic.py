"""Cyclic ids: consecutive ones that begin again."""

from torch import Tensor

from lengen.position_ids.consecutive import Consecutive


class Cyclic(Consecutive):
    """0, 1, ..., period - 1, 0, 1, ...: cyclic position indexing (Section 4.1 of "From Interpolation to
    Extrapolation")."""

    def __init__(self, period: int) -> None:
        self.period = period

    def ids(self, coordinates: Tensor, offsets: Tensor, places: Tensor) -> Tensor:
        return places[None] % self.period
