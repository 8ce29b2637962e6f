"""Base of formats: the rows of a task that are written, the place of each digit, reading the answer."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from lengen.formats.layout import Layout
from lengen.part import Axis, SettingError
from lengen.tasks.base import Task
from lengen.tasks.two_operand_addition import TwoOperandAddition


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
    """Marks before digits, in the order of the places they mark (`lengen.formats.index_hints`)."""
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
        """Operands are padded with zeros to one length."""
        return False

    def build(self, task: Task) -> Written:
        """Return the format of a task."""
        raise NotImplementedError

    def check(self, task: Task) -> None:
        """Raise `SettingError` if the task cannot be written so."""


def only_two_operands(format: Format, task: Task) -> None:
    """Raise `SettingError` for a task other than sums of two numbers."""
    if not isinstance(task, TwoOperandAddition):
        raise SettingError(
            f"data.format={format.kind}: it writes sums of exactly two numbers, and {task.kind} is another task; "
            f"choose data.task=two_operand_addition or data.format=linear"
        )
