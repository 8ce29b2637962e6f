"""One interval for examples and seeds: it covers the truth about 95 times in 100, and is Newcombe's without seeds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lengen.intervals import Interval, wilson
from lengen.seed_intervals import Deviation, Term, combined, pool, t95, variance

counts = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize("degrees", [*range(1, 31), 60, 101, 1000])
def test_the_quantile_is_students(degrees):
    assert t95(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), rel=1e-9)


@pytest.mark.parametrize("degrees", [2.05, 2.5, 3.3, 7.9, 59.5])
def test_between_whole_degrees_of_freedom_the_quantile_is_hardly_above_students(degrees):
    assert 0 <= t95(degrees) - stats.t.ppf(0.975, degrees) <= 0.06


def test_there_is_no_quantile_without_a_degree_of_freedom():
    with pytest.raises(ValueError, match="at least one degree of freedom"):
        t95(0)


def proportion(weight, correct, n):
    return Term(weight, correct / n, wilson(correct, n), (correct / n,))


def difference(left, right):
    return combined([proportion(1, *left), proportion(-1, *right)])


# Newcombe, Statistics in Medicine 17 (1998) 873-890, Table II, method 10.
@pytest.mark.parametrize(
    ("left", "right", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0),
    ],
)
def test_of_one_training_each_a_difference_has_the_published_intervals_of_newcombe(left, right, low, high):
    assert difference(left, right) == pytest.approx((low, high), abs=6e-5)


@given(counts, counts)
def test_a_difference_seen_from_the_other_side_is_its_negative(left, right):
    there, back = difference(left, right), difference(right, left)
    assert there == pytest.approx((-back.high, -back.low), abs=1e-12)
    if wilson(*left).low > wilson(*right).high:
        assert there.low > 0


@given(counts)
def test_of_one_training_a_level_has_the_interval_of_wilson(one):
    assert combined([proportion(1, *one)]) == pytest.approx(wilson(*one))


@given(st.lists(st.floats(0, 1), min_size=2, max_size=8))
def test_without_examples_a_level_has_the_interval_of_student(seeds):
    mean, exact = float(np.mean(seeds)), Interval(np.mean(seeds), np.mean(seeds))
    low, high = combined([Term(1, mean, exact, seeds)])
    half = stats.t.ppf(0.975, len(seeds) - 1) * np.std(seeds, ddof=1) / np.sqrt(len(seeds))
    assert (low, high) == pytest.approx((mean - half, mean + half), abs=1e-9)


def test_what_others_tell_of_the_spread_widens_an_interval_and_never_narrows_it():
    exact = Interval(0.5, 0.5)
    alone = combined([Term(1, 0.5, exact, (0.4, 0.5, 0.6))])
    calm = combined([Term(1, 0.5, exact, (0.4, 0.5, 0.6), pooled=Deviation(0.1, 40))])
    wild = combined([Term(1, 0.5, exact, (0.4, 0.5, 0.6), pooled=Deviation(0.3, 40))])
    equal = combined([Term(1, 0.5, exact, (0.5, 0.5, 0.5), pooled=Deviation(0.3, 40))])
    assert calm == alone, "the seeds of a side spread as much, and are few"
    assert wild.low < alone.low and wild == pytest.approx(equal), "three seeds that agree say little"


def width(seeds, *, others):
    """Of a difference of two sides with these seeds, where others spread so much."""
    terms = [
        Term(weight, float(np.mean(side)), Interval(np.mean(side), np.mean(side)), side, pooled=Deviation(others, 60))
        for weight, side in zip((1, -1), seeds, strict=True)
    ]
    low, high = combined(terms)
    return high - low


@given(st.tuples(*[st.tuples(*[st.floats(0, 1)] * 3)] * 2), st.floats(0.01, 0.5))
def test_other_experiments_move_a_width_by_no_more_than_their_own_spread_moves(seeds, spread):
    before, after = (width(seeds, others=others) for others in (spread, 1.01 * spread))
    assert before <= after <= 1.01 * before + 1e-12


def test_of_two_terms_the_degrees_of_freedom_are_those_of_welch():
    left, right = (0.1, 0.4, 0.7, 0.2), (0.5, 0.51, 0.5)
    terms = [Term(w, float(np.mean(x)), Interval(np.mean(x), np.mean(x)), x) for w, x in ((1, left), (-1, right))]
    low, high = combined(terms)
    whole = stats.ttest_ind(left, right, equal_var=False).confidence_interval(0.95)
    assert (low, high) == pytest.approx((whole.low, whole.high), abs=0.01)


def test_a_pool_is_the_deviation_around_each_mean():
    assert pool([(1.0, 3.0), (10.0, 10.0, 13.0)]) == Deviation(pytest.approx(np.sqrt((2 + 6) / 3)), 3)
    assert pool([(1.0,), (2.0,)]) is None and pool([]) is None
    assert variance((1.0,)) == 0 and variance((1.0, 3.0)) == 2


def trained(random, truth, spread, seeds, examples):
    """Accuracies of trainings whose own truth lies around that of the method."""
    return random.binomial(examples, np.clip(random.normal(truth, spread, seeds), 0, 1)) / examples


def term(weight, found, examples, pooled=None):
    n = examples * len(found)
    return Term(
        weight, float(found.mean()), wilson(round(float(found.sum()) * examples), n), tuple(found), pooled=pooled
    )


@pytest.mark.parametrize(("truth", "spread"), [(0.5, 0.1), (0.5, 0.0), (0.8, 0.03)])
@pytest.mark.parametrize("seeds", [3, 5])
def test_a_level_is_covered_about_95_times_in_100(truth, spread, seeds):
    random, hits = np.random.default_rng(seeds), 0
    for _ in range(1000):
        low, high = combined([term(1, trained(random, truth, spread, seeds, 300), 300)])
        hits += low <= truth <= high
    assert hits >= 935, "examples count twice, in Wilson's interval and in the spread of seeds: never below 95 %"


@pytest.mark.parametrize("spreads", [(0.1, 0.1), (0.15, 0.15), (0.2, 0.2), (0.3, 0.1)])
def test_a_difference_of_sides_that_spread_more_than_others_is_covered_as_often(spreads):
    random, hits, pooled = np.random.default_rng(2), 0, Deviation(0.1, 60)
    for _ in range(2000):
        sides = [random.normal(truth, spread, 3) for truth, spread in zip((0.6, 0.4), spreads, strict=True)]
        terms = [
            Term(weight, float(side.mean()), Interval(side.mean(), side.mean()), tuple(side), pooled=pooled)
            for weight, side in zip((1, -1), sides, strict=True)
        ]
        low, high = combined(terms)
        hits += low <= 0.2 <= high
    assert hits >= 1860, "with the degrees of freedom of the others they were 1,740 to 1,830"


@pytest.mark.parametrize(
    ("others", "most"), [([0.1] * 8, 985), ([0.1] * 4 + [0.0] * 8, 1000)], ids=["alike", "mostly without any spread"]
)
def test_a_difference_is_covered_about_95_times_in_100(others, most):
    """Two methods apart by 0.2, three seeds each; other experiments tell of the spread, or most of them of none."""
    random, hits = np.random.default_rng(1), 0
    for _ in range(1000):
        left, right = (trained(random, truth, 0.1, 3, 300) for truth in (0.6, 0.4))
        pooled = pool([left, right, *(trained(random, 0.5, spread, 3, 10**6) for spread in others)])
        low, high = combined([term(1, left, 300, pooled), term(-1, right, 300, pooled)])
        hits += low <= 0.2 <= high
    assert 930 <= hits <= most
