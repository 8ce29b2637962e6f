"""Arithmetic on one or two numbers of any base: successor, addition, N x 1.

Section 3.1 and Appendix C of "From Interpolation to Extrapolation: Complete Length Generalization for Arithmetic
Transformers".

    successor 0129 -> 0130    addition 0123+0748 -> 0871    N x 1 0123*6 -> 0738    digit sums 0123+0748 -> 0861
"""

from __future__ import annotations

import functools
import itertools
from typing import ClassVar

from lengen import digits
from lengen.digits import Generator, OperandError, Problems, Tensor, torch
from lengen.part import Count, SettingError
from lengen.tasks.base import Extent, OfBase, Row, Rows, Signs

HELD_OUT = 8
"""One number in eight up to the limit validates and is never trained on (Section 3.3 of "From Interpolation to
Extrapolation": 7:1)."""
LARGEST_POOL = 2**27
"""Numbers that are listed to draw from, at most: 1 GiB of them."""


class Arithmetic(OfBase, frozen=True):
    """Problems of one operation; the trained numbers have up to ``digits`` digits or lie in [0, limit]."""

    limit: Count = 0
    """Largest number drawn in training, uniformly, of at most one digit more than ``digits``; 0 draws a length first,
    then digits."""

    ROWS: ClassVar[Rows] = Rows(answer=Row.BOUND)
    OPERANDS: ClassVar[int] = 1
    """Number of operands."""
    IDENTITY: ClassVar[int] = 0
    """Digit that pads operands, which does not change the result; -1 is the largest digit."""
    GROWS: ClassVar[bool] = True
    """A result may have one digit more than its operands."""

    def shape(self, length: int, count: int) -> tuple[int, ...]:
        return (length, 1) if self._drawn() < self.OPERANDS else (length,) * self.OPERANDS

    def extent(self, shape: tuple[int, ...]) -> Extent:
        width = max(shape) + self.GROWS
        return Extent(shape, width, (width,) if self.STAGES else ())

    def check(self) -> None:
        super().check()
        highest = min(self.base ** (self.digits + 1), LARGEST_POOL) - 1
        if self.limit and not HELD_OUT - 1 <= self.limit <= highest:
            raise SettingError(
                f"data.task.limit={self.limit}: expected a number from {HELD_OUT - 1} to {highest}, since an eighth of "
                f"the numbers up to it is held out, all are listed, and data.task.digits={self.digits}"
            )
        if self.limit and self.limit <= (least := self.base ** (self.digits - 1)):
            fault = f"data.task.limit={self.limit}: expected more than {least}, so that numbers of the trained length"
            raise SettingError(f"{fault}, data.task.digits={self.digits}, are drawn")

    def train(self, n: int, generator: Generator) -> Problems:
        """Draw operands independently.

        With a limit from the seven eighths of [0, limit] that are not held out.
        """
        return self._draw(n, generator, held_out=False)

    def validation(self, n: int, generator: Generator) -> Problems:
        """Draw as `train` does, with a limit from the held-out eighth."""
        return self._draw(n, generator, held_out=True)

    def test(self, n: int, length: int, count: int, generator: Generator) -> Problems:
        """Return different numbers of exactly ``length`` digits (Section 3.3).

        They are min(base ** length - base ** (length - 1), n) many.

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
        return self._problems(operands, generator, least=getattr(self, "tested_from", 0))

    def parse(self, operands: list[str]) -> Problems:
        if len(operands) != self.OPERANDS:
            wanted = "one operand" if self.OPERANDS == 1 else f"{self.OPERANDS} operands"
            raise OperandError(f"this task takes {wanted}, got {len(operands)}")
        allowed = "".join(self.symbols)
        for text in operands:
            if not text or set(text.lower()) - set(allowed):
                fault = f"expected digits {allowed} only"
                raise OperandError(f"operand '{text}' is not a number in base {self.base}: {fault}")
        numbers = [text.lower() if self.LAST_DIGIT else text.lower().lstrip("0") or "0" for text in operands]
        if self._drawn() < self.OPERANDS and len(numbers[1]) > 1:
            raise OperandError(f"operand '{operands[1]}' has more than one digit: the second operand of N x 1 has one")
        width = max(map(len, numbers))
        return Problems(digits.from_strings(numbers, width)[None], torch.tensor([[len(text) for text in numbers]]))

    def padded(self, problems: Problems, width: int = 0) -> Tensor:
        """Return operands padded with the digit that changes no result."""
        operands = super().padded(problems, width)
        beyond = torch.arange(operands.shape[2]) >= problems.lengths[:, :, None]
        identity = self.IDENTITY % self.base
        return operands.masked_fill(beyond, identity)

    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        return self._carried(self._columns(self.padded(problems, width), width), width)

    def stages(self, name: str, problems: Problems, width: int = 0) -> Tensor:
        """Return the carry into every place of the result."""
        if name != self.STAGES or not name:
            raise KeyError(name)
        columns = self._columns(self.padded(problems, width), width)
        # what a digit of the result has more than its column: a carry of one operation is a digit, too
        return ((self._carried(columns, width) - columns) % self.base)[:, None]

    def columns(self, operands: Tensor) -> Tensor:
        """Return column sums (B, W) of operands (B, K, W), which a carry turns into the result."""
        raise NotImplementedError

    def _columns(self, operands: Tensor, width: int) -> Tensor:
        columns = self.columns(operands)
        return columns if width else torch.nn.functional.pad(columns, (0, 1))

    def _carried(self, columns: Tensor, width: int) -> Tensor:
        try:
            return digits.carry(columns, self.base)
        except OverflowError:
            raise OperandError(
                f"a result needs more than the {width} digits that this model writes (data.format.width): "
                "shorten the operands or raise that"
            ) from None

    def _drawn(self) -> int:
        """Return the number of operands that are drawn as numbers: the second one of N x 1 is a digit."""
        return sum(self.ROWS.operand(i) is not Row.SEQUENCE for i in range(self.OPERANDS))

    def _draw(self, n: int, generator: Generator, held_out: bool) -> Problems:
        length = self.digits
        if not self.limit:
            sizes = torch.randint(1, length + 1, (self._drawn(), n), generator=generator)
            return self._problems([digits.sample(size, length, generator, self.base) for size in sizes], generator)
        pool = _shuffled(self.limit)  # one fixed permutation of [0, limit], cut 7:1
        cut = len(pool) // HELD_OUT
        pool = pool[:cut] if held_out else pool[cut:]
        width = next(width for width in itertools.count(1) if self.base**width > self.limit)
        chosen = [pool[torch.randint(len(pool), (n,), generator=generator)] for _ in range(self._drawn())]
        return self._problems([digits.from_numbers(numbers, width, self.base) for numbers in chosen], generator)

    def _problems(self, operands: list[Tensor], generator: Generator, least: int = 0) -> Problems:
        if len(operands) < self.OPERANDS:
            second = torch.zeros_like(operands[0])
            second[:, 0] = torch.randint(least, self.base, second[:, 0].shape, generator=generator)
            operands = [operands[0], second]
        stacked = torch.stack(operands, dim=1)
        return Problems(stacked, digits.significant(stacked))


@functools.lru_cache(maxsize=1)
def _shuffled(limit: int) -> Tensor:
    """Return one fixed permutation of the numbers 0 to ``limit``."""
    return torch.randperm(limit + 1, generator=torch.Generator().manual_seed(0))


class Successor(Arithmetic, tag="successor", frozen=True):
    """Adding one: 0129=0130; stages: the carry into every place.

    Example:
        >>> import lengen
        >>> task = lengen.Successor(digits=3)
        >>> task.text(task.parse(["199"]))
        ['200']
    """

    STAGES = "carries"

    def columns(self, operands: Tensor) -> Tensor:
        columns = operands[:, 0].clone()
        columns[:, 0] += 1
        return columns


class PairAddition(Arithmetic, tag="pair_addition", frozen=True):
    """Sums of two numbers that are drawn independently: 123+748=871; stages: the carry into every place.

    Example:
        >>> import lengen
        >>> task = lengen.PairAddition(digits=2)
        >>> task.text(task.parse(["12", "34"]))
        ['46']
    """

    SIGNS = Signs("+")
    OPERANDS = 2
    STAGES = "carries"
    name = "addition"
    most = 2
    counts = (2,)

    def columns(self, operands: Tensor) -> Tensor:
        return operands.sum(dim=1)


class DigitSums(Arithmetic, tag="digit_sums", frozen=True):
    """Sums of two numbers digit by digit, modulo the base, nothing carried: 123+748=861; an auxiliary task of sums.

    Example:
        >>> import lengen
        >>> task = lengen.DigitSums(digits=3)
        >>> task.text(task.parse(["57", "48"]))
        ['95']
    """

    SIGNS = Signs("+")
    OPERANDS = 2
    most = 2
    counts = (2,)

    def columns(self, operands: Tensor) -> Tensor:
        return operands.sum(dim=1) % self.base


class NByOne(Arithmetic, tag="n_by_one", frozen=True):
    """Products of a number and one digit: 123*6=738; stages: the carry into every place.

    Example:
        >>> import lengen
        >>> task = lengen.NByOne(digits=2)
        >>> task.text(task.parse(["12", "3"]))
        ['36']
    """

    ROWS = Rows((Row.NUMBER, Row.SEQUENCE), answer=Row.BOUND)
    SIGNS = Signs("*")
    OPERANDS = 2
    STAGES = "carries"

    tested_from: Count = 0
    """Smallest digit that test problems multiply by; the answer of times zero is zeros alone, whatever the length."""

    def check(self) -> None:
        super().check()
        if self.tested_from >= self.base:
            raise SettingError(f"data.task.tested_from={self.tested_from}: expected a digit below {self.base}")

    def columns(self, operands: Tensor) -> Tensor:
        return operands[:, 0] * operands[:, 1, :1]
