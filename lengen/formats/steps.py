"""How addition digit by digit is written, Section 4.2.1 of "Length Generalization on Multi-Digit Integer Addition with
Transformers".

    $123+456=3 2 1 + 6 5 4;c=0,3+6+0=9,c=0;2+5+0=7,c=0;1+4+0=5,c=0|579$

Reversed operands; one step for each digit of the longer operand, units first: digit + digit + carry = digit, next
carry; behind the bar the answer. The printed example for 567+789 adds 567 and 7890: its steps are written here for
567+7890, and those of 567+789 follow its rule.
"""

from collections.abc import Iterable

import torch
from torch import Tensor
from torch.nn.functional import pad

from lengen import digits
from lengen.formats.base import Format
from lengen.formats.layout import UNUSED, Layout, places
from lengen.tasks.base import Problems
from lengen.vocab import Vocab

FIRST_OPERAND, SECOND_OPERAND, CARRIES, RESULTS, ANSWER = range(5)
"""Rows of `StepsFormat.numbers`."""


class StepsFormat(Format):
    """``a+b=reversed operands;steps|answer`` for two operands; operands stand as they are, the answer unpadded.

    Only the sequence has an order here: its layouts carry no coordinates.
    """

    levels = 1
    minimal = True
    separators = "|"
    last_token_only = False

    def __init__(self, *, reverse_response: bool = False) -> None:
        self.reverse_response = reverse_response
        self.vocab = Vocab("0123456789+=c,;| ")

    def numbers(self, problems: Problems) -> Tensor:
        """Both operands, the carry into each place, the sum as the steps show it, and as the answer."""
        operands = pad(problems.operands, (0, 1))
        columns = operands.sum(dim=1)
        total = digits.carry(columns)
        carries = (total - columns) % 10  # what a place of the sum has more than its two digits
        return torch.cat([operands, torch.stack([carries, total, total], dim=1)], dim=1)

    def significant(self, numbers: Tensor) -> Tensor:
        """All digits of everything but the answer: zeros of the steps are written."""
        needed = torch.full(numbers.shape[:2], numbers.shape[2])
        needed[:, ANSWER] = digits.significant(numbers[:, ANSWER])
        return needed

    def shapes(self, problems: Problems) -> Tensor:
        """Digits of both operands."""
        return problems.lengths

    def layout(self, shape: tuple[int, ...], rows: int) -> Layout:
        first, second = shape
        longest = max(first, second)
        layout = Layout(self.levels)

        def text(characters: str) -> None:
            for character in characters:
                layout.symbol(character)

        def number(row: int, order: Iterable[int]) -> None:
            layout.number(row, order, lambda place: (UNUSED,))

        text("$")
        number(FIRST_OPERAND, places(first, reverse=False))
        text("+")
        number(SECOND_OPERAND, places(second, reverse=False))
        text("=")
        layout.respond()
        for row, size in ((FIRST_OPERAND, first), (SECOND_OPERAND, second)):
            text(" + " if row else "")
            for place in range(size):
                text(" " if place else "")
                number(row, [place])
        text(";c=")
        number(CARRIES, [0])
        for place in range(longest):
            text(";" if place else ",")
            for row, behind in ((FIRST_OPERAND, "+"), (SECOND_OPERAND, "+"), (CARRIES, "="), (RESULTS, ",c=")):
                number(row, [place])
                text(behind)
            number(CARRIES, [place + 1])
        text("|")
        number(ANSWER, places(longest + 1, reverse=self.reverse_response))
        text("$")
        return layout
