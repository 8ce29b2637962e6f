"""FIRE as the code of position coupling has it since."""

from typing import final

import torch
from torch import Tensor, nn

from lengen.encodings.base import Encoding, module
from lengen.encodings.fire_parts import log_ratio, numbers, of_network, plain_network
from lengen.settings import encodings as settings
from lengen.settings.model import ModelSpec


@final
class FireClamped(Encoding):
    """FIRE as in the position-coupling authors' later code: the normaliser is min(i, L) where the paper has max.

    log(1 + |c d|) / (log(1 + |c min(i, L)|) + eps) with d = max(i - j, 0), ids from 0; sqrt(L) starts at 16, so L
    changes nothing below 256 tokens. One network 1 -> 32 -> 32 -> heads, without biases.
    """

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.f = plain_network(heads)
        self.c = nn.Parameter(torch.tensor(0.1))
        self.root = nn.Parameter(torch.tensor(16.0))

    def bias(self, query_ids: Tensor, key_ids: Tensor) -> Tensor:
        query, key = numbers(query_ids, key_ids, self.f, first=0)
        span = torch.minimum(query, self.root**2)
        distance = (query - key).clamp(min=0)
        return of_network(log_ratio(distance, span, self.c), self.f).movedim(-1, 1)


@module.register
def _(setting: settings.FireClamped, model: ModelSpec, sizes: tuple[int, ...]) -> FireClamped:
    return FireClamped(model.heads)
