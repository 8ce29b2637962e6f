"""Intervals of single counts and statistics over tasks."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lengen.results.across_tasks import interquartile_mean, probability_of_improvement, resampled, stratified_interval
from lengen.results.records import wilson
from tests.fixtures.refusals import refused

tested = st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
SHAPES = st.tuples(st.integers(1, 8), st.integers(1, 5))
SCORES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]) | st.floats(0, 1)
tables = SHAPES.flatmap(lambda shape: arrays(np.float64, shape, elements=SCORES))
pairs = st.tuples(st.integers(1, 6), st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda sizes: st.tuples(
        arrays(np.float64, (sizes[0], sizes[1]), elements=SCORES),
        arrays(np.float64, (sizes[0], sizes[2]), elements=SCORES),
    )
)


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


def stream(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@given(tables)
def test_the_interquartile_mean_is_scipys_trimmed_mean_of_one_table_and_of_many(scores):
    stats = pytest.importorskip("scipy.stats")
    assert interquartile_mean(scores) == pytest.approx(stats.trim_mean(scores, 0.25, axis=None), abs=1e-12)
    drawn, other = resampled(scores, stream(1), draws=5), resampled(scores, stream(2), draws=5)
    assert interquartile_mean(drawn) == pytest.approx([interquartile_mean(table) for table in drawn])
    improved = probability_of_improvement(drawn, other)
    assert improved == pytest.approx([probability_of_improvement(*both) for both in zip(drawn, other, strict=True)])


@given(pairs)
def test_the_probability_of_improvement_is_that_of_a_loop_and_of_scipy(pair):
    stats = pytest.importorskip("scipy.stats")
    ours, theirs = pair
    wins = [
        [1.0 if a > b else 0.5 if a == b else 0.0 for a, b in itertools.product(row, other)]
        for row, other in zip(ours, theirs, strict=True)
    ]
    found = probability_of_improvement(ours, theirs)
    assert found == pytest.approx(np.mean([np.mean(row) for row in wins]), abs=1e-12)
    of_scipy = [
        stats.mannwhitneyu(row, other).statistic / (len(row) * len(other))
        for row, other in zip(ours, theirs, strict=True)
    ]
    assert found == pytest.approx(np.mean(of_scipy), abs=1e-12)
    assert found + probability_of_improvement(theirs, ours) == pytest.approx(1.0)


@given(tables, st.integers(0, 100))
def test_every_draw_of_a_task_is_one_of_its_own_runs(scores, seed):
    drawn = resampled(scores, stream(seed), draws=7)
    assert drawn.shape == (7, *scores.shape)
    for table in drawn:
        assert all(set(row) <= set(own) for row, own in zip(table, scores, strict=True))
    assert (drawn == resampled(scores, stream(seed), draws=7)).all(), "the generator decides"


@given(tables)
def test_intervals_stay_within_the_scores_and_hold_what_does_not_vary(scores):
    low, high = stratified_interval(interquartile_mean, scores, generator=stream(), draws=200)
    assert scores.min() - 1e-12 <= low <= high <= scores.max() + 1e-12
    constant = np.repeat(scores[:, :1], 3, axis=1)
    low, high = stratified_interval(interquartile_mean, constant, generator=stream(), draws=50)
    assert low == pytest.approx(high) and high == pytest.approx(interquartile_mean(constant))


def test_an_interval_is_the_one_that_scipy_finds_for_a_task():
    """One task: stratified is plain. 20,000 draws on both sides agree to two digits."""
    stats = pytest.importorskip("scipy.stats")
    scores = stream(3).random((1, 12))
    own = stratified_interval(interquartile_mean, scores, generator=stream(), draws=20_000)
    other = stats.bootstrap(
        (scores[0],), lambda x, axis: stats.trim_mean(x, 0.25, axis=axis), vectorized=True, method="percentile",
        n_resamples=20_000, rng=stream(9),
    ).confidence_interval  # fmt: skip
    assert own == pytest.approx((other.low, other.high), abs=0.01)


def test_tasks_are_strata_on_both_sides():
    """Tasks that differ and seeds that do not leave nothing to draw; drawn over all runs there would be a lot."""
    scores = np.array([[0.0] * 5, [0.4] * 5, [0.6] * 5, [1.0] * 5])
    assert stratified_interval(interquartile_mean, scores, generator=stream()) == pytest.approx((0.5, 0.5))
    ours, theirs = stream(1).random((4, 3)), stream(2).random((4, 3))
    low, high = stratified_interval(probability_of_improvement, ours, theirs, generator=stream())
    assert 0 <= low < probability_of_improvement(ours, theirs) < high <= 1
    with pytest.raises(ValueError, match="the same tasks on both sides, got 2 and 1"):
        probability_of_improvement([[0.1], [0.2]], [[0.1]])


@pytest.mark.parametrize(("scores", "said"), [
    ([0.1, 0.2], r"expected a table \(tasks, seeds\)"),
    (np.zeros((0, 3)), r"expected a table \(tasks, seeds\)"),
    ([[0.1, float("nan")]], "leave its task out"),
], ids=["one row", "nothing", "untested"])  # fmt: skip
def test_what_is_no_table_is_refused(scores, said):
    refused(ValueError, said, interquartile_mean, scores)
