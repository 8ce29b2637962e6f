"""Exact arithmetic on digit arrays, problems as digits, explicit randomness; torch is loaded at first use.

A number is a row of digits, least significant first: 201 is [1, 0, 2, 0]; decimal if no base is given. Loops run
over digit places, never over examples.

>>> carry(torch.tensor([[21, 18, 1]])).tolist()  # 21 ones, 18 tens, 1 hundred: 301
[[1, 0, 3]]
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lengen.part import LONGEST

if TYPE_CHECKING:
    import torch as torch
    from torch import Generator as Generator
    from torch import Tensor as Tensor
else:
    Generator = Tensor = object  # for annotations, which nobody evaluates

    class _Torch:
        def __getattr__(self, name: str) -> Any:
            import torch

            value = getattr(torch, name)
            setattr(self, name, value)  # found without this method the next time
            return value

    torch = _Torch()


def carry(columns: Tensor, base: int = 10) -> Tensor:
    """Return column sums (..., W), least significant first, to digits below ``base`` of the same shape.

    Raises OverflowError when the number needs more than W digits.
    """
    # Place by place over contiguous 32-bit rows: half the time of strided 64-bit ones.
    places = torch.empty((columns.shape[-1], *columns.shape[:-1]), dtype=torch.int32)
    places.copy_(columns.movedim(-1, 0))
    rest = torch.zeros_like(places[0])
    for place in places:
        place += rest
        rest = place.div(base, rounding_mode="trunc")
        place -= base * rest
    if bool(rest.any()):
        raise OverflowError(f"a sum does not fit into {columns.shape[-1]} digits")
    return places.movedim(0, -1).to(columns.dtype)


def running_sums(numbers: Tensor, width: int) -> Tensor:
    """Return sums of the first 0, 1, ..., K numbers: (B, K, W) digits to (B, K + 1, width) digits."""
    padded = torch.nn.functional.pad(numbers, (0, width - numbers.shape[-1], 1, 0))
    return carry(padded.cumsum(dim=-2))


def partial_products(a: Tensor, b: Tensor, width: int) -> Tensor:
    """Return ``a`` times each digit of ``b``: (B, M) and (B, N) digits to (B, N, width) digits."""
    columns = b[:, :, None] * a[:, None, :]
    return carry(torch.nn.functional.pad(columns, (0, width - columns.shape[-1])))


def shifted_sums(rows: Tensor, width: int) -> Tensor:
    """Return running sums of row i times 10**i: (B, N, W) digits to (B, N, width) digits."""
    batch, n, w = rows.shape
    columns = rows.new_zeros(batch, n, width)
    for i in range(n):  # over digit places of the second factor
        columns[:, i, i : i + w] = rows[:, i, : width - i]
    return carry(columns.cumsum(dim=1))


def significant(numbers: Tensor) -> Tensor:
    """Return the number of digits needed to write each number without leading zeros: (..., W) to (...); zero needs one.

    >>> significant(torch.tensor([[0, 0, 0], [0, 2, 0]])).tolist()
    [1, 2]
    """
    places = torch.arange(1, numbers.shape[-1] + 1)
    return ((numbers != 0) * places).amax(dim=-1).clamp(min=1)


def from_strings(numbers: list[str], width: int) -> Tensor:
    """Return (K, width) digits of strings, most significant digit first; letters a to f are digits too."""
    return torch.tensor([[int(c, 16) for c in reversed(text)] + [0] * (width - len(text)) for text in numbers])


def from_numbers(numbers: Tensor, width: int, base: int = 10) -> Tensor:
    """Return digits (..., width) of int64 numbers (...)."""
    return numbers[..., None].div(base ** torch.arange(width), rounding_mode="floor") % base


def sample(lengths: Tensor, width: int, generator: Generator, base: int = 10) -> Tensor:
    """Return random numbers with exactly the given lengths: (...) to (..., width) digits, 0 beyond the length.

    In base 10 the first digit is 1-9, the others 0-9; a one-digit number is 0-9 (Section 4.2 of "Arithmetic
    Transformers Can Length-Generalize in Both Operand Length and Count": from [1000:9999] for length 4; zero is a
    one-digit number in the authors' code). Length 0 gives an absent operand, all zeros.
    """
    shape = (*lengths.shape, width)
    digits = torch.randint(0, base, shape, generator=generator)
    leading = torch.randint(1, base, lengths.shape, generator=generator)
    leading = torch.where(lengths > 1, leading, digits[..., 0])
    digits.scatter_(-1, (lengths - 1).clamp(min=0)[..., None], leading[..., None])
    return digits.masked_fill_(torch.arange(width) >= lengths[..., None], 0)


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
    """(B,) sub-task of each problem; None: the first, or the task has none."""

    def select(self, index: Tensor) -> Problems:
        """Return the problems at the given positions, in that order."""
        return Problems(self.operands[index], self.lengths[index], None if self.kinds is None else self.kinds[index])

    @staticmethod
    def joined(parts: Sequence[Problems]) -> Problems:
        """Return problems of any sizes as one batch, without their sub-tasks."""
        count, width = (max(part.operands.shape[axis] for part in parts) for axis in (1, 2))
        wide = [part._widened(count, width) for part in parts]
        return Problems(torch.cat([part.operands for part in wide]), torch.cat([part.lengths for part in wide]))

    def _widened(self, count: int, width: int) -> Problems:
        more, wider = count - self.operands.shape[1], width - self.operands.shape[2]
        if not more and not wider:
            return self
        pad = torch.nn.functional.pad
        return Problems(pad(self.operands, (0, wider, 0, more)), pad(self.lengths, (0, more)), self.kinds)

    def packed(self) -> Problems:
        """Return the problems as bytes, lengths in two: 10 million problems of ten ten-digit operands take 1.2 GB."""
        kinds = None if self.kinds is None else self.kinds.to(torch.uint8)
        return Problems(self.operands.to(torch.uint8), self.lengths.to(torch.int16), kinds)

    def parts(self, size: int = 0) -> Iterator[Problems]:
        """Yield the problems in their order, ``size`` (0: `AT_ONCE`) at a time."""
        for index in torch.split(torch.arange(len(self.lengths)), size or AT_ONCE):
            yield self.select(index)


class OperandError(ValueError):
    """Operands a task cannot take; the message is one sentence for the user."""


class RoomError(OperandError):
    """Operands that need larger position ids than the model has: a ``level``, from 0, ``needs`` ids up to a number."""

    def __init__(self, sentence: str, level: int, needs: int) -> None:
        super().__init__(sentence)
        self.level, self.needs = level, needs


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
    rows, columns = (_each(name, values) for name, values in (("length", lengths), ("count", counts)))
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
    texts = []
    for operand in operands:
        try:
            texts.append(operand if isinstance(operand, str) else str(operator.index(operand)))  # type: ignore[arg-type]
        except TypeError:
            raise OperandError(f"operands contain {operand!r:.40}: {expected}") from None
        except ValueError:  # Python writes no number so long
            raise OperandError("operands contain a very long number: expected its digits as text") from None
    return texts


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


# Streams of different purposes are different by construction, so test examples are never drawn from a training stream,
# whatever the seed, and a batch is a function of (seed, step) alone: nothing has to be remembered to resume.


def generator(purpose: str, *numbers: int) -> Generator:
    """Return a CPU generator for one purpose and its numbers (seed, step, cell ...); equal arguments, equal stream."""
    text = ":".join([purpose, *map(str, numbers)])
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
    return torch.Generator().manual_seed(seed)


def mix(values: Tensor) -> Tensor:
    """Return a one-to-one scrambling of 64-bit integers (the finaliser of SplitMix64, Steele et al. 2014)."""
    values = values + -7046029254386353131
    values = (values ^ _shifted(values, 30)) * -4658895280553007687
    values = (values ^ _shifted(values, 27)) * -7723592293110705685
    return values ^ _shifted(values, 31)


def _shifted(values: Tensor, bits: int) -> Tensor:
    return (values >> bits) & ((1 << (64 - bits)) - 1)  # a logical shift: torch keeps the sign
