"""The position encodings that a setting can name: how position ids enter the network."""

from typing import ClassVar

from lengen.part import Axis, Id, Part


class Encoding(Axis):
    """Setting: the use of position ids in the network; modules are `lengen.encodings.base.Encoding`.

    Example:
        >>> import lengen
        >>> issubclass(lengen.Fire, lengen.Encoding), lengen.Fire.LEVELS
        (True, 1)
    """

    __slots__ = ()
    AXIS = "an encoding"

    LEVELS: ClassVar[int | None] = 1
    """Levels of ids that it reads; None: all there are."""
    TABLE: ClassVar[bool] = False
    """It has a row for each id, so the largest one must be known."""
    IN_BLOCKS: ClassVar[bool] = False
    """It biases self-attention alone: what no block reads has no order."""
    EMBEDS: ClassVar[bool] = False
    """It is added to the embedded tokens."""


class NoEncoding(Part, Encoding, tag="none", frozen=True):
    """NoPE: the causal mask is all a model knows of order (Kazemnejad et al. 2023).

    Example:
        >>> import lengen
        >>> model = lengen.build_model(lengen.setting("copy", encoding=lengen.NoEncoding()), seed=0)
        >>> type(model.encoding).__name__
        'NoEncoding'
    """

    LEVELS = 0


class Learned(Part, Encoding, tag="learned", frozen=True):
    """One trained table per level, summed; with coupled ids this is position coupling.

    Example:
        >>> import lengen
        >>> model = lengen.build_model(lengen.setting("copy", position_ids="randomised", encoding="learned"), seed=0)
        >>> type(model.encoding).__name__
        'Learned'
    """

    LEVELS = None
    TABLE = True
    EMBEDS = True


class Sinusoidal(Part, Encoding, tag="sinusoidal", frozen=True):
    """Fixed sines and cosines (Vaswani et al. 2017, Section 3.5).

    Example:
        >>> import lengen
        >>> model = lengen.build_model(lengen.setting("copy", encoding=lengen.Sinusoidal()), seed=0)
        >>> type(model.encoding).__name__
        'Sinusoidal'
    """

    EMBEDS = True


class Rotary(Part, Encoding, tag="rope", frozen=True):
    """RoPE: queries and keys turn by their ids (Su et al. 2024).

    Example:
        >>> import lengen
        >>> model = lengen.build_model(lengen.setting("copy", encoding=lengen.Rotary()), seed=0)
        >>> type(model.encoding).__name__
        'Rotary'
    """


class ALiBi(Part, Encoding, tag="alibi", frozen=True):
    """A penalty linear in distance, one slope per head (Press et al. 2022).

    Example:
        >>> import lengen
        >>> model = lengen.build_model(lengen.setting("copy", encoding=lengen.ALiBi()), seed=0)
        >>> type(model.encoding).__name__
        'ALiBi'
    """

    IN_BLOCKS = True


class RelativeKeys(Part, Encoding, tag="rpe", frozen=True):
    """A learned vector for each clipped distance is added to the keys (Shaw et al. 2018).

    Example:
        >>> import lengen
        >>> model = lengen.build_model(lengen.setting("copy", encoding=lengen.RelativeKeys()), seed=0)
        >>> type(model.encoding).__name__
        'RelativeKeys'
    """

    clip: Id = 16
    """Largest distance with a value of its own."""


class Fire(Part, Encoding, tag="fire", frozen=True):
    """FIRE: a learned function of the relative distance (Li et al. 2024).

    Example:
        >>> import lengen
        >>> model = lengen.build_model(lengen.setting("copy", encoding=lengen.Fire()), seed=0)
        >>> type(model.encoding).__name__
        'Fire'
    """

    IN_BLOCKS = True


__all__ = [
    "ALiBi",
    "Encoding",
    "Fire",
    "Learned",
    "NoEncoding",
    "RelativeKeys",
    "Rotary",
    "Sinusoidal",
]
