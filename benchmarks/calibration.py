"""Speed of attention bias calibration: the vectorised function against Algorithm 1 written out as loops.

`calibration_loop` is also what the tests hold the vectorised function to.
"""

import math
from collections.abc import Sequence

import torch

from benchmarks.speed import Sizes
from benchmarks.timing import Entry, entry, turns
from lengen.models.calibrated_bias import ROUNDING, calibrate_bias

Matrix = list[list[float]]
DIRECTIONS = ((1, -1), (1, 0), (1, 1))
"""Anti-diagonal, vertical, diagonal: those that suffice by Section 5."""


def calibration_loop(
    attention: Sequence[Matrix],
    size: tuple[int, int],
    directions: Sequence[tuple[int, int]],
    sigma: float = 2.0,
    line: str = "mean",
) -> list[Matrix]:
    """Return Algorithm 1, element by element; arguments as those of `calibrate_bias`, as nested lists.

    Numbers in comments are the lines printed in Appendix B of "From Interpolation to Extrapolation: Complete Length
    Generalization for Arithmetic Transformers". Mended: lines 14 and 19 work on the direction's own array, the raw
    line value is compared with the threshold, and the translation of footnote 9 is N - n.
    """
    (M, N), m, n = size, len(attention[0]), len(attention[0][0])
    result = []
    for A in attention:  # 1
        bias = [[-math.inf] * N for _ in range(M)]
        for _, slope in directions:  # 2
            shift = N - n if slope < 0 else 0  # footnote 9
            lines = [
                line_value(A, i, j, slope, line)
                for i in range(m)
                for j in range(n)
                if i == 0 or not 0 <= j - slope < n  # the line begins here
            ]
            lines = [value for value in lines if value > -math.inf]
            if not lines:
                continue
            mean = sum(lines) / len(lines)
            deviation = math.sqrt(sum((value - mean) ** 2 for value in lines) / len(lines))
            threshold = mean + sigma * deviation + ROUNDING * max(abs(value) for value in lines)
            own = [[line_value(A, i, j - shift, slope, line) for j in range(N)] for i in range(M)]  # 3 to 11
            for i in range(M):  # 12 to 21
                for j in range(N):
                    own[i][j] = own[i][j] - max(lines) if own[i][j] > threshold else -math.inf
            for i in range(M):  # 23 to 27
                for j in range(N):
                    bias[i][j] = max(bias[i][j], own[i][j])
        if all(value == -math.inf for row in bias for value in row):  # step 2.4
            bias = [[0.0] * N for _ in range(M)]
        result.append(bias)
    return result


def line_value(A: Matrix, i: int, j: int, slope: int, line: str) -> float:
    """Return mean or sum of ``A`` along the line through (i, j), which may lie outside: lines 5 to 9.

    -inf for no element.
    """
    total, count = 0.0, 0
    for k in range(-i, len(A) - i):
        if 0 <= j + k * slope < len(A[0]) and A[i + k][j + k * slope] > -math.inf:
            total += A[i + k][j + k * slope]
            count += 1
    if not count:
        return -math.inf
    return total / count if line == "mean" else total


def calibration(sizes: Sizes) -> list[Entry]:
    """The cross-attention bias of addition, all directions: milliseconds, and the loop's time against ours."""
    heads, m, rows, columns = sizes.calibrated
    attention = torch.rand(heads, m, columns, generator=torch.Generator().manual_seed(0))
    nested = attention.tolist()
    seconds = turns(
        [
            lambda: calibrate_bias(attention, (rows, columns), DIRECTIONS),
            lambda: calibration_loop(nested, (rows, columns), DIRECTIONS),
        ],
        sizes.turns,
    )
    what = f"bias of {heads} heads, {rows} x {columns} from {m} x {columns}, {len(DIRECTIONS)} directions"
    ratios = seconds[:, 1] / seconds[:, 0]
    return [
        entry("calibration_vs_loop", what, ratios, "times faster", "Algorithm 1 as loops over elements (aim 50)"),
        entry("calibration_milliseconds", what, 1000 * seconds[:, 0], "ms", "aim below 50"),
    ]
