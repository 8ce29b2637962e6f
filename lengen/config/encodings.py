"""The position encodings that a setting can name: how position ids enter the network; no torch."""

from typing import TYPE_CHECKING, ClassVar

from lengen.config.part import Axis, Id, Part, SettingError
from lengen.position_ids.base import PositionIds

if TYPE_CHECKING:
    from lengen.config.model import ModelSpec
    from lengen.encodings.base import Encoding as Module


class Encoding(Axis):
    """How position ids enter the network."""

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

    def build(self, model: "ModelSpec", sizes: tuple[int, ...]) -> "Module":
        """The module, for position ids up to ``sizes``, one for each level."""
        raise NotImplementedError

    def check(self, model: "ModelSpec", ids: PositionIds) -> None:
        """Raise `SettingError` where it cannot read these ids."""
        assert isinstance(self, Part) and isinstance(ids, Part)
        read = self.LEVELS
        if read == 0:
            if ids.sizes:  # what has a largest id refuses longer problems
                raise SettingError(
                    f"data.position_ids={ids.kind}: model.encoding={self.kind} reads no position ids, so these would "
                    f"only bound the length of problems; set data.position_ids=none, or choose another model.encoding"
                )
            return
        if ids.levels == 0:
            raise SettingError(
                f"model.encoding={self.kind}: it reads position ids, and data.position_ids=none gives none; choose "
                f"model.encoding=none, or ids such as consecutive"
            )
        if read is not None and read < ids.levels:
            raise SettingError(
                f"model.encoding={self.kind}: it reads {read} level of position ids, and "
                f"data.position_ids={ids.kind} has {ids.levels}; choose model.encoding=learned, or ids of one level"
            )
        if self.TABLE and not ids.sizes:
            raise SettingError(
                f"model.encoding={self.kind}: its table has a row for each id, and data.position_ids={ids.kind} has no "
                f"largest one; set data.position_ids.max_position to the longest sequence"
            )
        in_blocks = self.IN_BLOCKS or (self.EMBEDS and model.inject == "coordinates")
        if in_blocks and model.architecture.SPLIT and not model.encoder_layers:
            raise SettingError(
                f"model.architecture.encoder_layers=0: {self.kind}, with model.inject={model.inject}, tells the order "
                f"of tokens inside blocks, of which the query passes none; set it to 1 or more"
            )


class NoEncoding(Part, Encoding, tag="none", frozen=True):
    """NoPE: the causal mask is all a model knows of order (Kazemnejad et al. 2023)."""

    LEVELS = 0

    def build(self, model: "ModelSpec", sizes: tuple[int, ...]) -> "Module":
        from lengen.encodings.none import NoEncoding as Module

        return Module()


class Learned(Part, Encoding, tag="learned", frozen=True):
    """One trained table per level, summed; with coupled ids this is position coupling."""

    LEVELS = None
    TABLE = True
    EMBEDS = True

    def build(self, model: "ModelSpec", sizes: tuple[int, ...]) -> "Module":
        from lengen.encodings.learned import Learned as Module

        return Module(model.width, sizes)


class Sinusoidal(Part, Encoding, tag="sinusoidal", frozen=True):
    """Fixed sines and cosines (Vaswani et al. 2017, Section 3.5)."""

    EMBEDS = True

    def build(self, model: "ModelSpec", sizes: tuple[int, ...]) -> "Module":
        from lengen.encodings.sinusoidal import Sinusoidal as Module

        return Module(model.width)


class Rotary(Part, Encoding, tag="rope", frozen=True):
    """RoPE: queries and keys turn by their ids (Su et al. 2024)."""

    def build(self, model: "ModelSpec", sizes: tuple[int, ...]) -> "Module":
        from lengen.encodings.rotary import Rotary as Module

        return Module(model.head_dim)

    def check(self, model: "ModelSpec", ids: PositionIds) -> None:
        super().check(model, ids)
        if model.head_dim % 2:
            raise SettingError(f"model.head_dim={model.head_dim}: rope turns pairs and needs an even number")


class ALiBi(Part, Encoding, tag="alibi", frozen=True):
    """A penalty linear in distance, one slope per head (Press et al. 2022)."""

    IN_BLOCKS = True

    def build(self, model: "ModelSpec", sizes: tuple[int, ...]) -> "Module":
        from lengen.encodings.alibi import ALiBi as Module

        return Module(model.heads)


class RelativeKeys(Part, Encoding, tag="rpe", frozen=True):
    """A learned vector for each clipped distance is added to the keys (Shaw et al. 2018)."""

    clip: Id = 16
    """Largest distance told apart."""

    def build(self, model: "ModelSpec", sizes: tuple[int, ...]) -> "Module":
        from lengen.encodings.relative_keys import RelativeKeys as Module

        return Module(model.head_dim, self.clip)


class Fire(Part, Encoding, tag="fire", frozen=True):
    """FIRE: a learned function of the relative distance (Li et al. 2024)."""

    IN_BLOCKS = True

    def build(self, model: "ModelSpec", sizes: tuple[int, ...]) -> "Module":
        from lengen.encodings.fire import Fire as Module

        return Module(model.heads)


class FireRatio(Part, Encoding, tag="fire_ratio", frozen=True):
    """FIRE as in the position-coupling authors' code at submission."""

    IN_BLOCKS = True

    def build(self, model: "ModelSpec", sizes: tuple[int, ...]) -> "Module":
        from lengen.encodings.fire_ratio import FireRatio as Module

        return Module(model.heads)


class FireClamped(Part, Encoding, tag="fire_clamped", frozen=True):
    """FIRE as in the position-coupling authors' later code."""

    IN_BLOCKS = True

    def build(self, model: "ModelSpec", sizes: tuple[int, ...]) -> "Module":
        from lengen.encodings.fire_clamped import FireClamped as Module

        return Module(model.heads)


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
]
