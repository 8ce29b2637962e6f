"""Abacus ids: digits are numbered within each number as it is written."""

import torch
from torch import Tensor

from lengen.formats.layout import UNUSED
from lengen.position_ids.coupled import Coupled
from lengen.vocab import FIRST


class Abacus(Coupled):
    """Digits are numbered 1, 2, ... within each number as it is written; everything else is 0 (McLeish et al. 2024).

    With numbers written least significant digit first, digits of one significance share an id. In training all ids of
    an example are moved by the same random offset, up to ``max_offset``.
    """

    READS_TOKENS = True

    def __init__(self, largest: int, max_offset: int, digits: int = 10) -> None:
        super().__init__((largest,), max_offset)
        self.digits = digits

    def coordinates(self, tokens: Tensor) -> Tensor:
        digit = (tokens >= FIRST) & (tokens < FIRST + self.digits)
        places = torch.arange(tokens.shape[1]).expand_as(tokens)
        begin = torch.where(digit, -1, places).cummax(dim=1).values  # the last token that is no digit
        return torch.where(digit, places - begin - 1, UNUSED)[None]
