"""Heads of a calibrated bias by the operand they look at: the division of labour of Figure 4, as two counts.

The cross-attention bias of an ABC run enters, numbers of heads leave; numpy only.
"""

from collections.abc import Sequence

import numpy as np


def heads_by_operand(
    bias_cross: np.ndarray, columns_first: Sequence[int], columns_second: Sequence[int], rows: int
) -> tuple[int, int]:
    """Return number of heads open to the first operand only, and number of heads open to the second operand only.

    Section 6 reads from Figure 4 that in addition some heads attend to the first operand and the others to the second.
    A head counts for an operand when, in its first ``rows`` rows, it has open entries in that operand's columns and
    none in the other's; what is open at operators and end tokens says nothing. So a head with lines in both operands
    counts for neither, and so do a transparent head (open everywhere) and one that is closed everywhere.

    Only the rows of trained digits are looked at because an anti-diagonal runs out of its operand at the left: far
    enough down, the line through the units of the second operand reads the units of the first.

    Args:
        bias_cross: (heads, M, N), rows are decoder input places (row i predicts the digit of significance i), columns
            are source places; -inf where closed.
        columns_first: columns of the first operand's digits.
        columns_second: columns of the second operand's digits.
        rows: trained digits, at least 1 and at most M.

    Raises:
        ValueError: when the shape, a column or ``rows`` does not fit.

    >>> bias = np.full((2, 3, 6), -np.inf)  # rows $ and two digits; columns $ a a + b b
    >>> bias[0, [0, 1], [2, 1]] = bias[1, [0, 1, 2], [5, 4, 3]] = 0.5
    >>> heads_by_operand(bias, range(1, 3), range(4, 6), rows=2)
    (1, 1)
    """
    if bias_cross.ndim != 3:
        raise ValueError(f"heads_by_operand: bias of shape {bias_cross.shape}; expected (heads, rows, columns)")
    _, height, width = bias_cross.shape
    columns = [*columns_first, *columns_second]
    if not 1 <= rows <= height or not columns or not 0 <= min(columns) <= max(columns) < width:
        raise ValueError(
            f"heads_by_operand: {rows} rows and columns {columns} do not lie in a bias of {height} x {width}; "
            "expected the trained digits and the source places of both operands"
        )
    is_open = bias_cross[:, :rows] > -np.inf
    first = is_open[:, :, list(columns_first)].any(axis=(1, 2))
    second = is_open[:, :, list(columns_second)].any(axis=(1, 2))
    return int((first & ~second).sum()), int((second & ~first).sum())
