"""No encoding of positions at all."""

from typing import Self, final

from lengen.config.spec import ModelSpec
from lengen.encodings.base import Encoding


@final
class NoEncoding(Encoding):
    """NoPE: the causal mask is all a model knows of order (Kazemnejad et al. 2023)."""

    levels_read = 0

    @classmethod
    def build(cls, model: ModelSpec, sizes: tuple[int, ...]) -> Self:
        return cls()
