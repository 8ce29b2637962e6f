"""Models built from the same blocks."""

from lengen.models.cache_and_record import Cache, Record, Residuals
from lengen.models.decoder_and_encoder import Decoder, Encoder, EncoderDecoder
from lengen.models.transformer import Transformer

__all__ = ["Cache", "Decoder", "Encoder", "EncoderDecoder", "Record", "Residuals", "Transformer"]
