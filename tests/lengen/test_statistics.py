"""Intervals of single counts."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lengen.results.records import wilson
from tests.fixtures.refusals import refused

tested = st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(tested)
@example((500, 1000))
@example((1, 870_000))
def test_wilson_agrees_with_scipy_within_zero_and_one(pair):
    stats = pytest.importorskip("scipy.stats")
    expected = stats.binomtest(*pair).proportion_ci(0.95, method="wilson")
    assert wilson(*pair, z=stats.norm.ppf(0.975)) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert wilson(*pair) == pytest.approx((expected.low, expected.high), abs=1e-5)
    low, high = wilson(*pair)
    assert 0 <= low <= pair[0] / pair[1] <= high <= 1


@pytest.mark.parametrize(("correct", "n"), [(-1, 5), (6, 5), (0, -1)])
def test_counts_that_are_no_counts_are_refused(correct, n):
    refused(ValueError, "expected a count between 0 and n", wilson, correct, n)


def test_a_million_examples_do_not_lose_the_ends():
    assert wilson(10**6, 10**6).high == 1.0
    assert wilson(0, 10**6).low == 0.0
    assert math.isclose(wilson(10**6, 10**6).low, 1 - 1.96**2 / (10**6 + 1.96**2))
