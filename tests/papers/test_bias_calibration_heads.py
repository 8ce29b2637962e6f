"""Heads are counted for the operand they look at, and for none where they look at both or everywhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from papers.bias_calibration.heads import heads_by_operand

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


def count(*heads: np.ndarray) -> tuple[int, int]:
    return heads_by_operand(np.stack(heads), FIRST, SECOND, TRAINED)


def test_units_lines_belong_to_their_operand_although_one_runs_into_the_other():
    first, second = head(FIRST[-1]), head(SECOND[-1])
    assert np.isfinite(second[ROWS - 1, FIRST[-1]]), "the line of the second operand reaches the first"
    assert count(first, second, second) == (1, 2)


def test_lines_of_neighbouring_digits_count_like_those_of_the_units():
    # One digit less significant starts at the operator or the end token; one more significant one place further left.
    assert count(head(FIRST[-1] + 1), head(FIRST[-1] - 1), head(SECOND[-1] + 1), head(SECOND[-1] - 1)) == (2, 2)


def test_both_everything_and_nothing_count_for_neither():
    both, transparent, closed = head(FIRST[-1], SECOND[-1]), np.zeros((ROWS, COLUMNS)), head()
    assert count(both, transparent, closed) == (0, 0)


def test_a_vertical_line_counts_by_its_column():
    vertical, at_the_end = head(), head()
    vertical[:, SECOND[0]] = at_the_end[:, COLUMNS - 1] = 0.0
    assert count(vertical, at_the_end) == (0, 1)


def test_the_division_of_the_published_addition_bias():
    """Open lines of the tensors in the authors' repository (AttentionBiasCalibration, windowCross_120_5.t)."""
    first, second, both, none = head(FIRST[-1]), head(SECOND[-1]), head(FIRST[-1], SECOND[-1]), head()
    assert count(second, second, none, second, both, second, first, first) == (2, 4)


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
