"""Problems of a task as digits, and what is wrong with operands that make none."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from lengen.digits.lazy import torch
from lengen.part import LONGEST

if TYPE_CHECKING:
    from torch import Tensor

AT_ONCE = 100
"""Problems of one forward pass by default."""


class Problems(NamedTuple):
    """A batch of problems of one task."""

    operands: Tensor
    """(B, K, W) int64 values of digits, 0 beyond the length: numbers least significant digit first, strings and
    sequences in reading order; sequences of an alphabet hold the numbers themselves, from 1 on."""
    lengths: Tensor
    """(B, K) digits of each operand; 0 for an operand that is absent."""
    kinds: Tensor | None = None
    """(B,) sub-task of each problem, if the task has any."""

    def select(self, index: Tensor) -> Problems:
        """Return the problems at the given positions, in that order."""
        return Problems(self.operands[index], self.lengths[index], None if self.kinds is None else self.kinds[index])

    def packed(self) -> Problems:
        """Return the same in bytes, lengths in two: 10 million problems of ten ten-digit operands take 1.2 GB."""
        kinds = None if self.kinds is None else self.kinds.to(torch.uint8)
        return Problems(self.operands.to(torch.uint8), self.lengths.to(torch.int16), kinds)

    def parts(self, size: int = 0) -> Iterator[Problems]:
        """Yield the problems in their order, ``size`` (0: `AT_ONCE`) at a time."""
        for index in torch.split(torch.arange(len(self.lengths)), size or AT_ONCE):
            yield self.select(index)


class OperandError(ValueError):
    """Operands a task cannot take; the message is one sentence for the user."""


def whole(name: str, value: object, most: int = 2**31, least: int = 1) -> int:
    """Return a number of digits, operands or examples that a script gives.

    Raises `OperandError` unless it is ``least`` to ``most``.

    >>> whole("length", 3)
    3
    """
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise OperandError(f"{name}={value!r}: expected a whole number") from None
    if not least <= number <= most:
        raise OperandError(f"{name}={number}: expected {least} to {most:,}")
    return number


def cells(lengths: Iterable[object], counts: Iterable[object]) -> list[tuple[int, int]]:
    """Return pairs of a length and a count, lengths outermost; raises `OperandError` for one that no problem has."""
    rows, columns = (_each(name, given) for name, given in (("length", lengths), ("count", counts)))
    return [(length, count) for length in rows for count in columns]


def _each(name: str, values: Iterable[object]) -> list[int]:
    try:
        listed = list(values)
    except TypeError:
        raise OperandError(f"{name}s={values!r}: expected a list of whole numbers, such as [1, 2]") from None
    return [whole(name, value, LONGEST) for value in listed]


def operand_texts(operands: Iterable[object]) -> list[str]:
    """Return operands of a script as text: strings, and everything that is a whole number, such as a tensor of one.

    Raises `OperandError` for anything else, and for a string in place of a list.

    >>> operand_texts([57, "048"])
    ['57', '048']
    """
    if isinstance(operands, str | bytes):
        raise OperandError(f"operands are the one text {operands!r}: expected a list with one item each, ['12', '34']")
    expected = "expected a list of whole numbers, or of their digits as text"
    if not isinstance(operands, Iterable):
        raise OperandError(f"operands are {type(operands).__name__}: {expected}")
    found = []
    for one in operands:
        try:
            found.append(one if isinstance(one, str) else str(operator.index(one)))  # type: ignore[arg-type]
        except TypeError:
            raise OperandError(f"operands contain {one!r:.40}: {expected}") from None
        except ValueError:  # Python writes no number so long
            raise OperandError("operands contain a very long number: expected its digits as text") from None
    return found


def problem_texts(problems: Iterable[Iterable[object]]) -> list[list[str]]:
    """Return the `operand_texts` of each of several problems; raises `OperandError`, also for one that stands alone.

    >>> problem_texts([[57, "48"], ["9", 1]])
    [['57', '48'], ['9', '1']]
    """
    try:
        listed = None if isinstance(problems, str | bytes) else list(problems)
    except TypeError:
        listed = None
    if listed is None:
        raise OperandError(f"problems are {problems!r:.60}: expected a list of lists, [['12', '34'], ['5', '6']]")
    return [operand_texts(operands) for operands in listed]
