"""Multiplication with both stages of its scratchpad.

Section 5.1 and Figure 8 of "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count":

    tokens    $37*925=581+470+333=58100>52900>52243$      (Figure 8b shows the sums of 37 x 925)
    level 1   digits of the first operand with digits of stage 1, by significance
    level 2   the digit of the second operand with its number in stage 1 and the sum that it completes
    level 3   digits of stage 1, shifted, with digits of the sums
"""

from collections.abc import Callable

from lengen.formats.base import UNUSED, Format, Layout, Written, places
from lengen.part import Part, SettingError
from lengen.tasks.base import OPERANDS, PRODUCTS, SUMS, Task
from lengen.tasks.multiplication import Multiplication


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
            raise SettingError(
                f"data.format=multiplication_stages: these are stages of multiplication, and {task.kind} has "
                f"others; choose data.format=linear"
            )


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
