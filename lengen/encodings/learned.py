"""Learned tables of vectors that are added to the token embedding."""

from typing import final

import torch
from torch import Tensor, nn

from lengen.encodings.base import Encoding, module
from lengen.settings import encodings as settings
from lengen.settings.model import ModelSpec


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


@module.register
def _(setting: settings.Learned, model: ModelSpec, sizes: tuple[int, ...]) -> Learned:
    return Learned(model.width, sizes)
