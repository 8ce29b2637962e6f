"""Models built from the same blocks."""

from lengen.models.decoder import Decoder, Encoder, EncoderDecoder
from lengen.models.states import Cache, Record, Residuals
from lengen.models.transformer import Transformer

__all__ = ["Cache", "Decoder", "Encoder", "EncoderDecoder", "Record", "Residuals", "Transformer"]
