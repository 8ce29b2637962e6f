"""Intervals against scipy, against published examples and against the properties that make them intervals."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengen.results.records import wilson

counts = st.integers(0, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
tested = st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(("correct", "n"), [(0, 1), (1, 1), (0, 50), (50, 50), (7, 10), (500, 1000), (1, 870000)])
def test_wilson_agrees_with_scipy(correct, n):
    stats = pytest.importorskip("scipy.stats")
    expected = stats.binomtest(correct, n).proportion_ci(0.95, method="wilson")
    assert wilson(correct, n, z=stats.norm.ppf(0.975)) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert wilson(correct, n) == pytest.approx((expected.low, expected.high), abs=1e-5)


@given(tested)
def test_wilson_contains_its_rate_and_stays_within_zero_and_one(pair):
    low, high = wilson(*pair)
    assert 0 <= low <= pair[0] / pair[1] <= high <= 1


@given(tested)
def test_wilson_mirrors_failures(pair):
    low, high = wilson(*pair)
    other = wilson(pair[1] - pair[0], pair[1])
    assert (low, high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-12)


@given(tested)
def test_wilson_narrows_with_more_examples(pair):
    short, long = wilson(*pair), wilson(pair[0] * 10, pair[1] * 10)
    assert long.high - long.low < short.high - short.low


@pytest.mark.parametrize(("correct", "n"), [(-1, 5), (6, 5), (0, -1)])
def test_counts_that_are_no_counts_are_refused(correct, n):
    with pytest.raises(ValueError, match="expected a count between 0 and n"):
        wilson(correct, n)


def test_a_million_examples_do_not_lose_the_ends():
    assert wilson(10**6, 10**6).high == 1.0
    assert wilson(0, 10**6).low == 0.0
    assert math.isclose(wilson(10**6, 10**6).low, 1 - 1.96**2 / (10**6 + 1.96**2))
