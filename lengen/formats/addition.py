"""How multi-operand addition is written, Section 4.1 and Figure 4 of "Arithmetic Transformers Can
Length-Generalize in Both Operand Length and Count".

    tokens    $057+048+096=000>750>501>102$
    digit     04321432143214321432143210...     coupled within every number, by significance
    number    0111122223333111122223333...      coupled between query and response, by order
"""

import torch
from torch import Tensor
from torch.nn.functional import pad

from lengen import digits
from lengen.formats.base import Format
from lengen.formats.layout import Layout, places
from lengen.tasks.base import Problems
from lengen.vocab import Vocab


def padded_length(digits_each: int, operands: int) -> int:
    """Digits of the largest sum of ``operands`` numbers of ``digits_each`` digits (Section 4.1).

    >>> padded_length(2, 3), padded_length(2, 11), padded_length(2, 10)
    (3, 4, 3)
    """
    return len(str(operands * (10**digits_each - 1)))


class AdditionFormat(Format):
    """``a+b+c=answer``, or with the running sums as a scratchpad that starts from zero.

    Every number is padded to the longest sum that could occur (``pad``) and in any case to ``pad_to`` digits; longer
    ones are written in full. Digits are padded first, then reversed. Table 4.1 of "Length Generalization on Multi-Digit
    Integer Addition with Transformers", without scratchpad and padding: ``$123+456=579$``; pad_to=5:
    ``$00123+00456=00579$``; operands reversed: ``$321+654=579$``; answer reversed: ``$123+456=975$``.
    """

    last_token_only = False

    def __init__(
        self,
        *,
        scratchpad: bool = True,
        pad: bool = True,
        pad_to: int = 0,
        reverse_query: bool = False,
        reverse_response: bool = True,
    ) -> None:
        self.scratchpad = scratchpad
        self.minimal = not pad
        self.pad_to = pad_to
        self.reverse_query = reverse_query
        self.reverse_response = reverse_response
        self.vocab = Vocab("0123456789+>=" if scratchpad else "0123456789+=")
        self.levels = 2 if scratchpad else 1
        self.separators = ">" if scratchpad else ""

    def numbers(self, problems: Problems) -> Tensor:
        """Operands, then the running sums (scratchpad) or the sum alone."""
        _, count, width = problems.operands.shape
        wide = max(padded_length(width, count), self.pad_to)
        sums = digits.running_sums(problems.operands, wide)
        return torch.cat([pad(problems.operands, (0, wide - width)), sums if self.scratchpad else sums[:, -1:]], dim=1)

    def shapes(self, problems: Problems) -> Tensor:
        """Operand count and longest operand of each problem."""
        return torch.stack([(problems.lengths > 0).sum(dim=1), problems.lengths.amax(dim=1)], dim=1)

    def significant(self, numbers: Tensor) -> Tensor:
        return digits.significant(numbers).clamp(min=self.pad_to)

    def layout(self, shape: tuple[int, ...], rows: int) -> Layout:
        count, longest = shape
        length = max(padded_length(longest, count), self.pad_to)
        layout = Layout(self.levels)

        def at(digit: int, number: int) -> tuple[int, ...]:
            return (digit, number)[: self.levels]

        layout.symbol("$")
        for i in range(count):
            # The operator belongs to the number beside whose least significant digit it stands.
            if self.reverse_query and i > 0:
                layout.symbol("+", *at(0, i))
            layout.number(i, places(length, reverse=self.reverse_query), at, i)
            if not self.reverse_query and i < count - 1:
                layout.symbol("+", *at(0, i))
        layout.symbol("=", *at(0, 0))
        layout.respond()
        for j in range(count + 1 if self.scratchpad else 1):
            if j > 0:
                layout.symbol(">", *at(0, j))
            layout.number(rows + j, places(length, reverse=self.reverse_response), at, j)
        layout.symbol("$")
        return layout
