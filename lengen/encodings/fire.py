"""FIRE: a learned function of the relative distance, added to the attention scores."""

from typing import final

import torch
from torch import Tensor, nn

from lengen.encodings.base import Encoding, module
from lengen.settings import model as settings

HIDDEN = 32
"""Width of the network."""


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
        query, key = numbers(query_ids, key_ids, self.f)
        span = torch.maximum(query, (self.factor * self.threshold).abs())
        ratio = torch.log1p((self.c * (query - key)).abs()) / (torch.log1p((self.c * span).abs()) + 1e-6)
        bias: Tensor = self.f(ratio[..., None].to(next(self.f.parameters()).dtype))
        return bias.movedim(-1, 1)


def numbers(query_ids: Tensor, key_ids: Tensor, network: nn.Module) -> tuple[Tensor, Tensor]:
    """Return query ids (B or 1, Q, 1) and key ids (B or 1, 1, K) as numbers.

    They are in the network's precision, or in float32 if that is lower.
    """
    dtype = torch.promote_types(next(network.parameters()).dtype, torch.float32)
    return query_ids[0, :, :, None].to(dtype), key_ids[0, :, None, :].to(dtype)


module.register(settings.Fire, lambda setting, model, sizes: Fire(model.heads))
