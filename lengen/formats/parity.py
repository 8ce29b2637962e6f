"""How parity is written, Section 3.1 and Figure 2 of "Arithmetic Transformers Can Length-Generalize in Both
Operand Length and Count".

    tokens    $0101=0110$        the scratchpad's last bit is the answer
    ids       0234512345 0       bit k of query and scratchpad coupled, offset 1
"""

import torch
from torch import Tensor

from lengen.formats.base import Format
from lengen.formats.layout import Layout
from lengen.tasks.base import Problems
from lengen.vocab import Vocab


class ParityFormat(Format):
    """``bits=answer``, or with the parity of every prefix as a scratchpad."""

    levels = 1
    minimal = False
    separators = ""
    last_token_only = True

    def __init__(self, *, scratchpad: bool = True) -> None:
        self.scratchpad = scratchpad
        self.vocab = Vocab("01=")

    def numbers(self, problems: Problems) -> Tensor:
        """The bits, then the parity of every prefix; first bit first."""
        return torch.cat([problems.operands, problems.operands.cumsum(dim=2) % 2], dim=1)

    def shapes(self, problems: Problems) -> Tensor:
        """Number of bits."""
        return problems.lengths

    def layout(self, shape: tuple[int, ...], rows: int) -> Layout:
        (bits,) = shape
        layout = Layout(self.levels)
        layout.symbol("$")
        if self.scratchpad:
            layout.number(0, range(bits), lambda k: (k,))
            layout.symbol("=", 0)
            layout.respond()
            layout.number(1, range(bits), lambda k: (k,))
        else:  # one id for the whole query and the answer, the next for "="
            layout.number(0, range(bits), lambda k: (0,))
            layout.symbol("=", 1)
            layout.respond()
            layout.number(1, [bits - 1], lambda k: (0,))
        layout.symbol("$")
        return layout
