"""Problems written in one line: operands, a separator, intermediate results, the answer; with or without hints.

Padded sums, Figure 4 of "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count":

    tokens    $057+048+096=000>750>501>102$
    level 1   04321432143214321432143210...     coupled within every number, by significance
    level 2   0111122223333111122223333...      coupled between query and response, by order

Bits with the parity of every prefix (its Figure 2), numbers of a fixed width ("From Interpolation to Extrapolation",
Appendix A.4), sequences without beginning and end ("Task Hinting", Figure 3.1):

    $0101=0110$        $0123+0748$1780$        5 3 1 4 2 ⊥ 1 2 3 4 5
"""

from collections.abc import Iterable
from itertools import repeat
from typing import Literal

from lengen.formats.base import Format, Layout, Written, at, places
from lengen.part import Count, Part, SettingError, Width
from lengen.tasks.base import ANSWER, LARGEST_ALPHABET, OPERANDS, Extent, Row, Task

#     plain       $57+48=105$          marks      $B5A7+B4A8=C1B0A5$
#     reversed    $75+84=501$          marks      $A7B5+A8B4=A5B0C1$
#
# Zhou H. et al. 2023, "What Algorithms can Transformers Learn?" (2310.16028), where hints let parity (with a
# scratchpad) and addition reach lengths that they do not reach without; Zhou Y. et al. 2024, "Transformers Can Achieve
# Length Generalization But Not Robustly" (2402.09371): reversed sums with hints, FIRE and randomised ids go from 40
# trained digits to 100 with more than 98 % in the best of their seeds, and vary largely between seeds.
#
# Which digits share a place is what the layouts' first coordinate says: by significance in numbers, by order in
# sequences and strings (a reversed string: where the digit came from). In training the marks of an example begin at
# random, so that every one of them is trained; in testing they begin with the first, as in the code of "Position
# Coupling: Improving Length Generalization of Arithmetic Transformers Using Task Structure"
# (``AdditionDatasetWithIndexHints``). The marks of a response are trained and written like its digits;
# `lengen.data.reading_responses.final_answer` reads an answer without them.


LATIN = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
EXTENDED = 0x100
"""Code point from which further marks are taken: letters of other European languages."""


def index_hints(number: int) -> tuple[str, ...]:
    """Return the first ``number`` marks: none of them is a digit of a base up to 16, an operator or a separator.

    >>> "".join(index_hints(28))
    'ABCDEFGHIJKLMNOPQRSTUVWXYZĀā'
    """
    further = max(0, number - len(LATIN))
    return (*LATIN[:number], *(chr(EXTENDED + place) for place in range(further)))


OTHER_SYMBOLS = 8
"""Room for operators, separators and spaces among the symbols of a line."""


class Linear(Part, Format, tag="linear", frozen=True):
    """``$operands=answer$``, with the intermediate results of the task before the answer if asked for.

    Example:
        >>> import lengen
        >>> data = lengen.TaskData(lengen.setting("addition", digits=2, format=lengen.Linear(scratchpad=True)), seed=0)
        >>> data.vocab.decode(data.writer.write(data.task.parse(["12", "34"])).tokens[0])
        '$12+34=0>12>46$'
    """

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
    """Separator between query and response."""
    end: bool = True
    """A response ends with ``$``; else exactly as many tokens are written as the answer has."""
    index_hints: Count = 0
    """Number of marks that can be written before digits, the same one before digits of the same place:
    ``$B5A7+B4A8=C1B0A5$``; in training the marks of an example begin anywhere among them. 0 writes none."""

    @property
    def padded(self) -> bool:
        return bool(self.pad_query or self.width)

    def build(self, task: Task) -> Written:
        return LinearFormat(task, self)

    def check(self, task: Task) -> None:
        who = task.kind
        if self.scratchpad and not task.STAGES:
            fault = f"data.format.scratchpad=true: {who} has no intermediate results to write"
            raise SettingError(f"{fault}; set data.format.scratchpad=false")
        self._check_padding(task, who)
        if self.index_hints:
            self._check_hints(task, who)
        if task.UNITS_FIRST and not self.reverse_response:
            fault = f"data.format.reverse_response=false: {who} is answered from the units on"
            raise SettingError(f"{fault}, each digit with those before it; set data.format.reverse_response=true")
        if not self.begin and not self.end and self.separator == "$":
            raise SettingError("data.format.separator=$: with neither beginning nor end, expected = or ⊥")
        if not self.end and self.build(task).follows:
            fault = f"data.format.end=false: numbers of {who} end where the model ends them, so an end token is needed"
            raise SettingError(f"{fault}; set data.format.end=true")

    def _check_padding(self, task: Task, who: str) -> None:
        if not task.ROWS.numbers:
            for name in ("pad_query", "pad_response", "pad_to", "width", "reverse_query", "reverse_response"):
                if getattr(self, name):
                    fault = f"data.format.{name}={str(getattr(self, name)).lower()}: the digits of {who} are no numbers"
                    raise SettingError(f"{fault}, which could be padded or reversed; leave data.format.{name} out")
        if self.more_zeros and (not self.width or task.ROWS.answer is not Row.BOUND):
            raise SettingError(
                f"data.format.more_zeros={self.more_zeros}: more zeros pad an answer that is a number of fixed "
                f"width; set data.format.width, for a task with such answers, or leave data.format.more_zeros out"
            )
        for name in ("pad_query", "pad_response", "pad_to"):
            if self.width and getattr(self, name):
                fault = f"data.format.width={self.width} already says how many digits every number has; set one of them"
                raise SettingError(f"data.format.{name}={str(getattr(self, name)).lower()}: {fault}")
        for name in ("pad_query", "pad_response"):
            if getattr(self, name) and task.ROWS.answer is not Row.BOUND:
                fault = f"answers of {who} are as long as its operands say, so there is no longest one to pad to"
                raise SettingError(f"data.format.{name}=true: {fault}; choose data.format.pad_to or data.format.width")
        if self.pad_to and task.LAST_DIGIT:
            raise SettingError(
                f"data.format.pad_to={self.pad_to}: the last digit of {who} is its answer, and zeros behind it would "
                f"be another; choose data.format.width, which pads its operands"
            )
        for name in ("pad_to", "width"):
            if getattr(self, name) and task.ROWS.answer is Row.SEQUENCE:
                fault = f"data.format.{name}={getattr(self, name)}: {who} is written as long as it is"
                raise SettingError(f"{fault}; leave data.format.{name} out")

    def _check_hints(self, task: Task, who: str) -> None:
        if not task.PLACEWISE and not self.scratchpad:
            raise SettingError(
                f"data.format.index_hints={self.index_hints}: the answer of {who} says something of its operands as a "
                f"whole, so no digit of it shares a place with theirs; set data.format.index_hints=0"
                + (" or data.format.scratchpad=true" if task.STAGES else "")
            )
        room = LARGEST_ALPHABET - len(task.symbols) - OTHER_SYMBOLS
        if self.index_hints > room:
            fault = f"token ids are bytes, and beside the digits of {who} there is room for {room} marks; lower it"
            raise SettingError(f"data.format.index_hints={self.index_hints}: {fault}")


class LinearFormat(Written):
    """``operands separator stages > answer``; level 1 of the coordinates is the place in a number, level 2 its order.

    A symbol has place 0 and the order of the number whose least significant digit it stands beside. Where an answer
    says something of its operands as a whole there is one place for all of them and for the answer, and the next for
    the separator (Section 3.1 of "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count").
    """

    def __init__(self, task: Task, options: Linear) -> None:
        self.task = task
        self.options = options
        self.width = options.width
        self.least = max(options.pad_to, options.width + options.more_zeros)
        self.ends = options.end
        stages = (task.STAGES,) if options.scratchpad else ()
        self.replaced = bool(stages) and task.LAST_DIGIT
        self.rows = (OPERANDS, *stages) if self.replaced else (OPERANDS, *stages, ANSWER)
        self.separators = ">" if stages and not self.replaced else ""
        self.last_token_only = task.LAST_DIGIT
        self.reversed_answer = options.reverse_response
        self.plain_answer = task.ROWS.numbers
        dropped = set()
        if not options.width and not options.pad_query and task.ROWS.operand(0) is Row.BOUND:
            dropped.add(OPERANDS)
        if not options.width and not options.pad_response and task.ROWS.answer is Row.BOUND:
            dropped |= {ANSWER, *(stages if task.ROWS.stages is Row.BOUND else ())}
        self.dropped = frozenset(dropped)
        self.follows = ANSWER in dropped
        self.index_hints = index_hints(options.index_hints)
        between_numbers = (*task.SIGNS.operator, *self.separators, *options.separator.replace("$", ""))
        written = (*task.symbols, *between_numbers, *task.MARKS, *self.index_hints)
        self.symbols = tuple(dict.fromkeys(written))

    def layout(self, shape: tuple[int, ...]) -> Layout:
        extent = self.task.extent(shape)
        layout = Layout(self.levels, opening=int(self.options.begin), hinted=bool(self.index_hints))
        whole = not self.task.PLACEWISE and not self.options.scratchpad
        self._query(layout, extent, whole)
        layout.respond()
        self._response(layout, extent, whole)
        return layout

    def _query(self, layout: Layout, extent: Extent, whole: bool) -> None:
        task, options = self.task, self.options

        def operator(order: int) -> None:
            if task.SIGNS.operator:
                layout.symbol(task.SIGNS.operator, 0, order)

        if options.begin:
            layout.symbol("$")
        if task.SIGNS.prefix:
            operator(0)
        # Operands that drop leading zeros are laid out as if padded: that is what batches are sorted by.
        for i, width in enumerate(self._operands(extent, options.pad_query or OPERANDS in self.dropped)):
            # The operator belongs to the number beside whose least significant digit it stands.
            if i and options.reverse_query:
                operator(i)
            layout.number(OPERANDS, i, self._order(width, options.reverse_query), at(i, whole=whole))
            if i < len(extent.operands) - 1 and not options.reverse_query:
                operator(i)
        if task.SIGNS.separator:
            if options.separator == "$":
                layout.symbol("$")
            elif options.separator:
                layout.symbol(options.separator, int(whole), 0)

    def _response(self, layout: Layout, extent: Extent, whole: bool) -> None:
        task, options = self.task, self.options
        order = 0
        if options.scratchpad:
            for j, size in enumerate(extent.stages):
                if j:
                    layout.symbol(">", 0, j)
                width = self._wide(size)
                layout.number(task.STAGES, j, self._order(width, options.reverse_response), at(j))
            order = len(extent.stages)
            if not self.replaced and order:
                layout.symbol(">", 0, order)
        if not self.replaced:
            width = self._wide(extent.answer) + options.more_zeros

            def answer(place: int) -> tuple[int, int]:
                return (0 if whole else task.place(place, width), order)

            layout.number(ANSWER, 0, self._order(width, options.reverse_response), answer)
            for _ in range(task.trailing):
                layout.symbol("PAD")
        if options.end:
            layout.symbol("$")

    def tokens(self, length: int, count: int) -> tuple[float, float]:
        task, options = self.task, self.options
        extent = task.extent(task.shape(length, count))
        each = 1 + bool(self.index_hints)  # tokens of a digit
        written = each * sum(self._operands(extent, options.pad_query))
        operators = len(task.SIGNS.operator) * (len(extent.operands) - 1 + task.SIGNS.prefix)
        prompt = options.begin + written + operators + task.SIGNS.separator
        stages = extent.stages if options.scratchpad else ()
        wide = options.width * len(stages) or sum(map(max, stages, repeat(options.pad_to)))
        response = each * wide + max(0, len(stages) - 1) + options.end + task.trailing
        if not self.replaced:
            response += each * (self._wide(extent.answer) + options.more_zeros) + bool(stages)
        return prompt, response

    def _operands(self, extent: Extent, padded: bool) -> list[int]:
        """Return the digits that are written of each operand, ``padded`` to the longest answer or not.

        Sequences as they are.
        """
        if padded and Row.SEQUENCE not in self.task.ROWS.operands:
            return [self._wide(extent.answer)] * len(extent.operands)
        return [
            size if self.task.ROWS.operand(i) is Row.SEQUENCE else self._wide(extent.answer if padded else size)
            for i, size in enumerate(extent.operands)
        ]

    def _wide(self, size: int) -> int:
        """Return the digits that are written of a number of ``size`` digits."""
        return self.options.width or max(size, self.options.pad_to)

    def _order(self, size: int, reverse: bool) -> Iterable[int]:
        """Return places in writing order: numbers from the most significant unless reversed, sequences as they are."""
        return places(size, reverse=reverse or not self.task.ROWS.numbers)
