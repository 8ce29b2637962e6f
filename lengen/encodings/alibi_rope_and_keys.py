"""Encodings of distances: a penalty on scores, vectors added to keys, rotated queries and keys."""

import math
from typing import final

import torch
from torch import Tensor, nn

from lengen.encodings.base import Encoding, module
from lengen.settings import model as settings


@final
class ALiBi(Encoding):
    """A penalty linear in distance, one slope per head (Press et al. 2022, Section 3); in an encoder to both sides.

    Slopes are 2 ** (-8 h / H) for h = 1..H when H is a power of two; otherwise those of the next lower power,
    then every other one of the next higher.
    """

    slopes: Tensor

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.register_buffer("slopes", torch.tensor(alibi_slopes(heads)), persistent=False)

    def bias(self, query_ids: Tensor, key_ids: Tensor) -> Tensor:
        distance = query_ids[0, :, None, :, None] - key_ids[0, :, None, None, :]
        return -self.slopes[:, None, None] * distance.abs()


module.register(settings.ALiBi, lambda setting, model, sizes: ALiBi(model.heads))


def alibi_slopes(heads: int) -> list[float]:
    """Return slopes of Press et al. 2022, one per head.

    >>> alibi_slopes(8)[:3]
    [0.5, 0.25, 0.125]
    """
    power = 2 ** math.floor(math.log2(heads))
    slopes = [2 ** (-8 * h / power) for h in range(1, power + 1)]
    extra = [2 ** (-8 * h / (2 * power)) for h in range(1, 2 * power + 1, 2)]
    return slopes + extra[: heads - power]


@final
class RelativeKeys(Encoding):
    """RPE (Shaw et al. 2018, equations 4 and 5): a learned vector for each clipped distance is added to the keys.

    Score (i, j) gains query_i . w[clip(j - i, -k, k)]; one table serves all heads and layers. The values get nothing,
    as in Section 7 of "From Interpolation to Extrapolation".
    """

    def __init__(self, head_dim: int, clip: int = 16) -> None:
        super().__init__()
        self.clip = clip
        self.table = nn.Parameter(torch.randn(2 * clip + 1, head_dim) * head_dim**-0.5)

    def relate(self, query: Tensor, query_ids: Tensor, key_ids: Tensor) -> Tensor:
        distance = key_ids[0, :, None, :] - query_ids[0, :, :, None]  # (B or 1, Q, K)
        row = distance.clamp(-self.clip, self.clip) + self.clip
        if len(row) == 1:  # one vector per pair of places, the same for all examples: a product is the fastest
            return torch.einsum("bhqd,qkd->bhqk", query, self.table[row[0]])
        by_distance = query @ self.table.T  # (B, H, Q, 2k + 1): far smaller than a vector per pair and example
        return by_distance.gather(3, row[:, None].expand(*query.shape[:2], -1, -1))


module.register(settings.RelativeKeys, lambda setting, model, sizes: RelativeKeys(model.head_dim, setting.clip))


@final
class Rotary(Encoding):
    """RoPE (Su et al. 2024): each pair of neighbouring coordinates turns by id x 10000 ** (-2i / D)."""

    rates: Tensor

    def __init__(self, head_dim: int) -> None:
        super().__init__()
        self.register_buffer("rates", 10000.0 ** (-torch.arange(0, head_dim, 2) / head_dim), persistent=False)

    def rotate(self, vectors: Tensor, ids: Tensor) -> Tensor:
        angles = ids[0, :, None, :, None] * self.rates  # (B or 1, 1, T, D / 2)
        cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
        even, odd = vectors[..., 0::2], vectors[..., 1::2]
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


module.register(settings.Rotary, lambda setting, model, sizes: Rotary(model.head_dim))
