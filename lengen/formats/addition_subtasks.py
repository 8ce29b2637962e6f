"""Addition and its parts, each with its prefix.

Section 4.2.2 of "Length Generalization on Multi-Digit Integer Addition with Transformers":

    add$1234+4567=5801$                 the sum
    rev$1234+4567=4321+7654$            both operands reversed
    ali$1234+4567=1+4,2+5,3+6,4+7$      digits of one significance side by side
    mad$1234+4567=5791$                 digits added modulo 10
    car$1234+4567=---c$                 c where digits carry

A shorter operand stands as it is in the query and in rev; in ali, mad and car it counts as padded with zeros.
"""

from typing import Literal

from lengen.formats.base import Format, Layout, Written, only_two_operands, places
from lengen.part import Part, SettingError, cut, nearest
from lengen.tasks.base import ANSWER, CARRIES_OUT, DOWNWARD_CARRIES, MODULAR, OPERANDS, PAIR_CARRIES, TRAILING, Task

Subtask = Literal["add", "rev", "ali", "mad", "car"]
SUBTASKS: tuple[Subtask, ...] = ("add", "rev", "ali", "mad", "car")
"""Parts of addition (Section 4.2.2 of "Length Generalization on Multi-Digit Integer Addition with Transformers")."""
CARRIES = {"pairs": PAIR_CARRIES, "code": DOWNWARD_CARRIES, "true": CARRIES_OUT}
"""Rows that mark carries, by `Subtasks.carries`. For "code" a "-" follows where the units carry. 1234+4567: ``---c``,
``---c-``, ``--cc``; 95+5: ``-c``, ``c-`` (that code aligns operands at their first digits), ``cc``."""


class Subtasks(Part, Format, tag="subtasks", frozen=True):
    """``rev$12+45=21+54$``: addition and its parts in equal shares, each example with its prefix.

    Example:
        >>> import lengen
        >>> spec = lengen.setting("two_operand_addition", format=lengen.Subtasks(names=("add", "rev")))
        >>> data = lengen.TaskData(spec, seed=0)
        >>> data.vocab.decode(data.writer.write(data.task.parse(["12", "34"])).tokens[0])
        'add$12+34=46$'
    """

    COORDINATES = False

    names: tuple[str, ...] = SUBTASKS
    """The sub-tasks; the first is the one that is tested."""
    carries: Literal["pairs", "code", "true"] = "pairs"
    """Mark of a carry in car: digit pairs of 10 or more, carries handed downward (the author's code), or carries."""

    def build(self, task: Task) -> Written:
        return SubtasksFormat(task, self)

    def check(self, task: Task) -> None:
        only_two_operands(self, task)
        for name in self.names:
            if name not in SUBTASKS:
                fault = f"unknown sub-task {cut(name)}{nearest(cut(name), SUBTASKS)}"
                raise SettingError(f"data.format.names={cut(str(list(self.names)))}: {fault}")
        if not self.names:
            raise SettingError("data.format.names=[]: expected at least one sub-task, such as add")


class SubtasksFormat(Written):
    """``xxx$a+b=c$`` for two operands: kind k of a problem is ``names[k]``; the first if it has none.

    Its layouts carry no coordinates.
    """

    exact = True
    plain_answer = False

    def __init__(self, task: Task, options: Subtasks) -> None:
        self.task = task
        self.names = options.names
        self.kinds = len(options.names)
        self.carries = CARRIES[options.carries]
        self.trailing = options.carries == "code"
        self.rows = (OPERANDS, ANSWER, MODULAR, self.carries, TRAILING)
        self.marks = {self.carries: ("-", "c"), TRAILING: ("-", "-")}
        self.dropped = frozenset({ANSWER})
        self.optional = frozenset({TRAILING})
        self.follows = True
        self.symbols = tuple("0123456789+=,-acdeilmrv")

    def layout(self, shape: tuple[int, ...]) -> Layout:
        kind, *sizes = shape
        name, longest = self.names[kind], max(sizes)
        layout = Layout(self.levels, opening=len("xxx$"))

        def operands(reverse: bool) -> None:
            layout.number(OPERANDS, 0, places(sizes[0], reverse=reverse))
            layout.symbol("+")
            layout.number(OPERANDS, 1, places(sizes[1], reverse=reverse))

        layout.text(name + "$")
        operands(reverse=False)
        layout.symbol("=")
        layout.respond()
        if name == "add":
            layout.number(ANSWER, 0, places(longest + 1, reverse=False))
        elif name == "rev":
            operands(reverse=True)
        elif name == "ali":
            for place in places(longest, reverse=False):
                if place < longest - 1:
                    layout.symbol(",")
                layout.number(OPERANDS, 0, [place])
                layout.symbol("+")
                layout.number(OPERANDS, 1, [place])
        elif name == "mad":
            layout.number(MODULAR, 0, places(longest, reverse=False))
        else:
            layout.number(self.carries, 0, places(longest, reverse=False))
            if self.trailing:
                layout.number(TRAILING, 0, [0])
        layout.symbol("$")
        return layout

    def tokens(self, length: int, count: int) -> tuple[float, float]:
        written = {"add": length + 1, "rev": 2 * length + 1, "ali": 4 * length - 1, "mad": length, "car": length}
        extra = self.trailing / self.kinds if "car" in self.names else 0.0
        return 2 * length + 6, sum(written[name] for name in self.names) / self.kinds + extra + 1
