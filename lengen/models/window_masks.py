"""Keys that a window of attention leaves open, as bool arrays, for models and figures.

Appendix A.4 and Figures 10 and 11 of "From Interpolation to Extrapolation".
"""

import numpy as np


def window_self(rows: int, width: int) -> np.ndarray:
    """Return (rows, rows) bool: a place sees itself and the ``width`` places before it: the main diagonal and w below.

    >>> window_self(3, 1).astype(int).tolist()
    [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
    """
    behind = np.arange(rows)[:, None] - np.arange(rows)
    return (behind >= 0) & (behind <= width)


def window_cross(rows: int, columns: int, width: int, stride: int) -> np.ndarray:
    """Return (rows, columns) bool: a window along the anti-diagonal.

    It has ``stride`` places along it, and ``width`` places to both sides of them.

    ``columns`` count the source with both of its ``$``. The window spans and steps over one place for unary and two for
    binary operations. The anti-diagonal is that of the whole matrix: row 0 stands against the final ``$`` of the
    source, and responses begin with the least significant digit, which stands before it. So with w = 1 the row that
    writes digit k sees digits k, k - 1 and k - 2 of one operand, or digits k and k - 1 of two. Anchored on digit k
    itself, the first row would see two digits alike, and nothing could tell them apart without positions, where the
    text reports 100 %.

    >>> window_cross(2, 4, 0, 1).astype(int).tolist()
    [[0, 0, 0, 1], [0, 0, 1, 0]]
    """
    from_right = columns - 1 - np.arange(columns) - stride * np.arange(rows)[:, None]
    return (from_right >= -width) & (from_right < stride + width)
