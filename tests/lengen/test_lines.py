"""Settings by name, problems of files, and what is used a second time."""

import doctest
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from lightning import Callback, Trainer

import lengen
from lengen import AccuracyGrid, ArithmeticData, Consecutive, Coupled, EditDistanceCurve, SequenceModule, StopWhenGood
from lengen.benchmark import TaskError
from lengen.benchmark.problem import frozen, read_lines
from lengen.data.reading_problems import read_problem
from lengen.digits import OperandError
from tests.fixtures.refusals import refused

LINES = ["a,b,answer", "12+34=46", "", "7,8,15", " 99 + 1 = 0100", "3+4=7"]
ROOT = Path(__file__).resolve().parents[2]
SMALL = {"steps": 3, "batch": 4, "layers": 1, "heads": 1, "width": 8, "head_dim": 8, "ff_width": 8, "evaluations": 1}
ADDITION = lengen.setting("addition", digits=1, dropout=0.5, **SMALL)


@pytest.fixture
def spec():
    named = {"steps": 4, "batch": 2, "layers": 1, "heads": 1, "width": 8, "head_dim": 8, "ff_width": 8, "bucket": 2}
    return lengen.setting("addition", digits=2, **named)


def test_a_training_sees_the_problems_of_the_file_once_in_an_epoch(tmp_path, spec):
    (tmp_path / "train.txt").write_text("\n".join(LINES))
    data = lengen.ArithmeticData(spec, train_file=tmp_path / "train.txt")
    for epoch in (0, 2):  # two batches of two are the file
        texts = [data.vocab.decode(row) for step in (epoch, epoch + 1) for row in data.batch(step).tokens]
        answers = sorted(text.partition("=")[2].strip("$")[::-1].lstrip("0") for text in texts)
        assert answers == ["100", "15", "46", "7"]
    module = lengen.SequenceModule(spec)
    before = [one.clone() for one in module.parameters()]
    Trainer(max_steps=4, max_epochs=-1, logger=False, enable_checkpointing=False, enable_progress_bar=False).fit(
        module, data
    )
    assert any(not torch.equal(a, b) for a, b in zip(before, module.parameters(), strict=True))


@pytest.mark.parametrize(("text", "sentence"), [
    ("1+2=3\n1+2=4\n1+x=2\n5+6\n", r"line 2: '1\+2=4': the answer is 3, not 4; line 3: .*; line 4: .* no answer"),
    ("1+1=3\n" * 7, "and 2 more"), ("\n", "holds no problem"), (None, "cannot be read"),
])  # fmt: skip
def test_wrong_lines_are_named_in_one_sentence(tmp_path, spec, text, sentence):
    path = tmp_path / "train.txt"
    if text is not None:
        path.write_text(text)
    refused(OperandError, sentence, lengen.ArithmeticData, spec, train_file=path)


def test_a_problem_that_position_ids_cannot_number_is_named(tmp_path):
    spec = lengen.setting("addition", digits=1, position_ids="coupled")
    (tmp_path / "train.txt").write_text("1+2=3\n123456+1=123457\n")
    refused(OperandError, r"line 2: .*position ids", lengen.ArithmeticData, spec, train_file=tmp_path / "train.txt")


@pytest.mark.parametrize(("task", "line"), [
    (lengen.Parity(4), "0110=0"), (lengen.Copy(4), "0450=0450"), (lengen.Sorting(longest=5), "5 3 7=3 5 7"),
    (lengen.Multiplication(2, 2), "12*34=408"), (lengen.Successor(4), "1299,1300"),
], ids=lambda value: getattr(value, "kind", ""))  # fmt: skip
def test_lines_of_other_tasks(task, line):
    assert len(read_problem(line, task).lengths) == 1
    refused(OperandError, "the answer is", read_problem, line[:-1] + ("1" if line[-1] != "1" else "2"), task)


@pytest.mark.parametrize("named", [
    {"position_ids": "coupled", "encoding": "fire", "digits": 3},
    {"position_ids": "coupled", "scratchpad": True, "operands": 4, "counts": "2..4"}, {"position_ids": "abacus"},
    {"position_ids": "randomised", "task": "reverse"}, {"position_ids": "none"},
    {"encoding": "learned", "task": "copy"}, {"encoding": "rope", "task": "multiplication", "digits": 2},
    {"task": lengen.Parity(4), "lengths": (2, 9)}, {"architecture": "encoder_decoder", "encoder_layers": 1},
], ids=str)  # fmt: skip
def test_what_is_not_named_is_small_and_fits_the_rest(named):
    module = lengen.train(seed=1, **{**SMALL, **named})
    spec = module.spec
    assert spec.train.steps == 3 and max(spec.test.lengths) > spec.data.task.longest
    data = lengen.ArithmeticData(spec).data
    problems = data.test(max(spec.test.lengths), max(spec.test.counts), 20)
    assert data.writer.write(problems).tokens.shape[0] == 20, "the longest tested problems can be written"


def test_the_same_line_gives_the_same_weights_and_early_stopping_is_heard():
    one, two = (lengen.train("addition", digits=2, **SMALL) for _ in range(2))
    three = lengen.train(lengen.setting(digits=2, **{**SMALL, "steps": 9}), steps=3)
    for a, b, c in zip(one.parameters(), two.parameters(), three.parameters(), strict=True):
        assert torch.equal(a, b) and torch.equal(a, c)
    assert lengen.load(one).solve([5, 7])["answer"] == "12"
    small = SMALL | {"task": "copy", "digits": 1, "steps": 60, "evaluations": 60, "batch": 32, "lr": 0.03, "width": 16}
    whole, early = Steps(), Steps()
    lengen.train(**small, callbacks=whole)
    lengen.train(**small, stop_at=0.1, patience=2, callbacks=[early])
    assert whole.taken == 60 and 2 <= early.taken < 60


def test_ranges_hints_and_numbers_of_numpy_are_values_and_a_class_is_none():
    made = lengen.setting(digits=np.int64(3), lr=np.float64(0.5), **{"test.lengths": range(1, 4)})
    assert made == lengen.setting(digits=3, lr=0.5, **{"test.lengths": [1, 2, 3]})
    named = lengen.setting("sorting", longest=3, alphabet=9, hints=["count"], tied=False)
    task = named.data.task
    given = lengen.setting("sorting", longest=3, alphabet=9, hints=(lengen.Counting(3, alphabet=9),), tied=False)
    assert [hint.kind for hint in named.data.hints] == ["count"] == [hint.kind for hint in given.data.hints]
    assert named.data.hints[0].longest == task.longest
    spec = lengen.setting("addition", digits=2)
    with pytest.raises(lengen.SettingError, match=r"model\.encoding=Learned: this is a class"):
        lengen.TaskData(lengen.replace(spec, model={"encoding": lengen.Learned}), 0)


@pytest.mark.parametrize(("named", "sentence"), [
    ({"digits": 3, "data.task.digits": 4}, "'digits' and 'data.task.digits' are one setting"),
    ({"digit": 3}, "there is no setting 'digit'; nearest: digits"),
    ({"task": "sorting", "digits": 3}, "nearest: init, hints; sorting itself has longest, short, skew"),
    ({"task": 5}, "data.task=5: expected a task: one of"),
    ({"task": {"kind": "knitting"}}, "data.task: unknown task 'knitting'"),
    ({"position_ids": [1]}, r"data.position_ids=\[1\]: expected a scheme of position ids"),
    ({"encoding": {"kind": "nope"}}, "model.encoding: unknown encoding 'nope'"),
    ({"encoding": {}}, "model.encoding: expected an encoding"),
    ({"format": {"kind": "nix"}, "pad_query": True}, "data.format: unknown format 'nix'"),
    ({"task": lengen.setting("copy", digits=2), "position_ids": 5}, "data.position_ids=5: expected a scheme"),
    ({"examples": 3}, "'examples' stands in 2 sections"),
    ({"encoding": "nope"}, "^model.encoding=nope: unknown encoding"),
    ({"digits": "x"}, "data.task.digits=x"),
    ({"task": "knitting"}, "unknown task 'knitting'"),
    ({"encoding": lengen.Learned}, "model.encoding=Learned: this is a class; expected a part"),
    ({"task": lengen.Addition}, r"data.task=Addition: this is a class"),
    ({"steps": {1, 2}}, "train.steps={1, 2}: expected a word, a number"),
    ({"lengths": []}, "test.lengths=.*: expected array of length >= 1"),
])  # fmt: skip
def test_a_wrong_name_is_one_sentence(named, sentence):
    refused(lengen.SettingError, sentence, lengen.setting, **named)


class Steps(Callback):
    taken = 0

    def on_fit_end(self, trainer, pl_module):
        self.taken = trainer.global_step


def test_problems_and_networks_are_used_again_as_they_were():
    assert lengen.problems("copy", 6) == frozen("copy", 6)
    held_out = {problem.prompt for problem in frozen("addition")}
    assert not held_out & {problem.prompt for problem in lengen.problems("addition", 6, split="train", examples=500)}
    spec = lengen.setting("n_by_one", digits=2)
    asked = lengen.problems(spec, examples=5)
    assert {problem.cell for problem in asked} == {(length, 1) for length in spec.test.lengths}
    assert lengen.score(asked, {problem.id: problem.answer for problem in asked}).accuracy() == 1
    refused(TaskError, "no task of the benchmark", lengen.problems, spec, split="train")
    refused(ValueError, "knitting", lengen.problems, "knitting")
    refused(TaskError, "expected a task of the benchmark", lengen.problems, ["addition"])
    module, data = SequenceModule(ADDITION), ArithmeticData(ADDITION, 0)
    trainer(AccuracyGrid([1], [2], examples=2)).fit(module, data)
    assert all(part.training for part in module.modules())
    module = SequenceModule(ADDITION)
    answers = [lengen.load(module).solve([1, 2]) for _ in range(3)]
    assert module.training and answers[0] == answers[1] == answers[2], "half of the parts would be dropped"


@pytest.mark.parametrize("made", [
    lambda: lengen.train(callbacks=5, **SMALL),
    lambda: lengen.train(callbacks=[5], **SMALL),
    lambda: lengen.character_model(torch.nn.Linear(2, 2), 5),
    lambda: lengen.character_model(torch.nn.Linear(2, 2), "01$", longest=-1),
    lambda: lengen.ArithmeticData(lengen.setting(), train_file=5),
    lambda: lengen.AccuracyGrid((1,), (2,), examples=5, folder=__file__),
    lambda: lengen.AccuracyGrid((1,), (2,), examples=5, folder=5),
])  # fmt: skip
def test_a_value_of_a_wrong_kind_is_one_sentence(made):
    refused(ValueError, "expected", made)


@pytest.mark.parametrize("page", ["library.md"])
def test_examples_of_the_pages_give_what_stands_below_them(page):
    failed, tried = doctest.testfile(str(ROOT / "docs" / page), module_relative=False)
    assert tried and not failed


def trainer(*callbacks) -> Trainer:
    quiet = {"enable_progress_bar": False, "enable_model_summary": False, "enable_checkpointing": False}
    return Trainer(max_steps=3, callbacks=[*callbacks], logger=False, accelerator="cpu", **quiet)


@pytest.mark.parametrize(("named", "expected"), [
    ({"encoding": "rope"}, Consecutive()),
    ({"encoding": "learned"}, Consecutive(36)),
    ({"encoding": "learned", "position_ids": "coupled"}, Coupled((12,))),
    ({"max_position": [20], "position_ids": "coupled"}, Coupled((20,))),
], ids=str)  # fmt: skip
def test_a_part_of_a_setting_is_changed_by_its_name_alone(named, expected):
    changed = lengen.setting(lengen.setting("addition"), **named)
    assert changed.data.position_ids == expected
    assert changed.model.encoding.kind == named.get("encoding", "fire")


@pytest.mark.parametrize("part", [{"tempered": {}}, {"spaces": {"ratio": 0.5}}], ids=str)
def test_a_setting_with_an_optional_part_can_be_changed(part):
    assert lengen.setting(lengen.setting("addition", **part), layers=3).model.layers == 3
    assert lengen.setting("addition", **part, layers=3).model.layers == 3


def test_curves_are_of_the_data_at_hand_and_an_end_of_ones_own_replaces_that_of_the_setting():
    model = SequenceModule(lengen.setting("copy", **SMALL)).model
    copy, reverse = (lengen.TaskData(lengen.setting(task, **SMALL), 0) for task in ("copy", "reverse"))
    used = lengen.LearningCurves([2], examples=5)
    assert [*used.points(model, copy)] != [*used.points(model, reverse)]
    assert [*used.points(model, reverse)] == [*lengen.LearningCurves([2], examples=5).points(model, reverse)]
    assert lengen.train(ADDITION, callbacks=StopWhenGood(0.9, 1)).spec == ADDITION
    used = StopWhenGood(0.9, 1)
    used.in_a_row = 1
    mine = trainer(used)
    mine.fit(SequenceModule(ADDITION), ArithmeticData(ADDITION, 0))
    assert mine.global_step == 3, "what another training was counts for nothing"
    refused(OperandError, "patience=0", StopWhenGood, 0.9, 0)


@pytest.mark.parametrize(("counts", "free"), [([3, 4], True), ([2], False)])
def test_a_curve_refuses_a_grid_that_does_not_count_its_edits(counts, free):
    grid = AccuracyGrid([1], counts, examples=2, free_running=free)
    with pytest.raises(OperandError, match="has to be an AccuracyGrid"):
        lengen.train(ADDITION, callbacks=[grid, EditDistanceCurve(counts=[2], scored=grid)])


def test_grids_maps_and_biases_that_cannot_work_are_refused_before_the_training():
    grid = AccuracyGrid([1], [2], examples=2)
    with pytest.raises(OperandError, match="stands before the curve"):
        lengen.train(ADDITION, callbacks=[EditDistanceCurve(counts=[2], scored=grid), grid])
    learned = lengen.setting("addition", digits=1, encoding="learned", **SMALL)
    refused(OperandError, "up to 157 tokens", lengen.train, learned, callbacks=[lengen.AttentionMaps([(50, 2)])])
    two = lengen.setting("addition", digits=1, architecture={"kind": "encoder_decoder", "encoder_layers": 1}, **SMALL)
    refused(lengen.SettingError, "two texts", lengen.train, two, callbacks=[lengen.AttentionMaps([(1, 2)])])
    bias = {"kind": "decoder", "attention_bias": {"kind": "lines", "rows": 3, "columns": 3}}
    refused(lengen.SettingError, "nothing sets this bias", lengen.train, "copy", architecture=bias)


@pytest.mark.parametrize("named", [
    {"encoding": "learned", "pad_query": False, "pad_response": False},
    {"position_ids": "randomised", "pad_query": False, "pad_response": False},
    {"task": "increment", "longest": 3, "encoding": "learned"},
    {"task": "listops", "depth": 3, "encoding": "learned"},
    {"task": "pair_addition", "position_ids": "randomised", "architecture": "encoder_decoder", "encoder_layers": 1},
], ids=str)  # fmt: skip
def test_position_ids_suffice_for_every_tested_problem(named):
    spec = lengen.setting(**{"digits": 3} | named if "task" not in named else named)
    lengen.TaskData(spec, 0).check_cells(spec.test.lengths, spec.test.counts, 5_000)


def test_numbers_of_numpy_generators_and_lines_of_json_are_taken():
    assert lengen.setting("multiplication", digits=np.int64(3)).data.task == lengen.Multiplication(3, 3)
    assert SequenceModule(ADDITION, seed=np.int64(0)).hparams["seed"].__class__ is int
    assert AccuracyGrid([1], counts=(count for count in (2, 2))).grid.axes == ("length",)
    problems = lengen.problems("parity", 6)
    right = {problem.id: problem.answer for problem in problems}
    assert lengen.score((problem for problem in problems), right).accuracy() == 1.0
    line = lengen.problems("addition", 6)[0]._asdict()
    assert read_lines([json.dumps({k: v for k, v in line.items() if k != "split"})])[0].split == "test"
    for name in ("prompt", "answer"):
        refused(TaskError, "is not a problem", read_lines, [json.dumps({k: v for k, v in line.items() if k != name})])
    assert read_problem("129=0↑13↑01↑0", lengen.Carries(longest=5)).lengths.tolist() == [[3]]
    own = lengen.problems("parity", 6)
    for task, size, message in (
        ("parity", 6, "leave it out"),
        ("copy", None, "name their task"),
        ("no", None, "name their task"),
    ):
        refused(TaskError, message, lengen.evaluate, lambda prompts: ["1"] * len(prompts), task, size, problems=own)
    named = [problem._replace(task="own") for problem in own]  # problems of a task that is no benchmark's
    known = {problem.prompt: problem.answer for problem in named}
    assert lengen.evaluate(lambda prompts: [known[prompt] for prompt in prompts], named).accuracy() == 1.0
    refused(lengen.SettingError, "'x' is no setting; expected", lengen.validate, "x")


@pytest.mark.parametrize(("task", "line"), [("parity", "0920="), ("n_by_1", "12*345=")])
def test_a_prompt_of_no_problem_is_refused(task, line):
    refused(TaskError, "is no problem of", read_lines, [line], task)
