"""Settings, networks and callbacks that a script uses once more, and what it gives in place of a list."""

import json

import numpy as np
import pytest
from lightning import Trainer

import lengen
from lengen import AccuracyGrid, ArithmeticData, EditDistanceCurve, LearningCurves, SequenceModule, StopWhenGood
from lengen.benchmark import TaskError
from lengen.benchmark.problem import read_lines
from lengen.data.lines import read_problem
from lengen.digits import OperandError
from lengen.position_ids.digit_places import Coupled
from lengen.position_ids.places import Consecutive

SMALL = {"steps": 3, "batch": 4, "layers": 1, "heads": 1, "width": 8, "head_dim": 8, "ff_width": 8, "evaluations": 1}
ADDITION = lengen.setting("addition", digits=1, dropout=0.5, **SMALL)


def trainer(*callbacks) -> Trainer:
    quiet = {"enable_progress_bar": False, "enable_model_summary": False, "enable_checkpointing": False}
    return Trainer(max_steps=3, callbacks=[*callbacks], logger=False, accelerator="cpu", **quiet)


def test_a_network_that_was_measured_trains_on_with_dropout():
    module, data = SequenceModule(ADDITION), ArithmeticData(ADDITION, 0)
    trainer(AccuracyGrid([1], [2], examples=2)).fit(module, data)
    assert all(part.training for part in module.modules())


def test_a_module_that_solves_a_problem_keeps_its_mode():
    module = SequenceModule(ADDITION)
    answers = [lengen.load(module).solve([1, 2]) for _ in range(3)]
    assert module.training and answers[0] == answers[1] == answers[2], "half of the parts would be dropped"


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ({"encoding": "rope"}, Consecutive()),
        ({"encoding": "learned"}, Consecutive(36)),
        ({"encoding": "learned", "position_ids": "coupled"}, Coupled((12,))),
        ({"max_position": [20], "position_ids": "coupled"}, Coupled((20,))),
    ],
    ids=str,
)
def test_a_part_of_a_setting_is_changed_by_its_name_alone(named, expected):
    changed = lengen.setting(lengen.setting("addition"), **named)
    assert changed.data.position_ids == expected
    assert changed.model.encoding.kind == named.get("encoding", "fire")


@pytest.mark.parametrize("part", [{"tempered": {}}, {"spaces": {"ratio": 0.5}}], ids=str)
def test_a_setting_with_an_optional_part_can_be_changed(part):
    assert lengen.setting(lengen.setting("addition", **part), layers=3).model.layers == 3
    assert lengen.setting("addition", **part, layers=3).model.layers == 3


def test_an_end_of_training_of_ones_own_replaces_that_of_the_setting():
    assert lengen.train(ADDITION, callbacks=StopWhenGood(0.9, 1)).spec == ADDITION
    used = StopWhenGood(0.9, 1)
    used.in_a_row = 1
    mine = trainer(used)
    mine.fit(SequenceModule(ADDITION), ArithmeticData(ADDITION, 0))
    assert mine.global_step == 3, "what another training was counts for nothing"
    with pytest.raises(OperandError, match="patience=0"):
        StopWhenGood(0.9, 0)


def test_curves_are_of_the_data_at_hand():
    model = SequenceModule(lengen.setting("copy", **SMALL)).model
    copy, reverse = (lengen.TaskData(lengen.setting(task, **SMALL), 0) for task in ("copy", "reverse"))
    used = LearningCurves([2], examples=5)
    assert [*used.points(model, copy)] != [*used.points(model, reverse)]
    assert [*used.points(model, reverse)] == [*LearningCurves([2], examples=5).points(model, reverse)]


@pytest.mark.parametrize(("counts", "free"), [([3, 4], True), ([2], False)])
def test_a_curve_refuses_a_grid_that_does_not_count_its_edits(counts, free):
    grid = AccuracyGrid([1], counts, examples=2, free_running=free)
    with pytest.raises(OperandError, match="has to be an AccuracyGrid"):
        lengen.train(ADDITION, callbacks=[grid, EditDistanceCurve(count=2, scored=grid)])


def test_a_curve_refuses_a_grid_behind_it():
    grid = AccuracyGrid([1], [2], examples=2)
    with pytest.raises(OperandError, match="stands before the curve"):
        lengen.train(ADDITION, callbacks=[EditDistanceCurve(count=2, scored=grid), grid])


def test_maps_are_refused_before_the_training():
    learned = lengen.setting("addition", digits=1, encoding="learned", **SMALL)
    with pytest.raises(OperandError, match="up to 157 tokens"):
        lengen.train(learned, callbacks=[lengen.AttentionMaps([(50, 2)])])
    two = lengen.setting("addition", digits=1, architecture={"kind": "encoder_decoder", "encoder_layers": 1}, **SMALL)
    with pytest.raises(lengen.SettingError, match="two texts"):
        lengen.train(two, callbacks=[lengen.AttentionMaps([(1, 2)])])


def test_a_bias_that_nothing_sets_is_refused():
    bias = {"kind": "decoder", "attention_bias": {"kind": "lines", "rows": 3, "columns": 3}}
    with pytest.raises(lengen.SettingError, match="nothing sets this bias"):
        lengen.train("copy", architecture=bias)


@pytest.mark.parametrize(
    "named",
    [
        {"encoding": "learned", "pad_query": False, "pad_response": False},
        {"position_ids": "randomised", "pad_query": False, "pad_response": False},
        {"task": "increment", "longest": 3, "encoding": "learned"},
        {"task": "listops", "depth": 3, "encoding": "learned"},
        {"task": "pair_addition", "position_ids": "randomised", "architecture": "encoder_decoder", "encoder_layers": 1},
    ],
    ids=str,
)
def test_position_ids_suffice_for_every_tested_problem(named):
    spec = lengen.setting(**{"digits": 3} | named if "task" not in named else named)
    lengen.TaskData(spec, 0).check_cells(spec.test.lengths, spec.test.counts, 5_000)


def test_numbers_of_numpy_and_generators_are_taken():
    assert lengen.setting("multiplication", digits=np.int64(3)).data.task == lengen.Multiplication(3, 3)
    assert SequenceModule(ADDITION, seed=np.int64(0)).hparams["seed"].__class__ is int
    assert AccuracyGrid([1], counts=(count for count in (2, 2))).grid.axes == ("length",)
    problems = lengen.problems("parity", 6)
    right = {problem.id: problem.answer for problem in problems}
    assert lengen.score((problem for problem in problems), right).accuracy() == 1.0


def test_a_line_of_json_needs_prompt_and_answer_and_no_split():
    line = lengen.problems("addition", 6)[0]._asdict()
    assert read_lines([json.dumps({k: v for k, v in line.items() if k != "split"})])[0].split == "test"
    for name in ("prompt", "answer"):
        with pytest.raises(TaskError, match="is not a problem"):
            read_lines([json.dumps({k: v for k, v in line.items() if k != name})])


@pytest.mark.parametrize(("task", "line"), [("parity", "0920="), ("n_by_1", "12*345=")])
def test_a_prompt_of_no_problem_is_refused(task, line):
    with pytest.raises(TaskError, match="is no problem of"):
        read_lines([line], task)


def test_problems_of_ones_own_have_a_known_task_and_no_size():
    own = lengen.problems("parity", 6)
    for task, size, message in (
        ("parity", 6, "leave it out"),
        ("copy", None, "name their task"),
        ("no", None, "no task"),
    ):
        with pytest.raises(TaskError, match=message):
            lengen.evaluate(lambda prompts: ["1"] * len(prompts), task, size, problems=own)


def test_an_answer_in_carries_keeps_its_zeros():
    assert read_problem("129=0↑13↑01↑0", lengen.Carries(longest=5)).lengths.tolist() == [[3]]
