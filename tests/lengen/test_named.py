"""A setting and a training in one line, problems by name, and the examples of the page."""

import doctest
from pathlib import Path

import numpy as np
import pytest
import torch
from lightning import Callback

import lengen
from lengen import SettingError
from lengen.benchmark import TaskError
from lengen.benchmark.problem import frozen
from lengen.settings.spec import replace

ROOT = Path(__file__).resolve().parents[2]
SMALL = {"steps": 3, "batch": 4, "layers": 1, "heads": 1, "width": 8, "head_dim": 8, "ff_width": 8, "evaluations": 1}


@pytest.mark.parametrize(
    "named",
    [
        {"position_ids": "coupled", "encoding": "fire", "digits": 3},
        {"position_ids": "coupled", "scratchpad": True, "operands": 4, "counts": "2..4"},
        {"position_ids": "abacus"},
        {"position_ids": "randomised", "task": "reverse"},
        {"position_ids": "none"},
        {"encoding": "learned", "task": "copy"},
        {"encoding": "rope", "task": "multiplication", "digits": 2},
        {"task": lengen.Parity(4), "lengths": (2, 9)},
        {"architecture": "encoder_decoder", "encoder_layers": 1},
    ],
    ids=str,
)
def test_what_is_not_named_is_small_and_fits_the_rest(named):
    module = lengen.train(seed=1, **{**SMALL, **named})
    spec = module.spec
    assert spec.train.steps == 3 and max(spec.test.lengths) > spec.data.task.longest
    data = lengen.ArithmeticData(spec).data
    problems = data.test(max(spec.test.lengths), max(spec.test.counts), 20)
    assert data.writer.write(problems).tokens.shape[0] == 20, "the longest tested problems can be written"


def test_the_same_line_gives_the_same_weights_and_a_setting_may_be_whole():
    one, two = (lengen.train("addition", digits=2, **SMALL) for _ in range(2))
    three = lengen.train(lengen.setting(digits=2, **{**SMALL, "steps": 9}), steps=3)
    for a, b, c in zip(one.parameters(), two.parameters(), three.parameters(), strict=True):
        assert torch.equal(a, b) and torch.equal(a, c)
    assert lengen.load(one).solve([5, 7])["answer"] == "12"


def test_ranges_and_numbers_of_numpy_are_values():
    made = lengen.setting(digits=np.int64(3), lr=np.float64(0.5), **{"test.lengths": range(1, 4)})
    assert made == lengen.setting(digits=3, lr=0.5, **{"test.lengths": [1, 2, 3]})


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ({"digits": 3, "data.task.digits": 4}, "'digits' and 'data.task.digits' are one setting"),
        ({"digit": 3}, "there is no setting 'digit'; nearest: digits"),
        ({"examples": 3}, "'examples' stands in 2 sections"),
        ({"encoding": "nope"}, "^model.encoding=nope: unknown encoding"),
        ({"digits": "x"}, 'data.task.digits="x"'),
        ({"task": "knitting"}, "unknown task 'knitting'"),
        ({"encoding": lengen.Learned}, "model.encoding=Learned: this is a class; expected a part"),
        ({"task": lengen.Addition}, r"data.task=Addition: this is a class"),
        ({"steps": {1, 2}}, "train.steps={1, 2}: expected a word, a number"),
        ({"lengths": []}, "test.lengths=.*: expected array of length >= 1"),
    ],
)
def test_a_wrong_name_is_one_sentence(named, sentence):
    with pytest.raises(SettingError, match=sentence):
        lengen.setting(**named)


def test_hints_are_named_or_given():
    named = lengen.setting("sorting", longest=3, alphabet=9, hints=["count"], tied=False)
    task = named.data.task
    given = lengen.setting("sorting", longest=3, alphabet=9, hints=(lengen.Counting(3, alphabet=9),), tied=False)
    assert [hint.kind for hint in named.data.hints] == ["count"] == [hint.kind for hint in given.data.hints]
    assert named.data.hints[0].longest == task.longest


def test_a_class_in_place_of_a_part_is_refused_by_hand_too():
    spec = lengen.setting("addition", digits=2)
    with pytest.raises(SettingError, match=r"model\.encoding=Learned: this is a class"):
        lengen.TaskData(replace(spec, model={"encoding": lengen.Learned}), 0)


class Steps(Callback):
    taken = 0

    def on_fit_end(self, trainer, pl_module):
        self.taken = trainer.global_step


def test_early_stopping_and_a_single_callback_are_heard():
    small = SMALL | {"task": "copy", "digits": 1, "steps": 60, "evaluations": 60, "batch": 32, "lr": 0.03, "width": 16}
    whole, early = Steps(), Steps()
    lengen.train(**small, callbacks=whole)
    lengen.train(**small, stop_at=0.1, patience=2, callbacks=[early])
    assert whole.taken == 60 and 2 <= early.taken < 60


def test_problems_of_a_task_an_experiment_and_a_setting():
    assert lengen.problems("copy", 6) == frozen("copy", 6)
    held_out = {problem.prompt for problem in frozen("addition")}
    assert not held_out & {problem.prompt for problem in lengen.problems("addition", 6, split="train", examples=500)}
    spec = lengen.setting("n_by_one", digits=2)
    asked = lengen.problems(spec, examples=5)
    assert {problem.cell for problem in asked} == {(length, 1) for length in spec.test.lengths}
    grid = lengen.score(asked, {problem.id: problem.answer for problem in asked})
    assert grid.accuracy() == 1
    with pytest.raises(TaskError, match="no task of the benchmark"):
        lengen.problems(spec, split="train")
    with pytest.raises(ValueError, match="knitting"):
        lengen.problems("knitting")
    with pytest.raises(TaskError, match="expected a task of the benchmark"):
        lengen.problems(["addition"])


@pytest.mark.parametrize(
    "made",
    [
        lambda: lengen.train(callbacks=5, **SMALL),
        lambda: lengen.train(callbacks=[5], **SMALL),
        lambda: lengen.character_model(torch.nn.Linear(2, 2), 5),
        lambda: lengen.character_model(torch.nn.Linear(2, 2), "01$", longest=-1),
        lambda: lengen.ArithmeticData(lengen.setting(), train_file=5),
        lambda: lengen.AccuracyGrid((1,), (2,), examples=5, folder=__file__),
    ],
)
def test_a_value_of_a_wrong_kind_is_one_sentence(made):
    with pytest.raises(ValueError, match="expected"):
        made()


@pytest.mark.parametrize("page", ["library.md"])
def test_examples_of_the_pages_give_what_stands_below_them(page):
    failed, tried = doctest.testfile(str(ROOT / "docs" / page), module_relative=False)
    assert tried and not failed
