"""How addition and its parts are written, each with its prefix, Section 4.2.2 of "Length Generalization on Multi-Digit
Integer Addition with Transformers".

    add$1234+4567=5801$                 the sum
    rev$1234+4567=4321+7654$            both operands reversed
    ali$1234+4567=1+4,2+5,3+6,4+7$      digits of one significance side by side
    mad$1234+4567=5791$                 digits added modulo 10
    car$1234+4567=---c$                 c where digits carry (`CARRIES`)

A shorter operand stands as it is in the query and in rev; in ali, mad and car it counts as padded with zeros.
"""

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor
from torch.nn.functional import pad

from lengen import digits
from lengen.config.spec import SpecError, nearest
from lengen.formats.base import Format
from lengen.formats.layout import UNUSED, Layout, places
from lengen.tasks.base import Problems
from lengen.vocab import FIRST, Vocab

SUBTASKS = ("add", "rev", "ali", "mad", "car")
FIRST_OPERAND, SECOND_OPERAND, SUM, MODULAR, MARKS, TRAILING = range(6)
"""Rows of `SubtaskFormat.numbers`."""


def pair_carries(columns: Tensor) -> Tensor:
    """Digit pairs of 10 or more, whatever carry comes in: what the text describes and prints.

    >>> pair_carries(torch.tensor([[11, 9, 7, 5]])).int().tolist()  # 1234 + 4567
    [[1, 0, 0, 0]]
    """
    return columns >= 10


def true_carries(columns: Tensor) -> Tensor:
    """Places that hand a carry on to the next higher one.

    >>> true_carries(torch.tensor([[11, 9, 7, 5]])).int().tolist()
    [[1, 1, 0, 0]]
    """
    marks = torch.zeros_like(columns, dtype=torch.bool)
    rest = torch.zeros_like(columns[:, 0])
    for place in range(columns.shape[1]):
        marks[:, place] = columns[:, place] + rest >= 10
        rest = marks[:, place].to(columns.dtype)
    return marks


def downward_carries(columns: Tensor) -> Tensor:
    """Carries handed on to the next *lower* place, as the author's code computes them.

    >>> downward_carries(torch.tensor([[8, 10, 9]])).int().tolist()  # 9 hundreds, 10 tens, 8 units
    [[0, 1, 0]]
    >>> downward_carries(torch.tensor([[9, 10, 9]])).int().tolist()
    [[1, 1, 0]]
    """
    return true_carries(columns.flip(1)).flip(1)


CARRIES: dict[str, Callable[[Tensor], Tensor]] = {
    "pairs": pair_carries,
    "code": downward_carries,
    "true": true_carries,
}
"""Which places car marks, by name of ``data.carries``: sums of digit pairs (B, W), units first, to (B, W) bool.

For "code" a "-" follows where the units carry. 1234+4567: ``---c``, ``---c-``, ``--cc``; 95+5: ``-c``, ``-c-``, ``cc``.
"""


class SubtaskFormat(Format):
    """``xxx$a+b=c$`` for two operands: kind k of a problem asks for ``names[k]``; the first where it has none.

    Raises `SpecError` for names that do not exist. Its layouts carry no coordinates.
    """

    levels = 1
    minimal = True
    separators = ""
    last_token_only = False

    def __init__(self, names: Sequence[str] = SUBTASKS, *, carries: str = "pairs") -> None:
        for name in names:
            if name not in SUBTASKS:
                raise SpecError(f"data.subtasks={list(names)}: unknown sub-task {name}{nearest(name, SUBTASKS)}")
        if carries not in CARRIES:
            raise SpecError(f"data.carries={carries}: unknown carry label{nearest(carries, list(CARRIES))}")
        self.names = tuple(names)
        self.carries = carries
        self.vocab = Vocab("0123456789+=,-acdeilmrv")

    def numbers(self, problems: Problems) -> Tensor:
        """Both operands, their sum, the sums modulo 10, and as symbols the marks of carries and a "-" behind them."""
        operands = pad(problems.operands, (0, 1))
        columns = operands.sum(dim=1)
        marks = torch.where(CARRIES[self.carries](columns), self._value("c"), self._value("-"))
        trailing = torch.full_like(columns, self._value("-"))
        results = torch.stack([digits.carry(columns), columns % 10, marks, trailing], dim=1)
        return torch.cat([operands, results], dim=1)

    def significant(self, numbers: Tensor) -> Tensor:
        """All digits of everything but the sum; the trailing "-" where the units carry."""
        needed = torch.full(numbers.shape[:2], numbers.shape[2])
        needed[:, SUM] = digits.significant(numbers[:, SUM])
        needed[:, TRAILING] = (numbers[:, MARKS, 0] == self._value("c")).long()
        return needed

    def _value(self, symbol: str) -> int:
        """What stands for a symbol among digits, whose tokens are `FIRST` + value."""
        return self.vocab.id(symbol) - FIRST

    def shapes(self, problems: Problems) -> Tensor:
        """Kind, digits of both operands."""
        kinds = torch.zeros_like(problems.lengths[:, 0]) if problems.kinds is None else problems.kinds
        return torch.cat([kinds[:, None], problems.lengths], dim=1)

    def layout(self, shape: tuple[int, ...], rows: int) -> Layout:
        kind, *sizes = shape
        name, longest = self.names[kind], max(sizes)
        layout = Layout(self.levels, opening=len("xxx$"))

        def number(row: int, order: Iterable[int]) -> None:
            layout.number(row, order, lambda place: (UNUSED,))

        def operands(reverse: bool) -> None:
            number(FIRST_OPERAND, places(sizes[0], reverse=reverse))
            layout.symbol("+")
            number(SECOND_OPERAND, places(sizes[1], reverse=reverse))

        for character in name + "$":
            layout.symbol(character)
        operands(reverse=False)
        layout.symbol("=")
        layout.respond()
        if name == "add":
            number(SUM, places(longest + 1, reverse=False))
        elif name == "rev":
            operands(reverse=True)
        elif name == "ali":
            for place in places(longest, reverse=False):
                if place < longest - 1:
                    layout.symbol(",")
                number(FIRST_OPERAND, [place])
                layout.symbol("+")
                number(SECOND_OPERAND, [place])
        elif name == "mad":
            number(MODULAR, places(longest, reverse=False))
        else:
            number(MARKS, places(longest, reverse=False))
            if self.carries == "code":
                number(TRAILING, [0])
        layout.symbol("$")
        return layout
