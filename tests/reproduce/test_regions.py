"""Regions are predicates on the trained range, which may have gaps."""

import hashlib

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengen import DataSpec, Linear, TwoOperandAddition
from lengen.metrics.measures import LEARNED
from lengen.settings.sections import Trained
from reproduce.comparison.measures import REGIONS, inside
from tests.fixtures.runs import experiment, run, spec

A = experiment("p/f/a")
SOME = {1, 2, 3, 4, 5, 6, 7, 9}


def gapped(lengths, pad_to=0) -> DataSpec:
    """Sums of two numbers of these lengths, in as many digits at least."""
    return DataSpec(task=TwoOperandAddition(tuple(sorted(lengths))), format=Linear(pad_to=pad_to))


GAPPED = Trained(9, 2, frozenset(SOME))


def holds(region, span, cell):
    """Whether one cell lies in a region."""
    return REGIONS[region].holds(span, cell[0], (*cell, 1)[1])


def found(runs, region, lengths=None, counts=None):
    """Cells of a region that all runs tested."""
    tested = set.intersection(*({*one.grid.scores} for one in runs))
    return {*inside(sorted(tested), runs[0].trained, REGIONS[region], lengths, counts)}


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
        ("twice", [(6, 8)], [(6, 4), (3, 8), (6, 7), (7, 8)]),
        ("trained_length", [(3, 4), (3, 1)], [(2, 4), (4, 4), (3, 5)]),
    ],
)
def test_regions_of_a_model_trained_to_three_by_four(region, inside, not_inside):
    assert all(holds(region, Trained(3, 4), cell) for cell in inside)
    assert not any(holds(region, Trained(3, 4), cell) for cell in not_inside)


def test_regions_of_a_curve_read_its_one_axis():
    parity = Trained(10, 1)
    assert holds("in_range", parity, (10,)) and holds("outside", parity, (11,))
    assert holds("far", parity, (20,)) and not holds("far", parity, (19,))
    assert holds("longer", parity, (11,)) and not holds("more", parity, (11,))


def test_longest_keeps_the_longest_tested_operands_if_they_are_longer_than_trained():
    made = run(A, 1.0)
    assert found([made], "longest") == {(6, m) for m in (2, 3, 4, 6)}
    assert found([made], "longest", (1, 5)) == {(4, m) for m in (2, 3, 4, 6)}
    assert found([made], "longest", (1, 3)) == set()


def test_bounds_cut_a_region():
    made = run(A, 1.0)
    assert found([made], "all", (6, 6), (2, 3)) == {(6, 2), (6, 3)}


@pytest.mark.parametrize(
    ("region", "inside", "not_inside"),
    [
        ("in_range", [1, 7, 9], [8, 10]),
        ("outside", [8, 10, 14], [7, 9]),
        ("gap", [8], [7, 9, 10]),
        ("longer", [10, 13], [8, 9]),
        ("trained_length", [9], [8, 10]),
    ],
)
def test_a_length_left_out_of_training_is_outside_though_not_longer(region, inside, not_inside):
    assert all(holds(region, GAPPED, (length,)) for length in inside)
    assert not any(holds(region, GAPPED, (length,)) for length in not_inside)


@settings(deadline=None)
@given(st.integers(1, 12), st.integers(1, 4), st.tuples(st.integers(1, 30), st.integers(1, 8)))
def test_a_range_that_names_all_its_lengths_is_the_one_that_names_none(length, second, cell):
    named = Trained(length, second, frozenset(range(1, length + 1)))
    for name in REGIONS:
        assert holds(name, named, cell) == holds(name, Trained(length, second), cell)


@settings(deadline=None)
@given(st.frozensets(st.integers(1, 9), min_size=1), st.integers(1, 30))
def test_a_length_is_trained_or_in_the_gap_or_longer(lengths, length):
    span, cell = Trained(max(lengths), 1, lengths), (length,)
    assert sum(holds(name, span, cell) for name in ("in_range", "gap", "longer")) == 1
    assert holds("outside", span, cell) is not holds("in_range", span, cell)


def test_the_trained_range_is_that_of_the_specification_of_the_run():
    made = msgspec.structs.replace(spec(), data=gapped({1, 2, 6}, 9))
    span = run(A, 1.0, made=made).trained
    assert span == Trained(6, 2, frozenset({1, 2, 6}))
    assert run(A, 1.0, made=spec(length=5, count=2)).trained == Trained(5, 2)
    assert DataSpec(task=TwoOperandAddition(lengths=(1, 2)), format=Linear()).trained.lengths == {1, 2}


def test_next_keeps_the_shortest_tested_length_beyond_the_longest_trained():
    assert found([run(A, 1.0)], "next") == {(4, 2), (4, 3)}
    made = msgspec.structs.replace(spec(), data=gapped({2, 4}))
    assert found([run(A, 1.0, made=made)], "next") == {(6, 2)}
    assert found([run(A, 1.0, made=made)], "gap") == {(3, 2)}
    assert found([run(A, 1.0)], "next", (1, 3)) == set()


CELLS = [(n, m) for n in range(1, 41) for m in range(1, 9)]
SPANS = (Trained(6, 1), Trained(6, 3), Trained(9, 2, frozenset(SOME)))
MEANT = {
    "all": "ffc264a3",
    "in_range": "61909199",
    "outside": "c501911c",
    "gap": "d13ccf90",
    "longer": "003d2186",
    "more": "c3d59b14",
    "both": "e86e8fc1",
    "far": "a63a69cc",
    "trained_length": "82f807e7",
    "next": "725552e0",
    "longest": "e302599b",
    "twice": "35e155f4",
}
"""Digest of the cells of each region, for the three ranges."""


def meaning(region) -> str:
    """The cells of a region in ranges with one count, with several, and with a length left out and padded numbers."""
    cells = [inside(CELLS, span, region, None, None) for span in SPANS]
    assert any(cells), "the ranges should have a cell in every region"
    return hashlib.sha256(repr(cells).encode()).hexdigest()[:8]


def test_regions_mean_what_they_meant_when_the_statements_were_written():
    """Statements name them, and runs record what was said: who changes a region makes it another one, with another
    name."""
    assert {name: meaning(region) for name, region in REGIONS.items()} == MEANT
    assert LEARNED == 0.95
