"""Models built from the same blocks."""

from lengen.models.cache import Cache
from lengen.models.decoder import Decoder
from lengen.models.encoder import Encoder
from lengen.models.encoder_decoder import EncoderDecoder
from lengen.models.record import Record, Residuals
from lengen.models.transformer import Transformer

__all__ = ["Cache", "Decoder", "Encoder", "EncoderDecoder", "Record", "Residuals", "Transformer"]
