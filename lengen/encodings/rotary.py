"""Rotated queries and keys."""

from typing import final

import torch
from torch import Tensor

from lengen.encodings.base import Encoding, module
from lengen.settings import encodings as settings
from lengen.settings.model import ModelSpec


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


@module.register
def _(setting: settings.Rotary, model: ModelSpec, sizes: tuple[int, ...]) -> Rotary:
    return Rotary(model.head_dim)
