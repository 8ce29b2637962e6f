"""FIRE: a learned function of the relative distance, added to the attention scores."""

from typing import final

import torch
from torch import Tensor, nn

from lengen.encodings.base import Encoding, module
from lengen.encodings.fire_parts import HIDDEN, log_ratio, numbers, of_network
from lengen.settings import encodings as settings
from lengen.settings.model import ModelSpec


@final
class Fire(Encoding):
    """FIRE (Li et al. 2024, Section 3): bias(i, j) = f(psi(i - j) / psi(max(L, i))), psi(x) = log(1 + |c x|).

    ``c`` starts at 0.1; L is 512 times a learned factor; f is a small network. One bias serves every layer.
    """

    def __init__(self, heads: int, threshold: float = 512.0) -> None:
        super().__init__()
        self.f = nn.Sequential(nn.Linear(1, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, heads))
        self.c = nn.Parameter(torch.tensor(0.1))
        self.factor = nn.Parameter(torch.tensor(1.0))
        self.threshold = threshold

    def bias(self, query_ids: Tensor, key_ids: Tensor) -> Tensor:
        query, key = numbers(query_ids, key_ids, self.f, first=0)
        span = torch.maximum(query, (self.factor * self.threshold).abs())
        return of_network(log_ratio(query - key, span, self.c), self.f).movedim(-1, 1)


@module.register
def _(setting: settings.Fire, model: ModelSpec, sizes: tuple[int, ...]) -> Fire:
    return Fire(model.heads)
