"""How adding one is written, Section 6 of "Improving Length-Generalization in Transformers via Task Hinting".

    increment  123⊥421              the result, least significant digit first; no end token
    carries    123⊥4↑02↑01↑0        each digit followed by ↑ and the carry it hands on

Nothing begins a sequence, and no token carries coordinates.
"""

import torch
from torch import Tensor

from lengen.formats.base import Format
from lengen.formats.layout import UNUSED, Layout, places
from lengen.formats.sequences import DELIMITER
from lengen.tasks.base import Problems
from lengen.tasks.increment import carries, incremented
from lengen.vocab import Vocab

OPERAND, RESULT, CARRIES = range(3)
"""Rows of `IncrementFormat.numbers`."""


class IncrementFormat(Format):
    """``operand⊥result``, with ``carries`` behind every digit of the result where asked for."""

    levels = 1
    minimal = False
    separators = ""
    last_token_only = False
    ends = False

    def __init__(self, *, carries: bool = False, reverse_response: bool = True) -> None:
        self.carries = carries
        self.reverse_response = reverse_response
        self.vocab = Vocab("0123456789" + DELIMITER + "↑")

    def numbers(self, problems: Problems) -> Tensor:
        """Operand, result, carries; least significant first."""
        operand = torch.nn.functional.pad(problems.operands[:, 0], (0, 1))
        return torch.stack([operand, incremented(problems)[0], carries(problems)], dim=1)

    def shapes(self, problems: Problems) -> Tensor:
        """Digits of operand and result: all nines have one more."""
        return torch.stack([problems.lengths[:, 0], incremented(problems)[1]], dim=1)

    def layout(self, shape: tuple[int, ...], rows: int) -> Layout:
        operand, result = shape
        layout = Layout(self.levels, opening=0)

        def number(row: int, place: int) -> None:
            layout.number(row, [place], lambda place: (UNUSED,))

        for place in places(operand, reverse=False):
            number(OPERAND, place)
        layout.symbol(DELIMITER)
        layout.respond()
        for place in places(result, reverse=self.reverse_response):
            number(RESULT, place)
            if self.carries:
                layout.symbol("↑")
                number(CARRIES, place)
        return layout
