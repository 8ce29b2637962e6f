"""Two operands digit by digit, those of one significance side by side.

Appendix A.4 of "From Interpolation to Extrapolation: Complete Length Generalization for Arithmetic Transformers":

    $+00172438$1780$        0123+0748, response least significant digit first
    $*06162636$8370$        0123*6: the one digit stands beside every digit of the other operand
"""

from collections.abc import Callable

from lengen.formats.base import Format, Layout, Written, at, places
from lengen.part import Part, SettingError, Width
from lengen.tasks.base import ANSWER, OPERANDS, Row, Task
from lengen.tasks.successor_and_pair_tasks import DigitSums, NByOne, PairAddition


class Aligned(Part, Format, tag="aligned", frozen=True):
    """``$+00172438$1780$``: the digits of two operands pairwise, those of one significance side by side.

    Example:
        >>> import lengen
        >>> data = lengen.TaskData(lengen.setting("pair_addition", digits=2, format=lengen.Aligned(width=6)), seed=0)
        >>> data.vocab.decode(data.writer.write(data.task.parse(["12", "34"])).tokens[0])
        '$+000000001324$640000$'
    """

    aligned = True
    padded = True

    width: Width
    """Digits of every number."""
    reverse_response: bool = True
    """Write the result least significant digit first."""

    def build(self, task: Task) -> Written:
        return AlignedFormat(task, self)

    def check(self, task: Task) -> None:
        if not isinstance(task, PairAddition | NByOne | DigitSums):
            fault = "data.format=aligned: the digits of two operands stand side by side"
            raise SettingError(f"{fault}, and {task.kind} has no two operands of one width; choose data.format=linear")
        if self.width < 1:
            raise SettingError(f"data.format.width={self.width}: expected at least 1 digit")


class AlignedFormat(Written):
    """``operator, pairs of digits, $, result``, all numbers padded to ``width`` digits."""

    def __init__(self, task: Task, options: Aligned) -> None:
        self.task = task
        self.width = options.width
        self.rows = (OPERANDS, ANSWER)
        self.reversed_answer = options.reverse_response
        self.symbols = (*task.symbols, task.SIGNS.operator)

    def layout(self, shape: tuple[int, ...]) -> Layout:
        layout = Layout(self.levels)
        layout.symbol("$")
        layout.symbol(self.task.SIGNS.operator, 0, 0)
        for place in places(self.width, reverse=False):
            for i in range(2):
                digit = 0 if self.task.ROWS.operand(i) is Row.SEQUENCE else place
                layout.number(OPERANDS, i, [digit], self._beside(place, i))
        layout.symbol("$")
        layout.respond()
        layout.number(ANSWER, 0, places(self.width, reverse=self.reversed_answer), at(0))
        layout.symbol("$")
        return layout

    def tokens(self, length: int, count: int) -> tuple[float, float]:
        return 2 * self.width + 3, self.width + 1

    @staticmethod
    def _beside(place: int, order: int) -> Callable[[int], tuple[int, int]]:
        """Return the place of a pair of digits, whichever digits they are."""
        return lambda _: (place + 1, order)
