"""Numbers of one fixed width, Section 3.2 and Appendix A.4 of "From Interpolation to Extrapolation: Complete Length
Generalization for Arithmetic Transformers".

    query     $0123+0748$        aligned: $+00172438$ (digits of one significance side by side)
    response  1780$              least significant digit first
    N x 1     $0123*6$           aligned: $*06162636$

Digits have their significance as coordinate, symbols 0.
"""

import torch
from torch import Tensor

from lengen.formats.base import Format
from lengen.formats.layout import Layout, places
from lengen.tasks.arithmetic import DIGITS, Arithmetic
from lengen.tasks.base import Problems
from lengen.vocab import Vocab


class FixedFormat(Format):
    """``operands$result``, every number padded to ``width`` digits."""

    levels = 1
    minimal = False
    separators = ""

    def __init__(self, task: Arithmetic, width: int, *, aligned: bool = False, reverse_response: bool = True) -> None:
        self.task = task
        self.width = width
        self.aligned = aligned
        self.reverse_response = reverse_response
        self.last_token_only = task.operation.running
        self.vocab = Vocab(DIGITS[: task.base] + task.operation.symbol)

    def numbers(self, problems: Problems) -> Tensor:
        """Operands, then the result."""
        operands = self.task.padded(problems, self.width)
        return torch.cat([operands, self.task.results(problems, self.width)[:, None]], dim=1)

    def shapes(self, problems: Problems) -> Tensor:
        """One shape for all."""
        return problems.lengths.new_full((len(problems.lengths), 1), self.width)

    def layout(self, shape: tuple[int, ...], rows: int) -> Layout:
        operation = self.task.operation
        layout = Layout(self.levels)
        layout.symbol("$")
        if operation.symbol and (self.aligned or operation.prefix):
            layout.symbol(operation.symbol, 0)
        if self.aligned:
            for place in places(self.width, reverse=False):
                for row in range(rows):  # the one digit of N x 1 stands beside every digit of the other operand
                    layout.number(row, [0 if row and operation.single else place], lambda k, at: (at,), place + 1)
        else:
            for row in range(rows):
                if row:
                    layout.symbol(operation.symbol, 0)
                width = 1 if row and operation.single else self.width
                layout.number(row, places(width, reverse=False), lambda k: (k,))
        layout.symbol("$")
        layout.respond()
        layout.number(rows, places(self.width, reverse=self.reverse_response), lambda k: (k,))
        layout.symbol("$")
        return layout
