"""Scratchpads written step by step: addition digit by digit, and both stages of multiplication."""

from collections.abc import Callable

from lengen.formats.base import UNUSED, Format, Layout, Written, only_two_operands, places
from lengen.part import Part, SettingError
from lengen.tasks.base import ANSWER, CARRIES_IN, OPERANDS, PRODUCTS, SUM_DIGITS, SUMS, Task
from lengen.tasks.multiplication import Multiplication

# Section 4.2.1 of "Length Generalization on Multi-Digit Integer Addition with Transformers":
#
#     $123+456=3 2 1 + 6 5 4;c=0,3+6+0=9,c=0;2+5+0=7,c=0;1+4+0=5,c=0|579$
#
# Reversed operands; one step for each digit of the longer operand, units first: digit + digit + carry = digit, next
# carry; behind the bar the answer. The printed example for 567+789 adds 567 and 7890: its steps are written here for
# 567+7890, and those of 567+789 follow its rule.


class DigitSteps(Part, Format, tag="digit_steps", frozen=True):
    """``$12+45=2 1 + 5 4;c=0,2+5+0=7,c=0;1+4+0=5,c=0|57$``: one step for each digit of the longer operand.

    Example:
        >>> import lengen
        >>> data = lengen.TaskData(lengen.setting("two_operand_addition", format=lengen.DigitSteps()), seed=0)
        >>> data.vocab.decode(data.writer.write(data.task.parse(["12", "34"])).tokens[0])
        '$12+34=2 1 + 4 3;c=0,2+4+0=6,c=0;1+3+0=4,c=0|46$'
    """

    COORDINATES = False
    scratchpad = True

    reverse_response: bool = False
    """Write the answer least significant digit first."""
    pad_operands: bool = False
    """Reversed operands are padded to the length of the longer one, as their steps are: ``12+345=2 1 0 + 5 4 3;...``"""

    def build(self, task: Task) -> Written:
        return DigitStepsFormat(task, self)

    def check(self, task: Task) -> None:
        only_two_operands(self, task)


class DigitStepsFormat(Written):
    """``a+b=reversed operands;steps|answer`` for two operands; operands stand as they are, the answer unpadded.

    Its layouts carry no coordinates.
    """

    exact = True

    separators = "|"
    dropped = frozenset({ANSWER})
    follows = True

    def __init__(self, task: Task, options: DigitSteps) -> None:
        self.task = task
        self.reversed_answer = options.reverse_response
        self.pad_operands = options.pad_operands
        self.rows = (OPERANDS, CARRIES_IN, SUM_DIGITS, ANSWER)
        self.symbols = tuple("0123456789+=c,;| ")

    def layout(self, shape: tuple[int, ...]) -> Layout:
        first, second = shape[1:]
        longest = max(first, second)
        layout = Layout(self.levels)
        layout.text("$")
        layout.number(OPERANDS, 0, places(first, reverse=False))
        layout.text("+")
        layout.number(OPERANDS, 1, places(second, reverse=False))
        layout.text("=")
        layout.respond()
        for i, size in enumerate((first, second)):
            layout.text(" + " if i else "")
            for place in range(longest if self.pad_operands else size):
                layout.text(" " if place else "")
                layout.number(OPERANDS, i, [place])
        layout.text(";c=")
        layout.number(CARRIES_IN, 0, [0])
        for place in range(longest):
            layout.text(";" if place else ",")
            for row, i, sign in ((OPERANDS, 0, "+"), (OPERANDS, 1, "+"), (CARRIES_IN, 0, "="), (SUM_DIGITS, 0, ",c=")):
                layout.number(row, i, [place])
                layout.text(sign)
            layout.number(CARRIES_IN, 0, [place + 1])
        layout.text("|")
        layout.number(ANSWER, 0, places(longest + 1, reverse=self.reversed_answer))
        layout.text("$")
        return layout

    def tokens(self, length: int, count: int) -> tuple[float, float]:
        reversed_operands, steps, answer = 2 * (2 * length - 1) + 3, 4 + 12 * length, length + 3
        return 2 * length + 3, reversed_operands + steps + answer


# Section 5.1 and Figure 8 of "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count":
#
#     tokens    $37*925=581+470+333=58100>52900>52243$      (Figure 8b shows the sums of 37 x 925)
#     level 1   digits of the first operand with digits of stage 1, by significance
#     level 2   the digit of the second operand with its number in stage 1 and the sum that it completes
#     level 3   digits of stage 1, shifted, with digits of the sums


class MultiplicationStages(Part, Format, tag="multiplication_stages", frozen=True):
    """``$37*925=581+470+333=58100>52900>52243$``: both stages of long multiplication as a scratchpad.

    Example:
        >>> import lengen
        >>> data = lengen.TaskData(lengen.setting("multiplication", format=lengen.MultiplicationStages()), seed=0)
        >>> data.vocab.decode(data.writer.write(data.task.parse(["12", "34"])).tokens[0])
        '$12*34=840+630=8400>8040$'
    """

    LEVELS = 3
    scratchpad = True

    reverse_query: bool = False
    """Write operands least significant digit first."""
    reverse_response: bool = True
    """Write the numbers of the response least significant digit first."""

    def build(self, task: Task) -> Written:
        return MultiplicationStagesFormat(task, self)

    def check(self, task: Task) -> None:
        if not isinstance(task, Multiplication):
            fault = f"data.format=multiplication_stages: these are stages of multiplication, and {task.kind} has others"
            raise SettingError(f"{fault}; choose data.format=linear")


class MultiplicationStagesFormat(Written):
    """``a*b=products of a and each digit of b=their running sums``; operands are never padded."""

    levels = 3
    separators = "=>"

    def __init__(self, task: Task, options: MultiplicationStages) -> None:
        self.task = task
        self.reverse_query = options.reverse_query
        self.reversed_answer = options.reverse_response
        self.rows = (OPERANDS, PRODUCTS, SUMS)
        self.symbols = tuple("0123456789*+>=")

    def layout(self, shape: tuple[int, ...]) -> Layout:
        m, n = shape
        reverse = self.reversed_answer
        layout = Layout(self.levels)
        layout.symbol("$")
        layout.number(OPERANDS, 0, places(m, reverse=self.reverse_query), lambda k: (k, UNUSED, UNUSED))
        layout.symbol("*")
        layout.number(OPERANDS, 1, places(n, reverse=self.reverse_query), lambda k: (UNUSED, k - 1, UNUSED))
        for i in range(n):  # stage 1: the first operand times digit i of the second, as m + 1 digits
            layout.symbol("+" if i else "=", 0, i, i)
            if i == 0:
                layout.respond()
            layout.number(PRODUCTS, i, places(m + 1, reverse=reverse), _product(i))
        for j in range(n):  # stage 2: running sums of stage 1, shifted, as m + n digits
            layout.symbol(">" if j else "=", UNUSED, j, 0)
            layout.number(SUMS, j, places(m + n, reverse=reverse), _sum(j))
        layout.symbol("$")
        return layout

    def tokens(self, length: int, count: int) -> tuple[float, float]:
        products, sums = count * (length + 2), count * (length + count + 1)
        return length + count + 3, products + sums  # "=" before the products belongs to the prompt, "$" ends all


def _product(order: int) -> Callable[[int], tuple[int, int, int]]:
    return lambda place: (place, order, order + place)


def _sum(order: int) -> Callable[[int], tuple[int, int, int]]:
    return lambda place: (UNUSED, order, place)
