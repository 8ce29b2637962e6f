"""Measures named by what runs stored: each reads its own record, and says what is not there."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproduce.comparison.families import FALLEN, fallen_at, measure_of, most_significant_first
from reproduce.comparison.measures import MEASURES, Missing
from reproduce.comparison.samples import take
from tests.reproduce.made import experiment, run, scalars

A = experiment("p/f/a")
CELLS = [(2, 2), (3, 2)]


def arrays(**values):
    named = {name.replace("_at_", "."): np.array(value) for name, value in values.items()}
    return dataclasses.replace(run(A, 1.0), arrays=named)


def value(made, measure, cells=CELLS):
    return take("p/f/a", [made], measure, "teacher_forced", cells)


def test_a_scalar_is_what_the_run_wrote_under_that_name():
    runs = [scalars(run(A, 1.0, seed=seed), steps_ratio=ratio) for seed, ratio in enumerate((0.02, 0.06))]
    sample = take("p/f/a", runs, "scalar.steps_ratio", "teacher_forced", [])
    assert (sample.seeds, sample.value, tuple(sample.interval)) == ((0.02, 0.06), pytest.approx(0.04), (0.02, 0.06))
    kind = measure_of("scalar.steps_ratio")
    assert (kind.words, kind.proportion, kind.by_cell) == ("steps ratio", False, False)
    assert measure_of("exact") is MEASURES["exact"]


def test_a_scalar_that_one_seed_left_out_is_missing_with_its_seed():
    runs = [scalars(run(A, 1.0), steps_ratio=0.02), scalars(run(A, 1.0, seed=1))]
    with pytest.raises(Missing, match=r"run\.json of f/a, seed 1, holds no scalar steps_ratio"):
        take("p/f/a", runs, "scalar.steps_ratio", "teacher_forced", [])


def test_hits_are_counted_over_the_cells_and_have_wilson_intervals():
    made = arrays(**{"hits.early_end.2": np.array([0, 1, 1], np.uint8), "hits.early_end.3": np.array([1], np.uint8)})
    sample = value(made, "hits.early_end")
    assert (sample.value, sample.n, sample.proportion) == (0.75, 4, True)
    assert sample.interval.low < 0.75 < sample.interval.high < 1
    assert measure_of("hits.part.answer_of_partials").words == "part, answer of partials"


def test_values_are_averaged_over_examples_and_those_that_are_not_numbers_belong_to_none():
    made = arrays(**{"values.entropy.2": np.array([1, 2, math.nan], np.float32), "values.entropy.3": np.array([6.0])})
    sample = value(made, "values.entropy")
    assert (sample.value, sample.n, sample.proportion) == (3.0, 3, False)


@pytest.mark.parametrize("name", ["hits.early_end", "values.entropy", "uncertainty.allowed.end"])
def test_an_array_that_a_run_lacks_is_missing_by_name(name):
    with pytest.raises(Missing, match=r"f/a holds no array [a-z_]+(\.[a-z_]+)?\.2"):
        value(run(A, 1.0), name)


def uncertainty():
    """One length, two places: entropy 1, 3, correct 0.9, 0.1; with the end suppressed 0.5 at the first place only."""
    table = np.zeros((2, 3, 2, 2), np.float32)
    table[0, 0, 0], table[0, 2, 0] = [1, 3], [0.9, 0.1]
    table[1, :, 0] = [0.5, math.nan]
    return arrays(**{"uncertainty.2": table, "uncertainty_prompts.2": np.array([[100, 25], [100, 0]])})


@pytest.mark.parametrize(
    ("name", "expected"),
    [("allowed.entropy", 1.4), ("allowed.correct", 0.74), ("allowed.end", 0.0), ("suppressed.correct", 0.5)],
)
def test_next_token_statistics_weigh_places_by_the_prompts_still_written(name, expected):
    assert value(uncertainty(), f"uncertainty.{name}", [(2, 2)]).value == pytest.approx(expected)


@pytest.mark.parametrize("name", ["exakt", "hit.early_end", "uncertainty.allowed", "uncertainty.later.end"])
def test_an_unknown_measure_is_a_key_error(name):
    with pytest.raises(KeyError):
        measure_of(name)


def test_a_loss_falls_between_the_evaluations_that_it_falls_between():
    assert fallen_at([(10, FALLEN + 1), (20, FALLEN - 1), (30, 9.0)]) == pytest.approx(15)
    assert fallen_at([(10, FALLEN)]) == 10
    assert fallen_at([]) == fallen_at([(10, 2.0)]) == math.inf


@given(st.lists(st.one_of(st.integers(1, 50).map(float), st.just(math.inf)), min_size=2, max_size=8))
def test_order_of_digits_seen_from_the_other_end_is_the_rest(falls):
    forth, pairs = most_significant_first(dict(enumerate(falls, 1)))
    back, same = most_significant_first(dict(enumerate(falls[::-1], 1)))
    assert pairs == same and forth + back == pairs


def test_order_is_one_from_the_most_significant_down_and_half_where_all_fall_at_once():
    assert most_significant_first({1: 30, 2: 20, 3: 10}) == (3, 3)
    assert most_significant_first({1: 10, 2: 20, 3: 30}) == (0, 3)
    assert most_significant_first({1: 10, 2: 10}) == (0.5, 1)
    assert most_significant_first({1: math.inf, 2: math.inf, 3: 10}) == (2, 2)  # nothing is known of the other two


def learns(falls):
    """A run whose digit losses are 2 nats until the given step and 0 from then on; steps are tens up to 100."""
    rows = [
        (s, f"digit_loss.{place}", 0.0 if s >= at else 2.0) for place, at in falls.items() for s in range(10, 101, 10)
    ]
    return dataclasses.replace(run(A, 1.0), metrics=(*rows, (10, "train_loss", 0.1)))


def test_order_of_a_run_reads_its_digit_losses_and_leaves_out_the_last_carry():
    assert value(learns({1: 90, 2: 50, 3: 20}), "order.digit_loss", []).value == 1.0
    assert value(learns({1: 90, 2: 50, 3: 70}), "order.digit_loss", []).value == pytest.approx(2 / 3)
    assert value(learns({1: 20, 2: 50, 3: 70, 4: 10}), "order.digit_loss", []).value == 0.0  # trained on 3 digits
    with pytest.raises(Missing, match="f/a, seed 0, learned no digit: digit_loss did not fall"):
        value(learns({1: 999, 2: 999}), "order.digit_loss", [])
