"""Encodings that add a vector to the token embedding: none, learned tables, sinusoids."""

import math

import torch
from torch import Tensor, nn

from lengen.encodings.base import Encoding


class NoEncoding(Encoding):
    """NoPE: the causal mask is all a model knows of order (Kazemnejad et al. 2023)."""


class Learned(Encoding):
    """One trained table per level, summed; with coupled ids this is position coupling.

    ``sizes`` holds the largest id of each level. Id 0 (both ends and unused slots) is an ordinary trained row, as in
    the authors' code; tables start as N(0, 1).
    """

    def __init__(self, width: int, sizes: tuple[int, ...]) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(size + 1, width) for size in sizes)

    def embed(self, ids: Tensor) -> Tensor:
        rows = [table(level) for table, level in zip(self.tables, ids, strict=True)]
        return torch.stack(rows).sum(dim=0)


class Sinusoidal(Encoding):
    """Fixed sines and cosines of geometrically spaced wavelengths (Vaswani et al. 2017, Section 3.5)."""

    rates: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("rates", wave_rates(width), persistent=False)
        self.width = width

    def embed(self, ids: Tensor) -> Tensor:
        return _waves(ids[0, :, :, None] * self.rates, self.width)


def sinusoids(numbers: Tensor, width: int) -> Tensor:
    """(..., width) sinusoids of integers (...), as `Sinusoidal` adds them for positions."""
    return _waves(numbers[..., None] * wave_rates(width).to(numbers.device), width)


def wave_rates(width: int, base: float = 10000.0) -> Tensor:
    """Angle per position of each pair of a sine and a cosine."""
    return torch.exp(-math.log(base) * torch.arange(0, width, 2) / width)


def _waves(angles: Tensor, width: int) -> Tensor:
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[..., :width]
