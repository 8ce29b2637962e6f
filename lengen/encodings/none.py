"""No encoding of positions at all."""

from typing import final

from lengen.encodings.base import Encoding


@final
class NoEncoding(Encoding):
    """NoPE: the causal mask is all a model knows of order (Kazemnejad et al. 2023)."""
