"""Spread over turns, and exponents."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengen.inspection.timing import SPREAD, entry, exponent

RATIOS = st.lists(st.floats(0.01, 100), min_size=2, max_size=40)


@given(RATIOS)
def test_a_spread_holds_its_median_and_lies_within_what_was_measured(values):
    found = entry("name", "what", values, "ms")
    assert min(values) <= found.low <= found.value <= found.high <= max(values) or np.ptp(values) < 1e-9
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(values, SPREAD)))


@given(st.floats(-1, 3), st.floats(0.1, 10), st.lists(st.integers(1, 500), min_size=2, max_size=6, unique=True))
def test_the_exponent_of_a_power_law_is_found(power, factor, sizes):
    assert exponent(sizes, [factor * size**power for size in sizes]) == pytest.approx(power, abs=1e-6)


def test_an_entry_keeps_median_and_spread_of_its_turns():
    found = entry("name", "what", [3.0, 1.0, 2.0], "ms", "nothing")
    assert (found.value, found.low, found.high) == pytest.approx((2.0, 1.2, 2.8))
    assert found._replace(value=0, low=0, high=0) == ("name", "what", 0, "ms", "nothing", 0, 0, "")
