"""Position encodings: how integers enter the network, one file each."""

from lengen.encodings.alibi import ALiBi, alibi_slopes
from lengen.encodings.base import Encoding
from lengen.encodings.fire import Fire
from lengen.encodings.fire_clamped import FireClamped
from lengen.encodings.fire_ratio import FireRatio
from lengen.encodings.learned import Learned
from lengen.encodings.none import NoEncoding
from lengen.encodings.relative_keys import RelativeKeys
from lengen.encodings.rotary import Rotary
from lengen.encodings.sinusoidal import Sinusoidal, sinusoids

__all__ = [
    "ALiBi",
    "Encoding",
    "Fire",
    "FireClamped",
    "FireRatio",
    "Learned",
    "NoEncoding",
    "RelativeKeys",
    "Rotary",
    "Sinusoidal",
    "alibi_slopes",
    "sinusoids",
]
