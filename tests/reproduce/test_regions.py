"""Regions are predicates on the trained range, which may have gaps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengen.config.spec import change
from reproduce.comparison.regions import REGION_WORDS, REGIONS, Trained, cells_of, shared, trained, trained_range
from tests.reproduce.made import experiment, run, spec

A = experiment("p/f/a")
GAPPED = Trained(9, 2, frozenset({1, 2, 3, 4, 5, 6, 7, 9}), 13)


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
        ("two_to_three", [(6, 4), (9, 1)], [(5, 4), (10, 4), (6, 5)]),
        ("twice", [(6, 4), (6, 1)], [(5, 4), (9, 4), (6, 5)]),
        ("thrice", [(9, 4), (9, 1)], [(6, 4), (10, 4), (9, 5)]),
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


def test_bounds_cut_a_region():
    made = run(A, 1.0)
    assert cells_of([made], "all", (6, 6), (2, 3)) == {(6, 2), (6, 3)}
    assert cells_of([], "all") == frozenset()


@pytest.mark.parametrize(
    ("region", "inside", "not_inside"),
    [
        ("in_range", [1, 7, 9], [8, 10]),
        ("outside", [8, 10, 14], [7, 9]),
        ("gap", [8], [7, 9, 10]),
        ("longer", [10, 13], [8, 9]),
        ("trained_length", [9], [8, 10]),
        ("padded", [10, 12], [8, 13, 14]),
        ("beyond_padding", [14], [8, 12, 13]),
    ],
)
def test_a_length_left_out_of_training_is_outside_though_not_longer(region, inside, not_inside):
    assert all(REGIONS[region](GAPPED, (length,)) for length in inside)
    assert not any(REGIONS[region](GAPPED, (length,)) for length in not_inside)


@given(st.integers(1, 12), st.integers(1, 4), st.tuples(st.integers(1, 30), st.integers(1, 8)))
def test_a_range_that_names_all_its_lengths_is_the_one_that_names_none(length, second, cell):
    named = Trained(length, second, frozenset(range(1, length + 1)))
    assert [here(named, cell) for here in REGIONS.values()] == [
        here(Trained(length, second), cell) for here in REGIONS.values()
    ]


@given(st.frozensets(st.integers(1, 9), min_size=1), st.integers(1, 30))
def test_a_length_is_trained_or_in_the_gap_or_longer(lengths, length):
    span, cell = Trained(max(lengths), 1, lengths), (length,)
    assert sum(REGIONS[name](span, cell) for name in ("in_range", "gap", "longer")) == 1
    assert REGIONS["outside"](span, cell) is not REGIONS["in_range"](span, cell)


def test_nothing_lies_beyond_a_padding_that_there_is_not():
    assert not any(REGIONS[name](Trained(3, 1), (n,)) for name in ("padded", "beyond_padding") for n in range(1, 30))


def test_the_trained_range_is_that_of_the_specification_of_the_run():
    made = change(spec(length=6), data={"lengths": (1, 2, 6), "pad_to": 9})
    assert trained(run(A, 1.0, made=made)) == Trained(6, 3, frozenset({1, 2, 6}), 9)
    assert trained_range({"length": 5, "count": 2}) == Trained(5, 2)  # as in runs stored before there were gaps
    assert trained_range({"length": 2, "count": 1, "lengths": [1, 2]}).lengths == {1, 2}


def test_next_keeps_the_shortest_tested_length_beyond_the_longest_trained():
    assert cells_of([run(A, 1.0)], "next") == {(4, 2), (4, 3)}
    gapped = change(spec(length=4, count=2), data={"lengths": (2, 4)})
    assert cells_of([run(A, 1.0, made=gapped)], "next") == {(6, 2)}
    assert cells_of([run(A, 1.0, made=gapped)], "gap") == {(3, 2)}
    assert cells_of([run(A, 1.0)], "next", (1, 3)) == frozenset()


def test_a_curve_shares_with_a_grid_the_lengths_that_the_grid_tested_once():
    curve, grid = {(4,), (6,), (8,)}, {(n, r) for n in (4, 8, 9) for r in (1, 2)}
    assert shared(curve, grid) == ({(4,), (8,)}, {(4, 1), (8, 1)})
    assert shared(grid, curve) == ({(4, 1), (8, 1)}, {(4,), (8,)})
    assert shared(grid, {(4, 2), (4, 3)}) == ({(4, 2)}, {(4, 2)})
    assert shared(curve, {(4, 2)}) == (frozenset(), frozenset())
