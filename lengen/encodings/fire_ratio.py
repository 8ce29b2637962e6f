"""FIRE as the code of position coupling had it at submission."""

from typing import Self, final

import torch
from torch import Tensor, nn

from lengen.config.spec import ModelSpec
from lengen.encodings.base import Encoding
from lengen.encodings.fire_parts import numbers, plain_network


@final
class FireRatio(Encoding):
    """FIRE as in the position-coupling authors' code at submission: bias(i, j) = f_h((j - i) / i), ids from 1.

    No logarithm, no threshold; one network 1 -> 32 -> 32 -> 1 per head, without biases.
    """

    levels_read = 1

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.f = nn.ModuleList(plain_network(1) for _ in range(heads))

    @classmethod
    def build(cls, model: ModelSpec, sizes: tuple[int, ...]) -> Self:
        return cls(model.heads)

    def bias(self, query_ids: Tensor, key_ids: Tensor) -> Tensor:
        query, key = numbers(query_ids, key_ids, self.f, first=1)
        ratio = ((key - query) / query)[..., None]
        return torch.cat([f(ratio) for f in self.f], dim=-1).movedim(-1, 1)
