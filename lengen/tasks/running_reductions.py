"""Running reductions of digits: every digit of the result is the result so far, so the last one is the answer.

Sections 3.1 and 8 of "From Interpolation to Extrapolation: Complete Length Generalization for Arithmetic Transformers".

    running xor of 0110, from the right: 0, 1, 0, 0; its last digit is the parity
"""

from __future__ import annotations

from typing import ClassVar

from lengen.digits import Problems, Tensor
from lengen.part import SettingError
from lengen.tasks.base import Rows, Signs
from lengen.tasks.successor_and_pair_tasks import Arithmetic


class Running(Arithmetic, frozen=True):
    """Every digit of the result is the result so far, so the last one is the answer."""

    ROWS: ClassVar[Rows] = Rows()
    GROWS: ClassVar[bool] = False
    LAST_DIGIT: ClassVar[bool] = True
    UNITS_FIRST: ClassVar[bool] = True

    def answer(self, problems: Problems, width: int = 0) -> Tensor:
        return self.results(self.padded(problems, width)[:, 0])

    def results(self, digits: Tensor) -> Tensor:
        """Return the result so far at every digit (B, W)."""
        raise NotImplementedError


class RunningXor(Running, tag="running_xor", frozen=True):
    """Exclusive or of the bits so far, from the right: 0110 gives 0, 1, 0, 0; the last one is the parity.

    Example:
        >>> import lengen
        >>> task = lengen.RunningXor(digits=3)
        >>> task.text(task.parse(["110"]))
        ['0']
    """

    def check(self) -> None:
        super().check()
        if self.base != 2:
            raise SettingError(f"data.task.base={self.base}: an exclusive or is of bits; set data.task.base=2")

    def results(self, digits: Tensor) -> Tensor:
        return digits.cumsum(dim=1) % 2


class ListOpsSum(Running, tag="listops_sm", frozen=True):
    """Sum of the digits so far, modulo the base.

    Example:
        >>> import lengen
        >>> task = lengen.ListOpsSum(digits=3)
        >>> task.text(task.parse(["172"]))
        ['0']
    """

    SIGNS = Signs("%", prefix=True)

    def results(self, digits: Tensor) -> Tensor:
        return digits.cumsum(dim=1) % self.base


class ListOpsMax(Running, tag="listops_max", frozen=True):
    """Largest of the digits so far.

    Example:
        >>> import lengen
        >>> task = lengen.ListOpsMax(digits=3)
        >>> task.text(task.parse(["172"]))
        ['7']
    """

    SIGNS = Signs(">", prefix=True)

    def results(self, digits: Tensor) -> Tensor:
        return digits.cummax(dim=1).values


class ListOpsMin(Running, tag="listops_min", frozen=True):
    """Smallest of the digits so far.

    Example:
        >>> import lengen
        >>> task = lengen.ListOpsMin(digits=3)
        >>> task.text(task.parse(["172"]))
        ['1']
    """

    SIGNS = Signs("<", prefix=True)
    IDENTITY = -1

    def results(self, digits: Tensor) -> Tensor:
        return digits.cummin(dim=1).values
