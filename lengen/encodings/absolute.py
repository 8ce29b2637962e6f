"""No position encoding, learned tables, and fixed sines and cosines that are added to the token embedding."""

import math
from typing import final

import torch
from torch import Tensor, nn

from lengen.encodings.base import Encoding, module
from lengen.settings import model as settings


@final
class NoEncoding(Encoding):
    """NoPE: the causal mask is all a model knows of order (Kazemnejad et al. 2023)."""


module.register(settings.NoEncoding, lambda setting, model, sizes: NoEncoding())


@final
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


module.register(settings.Learned, lambda setting, model, sizes: Learned(model.width, sizes))


@final
class Sinusoidal(Encoding):
    """Fixed sines and cosines of geometrically spaced wavelengths (Vaswani et al. 2017, Section 3.5)."""

    rates: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("rates", wave_rates(width), persistent=False)
        self.width = width

    def embed(self, ids: Tensor) -> Tensor:
        return _waves(ids[0, :, :, None] * self.rates, self.width)


module.register(settings.Sinusoidal, lambda setting, model, sizes: Sinusoidal(model.width))


def sinusoids(numbers: Tensor, width: int) -> Tensor:
    """Return (..., width) sinusoids of integers (...), as `Sinusoidal` adds them for positions."""
    return _waves(numbers[..., None] * wave_rates(width).to(numbers.device), width)


def wave_rates(width: int) -> Tensor:
    """Return angle per position of each pair of a sine and a cosine."""
    exact = torch.promote_types(torch.get_default_dtype(), torch.float32)  # the default is bfloat16 under bf16-true
    return torch.exp(-math.log(10000.0) * torch.arange(0, width, 2, dtype=exact) / width)


def _waves(angles: Tensor, width: int) -> Tensor:
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[..., :width]
