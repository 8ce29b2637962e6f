"""Models built from the same blocks."""

from lengen.models.decoder import Decoder
from lengen.models.encoder import Encoder
from lengen.models.encoder_decoder import EncoderDecoder
from lengen.models.transformer import Cache, Transformer

__all__ = ["Cache", "Decoder", "Encoder", "EncoderDecoder", "Transformer"]
