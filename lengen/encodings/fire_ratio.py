"""FIRE as the code of position coupling had it at submission."""

from typing import final

import torch
from torch import Tensor, nn

from lengen.encodings.base import Encoding, module
from lengen.encodings.fire_parts import numbers, of_network, plain_network
from lengen.settings import encodings as settings
from lengen.settings.model import ModelSpec


@final
class FireRatio(Encoding):
    """FIRE as in the position-coupling authors' code at submission: bias(i, j) = f_h((j - i) / i), ids from 1.

    No logarithm, no threshold; one network 1 -> 32 -> 32 -> 1 per head, without biases.
    """

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.f = nn.ModuleList(plain_network(1) for _ in range(heads))

    def bias(self, query_ids: Tensor, key_ids: Tensor) -> Tensor:
        query, key = numbers(query_ids, key_ids, self.f, first=1)
        ratio = (key - query) / query
        return torch.cat([of_network(ratio, f) for f in self.f], dim=-1).movedim(-1, 1)


@module.register
def _(setting: settings.FireRatio, model: ModelSpec, sizes: tuple[int, ...]) -> FireRatio:
    return FireRatio(model.heads)
