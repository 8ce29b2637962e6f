"""No encoding of positions at all."""

from typing import final

from lengen.encodings.base import Encoding, module
from lengen.settings import encodings as settings
from lengen.settings.model import ModelSpec


@final
class NoEncoding(Encoding):
    """NoPE: the causal mask is all a model knows of order (Kazemnejad et al. 2023)."""


@module.register
def _(setting: settings.NoEncoding, model: ModelSpec, sizes: tuple[int, ...]) -> NoEncoding:
    return NoEncoding()
