"""Encodings that act inside attention: rotary vectors, ALiBi, FIRE."""

import math

import torch
from torch import Tensor, nn

from lengen.encodings.base import Encoding


class Rotary(Encoding):
    """RoPE (Su et al. 2024): each pair of neighbouring coordinates turns by id x base ** (-2i / D)."""

    rates: Tensor

    def __init__(self, head_dim: int, base: float = 10000.0) -> None:
        super().__init__()
        self.register_buffer("rates", base ** (-torch.arange(0, head_dim, 2) / head_dim), persistent=False)

    def rotate(self, vectors: Tensor, ids: Tensor) -> Tensor:
        angles = ids[0, :, None, :, None] * self.rates  # (B or 1, 1, T, D / 2)
        cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
        even, odd = vectors[..., 0::2], vectors[..., 1::2]
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


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


def alibi_slopes(heads: int) -> list[float]:
    """Slopes of Press et al. 2022, one per head.

    >>> alibi_slopes(8)[:3]
    [0.5, 0.25, 0.125]
    """
    power = 2 ** math.floor(math.log2(heads))
    slopes = [2 ** (-8 * h / power) for h in range(1, power + 1)]
    extra = [2 ** (-8 * h / (2 * power)) for h in range(1, 2 * power + 1, 2)]
    return slopes + extra[: heads - power]


def _mlp(heads: int, bias: bool, hidden: int = 32) -> nn.Sequential:
    """1 -> 32 -> heads with biases (the paper), or 1 -> 32 -> 32 -> heads without (the authors' variants)."""
    if bias:
        return nn.Sequential(nn.Linear(1, hidden), nn.ReLU(), nn.Linear(hidden, heads))
    layers = nn.Sequential(
        nn.Linear(1, hidden, bias=False),
        nn.ReLU(),
        nn.Linear(hidden, hidden, bias=False),
        nn.ReLU(),
        nn.Linear(hidden, heads, bias=False),
    )
    for module in layers:
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=module.in_features**-0.5)
    return layers


def _numbers(query_ids: Tensor, key_ids: Tensor, network: nn.Module, first: int) -> tuple[Tensor, Tensor]:
    """Query ids (B or 1, Q, 1) and key ids (B or 1, 1, K) in the network's precision, counted from ``first``."""
    dtype = next(network.parameters()).dtype
    return query_ids[0, :, :, None].to(dtype) + first, key_ids[0, :, None, :].to(dtype) + first


class Fire(Encoding):
    """FIRE (Li et al. 2024, Section 3): bias(i, j) = f(psi(i - j) / psi(max(L, i))), psi(x) = log(1 + |c x|).

    ``c`` starts at 0.1; L is 512 times a learned factor; f is a small network. One bias serves every layer.
    """

    def __init__(self, heads: int, threshold: float = 512.0) -> None:
        super().__init__()
        self.f = _mlp(heads, bias=True)
        self.c = nn.Parameter(torch.tensor(0.1))
        self.factor = nn.Parameter(torch.tensor(1.0))
        self.threshold = threshold

    def bias(self, query_ids: Tensor, key_ids: Tensor) -> Tensor:
        query, key = _numbers(query_ids, key_ids, self.f, first=0)
        span = torch.maximum(query, (self.factor * self.threshold).abs())
        ratio = torch.log1p((self.c * (query - key)).abs()) / (torch.log1p((self.c * span).abs()) + 1e-6)
        bias: Tensor = self.f(ratio[..., None])
        return bias.movedim(-1, 1)


class FireRatio(Encoding):
    """FIRE as in the position-coupling authors' code at submission: bias(i, j) = f_h((j - i) / i), ids from 1.

    No logarithm, no threshold; one network 1 -> 32 -> 32 -> 1 per head, without biases.
    """

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.f = nn.ModuleList(_mlp(1, bias=False) for _ in range(heads))

    def bias(self, query_ids: Tensor, key_ids: Tensor) -> Tensor:
        query, key = _numbers(query_ids, key_ids, self.f, first=1)
        ratio = ((key - query) / query)[..., None]
        return torch.cat([f(ratio) for f in self.f], dim=-1).movedim(-1, 1)


class FireClamped(Encoding):
    """FIRE as in the position-coupling authors' later code: the normaliser is min(i, L) where the paper has max.

    log(1 + |c d|) / (log(1 + |c min(i, L)|) + eps) with d = max(i - j, 0), ids from 1; sqrt(L) starts at 16, so L
    changes nothing below 256 tokens. One network 1 -> 32 -> 32 -> heads, without biases.
    """

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.f = _mlp(heads, bias=False)
        self.c = nn.Parameter(torch.tensor(0.1))
        self.root = nn.Parameter(torch.tensor(16.0))

    def bias(self, query_ids: Tensor, key_ids: Tensor) -> Tensor:
        query, key = _numbers(query_ids, key_ids, self.f, first=1)
        span = torch.minimum(query, self.root**2)
        distance = (query - key).clamp(min=0)
        ratio = torch.log1p((self.c * distance).abs()) / (torch.log1p((self.c * span).abs()) + 1e-6)
        bias: Tensor = self.f(ratio[..., None])
        return bias.movedim(-1, 1)


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
