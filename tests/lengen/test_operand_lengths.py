"""Sums of operands of unequal length: a grid of both lengths, and a note on the problem that training never has."""

import pytest

import lengen
from lengen.callbacks.operand_lengths import EXAMPLES, OperandLengths, operand_lengths, problems
from lengen.solve import answer, unlike_training
from lengen.tasks.arithmetic import PairAddition
from lengen.tasks.two_operand_addition import TwoOperandAddition
from tests.fixtures.settings import data_spec, spec


def test_problems_have_the_lengths_of_their_cell():
    drawn = problems(3, 1, 50)
    assert drawn.lengths.tolist() == [[3, 1]] * 50
    assert (drawn.operands[:, 0, 2] > 0).all() and (drawn.operands[:, 1, 1:] == 0).all()
    assert (problems(3, 1, 50).operands == drawn.operands).all()


@pytest.mark.parametrize("base", [4, 16])
def test_numbers_of_another_base_have_its_digits(base):
    drawn = problems(3, 2, 200, base)
    assert int(drawn.operands.max()) == base - 1 and (drawn.operands[:, 0, 2] > 0).all()
    small = lengen.setting("pair_addition", digits=2, base=base, layers=1, width=16, heads=2, head_dim=8, ff_width=8)
    grid = operand_lengths(lengen.build_model(small, 0), lengen.TaskData(small, 0), (1, 2), 3)
    assert len(grid.scores) == 4


def test_a_construction_that_adds_is_right_in_every_cell():
    model = lengen.load("coupling/thm4.1/construction")
    grid = model.operand_lengths((1, 3), examples=5)
    assert grid.axes == ("first", "second") and sorted(grid.scores) == [(1, 1), (1, 3), (3, 1), (3, 3)]
    assert all(modes["teacher_forced"].rate("correct") == 1.0 for modes in grid.scores.values())
    axes = grid.plot()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("second", "first")
    assert axes.collections[0].get_array().ravel().tolist() == [1.0] * 4 and "1.000" in grid._repr_html_()


def test_other_tasks_have_no_such_grid():
    parity = spec(data_spec("parity"))
    with pytest.raises(lengen.SettingError, match="expected a task that adds two numbers"):
        operand_lengths(lengen.build_model(parity, 0), lengen.TaskData(parity, 0), (1, 2))


def test_every_addition_is_measured_at_its_end_and_no_other_task():
    grid = OperandLengths()
    setting = lengen.load("coupling/thm4.1/construction")
    grid.measure(setting.module, setting.data, lambda progress: None)
    found = grid.found["operand_lengths"]
    assert found["lengths"] == [1, 34, 67, 100] and found["correct"] == [[EXAMPLES] * len(found["lengths"])] * len(
        found["lengths"]
    )
    assert grid.scalars == {"exact_match_equal_lengths": 1.0, "exact_match_unequal_lengths": 1.0}
    parity, other = spec(data_spec("parity")), OperandLengths()
    other.measure(lengen.build_model(parity, 0), lengen.TaskData(parity, 0), lambda progress: None)
    assert other.found == other.scalars == {}


def test_a_problem_of_unequal_lengths_has_a_note_where_training_has_none():
    task = TwoOperandAddition((1, 2, 3))
    assert unlike_training(task, task.parse(["12", "34"])) == ""
    assert "equal length, 1 to 3 digits; these have [2, 1]" in unlike_training(task, task.parse(["12", "3"]))
    assert "[1, 3] digits" in unlike_training(TwoOperandAddition((1, 3)), task.parse(["12", "3"]))
    pair = PairAddition(digits=3)
    assert unlike_training(pair, pair.parse(["12", "3"])) == ""
    setting = lengen.load("coupling/thm4.1/construction")
    assert "note" not in answer(setting.data, setting.module, ["12", "3"])
