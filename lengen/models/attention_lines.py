"""Lines that stand out in attention, and the bias that continues them: attention bias calibration.

What enters is attention (heads, m, n) of a model that interpolates; what leaves is a bias (heads, M, N) to be added to
the scores of a new one. Section 5 and Algorithm 1 (Appendix B) of "From Interpolation to Extrapolation: Complete Length
Generalization for Arithmetic Transformers", with these slips mended (all of them: the errata of that paper's module):

- The text compares d_l - d_max, never positive, with mu + sigma * sd of the d_l themselves, which closes nearly
  everything. Here d_l itself is compared, and what passes has the value d_l - d_max.
- Lines 14 and 19 name the output array; each direction has its own, and they are merged within the loop over heads.
- Footnote 9 moves the input N - n + 1 columns to the right; its top-right corners align after N - n.

A line of slope D is the set of elements (i + k, j + k D), k any integer, inside the matrix. All elements of a line
share j - i D, the column at which it crosses row 0 of the matrix continued to both sides: this is the line's id.
"""

import math
from collections.abc import Iterable
from typing import Literal

import torch
from torch import Tensor

CLOSED = float("-inf")
ROUNDING = 1e-9
"""Part of the largest absolute line value that counts as rounding: equal lines stay equal in whatever order summed."""

Line = Literal["mean", "sum"]


class CalibrationError(ValueError):
    """Attention, a size, a direction or a threshold from which no bias can be calibrated."""


def calibrate_bias(
    attention: Tensor,
    size: tuple[int, int],
    directions: Iterable[tuple[int, int]],
    sigma: float = 2.0,
    *,
    line: Line = "mean",
) -> Tensor:
    """Return bias (heads, M, N) that opens the lines standing out in ``attention`` and closes all else with -inf.

    The lines are continued.

    Heads and directions are judged apart: a line is open when its value d_l exceeds mu + sigma * sd over the lines of
    the input, each counted once whatever its length; its bias is d_l - d_max (Section 5, steps 2.1 to 2.4). Where lines
    of several directions cross, the larger bias holds. Where all lines are equal (sd = 0) none is open. A head without
    any open line is all zeros, "transparent".

    Args:
        attention: (heads, m, n), probabilities or scores. Elements that are -inf, as above the diagonal of causal
            scores, are left out of their line; a line of nothing else does not exist in the input. Do not write them
            as large negative numbers: those would count in mu and sd.
        size: (M, N), at least (m, n). Top-left corners align; for negative slopes the top-right corners do.
        directions: pairs (1, slope), slope any integer: 0 vertical, 1 diagonal, -1 anti-diagonal. Order and repetition
            change nothing.
        sigma: standard deviations (population) above the mean at which a line opens.
        line: value of a line: "mean" of its elements, or their "sum", as the authors' code has it.

    Raises `CalibrationError` for a size below the input's, for no or malformed directions, NaN or infinite attention.
    """
    _check_attention(attention)
    rows, columns = size
    heads, m, n = attention.shape
    if rows < m or columns < n:
        raise CalibrationError(
            f"size {rows}x{columns} is smaller than the attention, {m}x{n}: a bias is extended, never cropped; "
            f"ask for at least {m}x{n} or crop the attention first"
        )
    given, attention = attention, attention.cpu()  # float64 below, which some devices do not have
    bias = torch.full((heads, rows, columns), CLOSED, dtype=torch.float64)
    for slope in _slopes(directions):
        ids, values = line_values(attention, slope, line)
        levels = drop_off(values, sigma)
        wanted = _line_ids(rows, columns, slope)
        if slope < 0:
            wanted = wanted - (columns - n)
        nearest = torch.searchsorted(ids, wanted).clamp(max=len(ids) - 1)
        bias = bias.maximum(levels[:, nearest].where(ids[nearest] == wanted, CLOSED))
    picked = (bias > CLOSED).flatten(1).any(dim=1)
    return bias.where(picked[:, None, None], 0.0).to(given)


def line_values(attention: Tensor, slope: int, line: Line = "mean") -> tuple[Tensor, Tensor]:
    """Return, on the CPU, ids (L,) of the lines of one slope, rising, and their float64 values (heads, L).

    This is step 2.1 (Figure 3).

    The id is the column at which the line crosses row 0, negative or beyond the matrix for lines that begin further
    down. The value is -inf where a line has no finite element. ``attention`` and errors as in `calibrate_bias`.
    """
    _check_attention(attention)
    if line not in ("mean", "sum"):
        raise CalibrationError(f"line value {line!r}: expected 'mean' or 'sum'")
    attention = attention.cpu()
    heads, m, n = attention.shape
    ids, number = torch.unique(_line_ids(m, n, slope), return_inverse=True)
    present = attention > CLOSED
    zeros = torch.zeros(heads, len(ids), dtype=torch.float64)
    values = zeros.index_add(1, number.flatten(), attention.double().where(present, 0.0).flatten(1))
    counts = zeros.index_add(1, number.flatten(), present.double().flatten(1))
    if line == "mean":
        values = values / counts  # 0 / 0 is closed by the next line
    return ids, values.where(counts > 0, CLOSED)


def drop_off(values: Tensor, sigma: float = 2.0) -> Tensor:
    """Return d_l - d_max where a line of `line_values` exceeds mu + sigma * sd of its row, -inf elsewhere.

    From (heads, L) to same.

    Lines of value -inf do not exist: they count neither in the mean nor in the population standard deviation.
    """
    if not math.isfinite(sigma):
        raise CalibrationError(f"sigma is {sigma}: expected a finite number of standard deviations")
    exists = values > CLOSED
    known = values.where(exists, 0.0)
    count = exists.sum(dim=-1, keepdim=True).clamp(min=1)
    mean = known.sum(dim=-1, keepdim=True) / count
    deviation = ((known - mean).where(exists, 0.0).square().sum(dim=-1, keepdim=True) / count).sqrt()
    rounding = ROUNDING * known.abs().amax(dim=-1, keepdim=True)
    passes = values > mean + sigma * deviation + rounding
    return (values - values.amax(dim=-1, keepdim=True)).where(passes, CLOSED)


def _line_ids(rows: int, columns: int, slope: int) -> Tensor:
    """Return (rows, columns) id of the line through each element."""
    return torch.arange(columns) - slope * torch.arange(rows)[:, None]


def _slopes(directions: Iterable[tuple[int, int]]) -> set[int]:
    directions = list(directions)
    if not directions:
        raise CalibrationError("directions are empty: expected at least one pair (1, slope), such as (1, -1)")
    for direction in directions:
        pair = direction if isinstance(direction, tuple | list) else ()
        if len(pair) != 2 or pair[0] != 1 or not isinstance(pair[1], int):
            raise CalibrationError(f"direction {direction!r}: expected a pair (1, slope) with an integer slope")
    return {slope for _, slope in directions}


def _check_attention(attention: Tensor) -> None:
    if attention.dim() != 3 or not attention.numel() or not attention.is_floating_point():
        found = f"{attention.dtype} of shape {tuple(attention.shape)}"
        raise CalibrationError(f"attention is {found}: expected floating point (heads, m, n), no axis empty")
    if bool(attention.isnan().any()) or bool((attention == math.inf).any()):
        raise CalibrationError("attention holds NaN or +inf: expected finite values, or -inf where a key is not seen")
