"""Ten tasks with each way of writing: trained and tested up to five times their trained length, or refused with why."""

import math

import pytest

import lengen
from lengen.callbacks.accuracy_grid import score_cell
from lengen.settings.spec import validate
from tests.fixtures.settings import spec

pytestmark = pytest.mark.slow

TRAINED = 4
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
NUMBERS = {name for name, task in TASKS.items() if task.kind not in ("parity", "copy", "reverse", "sorting")}
OF_NUMBERS = "are no numbers, which could be padded or reversed"
OPTIONS = {
    "plain": ({}, {*TASKS}, ""),
    "random spaces": ({}, {*TASKS}, ""),
    "scratchpad": ({"scratchpad": True}, NUMBERS | {"parity"}, "has no intermediate results to write"),
    "reversed": ({"reverse_response": True}, NUMBERS, OF_NUMBERS),
    "padded": ({"pad_to": 21}, NUMBERS, OF_NUMBERS),
    "of one width": ({"width": 21}, NUMBERS, OF_NUMBERS),
}
"""Fields of the line, tasks that have it, and what is said of the others."""


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("name", TASKS)
def test_every_task_is_trained_and_tested_up_to_five_times_its_length_or_says_why_not(name, option):
    fields, having, said = OPTIONS[option]
    task, spaces = TASKS[name], lengen.RandomSpaces(0.5) if option == "random spaces" else None
    data = lengen.DataSpec(task=task, format=lengen.Linear(**fields), position_ids=lengen.Consecutive(), spaces=spaces)
    reach = (TRAINED + 1, math.ceil(1.5 * TRAINED), 2 * TRAINED, 3 * TRAINED, 5 * TRAINED)
    counts = (2, 4, 8) if name == "many operands" else task.counts
    train, test = lengen.TrainSpec(steps=2, batch=8, lr=1e-3, bucket=2), lengen.TestSpec(reach, counts, examples=4)
    sized = spec(data, train, test, encoding=lengen.Fire(), layers=1)
    if name not in having:
        with pytest.raises(lengen.SettingError, match=said):
            validate(sized)
        return
    made, model = lengen.TaskData(sized, 0), lengen.build_model(sized, 0)
    lengen.SequenceModule(sized, model).training_step(made.batch(0), 0).backward()
    for length, count in ((length, count) for length in reach for count in counts):
        problems = made.test(length, count, 4)
        assert int(problems.lengths.max()) == length
        assert score_cell(model.eval(), made.writer, problems, free_running=True)["free_running"]["n"] == 4
