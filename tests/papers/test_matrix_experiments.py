"""Cells of the matrix: each builds, is tested to five times its length, and is no other cell; the others say why."""

from statistics import fmean

import pytest
import torch

from lengen import Linear, LineWindow, TaskData, build_model
from lengen.callbacks.accuracy_grid import score_cell
from lengen.formats.base import FIRST, PAD
from lengen.settings.changes import overlay
from lengen.tasks.base import Row
from papers.matrix.experiments import EXPERIMENTS, cell
from papers.matrix.settings import TASKS, step_tokens
from reproduce.cli import main

CELLS = [item for item in EXPERIMENTS if item.specs]
REFUSED = {f"{item.figure}/{item.variant}" for item in EXPERIMENTS if not item.specs}
NO_NUMBERS = ("parity", "copy", "reverse", "sorting")


@pytest.mark.slow
@pytest.mark.parametrize("item", CELLS, ids=lambda item: f"{item.figure}/{item.variant}")
def test_every_cell_trains_on_a_batch_and_scores_its_largest_problems(item):
    spec = item.specs["smoke"]
    data, model = TaskData(spec, 0), build_model(spec, 0).eval()
    assert len(data.batch(0).tokens) == spec.train.batch
    length, count = max(spec.test.lengths), max(spec.test.counts)
    assert length == 5 * spec.data.task.longest
    problems = data.test(length, count, 2)
    assert score_cell(model, data.writer, problems, free_running=False)["teacher_forced"]["n"] == 2


@pytest.mark.parametrize("profile", ["smoke", "night"])
@pytest.mark.parametrize("task", TASKS)
def test_no_two_cells_of_a_task_are_the_same(task, profile):
    hashes = {item.variant: item.specs[profile].hash() for item in CELLS if item.figure == task}
    assert len(set(hashes.values())) == len(hashes) > 15


def test_refusals_say_why_and_parity_is_as_small_and_alike_as_the_pages_say():
    for item in EXPERIMENTS:
        assert all(reason.startswith("refused: ") for reason in item.absent.values()) is (not item.specs)
        assert "paper" in item.absent
    few = {f"{task}/{trick}" for task in ("sums", "sorting") for trick in ("abc", "window", "window-cyclic")}
    few |= {f"{task}/subtasks" for task in TASKS if task != "addition"}
    numbers = {
        f"{task}/{trick}" for task in NO_NUMBERS for trick in ("reversed", "zero-padded", "reversed-fire-randomised")
    }
    one_operand = {f"{task}/coupled-2" for task in (*NO_NUMBERS, "successor")}
    no_stages = {f"{task}/{trick}" for task in NO_NUMBERS[1:] for trick in ("scratchpad", "coupled-scratchpad")}
    no_hint = {f"{task}/{trick}" for task in ("parity", "n-by-one") for trick in ("hint", "association")}
    assert few | numbers | one_operand | no_stages | no_hint == REFUSED
    spec = cell("parity", "coupled", "night")
    assert sum(2**bits for bits in range(1, spec.data.task.longest + 1)) == 510
    assert round(spec.train.steps * spec.train.batch, -3) == 82_000
    data = TaskData(spec, 0)
    problems = data.test(40, 1, 200)
    assert int(problems.operands.sum(dim=(1, 2)).remainder(2).sum()) == 94
    assert data.writer.write(problems).ids[0, 0, 1:41].unique().numel() == 1


def test_a_part_of_the_matrix_runs_without_a_profile_where_it_has_one(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path))
    part = ["matrix/addition/abacus", "matrix/addition/fire"]
    options = ["--seeds", "0", "--dry-run"]
    assert main(["run", *part, *options]) == 0
    told = capsys.readouterr()
    assert "2 to run, 0 finished" in told.out and told.err == (
        "there is no cpu size of these: taking --profile night, the only one beside smoke\n"
    )
    assert main(["run", *part, *options, "--profile", "smoke"]) == 0
    assert capsys.readouterr().err == "", "one that is given is taken"
    assert main(["run", *part, *options, "--profile", "cpu"]) == 2 and "has no cpu profile" in capsys.readouterr().err
    copies = ["matrix/copy/abacus", "matrix/copy/fire"]
    assert main(["run", *copies, *options]) == 0 and capsys.readouterr().err == "", "copies have both"


@pytest.mark.parametrize("task", ["copy", "sorting"])
def test_abacus_and_coupled_ids_number_digits_of_strings_alike(task):
    shown = []
    for trick in ("abacus", "coupled"):
        data = TaskData(cell(task, trick, "night"), 0)
        ids = data.writer.write(data.test(5, 1, 1)).ids[0, 0]
        shown.append([ids[1:6] - ids[1], ids[7:12] - ids[1], ids[6] == 0])
    (first, second, without), (other, answer, with_one) = shown
    assert first.equal(other) and second.equal(answer) and bool(without) and not bool(with_one)


def written(training, task) -> float:
    """Tokens of a mean example of a task, over every trained length and count, counted as the cell writes them; leading
    zeros are written, as the budget counts them."""
    format = training.data.format
    alone = {"data.task": task, "data.hints": (), "test.counts": task.counts}
    if isinstance(format, Linear) and not format.width and task.ROWS.answer is Row.BOUND:
        alone["data.format.pad_response"] = True
    data, found = TaskData(overlay(training, alone), 0), []
    for length in task.trained_lengths:
        for count in range(min(2, task.most), task.most + 1):
            problem = data.test(length, count, 1)
            if kinds := data.format.kinds:  # each part of a sum that has as many digits as there can be
                problem = data.task.parse(["9" * length] * count).select(torch.zeros(kinds, dtype=torch.long))
                problem = problem._replace(kinds=torch.arange(kinds))
            many = problem.select(torch.arange(len(problem.lengths)).repeat(300 if training.data.spaces else 1))
            batch = data.writer.write(many, torch.Generator().manual_seed(0))
            found.append(float((batch.tokens != PAD).sum()) / len(batch.tokens))
    return fmean(found)


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_the_tricks_of_a_task_have_one_budget_as_they_are_written(task):
    """An auxiliary task has half of the steps. Random spaces come in whole numbers, a little fewer than the budget
    counts."""
    for item in (item for item in CELLS if item.figure == task):
        spec = item.specs["night"]
        example = sum(
            fmean(written(training, each) for each in (training.data.task, *training.data.hints))
            for training in spec.trained(spec.train.lr).trainings()
        )
        spaced = spec.data.spaces is not None
        assert step_tokens(spec) == pytest.approx(spec.train.batch * example, rel=0.04 if spaced else 1e-9), item.name
        used = spec.train.steps * spec.train.batch * example
        assert used == pytest.approx(TASKS[task].tokens, rel=0.05 if spaced else 0.01), item.name


@pytest.mark.parametrize("task", [item.figure for item in CELLS if item.variant == "window"])
def test_windows_stand_on_the_digit_of_every_operand_that_the_next_answer_token_is_about(task):
    spec = cell(task, "window", "night")
    bias, length = spec.model.attention_bias, 7
    assert isinstance(bias, LineWindow)
    data = TaskData(spec, 0)
    problems = data.test(length, spec.data.task.most, 20)
    batch = data.writer.write(problems)
    prompts = batch.loss.int().argmax(dim=1)
    for i, prompt in enumerate(prompts.tolist()):
        for row in range(length):
            begin = [offset if slope > 0 else prompt - 1 - offset for slope, offset in bias.lines]
            seen = [int(batch.tokens[i, at + slope * row]) for at, (slope, _) in zip(begin, bias.lines, strict=True)]
            place = length - 1 - row if task == "reverse" else row
            asked = [problems.operands[i, 0, place], *problems.operands[i, 1:, 0 if task == "n-by-one" else place]]
            assert sorted(seen) == sorted(int(digit) + FIRST for digit in asked), (row, batch.tokens[i].tolist())
