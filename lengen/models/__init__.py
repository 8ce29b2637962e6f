"""Models built from the same blocks."""

from lengen.models.architectures import Decoder, Encoder, EncoderDecoder
from lengen.models.base import Transformer
from lengen.models.cache_and_record import Cache, Record, Residuals

__all__ = ["Cache", "Decoder", "Encoder", "EncoderDecoder", "Record", "Residuals", "Transformer"]
