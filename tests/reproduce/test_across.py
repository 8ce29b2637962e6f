"""One value for many runs, with an interval that assumes no distribution."""

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengen.intervals import Z95
from lengen.measures import Missing
from reproduce.comparison.evidence import ACROSS, DEVIATION, MEAN

SHARES = st.lists(st.floats(0, 1), min_size=3, max_size=30)


@given(SHARES)
def test_the_jackknife_of_a_mean_is_its_standard_error(values):
    value, interval = MEAN.of(values)
    half = Z95 * statistics.stdev(values) / math.sqrt(len(values))
    assert value == pytest.approx(statistics.fmean(values))
    assert tuple(interval) == pytest.approx((value - half, value + half), abs=1e-9)


@given(SHARES)
def test_the_deviation_is_that_of_a_sample_and_lies_in_its_interval(values):
    value, interval = DEVIATION.of(values)
    assert value == pytest.approx(statistics.stdev(values), abs=1e-12)
    assert interval.low <= value <= interval.high


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [("mean", [0.5], "1 run; the mean over runs needs 2"), ("deviation", [0, 1], "2 runs; the sample deviation .* 3")],
)
def test_too_few_runs_are_missing(name, values, words):
    with pytest.raises(Missing, match=words):
        ACROSS[name].of(values)
