"""Position encodings: how integers enter the network; one name in a specification each."""

from lengen.config.spec import ModelSpec, SpecError, nearest
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

ENCODINGS: dict[str, type[Encoding]] = {
    "none": NoEncoding,
    "learned": Learned,
    "sinusoidal": Sinusoidal,
    "rope": Rotary,
    "alibi": ALiBi,
    "rpe": RelativeKeys,
    "fire": Fire,
    "fire_ratio": FireRatio,
    "fire_clamped": FireClamped,
}


def encoding_named(name: str) -> type[Encoding]:
    """The encoding of that name; raises `SpecError`."""
    if name not in ENCODINGS:
        raise SpecError(f"model.encoding={name}: unknown encoding{nearest(name, list(ENCODINGS))}")
    return ENCODINGS[name]


def build_encoding(model: ModelSpec, sizes: tuple[int, ...]) -> Encoding:
    """The encoding a specification names; ``sizes`` are the largest ids of the levels, for relative keys the largest
    distance told apart (16 where none is given). Raises `SpecError`."""
    return encoding_named(model.encoding).build(model, sizes)


def check_levels(encoding: str, position_ids: str, levels: int) -> None:
    """Refuses an encoding that looks at fewer levels than these position ids have, so that none is lost in silence.

    An encoding that looks at no ids at all (``none``) ignores them by intention. Raises `SpecError`.
    """
    read = encoding_named(encoding).levels_read
    if read and read < levels:
        raise SpecError(
            f"model.encoding={encoding} reads {read} level{'s' * (read > 1)} of position ids and "
            f"data.position_ids={position_ids} has {levels}: choose learned, or ids of one level"
        )


__all__ = [
    "ENCODINGS",
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
    "build_encoding",
    "check_levels",
    "encoding_named",
    "sinusoids",
]
