"""Models built from the same blocks."""

from lengen.models.base import Transformer
from lengen.models.cache_and_record import Cache, Record, Residuals
from lengen.models.decoder_and_encoder import Decoder, Encoder, EncoderDecoder

__all__ = ["Cache", "Decoder", "Encoder", "EncoderDecoder", "Record", "Residuals", "Transformer"]
