"""Base of formats: token ids of symbols, the layout of a sequence slot by slot, rows, reading the answer."""

import string
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar, NamedTuple

from lengen.digits import Tensor, torch
from lengen.part import Axis, SettingError
from lengen.tasks.base import Task
from lengen.tasks.two_operand_addition import TwoOperandAddition

# A layout is written once per shape of problem in plain Python, slot by slot, as the papers draw their figures; whole
# batches are then filled by one gather (`lengen.data.batch_writer`).


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
    """Each digit follows a mark of its place: an index hint (`lengen.formats.linear`)."""
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
            held = (UNUSED,) * self.levels if coordinates is None else coordinates(place + 1)
            for hint in (held[0], 0) if self.hinted else (0,):
                self.symbols.append(None)
                self.digits.append(Digit(row, index, place))
                self.coordinates.append(held)
                self.hints.append(hint)

    def respond(self) -> None:
        """Begin the response at the next slot."""
        self.response = len(self.symbols)

    def split(self, handed_over: bool = False) -> tuple["Layout", "Layout"]:
        """Split into the input of an encoder and the text of a decoder, which begins with a ``$`` of its own.

        ``handed_over``: after the last slot of the query, which the encoder then does not read.
        """
        end = self.response - handed_over
        query = Layout(self.levels, response=end, opening=self.opening)
        written = Layout(self.levels, response=1)
        if not handed_over:
            written.symbol("$")
        for column in ("symbols", "digits", "coordinates", "hints"):
            slots = getattr(self, column)
            getattr(query, column).extend(slots[:end])
            getattr(written, column).extend(slots[end:])
        return query, written


def at(order: int, *, whole: bool = False) -> Callable[[int], tuple[int, int]]:
    """Return coordinates of the digits of the ``order``-th number.

    These are their place in it, or one for the ``whole``, and its order.
    """
    return lambda place: (0 if whole else place, order)


def places(length: int, *, reverse: bool) -> Iterable[int]:
    """Return the places of a number of ``length`` digits in writing order: plain is most significant first."""
    return range(length) if reverse else range(length - 1, -1, -1)


PAD = 0
"""Token id that fills a row on the right; no target of a task."""
END = 1
"""Token id shown as ``$``: begins and ends every sequence (one symbol, as in the source papers' code)."""
FIRST = 2
"""Token id of the first symbol of a vocabulary; digits come first, so digit d has id ``FIRST + d``."""


class Vocab:
    """A closed set of tokens: single characters, or words, which text then separates by spaces.

    >>> Vocab("01=").encode("$01=1$").tolist()
    [1, 2, 3, 4, 3, 1]
    >>> Vocab("01=").decode([1, 2, 3, 4, 3, 1, 0])
    '$01=1$'
    >>> numbers = Vocab(["1", "2", "10", "⊥"])
    >>> numbers.decode(numbers.encode("10 2 ⊥ 2 10"))
    '10 2 ⊥ 2 10'
    >>> Vocab("01=").decode([2, 0, 3, 0])
    '0␀1'
    """

    def __init__(self, symbols: Sequence[str]) -> None:
        self.symbols = symbols
        self.separator = " " if any(len(symbol) > 1 for symbol in symbols) else ""
        padding = "PAD" if self.separator else "␀"
        self._ids = {"PAD": PAD, padding: PAD, "$": END, **{symbol: FIRST + i for i, symbol in enumerate(symbols)}}
        self._characters = [padding, "$", *symbols]

    def __len__(self) -> int:
        return len(self._characters)

    def id(self, character: str) -> int:
        """Return token id of a symbol, or of ``PAD``; KeyError for what is not in the vocabulary."""
        return self._ids[character]

    def encode(self, text: str, unknown: int | None = None) -> "Tensor":
        """Return (T,) int64 token ids of a text.

        What is not in the vocabulary gets the id ``unknown``; without one it is a `ValueError`.
        """
        parts = text.split() if self.separator else text
        if unknown is None and (missing := set(parts) - self._ids.keys()):
            raise ValueError(
                f"{text!r:.60} holds {min(missing)!r:.20}, which is no symbol of this vocabulary: expected "
                f"{'words between blanks' if self.separator else 'characters'} of {' '.join(self.symbols)!r:.60}"
            )
        return torch.tensor([self._ids.get(symbol, unknown) for symbol in parts], dtype=torch.int64)

    def decode(self, ids: "Iterable[int] | Tensor") -> str:
        """Return the text of token ids.

        Padding on the right leaves no trace, any other is ``␀``, among words ``PAD``.
        """
        tokens = [int(i) for i in ids]
        while tokens and tokens[-1] == PAD:
            tokens.pop()
        return self.separator.join(self._characters[i] for i in tokens)


PRINTABLE = Vocab("".join(character for character in string.printable if character not in "$\f"))
"""100 printable characters, digits first: the vocabulary of Section 4.2.1 of "Length Generalization on Multi-Digit
Integer Addition with Transformers". ``$`` is `END`; the form feed, which its author's code pads with, is `PAD`."""


class Written(ABC):
    """A format of one task: order on the page, padding, reversal, scratchpads."""

    task: Task
    symbols: tuple[str, ...]
    """The symbols it writes, digits first."""
    levels: ClassVar[int] = 2
    """Levels of coordinates its layouts carry."""
    rows: tuple[str, ...]
    """Names of the written rows, whose digits the task has."""
    marks: Mapping[str, tuple[str, str]] = MappingProxyType({})
    """Rows that are no digits, with the symbols of 0 and 1."""
    dropped: frozenset[str] = frozenset()
    """Rows whose leading zeros are not written, so that problems of one shape differ in length."""
    optional: frozenset[str] = frozenset()
    """Rows that are not written at all if they hold nothing but zeros."""
    follows: bool = False
    """Numbers of the response end where the model ends them, so ids of its own text follow what it wrote."""
    least: int = 0
    """Digits that are written of every number in any case."""
    width: int = 0
    """Digits of every number; 0: as many as it needs."""
    separators: str = ""
    """Characters before the final answer, which follows the last of them; empty: the answer is the whole response."""
    ends: bool = True
    """A response ends with an end token; False: its length is known, and exactly so many tokens are written."""
    last_token_only: bool = False
    """The final answer is the last token before the end."""
    reversed_answer: bool = False
    """The answer is written least significant digit first."""
    plain_answer: bool = True
    """The answer is a number, which reads the same without leading zeros."""
    exact: bool = False
    """Its shapes are the sub-task and the digits of each operand, not the task's shapes."""
    index_hints: tuple[str, ...] = ()
    """Marks before digits, in the order of the places they mark (`lengen.formats.linear`)."""
    kinds: int = 0
    """Number of sub-tasks that a problem can have; 0: there is nothing but the task."""

    @abstractmethod
    def layout(self, shape: tuple[int, ...]) -> Layout:
        """Return the layout of one shape of problem."""

    def longest(self, length: int, count: int) -> list[tuple[int, ...]]:
        """Return shapes among which are the longest query and the longest response of problems of such operands."""
        if self.exact:
            return [(kind, *(length,) * count) for kind in range(max(1, self.kinds))]
        return self.task.longest_shapes(length, count)

    @abstractmethod
    def tokens(self, length: int, count: int) -> tuple[float, float]:
        """Return tokens of prompt and response of a test problem, special ones and leading zeros included.

        Of sub-tasks the mean. The same as counting the slots of a layout, which takes longer, but for operands that
        drop leading zeros: they have ``length`` digits here, as most have, and room for more in a layout.
        """


class Format(Axis):
    """Format of written problems.

    Example:
        >>> import lengen
        >>> isinstance(lengen.Linear(), lengen.Format)
        True
    """

    __slots__ = ()
    AXIS = "a format"

    COORDINATES: ClassVar[bool] = True
    """Its digits have coordinates, so that coupled ids can number them."""
    LEVELS: ClassVar[int] = 2
    """Levels of coordinates."""

    aligned: ClassVar[bool] = False
    """Digits of one significance are written side by side."""
    scratchpad: bool = False
    """Intermediate results are written before the answer."""
    width: int = 0
    """Digits of every number; 0: as many as it needs."""
    reverse_query: bool = False
    """Operands are written least significant digit first."""
    reverse_response: bool = False
    """Numbers of the response are written least significant digit first."""
    begin: bool = True
    """A sequence begins with ``$``."""
    index_hints: int = 0
    """Number of marks that can be written before digits."""

    @property
    def padded(self) -> bool:
        """True if operands are padded with zeros to one length."""
        return False

    def build(self, task: Task) -> Written:
        """Return the format of a task."""
        raise NotImplementedError

    def check(self, task: Task) -> None:
        """Raise `SettingError` if the task cannot be written so."""


def only_two_operands(format: Format, task: Task) -> None:
    """Raise `SettingError` for a task other than sums of two numbers."""
    if not isinstance(task, TwoOperandAddition):
        fault = f"data.format={format.kind}: it writes sums of exactly two numbers, and {task.kind} is another task"
        raise SettingError(f"{fault}; choose data.task=two_operand_addition or data.format=linear")
