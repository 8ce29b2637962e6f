"""Where everything stands in a sequence: one slot per token, with its coordinates and its source.

A layout is written once per shape of problem in plain Python, slot by slot, as the papers draw their
figures; whole batches are then filled by one gather (`lengen.data.writer`).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

UNUSED = -1
"""Coordinate of a slot that has no place in a level: its position id is 0."""


@dataclass
class Layout:
    """The slots of one shape of problem, from the beginning ``$`` to the end ``$``."""

    levels: int
    symbols: list[str | None] = field(default_factory=list)
    """The character of a slot, or None where a digit stands."""
    digits: list[tuple[int, int]] = field(default_factory=list)
    """(row, place) of the digit in a slot: which number, which place of it; (0, 0) at symbols."""
    coordinates: list[tuple[int, ...]] = field(default_factory=list)
    """One coordinate per level: what position coupling couples; `UNUSED` where a level says nothing."""
    response: int = 0
    """Index of the first slot of the response: from here on tokens are training targets."""
    opening: int = 1
    """Slots before the operands: ``$``, or a prefix and ``$``. Random spaces go after them and before the last slot of
    the query."""

    def symbol(self, character: str, *coordinates: int) -> None:
        """Append a symbol; without coordinates it is unused in every level."""
        self.symbols.append(character)
        self.digits.append((0, 0))
        self.coordinates.append(coordinates or (UNUSED,) * self.levels)

    def number(self, row: int, places: Iterable[int], coordinates: Callable[..., tuple[int, ...]], *order: int) -> None:
        """Append digits of number ``row`` in the given order of places (0 = least significant).

        ``coordinates`` takes the 1-based place k, then ``order``, and gives that digit's coordinates.
        """
        for place in places:
            self.symbols.append(None)
            self.digits.append((row, place))
            self.coordinates.append(coordinates(place + 1, *order))

    def respond(self) -> None:
        """The response begins at the next slot."""
        self.response = len(self.symbols)

    def split(self) -> tuple["Layout", "Layout"]:
        """What an encoder reads, and what a decoder writes after a ``$`` of its own."""
        cut = self.response
        nowhere = (UNUSED,) * self.levels
        query = Layout(self.levels, self.symbols[:cut], self.digits[:cut], self.coordinates[:cut], cut, self.opening)
        written = Layout(
            self.levels,
            ["$", *self.symbols[cut:]],
            [(0, 0), *self.digits[cut:]],
            [nowhere, *self.coordinates[cut:]],
            1,
        )
        return query, written


def places(length: int, *, reverse: bool) -> Iterable[int]:
    """Places of a number of ``length`` digits in writing order: plain is most significant first."""
    return range(length) if reverse else range(length - 1, -1, -1)
