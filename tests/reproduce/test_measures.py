"""Regions are predicates on the trained range; measures are ratios of counts."""

import math

import pytest

from lengen.records import KeyCount
from reproduce.measures import (
    MEASURES,
    REGION_WORDS,
    REGIONS,
    Missing,
    Trained,
    cells_of,
    keys_growth,
    measure_of,
    same_spec,
    take,
)
from tests.reproduce.made import MODES, N, experiment, keys, run, scalars, spec

A = experiment("p/f/a")


@pytest.mark.parametrize(
    ("region", "inside", "not_inside"),
    [
        ("all", [(1, 2), (9, 9)], []),
        ("in_range", [(3, 4), (1, 2)], [(4, 4), (3, 5)]),
        ("outside", [(4, 2), (1, 5), (4, 5)], [(3, 4)]),
        ("longer", [(4, 4)], [(4, 5), (3, 4)]),
        ("more", [(3, 5)], [(4, 5), (3, 4)]),
        ("both", [(4, 5)], [(4, 4), (3, 5)]),
        ("far", [(6, 2), (1, 8)], [(5, 7), (3, 4)]),
        ("one_short", [(4, 2), (2, 5)], [(4, 3), (3, 5), (2, 2)]),
        ("trained_length", [(3, 4), (3, 1)], [(2, 4), (4, 4), (3, 5)]),
        ("just_beyond", [(5, 4), (7, 1)], [(4, 1), (8, 1), (5, 5)]),
    ],
)
def test_regions_of_a_model_trained_to_three_by_four(region, inside, not_inside):
    here = REGIONS[region]
    assert all(here(Trained(3, 4), cell) for cell in inside)
    assert not any(here(Trained(3, 4), cell) for cell in not_inside)


def test_regions_of_a_curve_read_its_one_axis():
    parity = Trained(10, 1)
    assert REGIONS["in_range"](parity, (10,)) and REGIONS["outside"](parity, (11,))
    assert REGIONS["far"](parity, (20,)) and not REGIONS["far"](parity, (19,))
    assert REGIONS["longer"](parity, (11,)) and not REGIONS["more"](parity, (11,))


def test_longest_keeps_the_longest_tested_operands_if_they_are_longer_than_trained():
    made = run(A, 1.0)
    assert cells_of([made], "longest") == {(6, m) for m in (2, 3, 4, 6)}
    assert cells_of([made], "longest", (1, 5)) == {(4, m) for m in (2, 3, 4, 6)}
    assert cells_of([made], "longest", (1, 3)) == frozenset()


def test_every_region_has_words():
    assert set(REGIONS) == set(REGION_WORDS)


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


def test_bounds_cut_a_region():
    made = run(A, 1.0)
    assert cells_of([made], "all", (6, 6), (2, 3)) == {(6, 2), (6, 3)}
    assert cells_of([], "all") == frozenset()


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


def test_no_tested_example_is_missing_not_zero():
    with pytest.raises(Missing, match="no example"):
        take("p/f/a", [run(A, 1.0)], "exact", "teacher_forced", [])


def test_same_spec_is_the_hash():
    assert same_spec(run(A, 1.0), spec())
    assert not same_spec(run(A, 1.0), spec(length=4))


def test_only_ratios_of_counted_successes_are_proportions():
    assert {name for name, measure in MEASURES.items() if measure.proportion} == {"exact", "answer"}
    assert math.isnan(take("a/b/c", [run(A, 1.0)], "exact", "teacher_forced", [(2, 2)]).value) is False
