"""Learned vectors of distances, added to the keys."""

from typing import final

import torch
from torch import Tensor, nn

from lengen.encodings.base import Encoding, module
from lengen.settings import encodings as settings
from lengen.settings.model import ModelSpec


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


@module.register
def _(setting: settings.RelativeKeys, model: ModelSpec, sizes: tuple[int, ...]) -> RelativeKeys:
    return RelativeKeys(model.head_dim, setting.clip)
