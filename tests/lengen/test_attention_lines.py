"""Attention bias calibration: against Algorithm 1 written as loops, by hand, and on planted lines."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch import Tensor

from benchmarks.calibration import calibration_loop
from lengen.models.bias import CalibrationError, calibrate_bias, drop_off, line_values
from tests.fixtures.refusals import refused

CLOSED = -math.inf
SQUARE = torch.tensor([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]])
SLOPES = st.lists(st.integers(-2, 2), min_size=1, max_size=4)
MORE = st.tuples(st.integers(0, 6), st.integers(0, 6))
NOT_A_NUMBER = torch.tensor([[[1.0, math.nan]]])


@st.composite
def attentions(draw, closed=True):
    """(heads, m, n) in float64: few levels, so that lines tie with the threshold, or any numbers; some -inf."""
    shape = draw(st.tuples(st.integers(1, 3), st.integers(1, 6), st.integers(1, 7)))
    levels = st.sampled_from([0.0, 0.1, 0.2, 1.0, -2.0, *([CLOSED] if closed else [])])
    elements = draw(st.sampled_from([levels, st.floats(-4, 4, width=32)]))
    return torch.from_numpy(draw(arrays(np.float64, shape, elements=elements, fill=st.nothing())))


def larger(attention: Tensor, more: tuple[int, int]) -> tuple[int, int]:
    return attention.shape[1] + more[0], attention.shape[2] + more[1]


def planted(m: int, n: int, *places: list[tuple[int, int]]) -> Tensor:
    attention = torch.full((len(places), m, n), 0.1)
    for head, own in enumerate(places):
        for i, j in own:
            attention[head, i, j] = 0.9
    return attention


def opened(bias: Tensor) -> set[tuple[int, int]]:
    return {(i, j) for i, j in (bias > CLOSED).nonzero().tolist()}


@given(attentions(), MORE, SLOPES, st.sampled_from([-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0]),
       st.sampled_from(["mean", "sum"]))  # fmt: skip
def test_equals_algorithm_1_as_loops(attention, more, slopes, sigma, line):
    size, directions = larger(attention, more), [(1, slope) for slope in slopes]
    ours = calibrate_bias(attention, size, directions, sigma, line=line)
    loop = torch.tensor(calibration_loop(attention.tolist(), size, directions, sigma, line), dtype=torch.float64)
    assert ours.shape == (len(attention), *size)
    assert not ours.isnan().any()
    assert torch.equal(ours == CLOSED, loop == CLOSED)
    assert torch.allclose(ours, loop, atol=1e-12)


@given(attentions(), MORE, st.integers(-2, 2), st.sampled_from([0.0, 1.0, 2.0]))
def test_what_is_extended_is_not_changed(attention, more, slope, sigma):
    """The input's own part of the bias does not depend on the size, and its largest value is zero."""
    (_, m, n), size = attention.shape, larger(attention, more)
    small = calibrate_bias(attention, (m, n), [(1, slope)], sigma)
    large = calibrate_bias(attention, size, [(1, slope)], sigma)
    start = size[1] - n if slope < 0 else 0
    assert torch.equal(large[:, :m, start : start + n], small)
    assert (small.flatten(1).amax(dim=1) == 0).all()


@given(attentions(closed=False), st.integers(-2, 2), st.floats(-5, 5), st.floats(0.5, 4))
def test_lines_are_judged_whatever_the_level_and_scale(attention, slope, level, scale):
    size, directions = larger(attention, (2, 3)), [(1, slope)]
    bias = calibrate_bias(attention.round(decimals=2), size, directions, 1.7)
    moved = calibrate_bias(attention.round(decimals=2) * scale + level, size, directions, 1.7)
    assert torch.allclose(moved, bias * scale, atol=1e-9)


@pytest.mark.parametrize(("slope", "ids", "sums", "means"), [
    (1, [-2, -1, 0, 1, 2], [7, 12, 15, 8, 3], [7, 6, 5, 4, 3]),
    (-1, [0, 1, 2, 3, 4], [1, 6, 15, 14, 9], [1, 3, 5, 7, 9]),
    (0, [0, 1, 2], [12, 15, 18], [4, 5, 6]),
    (2, [-4, -3, -2, -1, 0, 1, 2], [7, 8, 13, 5, 7, 2, 3], [7, 8, 6.5, 5, 3.5, 2, 3]),
])  # fmt: skip
def test_line_values_of_a_small_square(slope, ids, sums, means):
    """Figure 3 draws diagonals, anti-diagonals and verticals with their sums; here with numbers."""
    for line, expected in (("sum", sums), ("mean", means)):
        found, values = line_values(SQUARE, slope, line)
        assert found.tolist() == ids
        assert values.tolist() == [expected]


def test_an_example_by_hand_and_a_planted_anti_diagonal_are_extended_alone():
    """Anti-diagonal sums 1 6 15 14 9: mu 9, population sd 5.18, so only 15 exceeds mu + sd, and 14, 15 mu + sd / 2."""
    open_one = [[CLOSED, CLOSED, 0.0], [CLOSED, 0.0, CLOSED], [0.0, CLOSED, CLOSED]]
    assert calibrate_bias(SQUARE, (3, 3), [(1, -1)], 1.0, line="sum").tolist() == [open_one]
    open_two = [[CLOSED, CLOSED, CLOSED, 0.0], [CLOSED, CLOSED, 0.0, -1.0], [CLOSED, 0.0, -1.0, CLOSED]]
    assert calibrate_bias(SQUARE, (3, 4), [(1, -1)], 0.5, line="sum").tolist() == [open_two]
    attention = planted(6, 27, [(i, 25 - i) for i in range(6)], [(i, 12 - i) for i in range(6)])
    for line in ("mean", "sum"):
        bias = calibrate_bias(attention, (13, 27), [(1, -1)], line=line)
        assert opened(bias[0]) == {(i, 25 - i) for i in range(13)}
        assert opened(bias[1]) == {(i, 12 - i) for i in range(13)}
        assert (bias[bias > CLOSED] == 0).all()


def test_directions_are_merged_by_the_larger_bias():
    """Verticals 4 5 6 open columns 1 and 2 with -1 and 0; anti-diagonals 1 3 5 7 9 open 7 and 9 with -2 and 0."""
    bias = calibrate_bias(SQUARE, (3, 3), [(1, 0), (1, -1)], -0.1)
    assert calibrate_bias(SQUARE, (3, 3), [(1, -1)], -0.1).tolist() == [
        [[CLOSED, CLOSED, -4.0], [CLOSED, -4.0, -2.0], [-4.0, -2.0, 0.0]]
    ]
    assert bias.tolist() == [[[CLOSED, -1.0, 0.0], [CLOSED, -1.0, 0.0], [-4.0, -1.0, 0.0]]]
    assert torch.equal(bias, calibrate_bias(SQUARE, (3, 3), [(1, -1), (1, 0), (1, -1)], -0.1))


@given(st.floats(-1e3, 1e3), st.tuples(st.integers(1, 9), st.integers(1, 9)), st.integers(-3, 3), st.floats(-3, 3))
def test_equal_lines_never_open_whatever_the_rounding(value, shape, slope, sigma):
    attention = torch.full((1, *shape), value, dtype=torch.float64)
    assert (calibrate_bias(attention, (10, 10), [(1, slope)], sigma) == 0).all()
    assert (drop_off(line_values(attention, slope)[1], sigma) == CLOSED).all()


def test_masked_scores_are_judged_among_the_lines_that_exist():
    """Lower triangle of 0 with a subdiagonal of 3: its lines are 3 0 0 0 0 0 0 (z 2.45); with ones above, z is 0.4."""
    scores = torch.zeros(1, 7, 7)
    scores[0, range(1, 7), range(6)] = 3.0
    masked = scores.masked_fill(torch.ones(7, 7).triu(1).bool(), CLOSED)
    bias = calibrate_bias(masked, (12, 12), [(1, 1)])
    assert opened(bias[0]) == {(i, i - 1) for i in range(1, 12)}
    assert line_values(masked, 1)[1].tolist() == [[0, 0, 0, 0, 0, 3, 0] + [CLOSED] * 6]
    # Part of a line: its finite elements alone make its value.
    assert line_values(torch.tensor([[[1.0, CLOSED], [0.0, 3.0], [0.0, 5.0]]]), 0)[1].tolist() == [[1 / 3, 4.0]]
    assert (calibrate_bias(torch.full((2, 3, 3), CLOSED), (4, 4), [(1, 1), (1, 0)]) == 0).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_the_bias_has_the_type_of_the_attention(dtype):
    assert calibrate_bias(SQUARE.to(dtype), (4, 4), [(1, 1)]).dtype == dtype


@pytest.mark.parametrize(("attention", "size", "directions", "options", "said"), [
    (SQUARE, (2, 9), [(1, 1)], {}, "size 2x9 .*smaller than the attention, 3x3"),
    (SQUARE, (9, 2), [(1, 1)], {}, "ask for at least 3x3"), (SQUARE, (3, 3), [], {}, "directions are empty"),
    (SQUARE, (3, 3), [(0, 1)], {}, r"direction \(0, 1\)"), (SQUARE, (3, 3), [(1, 0.5)], {}, "integer slope"),
    (SQUARE, (3, 3), [1], {}, "direction 1: expected a pair"),
    (SQUARE, (3, 3), [(1, 1)], {"sigma": math.nan}, "sigma is nan"),
    (SQUARE, (3, 3), [(1, 1)], {"line": "median"}, "line value 'median'"),
    (SQUARE[0], (3, 3), [(1, 1)], {}, r"attention is torch.float32 of shape \(3, 3\)"),
    (SQUARE.long(), (3, 3), [(1, 1)], {}, "torch.int64"), (SQUARE[:, :0], (3, 3), [(1, 1)], {}, "no axis empty"),
    (NOT_A_NUMBER, (3, 3), [(1, 1)], {}, "NaN"), (-SQUARE.log().log(), (3, 3), [(1, 1)], {}, r"\+inf"),
])  # fmt: skip
def test_what_cannot_be_calibrated_is_refused_in_one_sentence(attention, size, directions, options, said):
    refused(CalibrationError, said, calibrate_bias, attention, size, directions, **options)
