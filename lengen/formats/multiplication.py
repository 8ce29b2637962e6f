"""How multiplication is written, Section 5.1 and Figure 8 of "Arithmetic Transformers Can Length-Generalize in
Both Operand Length and Count".

    tokens    $37*925=581+470+333=58100>52900>52243$      (Figure 8b shows the sums of 37 x 925)
    level 1   digits of the first operand with digits of stage 1, by significance
    level 2   the digit of the second operand with its number in stage 1 and the sum that it completes
    level 3   digits of stage 1, shifted, with digits of the sums
"""

import torch
from torch import Tensor
from torch.nn.functional import pad

from lengen import digits
from lengen.formats.base import Format
from lengen.formats.layout import UNUSED, Layout, places
from lengen.tasks.base import Problems
from lengen.vocab import Vocab


class MultiplicationFormat(Format):
    """``a*b=answer``, or with both stages of the scratchpad; operands are never padded."""

    last_token_only = False
    minimal = False

    def __init__(self, *, scratchpad: bool = True, reverse_query: bool = False, reverse_response: bool = True) -> None:
        self.scratchpad = scratchpad
        self.reverse_query = reverse_query
        self.reverse_response = reverse_response
        self.vocab = Vocab("0123456789*+>=" if scratchpad else "0123456789*=")
        self.levels = 3 if scratchpad else 1
        self.separators = "=>" if scratchpad else ""

    def numbers(self, problems: Problems) -> Tensor:
        """Both operands, then one product per digit of the second and the running sums, or the product alone."""
        a, b = problems.operands.unbind(dim=1)
        width = a.shape[1]
        partial = digits.partial_products(a, b, width + 1)
        sums = digits.shifted_sums(partial, 2 * width)
        parts = [problems.operands, partial, sums] if self.scratchpad else [problems.operands, sums[:, -1:]]
        return torch.cat([pad(part, (0, 2 * width - part.shape[2])) for part in parts], dim=1)

    def shapes(self, problems: Problems) -> Tensor:
        """Digits of the first and of the second operand, and the width the operands are held in."""
        width = torch.full_like(problems.lengths[:, :1], problems.operands.shape[2])
        return torch.cat([problems.lengths, width], dim=1)

    def layout(self, shape: tuple[int, ...], rows: int) -> Layout:
        m, n, width = shape
        return self._stages(m, n, width) if self.scratchpad else self._plain(m, n)

    def _plain(self, m: int, n: int) -> Layout:
        layout = Layout(self.levels)
        layout.symbol("$")
        layout.number(0, places(m, reverse=self.reverse_query), lambda k: (k,))
        layout.symbol("*", 0)
        layout.number(1, places(n, reverse=self.reverse_query), lambda k: (k,))
        layout.symbol("=", 0)
        layout.respond()
        layout.number(2, places(m + n, reverse=self.reverse_response), lambda k: (k,))
        layout.symbol("$")
        return layout

    def _stages(self, m: int, n: int, width: int) -> Layout:
        layout = Layout(self.levels)
        layout.symbol("$")
        layout.number(0, places(m, reverse=self.reverse_query), lambda k: (k, UNUSED, UNUSED))
        layout.symbol("*")
        layout.number(1, places(n, reverse=self.reverse_query), lambda k: (UNUSED, k - 1, UNUSED))
        for i in range(n):  # stage 1: the first operand times digit i of the second, as m + 1 digits
            layout.symbol("+" if i else "=", 0, i, i)
            if i == 0:
                layout.respond()
            layout.number(2 + i, places(m + 1, reverse=self.reverse_response), lambda k, i: (k, i, i + k), i)
        for j in range(n):  # stage 2: running sums of stage 1, shifted, as m + n digits
            layout.symbol(">" if j else "=", UNUSED, j, 0)
            layout.number(2 + width + j, places(m + n, reverse=self.reverse_response), lambda k, j: (UNUSED, j, k), j)
        layout.symbol("$")
        return layout
