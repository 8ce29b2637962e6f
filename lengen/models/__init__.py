"""Models built from the same blocks."""

from lengen.models.decoder import Cache, Decoder

__all__ = ["Cache", "Decoder"]
