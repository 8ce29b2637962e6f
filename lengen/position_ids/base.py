"""Position ids: integers that belong to tokens and travel with the data; no torch until some are drawn.

A scheme turns the coordinates of a layout into ids, one row per level. In training each level of each
example gets a random offset, so that every id is trained; in testing the offset is 1 (Section 4.2 of
"Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count").
"""

from __future__ import annotations

from typing import ClassVar

from lengen.digits import Generator, RoomError, Tensor, torch
from lengen.formats.base import Format
from lengen.part import Axis


class PositionIds(Axis):
    """Assignment of integers to tokens.

    Example:
        >>> import lengen
        >>> lengen.Coupled((9,)).sizes
        (9,)
    """

    __slots__ = ()
    AXIS = "a scheme of position ids"

    FOLLOWS: ClassVar[bool] = False
    """Ids of a number depend on its length, which must be known."""
    READS_TOKENS: ClassVar[bool] = False
    """Coordinates are read off tokens; else the layout has them."""

    @property
    def levels(self) -> int:
        """Rows of ids."""
        return 1

    @property
    def sizes(self) -> tuple[int, ...]:
        """Largest id of each level; empty if nothing bounds them."""
        return ()

    def check(self, format: Format) -> None:
        """Raise `SettingError` if a format cannot be numbered so."""

    def coordinates(self, tokens: Tensor, digits: int) -> Tensor | None:
        """Return coordinates (levels, B, T) read off tokens (B, T) of a vocabulary that begins with so many digits.

        None without `READS_TOKENS`.
        """
        return None

    def offsets(self, highest: Tensor, sizes: Tensor, generator: Generator | None, key: Tensor | None = None) -> Tensor:
        """Return the offsets of ids, (any, B), for examples of ``sizes`` (B,) tokens; random in training.

        Their highest coordinates are ``highest`` (levels of the layout, B). ``key`` (B,) identifies problems, for ids
        that are random in tests as well.
        """
        return torch.zeros_like(highest[:1])

    def ids(self, coordinates: Tensor, offsets: Tensor, places: Tensor) -> Tensor:
        """Return ids (levels, B or 1, T) of tokens at ``places`` (B or 1, T).

        Coordinates are (levels of the layout, B, T).
        """
        raise NotImplementedError


def refuse_longer(kind: str, sizes: Tensor, max_position: int) -> None:
    """Raise `OperandError` if an example of ``sizes`` (B,) tokens has more than there are ids."""
    if int(sizes.max()) > max_position + 1:
        raise RoomError(
            f"these operands make a sequence of up to {int(sizes.max())} tokens, and {kind} ids go up to "
            f"{max_position} (data.position_ids.max_position): shorten them or raise it",
            0,
            int(sizes.max()) - 1,
        )
