"""A fixed penalty on distance, added to the attention scores."""

import math
from typing import final

import torch
from torch import Tensor

from lengen.encodings.base import Encoding, module
from lengen.settings import encodings as settings
from lengen.settings.model import ModelSpec


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


@module.register
def _(setting: settings.ALiBi, model: ModelSpec, sizes: tuple[int, ...]) -> ALiBi:
    return ALiBi(model.heads)


def alibi_slopes(heads: int) -> list[float]:
    """Return slopes of Press et al. 2022, one per head.

    >>> alibi_slopes(8)[:3]
    [0.5, 0.25, 0.125]
    """
    power = 2 ** math.floor(math.log2(heads))
    slopes = [2 ** (-8 * h / power) for h in range(1, power + 1)]
    extra = [2 ** (-8 * h / (2 * power)) for h in range(1, 2 * power + 1, 2)]
    return slopes + extra[: heads - power]
