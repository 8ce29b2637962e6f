"""Arithmetic on one or two numbers of any base: successor, addition, N x 1, running reductions.

Section 3.1 and Appendix C of "From Interpolation to Extrapolation: Complete Length Generalization for Arithmetic
Transformers".

    successor 0129 -> 0130    addition 0123+0748 -> 0871    N x 1 0123*6 -> 0738    digit sums 0123+0748 -> 0861
    running xor of 0110, from the right: 0, 1, 0, 0; its last digit is the parity
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import pad

from lengen import digits
from lengen.config import tasks as parts
from lengen.problems import OperandError, Problems
from lengen.tasks.base import Task


def _successor(operands: Tensor, base: int) -> Tensor:
    columns = operands[:, 0].clone()
    columns[:, 0] += 1
    return columns


COLUMNS: dict[type[parts.Task], Callable[[Tensor, int], Tensor]] = {
    parts.Successor: _successor,
    parts.PairAddition: lambda x, base: x.sum(dim=1),
    parts.NByOne: lambda x, base: x[:, 0] * x[:, 1, :1],
    parts.DigitSums: lambda x, base: x.sum(dim=1) % base,
}
"""Operands (B, K, W) and the base to column sums (B, W), which a carry turns into the result."""
RUNNING: dict[type[parts.Task], Callable[[Tensor, int], Tensor]] = {
    parts.RunningXor: lambda x, base: x[:, 0].cumsum(dim=1) % 2,
    parts.ListOpsSum: lambda x, base: x[:, 0].cumsum(dim=1) % base,
    parts.ListOpsMax: lambda x, base: x[:, 0].cummax(dim=1).values,
    parts.ListOpsMin: lambda x, base: x[:, 0].cummin(dim=1).values,
}
"""Operands and the base to the result so far at every digit (B, W)."""


class Arithmetic(Task):
    """Problems of one operation; the trained numbers have up to ``digits`` digits or lie in [0, limit]."""

    part: parts._Arithmetic

    def __init__(self, part: "parts._Arithmetic") -> None:
        super().__init__(part)
        self.base = part.base
        self.limit = part.limit
        self._pool: Tensor | None = None

    def train(self, n: int, generator: torch.Generator) -> Problems:
        """Operands drawn independently; with a limit from the seven eighths of [0, limit] that are not held out."""
        return self._draw(n, generator, held_out=False)

    def validation(self, n: int, generator: torch.Generator) -> Problems:
        """As `train`; with a limit from the held-out eighth."""
        return self._draw(n, generator, held_out=True)

    def test(self, n: int, length: int, count: int, generator: torch.Generator) -> Problems:
        """min(base ** length - base ** (length - 1), n) different numbers of exactly ``length`` digits (Section 3.3).

        Of two operands each is such a sample. Beyond a million numbers two are equal too rarely to matter.
        """
        least = self.base ** (length - 1)
        total = self.base**length - least
        n = min(n, total)
        operands = []
        for _ in range(self._drawn()):
            if total <= 2**20:
                numbers = least + torch.randperm(total, generator=generator)[:n]
                operands.append(digits.from_numbers(numbers, length, self.base))
            else:
                operands.append(digits.sample(torch.full((n,), length), length, generator, self.base))
        return self._problems(operands, generator, least=getattr(self.part, "tested_from", 0))

    def parse(self, operands: list[str]) -> Problems:
        part = self.part
        if len(operands) != part.OPERANDS:
            wanted = "one operand" if part.OPERANDS == 1 else f"{part.OPERANDS} operands"
            raise OperandError(f"this task takes {wanted}, got {len(operands)}")
        allowed = "".join(part.symbols)
        for text in operands:
            if not text or set(text.lower()) - set(allowed):
                raise OperandError(
                    f"operand '{text}' is not a number in base {self.base}: expected digits {allowed} only"
                )
        numbers = [text.lower() if part.LAST else text.lower().lstrip("0") or "0" for text in operands]
        if part.SINGLE and len(numbers[1]) > 1:
            raise OperandError(f"operand '{operands[1]}' has more than one digit: the second operand of N x 1 has one")
        width = max(map(len, numbers))
        return Problems(digits.from_strings(numbers, width)[None], torch.tensor([[len(text) for text in numbers]]))

    def operands(self, problems: Problems, width: int = 0) -> Tensor:
        """Padded with the digit that changes no result."""
        operands = super().operands(problems, width)
        beyond = torch.arange(operands.shape[2]) >= problems.lengths[:, :, None]
        identity = self.part.IDENTITY % self.base
        return operands.masked_fill(beyond, identity)

    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        operation = RUNNING.get(type(self.part))
        operands = self.operands(problems, width)
        if operation is not None:
            return operation(operands, self.base)
        return self._carried(self._columns(operands, width), width)

    def stages(self, name: str, problems: Problems, width: int = 0) -> Tensor:
        """The carry into every place of the result."""
        if name != self.part.STAGES or not name:
            raise KeyError(name)
        columns = self._columns(self.operands(problems, width), width)
        result = self._carried(columns, width)
        # Into place i goes what the places below it have beyond their digits: (columns - result) / base, place by
        # place.
        into = torch.zeros_like(columns)
        for place in range(columns.shape[1] - 1):
            into[:, place + 1] = (columns[:, place] + into[:, place] - result[:, place]) // self.base
        return into[:, None]

    def _columns(self, operands: Tensor, width: int) -> Tensor:
        columns = COLUMNS[type(self.part)](operands, self.base)
        return columns if width else pad(columns, (0, 1))

    def _carried(self, columns: Tensor, width: int) -> Tensor:
        try:
            return digits.carry(columns, self.base)
        except OverflowError:
            raise OperandError(
                f"a result needs more than the {width} digits that this model writes (data.format.width): "
                "shorten the operands or raise that"
            ) from None

    def _drawn(self) -> int:
        return 1 if self.part.SINGLE else self.part.OPERANDS

    def _draw(self, n: int, generator: torch.Generator, held_out: bool) -> Problems:
        length = self.part.digits
        if not self.limit:
            sizes = torch.randint(1, length + 1, (self._drawn(), n), generator=generator)
            return self._problems([digits.sample(size, length, generator, self.base) for size in sizes], generator)
        pool = self._numbers(held_out)
        width = 1
        while self.base**width <= self.limit:
            width += 1
        chosen = [pool[torch.randint(len(pool), (n,), generator=generator)] for _ in range(self._drawn())]
        return self._problems([digits.from_numbers(numbers, width, self.base) for numbers in chosen], generator)

    def _numbers(self, held_out: bool) -> Tensor:
        """Numbers that are trained on, or that are not: one fixed permutation of [0, limit], cut 7:1."""
        if self._pool is None:
            self._pool = torch.randperm(self.limit + 1, generator=torch.Generator().manual_seed(0))
        cut = len(self._pool) // parts.HELD_OUT
        return self._pool[:cut] if held_out else self._pool[cut:]

    def _problems(self, operands: list[Tensor], generator: torch.Generator, least: int = 0) -> Problems:
        if self.part.SINGLE:
            second = torch.zeros_like(operands[0])
            second[:, 0] = torch.randint(least, self.base, second[:, 0].shape, generator=generator)
            operands = [operands[0], second]
        stacked = torch.stack(operands, dim=1)
        return Problems(stacked, digits.significant(stacked))
