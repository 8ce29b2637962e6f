"""Layouts of sequences: one slot per token, with its coordinates and its source.

A layout is written once per shape of problem in plain Python, slot by slot, as the papers draw their figures; whole
batches are then filled by one gather (`lengen.data.writer`).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

UNUSED = -1
"""Coordinate of a slot that has no place in a level: its position id is 0."""


class Digit(NamedTuple):
    """Digit in a slot."""

    row: str
    """Name of the rows it is of: operands, answer, or the intermediate results of the task."""
    number: int
    """Index among the rows of that name."""
    place: int
    """Place in the row, from 0."""


@dataclass
class Layout:
    """The slots of one shape of problem, from the beginning to the end."""

    levels: int
    symbols: list[str | None] = field(default_factory=list)
    """The character of a slot; None for a digit."""
    digits: list[Digit | None] = field(default_factory=list)
    """The digit in a slot; None for a symbol."""
    coordinates: list[tuple[int, ...]] = field(default_factory=list)
    """One coordinate per level, for position coupling; `UNUSED` in a level without one."""
    response: int = 0
    """Index of the first slot of the response: from here on tokens are training targets."""
    opening: int = 1
    """Slots before the operands: ``$``, or a prefix and ``$``. Random spaces go after them and before the last slot of
    the query."""
    hinted: bool = False
    """Each digit follows a mark of its place: an index hint (`lengen.formats.index_hints`)."""
    hints: list[int] = field(default_factory=list)
    """The place, from 1, that a slot marks instead of showing the digit it names; 0 if it marks none."""

    def symbol(self, character: str, *coordinates: int) -> None:
        """Append a symbol; without coordinates it is unused in every level."""
        self.symbols.append(character)
        self.digits.append(None)
        self.coordinates.append(coordinates or (UNUSED,) * self.levels)
        self.hints.append(0)

    def text(self, characters: str) -> None:
        """Append symbols without coordinates."""
        for character in characters:
            self.symbol(character)

    def number(
        self, row: str, index: int, places: Iterable[int], coordinates: Callable[[int], tuple[int, ...]] | None = None
    ) -> None:
        """Append digits of a row in the given order of places (0 = least significant, or first).

        ``coordinates`` takes the 1-based place and gives that digit's coordinates; without it they are unused.
        """
        for place in places:
            found = (UNUSED,) * self.levels if coordinates is None else coordinates(place + 1)
            for hint in (found[0], 0) if self.hinted else (0,):
                self.symbols.append(None)
                self.digits.append(Digit(row, index, place))
                self.coordinates.append(found)
                self.hints.append(hint)

    def respond(self) -> None:
        """Begin the response at the next slot."""
        self.response = len(self.symbols)

    def split(self, handed_over: bool = False) -> tuple["Layout", "Layout"]:
        """Split into the input of an encoder and the text of a decoder, which begins with a ``$`` of its own.

        ``handed_over``: after the last slot of the query, which the encoder then does not read.
        """
        cut, read = self.response, self.response - handed_over
        query = Layout(
            self.levels,
            self.symbols[:read],
            self.digits[:read],
            self.coordinates[:read],
            read,
            self.opening,
            hints=self.hints[:read],
        )
        written = Layout(
            self.levels,
            [self.symbols[read] if handed_over else "$", *self.symbols[cut:]],
            [self.digits[read] if handed_over else None, *self.digits[cut:]],
            [self.coordinates[read] if handed_over else (UNUSED,) * self.levels, *self.coordinates[cut:]],
            1,
            hints=[self.hints[read] if handed_over else 0, *self.hints[cut:]],
        )
        return query, written


def at(order: int, *, whole: bool = False) -> Callable[[int], tuple[int, int]]:
    """Return coordinates of the digits of the ``order``-th number.

    These are their place in it, or one for the ``whole``, and its order.
    """
    return lambda place: (0 if whole else place, order)


def places(length: int, *, reverse: bool) -> Iterable[int]:
    """Return places of a number of ``length`` digits in writing order: plain is most significant first."""
    return range(length) if reverse else range(length - 1, -1, -1)
