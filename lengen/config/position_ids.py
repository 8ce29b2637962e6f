"""The schemes of position ids that a setting can name: integers that belong to tokens; no torch."""

from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from lengen.config.formats import Format
from lengen.config.part import LARGEST_ID, Axis, Id, Part, SettingError

if TYPE_CHECKING:
    from lengen.position_ids.base import PositionIds as Scheme


def _without_index_hints(kind: str, format: Format, why: str) -> None:
    marks = getattr(format, "index_hints", 0)
    if marks:
        raise SettingError(
            f"data.format.index_hints={marks}: with data.position_ids={kind} {why}; choose other ids, such as "
            f"consecutive, or set data.format.index_hints=0"
        )


class PositionIds(Axis):
    """How integers are given to tokens."""

    __slots__ = ()
    AXIS = "a scheme of position ids"

    FOLLOWS: ClassVar[bool] = False
    """Ids of a number depend on its length, which must be known."""
    COUNTS_TOKENS: ClassVar[bool] = True
    """An id follows from how many tokens stand before it, whatever they say; False: code looks at what they mean."""

    @property
    def levels(self) -> int:
        """Rows of ids."""
        return 1

    @property
    def sizes(self) -> tuple[int, ...]:
        """Largest id of each level; empty where nothing bounds them."""
        return ()

    def build(self, digits: int = 10) -> "Scheme":
        """What gives the ids, for a vocabulary that begins with so many digits."""
        raise NotImplementedError

    def check(self, format: Format) -> None:
        """Raise `SettingError` where a format cannot be numbered so."""


class Coupled(Part, PositionIds, tag="coupled", frozen=True):
    """Tokens that matter to each other share an id: an offset, random in training, plus the coordinate of the
    format."""

    FOLLOWS = True
    COUNTS_TOKENS = False

    max_position: tuple[Id, ...]
    """Largest id of each level; offsets are drawn so that no id exceeds it."""

    @property
    def levels(self) -> int:
        return len(self.max_position)

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.max_position

    def build(self, digits: int = 10) -> "Scheme":
        from lengen.position_ids.coupled import Coupled as Scheme

        return Scheme(self.max_position)

    def check(self, format: Format) -> None:
        assert isinstance(format, Part)
        _without_index_hints("coupled", format, "digits of one place already share an id")
        if not format.COORDINATES:
            raise SettingError(
                f"data.position_ids=coupled: the digits of data.format={format.kind} have no coordinates; choose "
                f"another format, or consecutive ids"
            )
        if not 1 <= self.levels <= format.LEVELS:
            raise SettingError(
                f"data.position_ids.max_position={list(self.max_position)}: expected 1 to {format.LEVELS} values, "
                f"one for each level of coupled ids that data.format={format.kind} has"
            )


class Abacus(Part, PositionIds, tag="abacus", frozen=True):
    """Digits are numbered 1, 2, ... within each number as it is written; all ids of an example are moved at random."""

    COUNTS_TOKENS = False

    max_position: Id
    """Largest id."""
    max_offset: Annotated[int, Meta(ge=0, le=LARGEST_ID)] = 0
    """Largest random offset in training."""

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.max_position,)

    def build(self, digits: int = 10) -> "Scheme":
        from lengen.position_ids.abacus import Abacus as Scheme

        return Scheme(self.max_position, self.max_offset, digits)

    def check(self, format: Format) -> None:
        assert isinstance(format, Part)
        _without_index_hints("abacus", format, "the marks between the digits of a number would make each its first")
        if format.aligned:
            raise SettingError(
                f"data.position_ids=abacus: the digits of both operands stand in one run in data.format={format.kind}, "
                f"and would be numbered through as one number; choose data.format=linear, or ids such as coupled"
            )


class Consecutive(Part, PositionIds, tag="consecutive", frozen=True):
    """0, 1, 2, ... from the beginning of the sequence."""

    max_position: Annotated[int, Meta(ge=0, le=LARGEST_ID)] = 0
    """Largest id, for encodings with a table of them; 0: nothing bounds them."""

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.max_position,) if self.max_position else ()

    def build(self, digits: int = 10) -> "Scheme":
        from lengen.position_ids.consecutive import Consecutive as Scheme

        return Scheme(self.max_position)


class Cyclic(Part, PositionIds, tag="cyclic", frozen=True):
    """0, 1, ..., period - 1, 0, 1, ..."""

    period: Id
    """After how many tokens ids begin again."""

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.period - 1,)

    def build(self, digits: int = 10) -> "Scheme":
        from lengen.position_ids.cyclic import Cyclic as Scheme

        return Scheme(self.period)


class Randomised(Part, PositionIds, tag="randomised", frozen=True):
    """Ids drawn without repetition from 0 to ``max_position``, then sorted, as they are in longer sequences."""

    max_position: Id
    """Largest id."""

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.max_position,)

    def build(self, digits: int = 10) -> "Scheme":
        from lengen.position_ids.randomised import Randomised as Scheme

        return Scheme(self.max_position)


class NoPositionIds(Part, PositionIds, tag="none", frozen=True):
    """No ids at all."""

    @property
    def levels(self) -> int:
        return 0

    def build(self, digits: int = 10) -> "Scheme":
        from lengen.position_ids.none import NoPositionIds as Scheme

        return Scheme()


__all__ = ["Abacus", "Consecutive", "Coupled", "Cyclic", "NoPositionIds", "PositionIds", "Randomised"]
