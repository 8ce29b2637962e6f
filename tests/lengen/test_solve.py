"""Answers to single problems, to numbers of unequal lengths, and what counts as learned."""

import math

import msgspec
import pytest
import torch
from safetensors.torch import save_model

import lengen
from lengen import Addition, ArithmeticData, DataSpec, Linear, PairAddition, Parity, TwoOperandAddition, build_model
from lengen.callbacks.unequal_lengths import EXAMPLES, OperandLengths, operand_lengths, problems
from lengen.data.reading_responses import can_run_free
from lengen.digits import OperandError
from lengen.formats.base import PAD
from lengen.metrics.run_measures import along, at_edge, edge, has_learned, shares
from lengen.results.records import Grid, Run
from lengen.solve import answer, encode, read, solve, unlike_training
from tests.cases import CASES
from tests.fixtures.refusals import refused
from tests.fixtures.runs import counted
from tests.fixtures.settings import case_spec, data_spec, spec

SUMS = Addition(digits=3, operands=3)
PARITY = Parity(bits=3)
SORTING = lengen.Sorting(longest=3)
"""The count of its problems is a kind: how often each number stands there; training draws them with 1."""


def test_a_right_answer_is_read_back_as_a_number(tmp_path, monkeypatch):
    cases = [case for case in CASES if can_run_free(case.data) and not isinstance(case.data.format, lengen.Subtasks)]
    for case in cases:
        sized = case_spec(case)
        save_model(build_model(sized, 0), str(tmp_path / "w"))
        vocab, response = ArithmeticData(sized, 0).vocab, case.join(case.written)
        told = torch.tensor([[vocab.id(token) for token in case.written]])
        monkeypatch.setattr("lengen.solve.generate", lambda *_, told=told, choose: told)
        found = solve(sized, tmp_path / "w", list(case.operands))
        plain = case.answer if case.words else case.answer.replace(" ", "")
        assert found["output"] == response and found["read"] == found["answer"] == plain and found["correct"], case.name


@pytest.mark.parametrize("place", [0, 1, 3])
def test_padding_inside_an_answer_is_no_part_of_a_right_one(place):
    data = ArithmeticData(spec(data_spec("addition", scratchpad=False)), 0)
    true = data.vocab.encode("5010$")
    padded = torch.cat([true[:place], torch.tensor([PAD]), true[place:]])
    found = read(data.writer, data.task, torch.stack([torch.cat([true, torch.tensor([PAD])]), padded]))
    assert found[0] == "105" != found[1] and "␀" in found[1]


def test_what_cannot_be_written_or_solved_is_refused(tmp_path):
    unpadded = spec(data_spec("addition", pad=False, reverse_response=False))
    save_model(build_model(unpadded, 0), str(tmp_path / "w"))
    with pytest.raises(lengen.SettingError, match="this format cannot be solved free-running"):
        solve(unpadded, tmp_path / "w", ["1", "2"])
    refused(OperandError, "shorten them or raise it", encode, spec(data_spec("addition", room=5)), ["12345", "1"])
    refused(OperandError, "is not a number", encode, spec(data_spec("addition")), ["12a", "1"])


def test_problems_have_the_lengths_of_their_cell_and_other_tasks_no_such_grid():
    drawn = problems(3, 1, 50)
    assert drawn.lengths.tolist() == [[3, 1]] * 50
    assert (drawn.operands[:, 0, 2] > 0).all() and (drawn.operands[:, 1, 1:] == 0).all()
    assert (problems(3, 1, 50).operands == drawn.operands).all()
    parity = spec(data_spec("parity"))
    with pytest.raises(lengen.SettingError, match="expected a task that adds two numbers"):
        operand_lengths(lengen.build_model(parity, 0), lengen.TaskData(parity, 0), (1, 2))


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


def test_every_addition_is_measured_at_its_end_with_a_note_on_unequal_lengths():
    grid = OperandLengths()
    setting = lengen.load("coupling/thm4.1/construction")
    grid.measure(setting.module, setting.data, lambda progress: None)
    found = grid.info["operand_lengths"]
    assert found["lengths"] == [1, 34, 67, 100] and found["correct"] == [[EXAMPLES] * len(found["lengths"])] * len(
        found["lengths"]
    )
    assert grid.scalars == {"exact_match_equal_lengths": 1.0, "exact_match_unequal_lengths": 1.0}
    parity, other = spec(data_spec("parity")), OperandLengths()
    other.measure(lengen.build_model(parity, 0), lengen.TaskData(parity, 0), lambda progress: None)
    assert other.info == other.scalars == {}
    task = TwoOperandAddition((1, 2, 3))
    assert unlike_training(task, task.parse(["12", "34"])) == ""
    assert "equal length, 1 to 3 digits; these have [2, 1]" in unlike_training(task, task.parse(["12", "3"]))
    assert "[1, 3] digits" in unlike_training(TwoOperandAddition((1, 3)), task.parse(["12", "3"]))
    pair = PairAddition(digits=3)
    assert unlike_training(pair, pair.parse(["12", "3"])) == ""
    assert "note" not in answer(setting.data, setting.module, ["12", "3"])


def made(task, right, steps=10) -> Run:
    """A run with these right answers of 100, or (right, of), by cell; in its own text it gets none right."""
    grid = Grid(("length", "count")[: max(map(len, right))])
    for cell, found in right.items():
        correct, n = found if isinstance(found, tuple) else (found, 100)
        grid.add(cell, "teacher_forced", counted(n, correct))
        grid.add(cell, "free_running", counted(n, 0))
    data = msgspec.to_builtins(DataSpec(task=task, format=Linear()))
    return Run("p/f/a", "cpu", 0, 1, "local", {"spec": {"data": data, "train": {"steps": steps}}}, grid)


@pytest.mark.parametrize(("task", "right", "rate", "learned"), [
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
    pytest.param(TwoOperandAddition((1, 2, 4)), {(2,): 0, (3,): 0, (4,): 96, (5,): 0}, 0.96, True, id="a curve"),
])  # fmt: skip
def test_learned_is_judged_on_the_hardest_trained_cells(task, right, rate, learned):
    run = made(task, right)
    assert (at_edge(run), has_learned(run)) == (rate, learned)


def test_a_run_has_learned_by_its_hardest_trained_cells():
    run = made(SUMS, {(2, 2): 100, (3, 2): (10, 100), (2, 3): (200, 300), (3, 3): (95, 100)})
    assert edge(run) == counted(200, 105)
    run = made(PARITY, {(4,): 0, (5,): 0})
    assert edge(run) == {} and math.isnan(at_edge(run)) and has_learned(run)
    unscored = made(PARITY, {(3,): 0})
    unscored.grid.scores[(3,)].clear()
    assert edge(unscored) == {} and has_learned(unscored)
    run = made(PARITY, {(3,): 0}, steps=0)
    assert (at_edge(run), has_learned(run)) == (1.0, True)
    assert has_learned(made(PARITY, {(3,): 0})) is False


def test_shares_are_over_all_problems_and_accuracy_along_an_axis_over_the_trained():
    run = made(SUMS, {(2, 2): (90, 100), (3, 3): (10, 300), (4, 2): (30, 100), (2, 4): (0, 50), (4, 4): (0, 50)})
    assert shares(run) == (0.25, 0.15)
    assert shares(made(SORTING, {(3, 1): 80, (3, 2): 10})) == (0.8, 0.1)
    inside, outside = shares(made(PARITY, {(2,): 60}))
    assert inside == 0.6 and math.isnan(outside)
    inside, outside = shares(made(PARITY, {(4,): 60}))
    assert math.isnan(inside) and outside == 0.6
    cells = {(2, 2): (90, 100), (2, 3): (60, 200), (4, 2): 40, (4, 3): 20, (2, 6): 8, (4, 6): 100}
    run = made(Addition(digits=2, operands=3), cells)
    assert along(run, 0) == {2: 0.5, 4: 0.3}
    assert along(run, 1) == {2: 0.9, 3: 0.3, 6: 0.08}
    del run.grid.scores[(4, 2)]["teacher_forced"]
    assert along(run, 0) == {2: 0.5, 4: 0.2}
    run = made(PARITY, {(4,): 40, (2,): 90})
    assert list(along(run, 0).items()) == [(2, 0.9), (4, 0.4)] and along(run, 1) == {}
