"""Models built from the same blocks."""

from lengen.models.base import Cache, Transformer
from lengen.models.decoder import Decoder
from lengen.models.encoder import Encoder
from lengen.models.encoder_decoder import EncoderDecoder

__all__ = ["Cache", "Decoder", "Encoder", "EncoderDecoder", "Transformer"]
