"""Exact arithmetic on digit arrays: operands of any length, whole batches, no 64-bit overflow.

A number is a row of digits, least significant first: 201 is [1, 0, 2, 0]; decimal if no base is given. Loops run
over digit places, never over examples.

>>> carry(torch.tensor([[21, 18, 1]])).tolist()  # 21 ones, 18 tens, 1 hundred: 301
[[1, 0, 3]]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lengen.digits.lazy import torch

if TYPE_CHECKING:
    from torch import Generator, Tensor


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
    """Return digits needed to write each number without leading zeros: (..., W) to (...); zero needs one.

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
