"""The formats that a setting can name: how the problems of a task are written; no torch.

Defaults are plain: what the task computes, each number as it is, most significant digit first.
"""

from typing import TYPE_CHECKING, ClassVar, Literal

from lengen.config.part import Axis, Count, Part, SettingError, Width, cut, kind_of, nearest
from lengen.config.tasks import (
    LARGEST_ALPHABET,
    DigitSums,
    Multiplication,
    NByOne,
    PairAddition,
    Task,
    TwoOperandAddition,
)

if TYPE_CHECKING:
    from lengen.formats.base import Format as Written

Subtask = Literal["add", "rev", "ali", "mad", "car"]
SUBTASKS: tuple[Subtask, ...] = ("add", "rev", "ali", "mad", "car")
"""Parts of addition that can be asked for (Section 4.2.2 of "Length Generalization on Multi-Digit Integer Addition with
Transformers")."""
OTHER_SYMBOLS = 8
"""Room for operators, separators and spaces among the symbols of a line."""


class Format(Axis):
    """How problems are written."""

    __slots__ = ()
    AXIS = "a format"

    COORDINATES: ClassVar[bool] = True
    """Its digits have coordinates, so that coupled ids can number them."""
    LEVELS: ClassVar[int] = 2
    """Levels of coordinates."""

    @property
    def scratchpad(self) -> bool:
        """Intermediate results stand before the answer."""
        return False

    @property
    def reverse_query(self) -> bool:
        """Operands stand least significant digit first."""
        return False

    @property
    def reverse_response(self) -> bool:
        """Numbers of the response stand least significant digit first."""
        return False

    @property
    def aligned(self) -> bool:
        """Digits of one significance stand side by side."""
        return False

    @property
    def padded(self) -> bool:
        """Operands are padded with zeros to one length."""
        return False

    def build(self, task: Task) -> "Written":
        """The format of a task."""
        raise NotImplementedError

    def check(self, task: Task) -> None:
        """Raise `SettingError` where the task cannot be written so."""


class Linear(Part, Format, tag="linear", frozen=True):
    """``$operands=answer$``, with the intermediate results of the task before the answer where asked for."""

    scratchpad: bool = False
    """Write the intermediate results before the answer."""
    pad_query: bool = False
    """Zero-pad operands to the longest answer that could occur."""
    pad_response: bool = False
    """Zero-pad the numbers of the response to the longest answer that could occur."""
    pad_to: Width = 0
    """Zero-pad numbers to at least this many digits; longer ones are written in full."""
    width: Width = 0
    """Zero-pad all numbers to exactly this many digits; problems that need more are refused."""
    more_zeros: Width = 0
    """Further zeros before numbers of the response that are padded to ``width``."""
    reverse_query: bool = False
    """Write operands least significant digit first."""
    reverse_response: bool = False
    """Write the numbers of the response least significant digit first."""
    begin: bool = True
    """A sequence begins with ``$``."""
    separator: Literal["=", "$", "⊥"] = "="
    """What stands between query and response."""
    end: bool = True
    """A response ends with ``$``; else exactly as many tokens are written as the answer has."""
    index_hints: Count = 0
    """Marks that can stand before digits, the same one before digits of the same place: ``$B5A7+B4A8=C1B0A5$``; in
    training the marks of an example begin anywhere among them. 0 writes none."""

    @property
    def padded(self) -> bool:
        return bool(self.pad_query or self.width)

    def build(self, task: Task) -> "Written":
        from lengen.formats.linear import LinearFormat

        return LinearFormat(task, self)

    def check(self, task: Task) -> None:
        who = kind_of(task)
        if self.scratchpad and not task.STAGES:
            raise SettingError(
                f"data.format.scratchpad=true: {who} cannot be written with a scratchpad, {task.WHY_NONE}; set "
                f"data.format.scratchpad=false"
            )
        if not task.NUMBERS:
            for name in ("pad_query", "pad_response", "pad_to", "width", "reverse_query", "reverse_response"):
                if getattr(self, name):
                    raise SettingError(
                        f"data.format.{name}={str(getattr(self, name)).lower()}: the digits of {who} are no numbers, "
                        f"which could be padded or reversed; leave data.format.{name} out"
                    )
        if self.more_zeros and (not self.width or task.EXACT_ANSWER):
            raise SettingError(
                f"data.format.more_zeros={self.more_zeros}: zeros stand before the number that {who} is answered with "
                f"where data.format.width pads it; leave data.format.more_zeros out"
            )
        for name in ("pad_query", "pad_response", "pad_to"):
            if self.width and getattr(self, name):
                raise SettingError(
                    f"data.format.{name}={str(getattr(self, name)).lower()}: data.format.width={self.width} already "
                    f"says how many digits every number has; set one of them"
                )
        for name in ("pad_query", "pad_response"):
            if getattr(self, name) and task.EXACT_ANSWER:
                raise SettingError(
                    f"data.format.{name}=true: answers of {who} are as long as its operands say, so there is no "
                    f"longest one to pad to; choose data.format.pad_to or data.format.width"
                )
        if self.pad_to and task.LAST:
            raise SettingError(
                f"data.format.pad_to={self.pad_to}: the last digit of {who} is its answer, and zeros behind it would "
                f"be "
                f"another; choose data.format.width, which pads its operands"
            )
        for name in ("pad_to", "width"):
            if getattr(self, name) and not task.PADS:
                raise SettingError(
                    f"data.format.{name}={getattr(self, name)}: {who} is written as long as it is; leave "
                    f"data.format.{name} out"
                )
        if self.index_hints:
            self._check_hints(task, who)
        if task.UNITS_FIRST and not self.reverse_response:
            raise SettingError(
                f"data.format.reverse_response=false: {who} is answered from the units on, each digit with those "
                f"before it; set data.format.reverse_response=true"
            )
        if not self.begin and not self.end and self.separator == "$":
            raise SettingError("data.format.separator=$: with neither beginning nor end, expected = or ⊥")
        if not self.end and self.build(task).follows:
            raise SettingError(
                f"data.format.end=false: numbers of {who} end where the model ends them, so an end token is needed; "
                f"set data.format.end=true"
            )

    def _check_hints(self, task: Task, who: str) -> None:
        if not task.PLACEWISE and not self.scratchpad:
            raise SettingError(
                f"data.format.index_hints={self.index_hints}: the answer of {who} says something of its operands as a "
                f"whole, so no digit of it shares a place with theirs; set data.format.index_hints=0"
                + (" or data.format.scratchpad=true" if task.STAGES else "")
            )
        room = LARGEST_ALPHABET - len(task.symbols) - OTHER_SYMBOLS
        if self.index_hints > room:
            raise SettingError(
                f"data.format.index_hints={self.index_hints}: token ids are bytes, and beside the digits of {who} "
                f"there is room for {room} marks; lower it"
            )


class Aligned(Part, Format, tag="aligned", frozen=True):
    """``$+00172438$1780$``: the digits of two operands pairwise, those of one significance side by side."""

    @property
    def aligned(self) -> bool:
        return True

    width: Width
    """Digits of every number."""
    reverse_response: bool = True
    """Write the result least significant digit first."""

    @property
    def padded(self) -> bool:
        return True

    def build(self, task: Task) -> "Written":
        from lengen.formats.aligned import AlignedFormat

        return AlignedFormat(task, self)

    def check(self, task: Task) -> None:
        if not isinstance(task, PairAddition | NByOne | DigitSums):
            raise SettingError(
                f"data.format=aligned: the digits of two operands stand side by side, and {kind_of(task)} has no two "
                f"operands of one width; choose data.format=linear"
            )
        if self.width < 1:
            raise SettingError(f"data.format.width={self.width}: expected at least 1 digit")


class MultiplicationStages(Part, Format, tag="multiplication_stages", frozen=True):
    """``$37*925=581+470+333=58100>52900>52243$``: both stages of long multiplication as a scratchpad."""

    LEVELS = 3

    @property
    def scratchpad(self) -> bool:
        return True

    reverse_query: bool = False
    """Write operands least significant digit first."""
    reverse_response: bool = True
    """Write the numbers of the response least significant digit first."""

    def build(self, task: Task) -> "Written":
        from lengen.formats.multiplication_stages import MultiplicationStagesFormat

        return MultiplicationStagesFormat(task, self)

    def check(self, task: Task) -> None:
        if not isinstance(task, Multiplication):
            raise SettingError(
                f"data.format=multiplication_stages: these are stages of multiplication, and {kind_of(task)} has "
                f"others; choose data.format=linear"
            )


class DigitSteps(Part, Format, tag="digit_steps", frozen=True):
    """``$12+45=2 1 + 5 4;c=0,2+5+0=7,c=0;1+4+0=5,c=0|57$``: one step for each digit of the longer operand."""

    COORDINATES = False

    @property
    def scratchpad(self) -> bool:
        return True

    reverse_response: bool = False
    """Write the answer least significant digit first."""
    pad_operands: bool = False
    """Reversed operands are padded to the length of the longer one, as their steps are: ``12+345=2 1 0 + 5 4 3;...``"""

    def build(self, task: Task) -> "Written":
        from lengen.formats.digit_steps import DigitStepsFormat

        return DigitStepsFormat(task, self)

    def check(self, task: Task) -> None:
        _only_two_operands(self, task)


class Subtasks(Part, Format, tag="subtasks", frozen=True):
    """``rev$12+45=21+54$``: addition and its parts in equal shares, each example with its prefix."""

    COORDINATES = False

    names: tuple[str, ...] = SUBTASKS
    """The sub-tasks; the first is the one that is tested."""
    carries: Literal["pairs", "code", "true"] = "pairs"
    """What marks a carry in car: digit pairs of 10 or more, carries handed downward (the author's code), or carries."""

    def build(self, task: Task) -> "Written":
        from lengen.formats.subtasks import SubtasksFormat

        return SubtasksFormat(task, self)

    def check(self, task: Task) -> None:
        _only_two_operands(self, task)
        for name in self.names:
            if name not in SUBTASKS:
                raise SettingError(
                    f"data.format.names={cut(str(list(self.names)))}: unknown sub-task {cut(name)}"
                    f"{nearest(cut(name), SUBTASKS)}"
                )
        if not self.names:
            raise SettingError("data.format.names=[]: expected at least one sub-task, such as add")


def _only_two_operands(format: Part, task: Task) -> None:
    if not isinstance(task, TwoOperandAddition):
        raise SettingError(
            f"data.format={format.kind}: it writes sums of exactly two numbers, and {kind_of(task)} is another task; "
            f"choose data.task=two_operand_addition or data.format=linear"
        )


__all__ = ["SUBTASKS", "Aligned", "DigitSteps", "Format", "Linear", "MultiplicationStages", "Subtasks"]
