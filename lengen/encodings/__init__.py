"""Position encodings: how integers enter the network; one name in a specification each."""

from collections.abc import Callable

from lengen.config.spec import ModelSpec, SpecError, nearest
from lengen.encodings.absolute import Learned, NoEncoding, Sinusoidal, sinusoids
from lengen.encodings.base import Encoding
from lengen.encodings.relative import ALiBi, Fire, FireClamped, FireRatio, RelativeKeys, Rotary, alibi_slopes

ENCODINGS: dict[str, Callable[[ModelSpec, tuple[int, ...]], Encoding]] = {
    "none": lambda model, sizes: NoEncoding(),
    "learned": lambda model, sizes: Learned(model.width, sizes),
    "sinusoidal": lambda model, sizes: Sinusoidal(model.width),
    "rope": lambda model, sizes: Rotary(model.head_dim),
    "alibi": lambda model, sizes: ALiBi(model.heads),
    "rpe": lambda model, sizes: RelativeKeys(model.head_dim, *sizes[:1]),
    "fire": lambda model, sizes: Fire(model.heads),
    "fire_ratio": lambda model, sizes: FireRatio(model.heads),
    "fire_clamped": lambda model, sizes: FireClamped(model.heads),
}


def build_encoding(model: ModelSpec, sizes: tuple[int, ...]) -> Encoding:
    """The encoding a specification names; ``sizes`` are the largest ids of the levels, for relative keys the largest
    distance told apart (16 where none is given). Raises `SpecError`."""
    if model.encoding not in ENCODINGS:
        raise SpecError(f"model.encoding={model.encoding}: unknown encoding{nearest(model.encoding, list(ENCODINGS))}")
    return ENCODINGS[model.encoding](model, sizes)


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
    "sinusoids",
]
