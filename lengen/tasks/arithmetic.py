"""Arithmetic on numbers of one fixed width in any base: successor, addition, N x 1, running reductions.

Section 3.1 and Appendix C of "From Interpolation to Extrapolation: Complete Length Generalization for Arithmetic
Transformers". An `Operation` says what is computed, digit array to digit array; `Arithmetic` draws its operands.

    successor 0129 -> 0130    addition 0123+0748 -> 0871    N x 1 0123*6 -> 0738
    running xor of 0110, from the right: 0, 1, 0, 0; its last digit is the parity
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from lengen import digits
from lengen.tasks.base import OperandError, Problems, Task

DIGITS = "0123456789abcdef"
HELD_OUT = 8
"""One number in eight below the limit validates and is never trained on (Section 3.3: 7:1)."""


@dataclass(frozen=True)
class Operation:
    """What is computed from operands (B, K, W), least significant digit first, in a base."""

    operands: int
    result: Callable[[Tensor, int], Tensor]
    """(B, K, W) digits and the base to (B, W) digits of the result; OverflowError where it needs more."""
    symbol: str = ""
    """Operator in the written problem."""
    single: bool = False
    """The second operand has one digit."""
    running: bool = False
    """Every digit of the result is the result so far, so the last one is the answer."""
    prefix: bool = False
    """The operator stands before the operands."""
    padding: Callable[[int], int] = lambda base: 0
    """Digit that pads operands, which does not change the result."""


def _successor(operands: Tensor, base: int) -> Tensor:
    columns = operands[:, 0].clone()
    columns[:, 0] += 1
    return digits.carry(columns, base)


OPERATIONS = {
    "successor": Operation(1, _successor),
    "addition": Operation(2, lambda x, base: digits.carry(x.sum(dim=1), base), "+"),
    "n_by_one": Operation(2, lambda x, base: digits.carry(x[:, 0] * x[:, 1, :1], base), "*", single=True),
    "running_xor": Operation(1, lambda x, base: x[:, 0].cumsum(dim=1) % 2, running=True),
    "listops_sm": Operation(1, lambda x, base: x[:, 0].cumsum(dim=1) % base, "%", running=True, prefix=True),
    "listops_max": Operation(1, lambda x, base: x[:, 0].cummax(dim=1).values, ">", running=True, prefix=True),
    "listops_min": Operation(
        1, lambda x, base: x[:, 0].cummin(dim=1).values, "<", running=True, prefix=True, padding=lambda base: base - 1
    ),
}


class Arithmetic(Task):
    """Problems of one operation; the trained numbers have up to ``length`` digits or lie in [0, limit]."""

    def __init__(self, operation: Operation, base: int, limit: int) -> None:
        self.operation = operation
        self.base = base
        self.limit = limit
        self._pool: Tensor | None = None

    def train(self, n: int, length: int, count: int, generator: torch.Generator) -> Problems:
        """Operands drawn independently; with a limit from the seven eighths of [0, limit] that are not held out."""
        return self._draw(n, length, generator, held_out=False)

    def validation(self, n: int, length: int, count: int, generator: torch.Generator) -> Problems:
        """As `train`; with a limit from the held-out eighth."""
        return self._draw(n, length, generator, held_out=True)

    def test(self, n: int, length: int, count: int, generator: torch.Generator) -> Problems:
        """min(base ** length - base ** (length - 1), n) different numbers of exactly ``length`` digits (Section 3.3).

        Of two operands each is such a sample. Beyond a million numbers two are equal too rarely to matter.
        """
        least = self.base ** (length - 1)
        total = self.base**length - least
        n = min(n, total)
        operands = []
        for _ in range(1 if self.operation.single else self.operation.operands):
            if total <= 2**20:
                numbers = least + torch.randperm(total, generator=generator)[:n]
                operands.append(digits.from_numbers(numbers, length, self.base))
            else:
                operands.append(digits.sample(torch.full((n,), length), length, generator, self.base))
        return self._problems(operands, generator)

    def parse(self, operands: list[str]) -> Problems:
        operation = self.operation
        if len(operands) != operation.operands:
            wanted = "one operand" if operation.operands == 1 else f"{operation.operands} operands"
            raise OperandError(f"this task takes {wanted}, got {len(operands)}")
        allowed = DIGITS[: self.base]
        for text in operands:
            if not text or set(text.lower()) - set(allowed):
                raise OperandError(
                    f"operand '{text}' is not a number in base {self.base}: expected digits {allowed} only"
                )
        numbers = [text.lower() if operation.running else text.lower().lstrip("0") or "0" for text in operands]
        if operation.single and len(numbers[1]) > 1:
            raise OperandError(f"operand '{operands[1]}' has more than one digit: the second operand of N x 1 has one")
        width = max(map(len, numbers))
        return Problems(digits.from_strings(numbers, width)[None], torch.tensor([[len(text) for text in numbers]]))

    def answer(self, problems: Problems) -> list[str]:
        running = self.operation.running
        result = self.results(problems, problems.operands.shape[2] + (not running))
        if running:
            return [DIGITS[digit] for digit in result[:, -1].tolist()]
        sizes = digits.significant(result).tolist()
        return [
            "".join(DIGITS[digit] for digit in reversed(row[:size]))
            for row, size in zip(result.tolist(), sizes, strict=True)
        ]

    def padded(self, problems: Problems, width: int) -> Tensor:
        """Operands padded to ``width`` digits (B, K, width); `OperandError` for longer ones."""
        longest = int(problems.lengths.max())
        if longest > width:
            raise OperandError(
                f"an operand has {longest} digits, and this model reads and writes numbers of {width} "
                "(data.fixed_length): shorten it or raise that"
            )
        held = problems.operands.shape[2]
        operands = torch.nn.functional.pad(problems.operands[:, :, :width], (0, max(0, width - held)))
        beyond = torch.arange(width) >= problems.lengths[:, :, None]
        return operands.masked_fill(beyond, self.operation.padding(self.base))

    def results(self, problems: Problems, width: int) -> Tensor:
        """(B, width) digits of the results; `OperandError` where one needs more."""
        try:
            return self.operation.result(self.padded(problems, width), self.base)
        except OverflowError:
            raise OperandError(
                f"a result needs more than the {width} digits that this model writes (data.fixed_length): "
                "shorten the operands or raise that"
            ) from None

    def _draw(self, n: int, length: int, generator: torch.Generator, held_out: bool) -> Problems:
        drawn = 1 if self.operation.single else self.operation.operands
        if not self.limit:
            sizes = torch.randint(1, length + 1, (drawn, n), generator=generator)
            return self._problems([digits.sample(size, length, generator, self.base) for size in sizes], generator)
        pool = self._numbers(held_out)
        width = 1
        while self.base**width <= self.limit:
            width += 1
        chosen = [pool[torch.randint(len(pool), (n,), generator=generator)] for _ in range(drawn)]
        return self._problems([digits.from_numbers(numbers, width, self.base) for numbers in chosen], generator)

    def _numbers(self, held_out: bool) -> Tensor:
        """Numbers that are trained on, or that are not: one fixed permutation of [0, limit], cut 7:1."""
        if self._pool is None:
            self._pool = torch.randperm(self.limit + 1, generator=torch.Generator().manual_seed(0))
        cut = len(self._pool) // HELD_OUT
        return self._pool[:cut] if held_out else self._pool[cut:]

    def _problems(self, operands: list[Tensor], generator: torch.Generator) -> Problems:
        if self.operation.single:
            second = torch.zeros_like(operands[0])
            second[:, 0] = torch.randint(0, self.base, second[:, 0].shape, generator=generator)
            operands = [operands[0], second]
        stacked = torch.stack(operands, dim=1)
        return Problems(stacked, digits.significant(stacked))
