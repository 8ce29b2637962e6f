"""Eight tasks in one format and one kind of model: each is written, trained and tested up to five times its trained
length, and what is refused says why."""

import math

import pytest

import lengen
from lengen.callbacks.scoring import score_cell
from lengen.data.task_data import TaskData
from lengen.settings.spec import Spec, check
from lengen.training.build import build_model
from lengen.training.module import SequenceModule
from tests.lengen.helpers import spec

TRAINED = 4
REACH = (TRAINED + 1, math.ceil(1.5 * TRAINED), 2 * TRAINED, 3 * TRAINED, 5 * TRAINED)
TASKS: dict[str, lengen.Task] = {
    "parity": lengen.Parity(TRAINED),
    "successor": lengen.Successor(TRAINED),
    "increment": lengen.Increment(longest=TRAINED, repeats=0.2),
    "n by one": lengen.NByOne(TRAINED),
    "two operands": lengen.Addition(TRAINED, 2),
    "two reserved operands": lengen.TwoOperandAddition(tuple(range(1, TRAINED + 1))),
    "many operands": lengen.Addition(TRAINED, 4),
    "copy": lengen.Copy(TRAINED),
    "reverse": lengen.Reverse(TRAINED),
    "sorting": lengen.Sorting(longest=TRAINED, alphabet=20),
}
SCRATCHPADS = {"parity", "successor", "increment", "n by one", "two operands", "two reserved operands", "many operands"}
"""Tasks with intermediate results; copies, reversed strings and sorted sequences have none to write."""
NUMBERS = SCRATCHPADS - {"parity"}
"""Tasks whose digits have significance: only these are reversed or padded with zeros."""


def setting(name: str, spaces: float = 0.0, **format: object) -> Spec:
    task = TASKS[name]
    counts = (2, 4, 8) if name == "many operands" else task.counts
    return spec(
        lengen.DataSpec(
            task=task,
            format=lengen.Linear(**format),
            position_ids=lengen.Consecutive(),
            spaces=lengen.RandomSpaces(spaces) if spaces else None,
        ),
        lengen.TrainSpec(steps=2, batch=8, lr=1e-3, bucket=2),
        lengen.TestSpec(lengths=REACH, counts=counts, examples=4),
        encoding=lengen.Fire(),
        layers=1,
    )


def runs(sized: Spec) -> None:
    """Take a step, then score every cell as a run does."""
    data, model = TaskData(sized, 0), build_model(sized, 0)
    SequenceModule(sized, model).training_step(data.batch(0), 0).backward()
    for length in sized.test.lengths:
        for count in sized.test.counts:
            problems = data.test(length, count, 4)
            assert int(problems.lengths.max()) == length
            counts = score_cell(model.eval(), data.writer, problems, free_running=True)
            assert counts["free_running"]["n"] == len(problems.lengths) == 4


@pytest.mark.parametrize("name", TASKS)
def test_every_task_is_tested_up_to_five_times_its_length(name):
    runs(setting(name))


@pytest.mark.parametrize("name", TASKS)
def test_every_task_has_random_spaces(name):
    runs(setting(name, spaces=0.5))


@pytest.mark.parametrize("name", TASKS)
def test_scratchpads_are_of_tasks_with_intermediate_results(name):
    if name in SCRATCHPADS:
        runs(setting(name, scratchpad=True))
        return
    with pytest.raises(lengen.SettingError, match=r"has no intermediate results to write"):
        check(setting(name, scratchpad=True))


@pytest.mark.parametrize("option", [{"reverse_response": True}, {"pad_to": 21}, {"width": 21}], ids=str)
@pytest.mark.parametrize("name", TASKS)
def test_reversal_and_zeros_are_for_numbers(name, option):
    if name in NUMBERS:
        runs(setting(name, **option))
        return
    with pytest.raises(lengen.SettingError, match="are no numbers, which could be padded or reversed"):
        check(setting(name, **option))
