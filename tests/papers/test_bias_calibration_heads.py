"""Heads are counted for the operand they look at, and for none where they look at both or everywhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from papers.bias_calibration.calibrated import heads_by_operand

DIGITS = 12
"""Fixed length: source "$ a..a + b..b $" (27 places), target "$ " and 13 digits."""
FIRST, SECOND = range(1, DIGITS + 1), range(DIGITS + 2, 2 * DIGITS + 2)
ROWS, COLUMNS, TRAINED = DIGITS + 2, 2 * DIGITS + 3, 4


def head(*units: int) -> np.ndarray:
    """A head whose open anti-diagonals start at these columns of row 0."""
    bias = np.full((ROWS, COLUMNS), -np.inf, np.float32)
    for column in units:
        for row in range(min(ROWS, column + 1)):
            bias[row, column - row] = 0.3
    return bias


A, B, NONE, BOTH = head(FIRST[-1]), head(SECOND[-1]), head(), head(FIRST[-1], SECOND[-1])
VERTICAL, AT_THE_END = head(), head()
VERTICAL[:, SECOND[0]] = AT_THE_END[:, COLUMNS - 1] = 0.0


@pytest.mark.parametrize(
    ("heads", "counts"),
    [
        ((A, B, B), (1, 2)),
        # One digit less significant starts at the operator or the end; one more significant one place to the left.
        ((head(FIRST[-1] + 1), head(FIRST[-1] - 1), head(SECOND[-1] + 1), head(SECOND[-1] - 1)), (2, 2)),
        ((BOTH, np.zeros((ROWS, COLUMNS)), NONE), (0, 0)),
        ((VERTICAL, AT_THE_END), (0, 1)),
        # Open lines in the authors' repository (AttentionBiasCalibration, windowCross_120_5.t).
        ((B, B, NONE, B, BOTH, B, A, A), (2, 4)),
    ],
    ids=["units", "neighbouring digits", "both, everything, nothing", "vertical", "published"],
)
def test_a_head_counts_for_the_operand_that_its_lines_begin_in(heads, counts):
    assert np.isfinite(B[ROWS - 1, FIRST[-1]]), "the line of the second operand reaches the first"
    assert heads_by_operand(np.stack(heads), FIRST, SECOND, TRAINED) == counts


@given(st.lists(st.sampled_from([(), (FIRST[-1],), (SECOND[-1],), (FIRST[-1], SECOND[-1])]), min_size=1, max_size=8))
def test_counts_are_those_of_the_heads_in_any_order_and_swap_with_the_operands(kinds):
    bias = np.stack([head(*units) for units in kinds])
    expected = kinds.count((FIRST[-1],)), kinds.count((SECOND[-1],))
    assert heads_by_operand(bias, FIRST, SECOND, TRAINED) == expected
    assert heads_by_operand(bias[::-1], SECOND, FIRST, TRAINED) == expected[::-1]


@pytest.mark.parametrize(
    ("shape", "first", "second", "rows", "message"),
    [
        ((ROWS, COLUMNS), FIRST, SECOND, TRAINED, "expected .heads, rows, columns."),
        ((8, ROWS, COLUMNS), FIRST, SECOND, 0, "do not lie in a bias of 14 x 27"),
        ((8, ROWS, COLUMNS), FIRST, SECOND, ROWS + 1, "15 rows"),
        ((8, ROWS, COLUMNS), FIRST, [COLUMNS], TRAINED, "do not lie"),
        ((8, ROWS, COLUMNS), [-1], SECOND, TRAINED, "do not lie"),
        ((8, ROWS, COLUMNS), [], [], TRAINED, "do not lie"),
    ],
)
def test_what_does_not_fit_gets_one_sentence(shape, first, second, rows, message):
    with pytest.raises(ValueError, match=message) as error:
        heads_by_operand(np.zeros(shape), first, second, rows)
    assert "\n" not in str(error.value)
