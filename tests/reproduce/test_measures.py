"""Measures are ratios of counts; samples pool them and keep seeds apart."""

import dataclasses
import math

import numpy as np
import pytest

from lengen.records import AttentionMap, KeyCount
from reproduce.comparison.measures import MEASURES, Missing, keys_growth
from reproduce.comparison.regions import cells_of
from reproduce.comparison.samples import same_spec, take
from tests.reproduce.made import MODES, N, experiment, keys, run, spec

A = experiment("p/f/a")


def test_ratios_are_those_of_the_counts():
    made = run(A, 0.25, answer={"teacher_forced": 0.75, "free_running": 0.5})
    cells = cells_of([made], "in_range")
    assert cells == {(2, 2), (2, 3), (3, 2), (3, 3)}
    values = {
        (name, mode): take("p/f/a", [made], name, mode, cells).value for name in ("exact", "answer") for mode in MODES
    }
    assert values[("exact", "teacher_forced")] == values[("exact", "free_running")] == 0.25
    assert values[("answer", "teacher_forced")] == 0.75
    assert values[("answer", "free_running")] == 0.5
    assert take("p/f/a", [made], "edit", "free_running", cells).value == pytest.approx(0.75 / 10)
    assert take("p/f/a", [made], "response_tokens", "teacher_forced", cells).value == 10


def test_a_sample_pools_examples_and_keeps_seeds_apart():
    sample = take("p/f/a", [run(A, 0.5), run(A, 1.0, seed=1)], "exact", "teacher_forced", [(2, 2)])
    assert (sample.seeds, sample.value, sample.n) == ((0.5, 1.0), 0.75, 2 * N)
    assert sample.interval.low < 0.75 < sample.interval.high
    assert sample.words() == "f/a 0.750 (seeds 0.500 to 1.000)"


def test_a_mode_that_was_not_scored_is_missing_and_never_replaced():
    made = run(A, 1.0, modes=("teacher_forced",))
    with pytest.raises(Missing, match="not scored free-running"):
        take("p/f/a", [made], "answer", "free_running", [(2, 2)])


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
def test_keys_growth_is_the_exponent(exponent):
    found, steps = keys_growth(keys(exponent))
    assert found == pytest.approx(exponent, abs=1e-3)
    assert steps == 2 * 4 * 1000


def test_keys_growth_takes_the_length_with_the_widest_span():
    narrow = [KeyCount(2, m, 0, 0, 10, 10 * m) for m in (2, 3)]
    assert keys_growth([*narrow, *keys(0.0, length=5)])[0] == pytest.approx(0.0)


def test_focused_keys_growth_looks_at_the_half_that_needs_the_fewest_keys():
    rows = [KeyCount(3, m, 0, head, 100, 100 * (3 if head < 2 else 5 * m)) for m in (2, 8) for head in range(4)]
    assert keys_growth(rows, focused=True)[0] == pytest.approx(0.0)
    assert keys_growth(rows)[0] > 0.5


@pytest.mark.parametrize("rows", [[], [KeyCount(3, 2, 0, 0, 10, 20)], [KeyCount(n, n, 0, 0, 10, 20) for n in (2, 3)]])
def test_keys_at_one_operand_count_have_no_growth(rows):
    with pytest.raises(Missing, match="two operand counts of one length"):
        keys_growth(rows)


def test_measures_of_the_whole_run_need_no_cell():
    made = run(A, 1.0, keys=keys(1.0))
    assert take("p/f/a", [made], "keys_growth", "teacher_forced", []).value == pytest.approx(1.0, abs=1e-3)
    assert take("p/f/a", [made], "parameters", "teacher_forced", []).value == 1000
    with pytest.raises(Missing, match="holds no seconds_training"):
        take("p/f/a", [made], "training_hours", "teacher_forced", [])


def test_no_tested_example_is_missing_not_zero():
    with pytest.raises(Missing, match="no example"):
        take("p/f/a", [run(A, 1.0)], "exact", "teacher_forced", [])


def test_same_spec_is_the_hash():
    assert same_spec(run(A, 1.0), spec())
    assert not same_spec(run(A, 1.0), spec(length=4))


def test_only_ratios_of_counted_successes_are_proportions():
    assert {name for name, measure in MEASURES.items() if measure.proportion} == {"exact", "answer"}
    assert math.isnan(take("a/b/c", [run(A, 1.0)], "exact", "teacher_forced", [(2, 2)]).value) is False


def test_entropy_of_attention_looks_at_the_rows_from_the_equals_sign_on():
    weights = np.zeros((2, 1, 4, 4), dtype=np.float32)
    weights[:, :, :2, 0] = 1  # before "=": one key
    weights[:, :, 2] = [0.5, 0.5, 0, 0]
    weights[:, :, 3] = 0.25
    made = dataclasses.replace(run(A, 1.0), attention=AttentionMap(("1", "+", "=", "2"), weights, 1))
    sample = take("p/f/a", [made], "attention_entropy", "teacher_forced", [])
    assert (sample.value, sample.n) == (pytest.approx((math.log(2) + math.log(4)) / 2), 4)
    with pytest.raises(Missing, match="f/a recorded no attention"):
        take("p/f/a", [run(A, 1.0)], "attention_entropy", "teacher_forced", [])
