"""Learned or not, and accuracy by length and count: what runs made by hand say, cell by cell."""

import math

import msgspec
import pytest

from lengen import Addition, DataSpec, Linear, Parity, Sorting, TwoOperandAddition
from lengen.metrics.measures import along, at_edge, edge, has_learned, shares
from lengen.results.records import Grid, Run
from tests.fixtures.runs import counted

SUMS = Addition(digits=3, operands=3)
PARITY = Parity(bits=3)
SORTING = Sorting(longest=3)
"""The count of its problems is a kind: how often each number stands there; training draws them with 1."""


def made(task, right, steps=10) -> Run:
    """A run with these right answers of 100, or (right, of), by cell; in its own text it gets none right."""
    grid = Grid(("length", "count")[: max(map(len, right))])
    for cell, found in right.items():
        correct, n = found if isinstance(found, tuple) else (found, 100)
        grid.add(cell, "teacher_forced", counted(n, correct))
        grid.add(cell, "free_running", counted(n, 0))
    data = msgspec.to_builtins(DataSpec(task=task, format=Linear()))
    return Run("p/f/a", "cpu", 0, 1, "local", {"spec": {"data": data, "train": {"steps": steps}}}, grid)


@pytest.mark.parametrize(
    ("task", "right", "rate", "learned"),
    [
        pytest.param(SUMS, {(2, 2): 100, (3, 2): 100, (2, 3): 40, (3, 3): 100}, 0.7, False, id="low at most operands"),
        pytest.param(SUMS, {(2, 2): 100, (3, 2): 40, (2, 3): 100, (3, 3): 100}, 0.7, False, id="low at the longest"),
        pytest.param(SUMS, {(2, 2): 0, (3, 2): 100, (2, 3): 100, (3, 3): 100}, 1.0, True, id="low at the easiest"),
        pytest.param(SUMS, {(2, 2): 0, (3, 3): 99, (3, 4): 0, (4, 3): 0, (4, 4): 0}, 0.99, True, id="low outside"),
        pytest.param(SORTING, {(2, 1): 0, (3, 1): 98, (4, 1): 0, (3, 2): 0}, 0.98, True, id="low at another kind"),
        pytest.param(SORTING, {(2, 1): 100, (3, 1): 40, (3, 2): 100}, 0.4, False, id="low at the trained kind"),
        pytest.param(SORTING, {(2, 2): 100, (3, 2): 60, (3, 4): 80, (4, 2): 0}, 0.7, False, id="other kinds alone"),
        pytest.param(PARITY, {(2,): 0, (3,): 92, (4,): 0}, 0.92, True, id="92 of 100"),
        pytest.param(PARITY, {(2,): 100, (3,): 80, (4,): 100}, 0.8, False, id="80 of 100"),
        pytest.param(PARITY, {(3,): 91}, 0.91, True, id="the interval just reaches 95 %"),
        pytest.param(PARITY, {(3,): 90}, 0.9, False, id="the interval just does not"),
        pytest.param(PARITY, {(1,): 0, (2,): 97, (4,): 0}, 0.97, True, id="the longest trained one is not tested"),
        pytest.param(
            TwoOperandAddition(lengths=(1, 2, 4)), {(2,): 0, (3,): 0, (4,): 96, (5,): 0}, 0.96, True, id="a curve"
        ),
    ],
)
def test_learned_is_judged_on_the_hardest_trained_cells(task, right, rate, learned):
    run = made(task, right)
    assert (at_edge(run), has_learned(run)) == (rate, learned)


def test_the_hardest_cells_are_counted_together():
    run = made(SUMS, {(2, 2): 100, (3, 2): (10, 100), (2, 3): (200, 300), (3, 3): (95, 100)})
    assert edge(run) == counted(200, 105)


def test_a_run_without_a_trained_cell_cannot_be_said_not_to_have_learned():
    run = made(PARITY, {(4,): 0, (5,): 0})
    assert edge(run) == {} and math.isnan(at_edge(run)) and has_learned(run)
    unscored = made(PARITY, {(3,): 0})
    del unscored.grid.scores[(3,)]["teacher_forced"]
    assert edge(unscored) == {} and has_learned(unscored)


def test_weights_set_by_hand_have_nothing_to_learn():
    run = made(PARITY, {(3,): 0}, steps=0)
    assert (at_edge(run), has_learned(run)) == (1.0, True)
    assert has_learned(made(PARITY, {(3,): 0})) is False


def test_shares_are_over_all_problems_in_and_outside_the_trained_range():
    run = made(SUMS, {(2, 2): (90, 100), (3, 3): (10, 300), (4, 2): (30, 100), (2, 4): (0, 50), (4, 4): (0, 50)})
    assert shares(run) == (0.25, 0.15)
    assert shares(made(SORTING, {(3, 1): 80, (3, 2): 10})) == (0.8, 0.1)
    inside, outside = shares(made(PARITY, {(2,): 60}))
    assert inside == 0.6 and math.isnan(outside)
    inside, outside = shares(made(PARITY, {(4,): 60}))
    assert math.isnan(inside) and outside == 0.6


def test_accuracy_along_an_axis_is_over_what_was_trained_of_the_other():
    cells = {(2, 2): (90, 100), (2, 3): (60, 200), (4, 2): 40, (4, 3): 20, (2, 6): 8, (4, 6): 100}
    run = made(Addition(digits=2, operands=3), cells)
    assert along(run, 0) == {2: 0.5, 4: 0.3}
    assert along(run, 1) == {2: 0.9, 3: 0.3, 6: 0.08}
    del run.grid.scores[(4, 2)]["teacher_forced"]
    assert along(run, 0) == {2: 0.5, 4: 0.2}


def test_a_curve_has_one_axis():
    run = made(PARITY, {(4,): 40, (2,): 90})
    assert list(along(run, 0).items()) == [(2, 0.9), (4, 0.4)] and along(run, 1) == {}
