"""Cells of the matrix: their trainings, the benchmark's counts in their records, controls and pictures."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import lengen
from lengen import plotting
from lengen.benchmark.tasks import task_of
from lengen.callbacks.monitoring import silent
from lengen.data.task_data import TaskData
from lengen.formats.base import FIRST
from lengen.metrics.run_measures import exact_beyond, has_learned, reached
from lengen.results.records import Grid, Run
from lengen.settings.attention_biases import LineWindow
from lengen.settings.spec import validate
from lengen.trained_model import Found, Model
from lengen.training import calibration
from lengen.training import run as training
from lengen.training.dispatch import run_setting
from lengen.training.model_building import build_model
from papers.matrix import procedures, special_plots
from papers.matrix.experiments import EXPERIMENTS, FIGURES, cell
from papers.matrix.settings import ROOM, TASKS
from papers.matrix.tricks import BASELINES, CONTROLS, FARTHEST, LEFT_OUT, TRICKS
from reproduce.comparison.published_statements import statements
from reproduce.comparison.region_measures import measure_of, reader, vocabulary
from reproduce.comparison.statement_answers import answers
from reproduce.store.reference import Reference
from tests.fixtures.refusals import refused
from tests.fixtures.runs import counted

DECLARED = {item.name: item for item in EXPERIMENTS}
CELLS = [item for item in EXPERIMENTS if item.specs]
LINES = [item.figure for item in CELLS if item.variant == "window"]


def run(name: str, seed: int, reach: float) -> Run:
    """A run that is right up to ``reach`` times the trained length, and wrong beyond it."""
    spec = DECLARED[f"matrix/{name}"].specs["night"]
    known = task_of(spec.benchmark)
    grid = Grid(("length", "count") if known.second else ("length",))
    for place in known.cells(spec.size):
        right = 20 if max(place) <= reach * spec.size else 0
        grid.add(place[: len(grid.axes)], "free_running", counted(20, right))
    info = {"spec": spec.to_dict(), "spec_hash": spec.hash(), "overrides": [], "trained": spec.trained.size}
    return Run(f"matrix/{name}", "night", seed, 1, "reference", info, grid, arrays={})


def runs(reaches: dict[str, Sequence[float]]) -> dict[str, list[Run]]:
    return {f"matrix/{name}": [run(name, *pair) for pair in enumerate(values)] for name, values in reaches.items()}


def test_cells_differ_and_others_say_why_they_are_refused():
    for item in EXPERIMENTS:
        assert all(reason.startswith("refused: ") for reason in item.absent.values()) is (not item.specs)
    for task in TASKS:
        hashes = [item.specs["night"].hash() for item in CELLS if item.figure == task]
        assert len(set(hashes)) == len(hashes) > 12 - len(LEFT_OUT)
    refused = {item.name.removeprefix("matrix/") for item in EXPERIMENTS if not item.specs}
    by_value = {f"{task}/{trick}" for task in ("sums", "sorting") for trick in ("window", "abc")}
    no_stages = {f"{task}/coupled_scratchpad" for task in ("copy", "reverse", "sorting")}
    no_hint = {f"{task}/{trick}" for task in ("n_by_1", "successor", "parity") for trick in ("hint", "association")}
    left = {f"{task}/{trick}" for task in TASKS for trick in LEFT_OUT if CONTROLS[trick].task != task}
    assert refused == by_value | no_stages | no_hint | left


@pytest.mark.parametrize("item", CELLS, ids=lambda item: item.name)
def test_every_cell_has_one_budget_and_the_parameters_of_its_baseline(item):
    spec = item.specs["night"]
    validate(spec)
    plain = DECLARED[f"matrix/{item.figure}/plain"].specs["night"]
    assert spec.train == lengen.replace(plain.train, lr=1e-4 if item.variant in ("looped", "low_rate") else 1e-3)
    assert spec.model.block_weights == plain.model.block_weights and spec.data.task == plain.data.task
    assert spec.data.task.longest == spec.size and (spec.train.steps, spec.train.batch) == (5000, 64)


@pytest.mark.slow
@pytest.mark.parametrize("item", CELLS, ids=lambda item: item.name)
def test_every_cell_trains_on_a_batch_and_answers_problems_of_the_benchmark_as_long_as_it_has_room_for(item):
    spec = item.specs["smoke"]
    data, known = TaskData(spec, 0), task_of(spec.benchmark)
    assert len(data.batch(0).tokens) == spec.train.batch
    most = 2 if item.figure == "addition" and item.variant in ("window", "abc") else ROOM
    asked = [one for one in lengen.problems(spec.benchmark, spec.size) if max(one.cell) == most * spec.size][-2:]
    answered = lengen.solve.answers(data, build_model(spec, 0).eval(), [one.operands for one in asked])
    assert len(asked) == 2 and None not in answered.texts, answered.why
    assert {data.task.text(data.task.parse(list(one.operands)))[0] for one in asked} == {one.answer for one in asked}
    assert known.operator == data.task.SIGNS.operator


@pytest.mark.parametrize("task", ["copy", pytest.param("addition", marks=pytest.mark.slow)])
def test_records_hold_the_counts_of_the_benchmark_also_after_a_kill(task, tmp_path, monkeypatch):
    spec = cell(task, "plain", "smoke")

    def killed(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(procedures, "evaluate", killed)
        run_setting(spec, 0, tmp_path, silent)
    before = (tmp_path / training.WEIGHTS).read_bytes()
    outcome = run_setting(spec, 0, tmp_path, silent)
    assert (tmp_path / training.WEIGHTS).read_bytes() == before, "what was trained is not trained again"
    scores = lengen.evaluate(Model(Found(spec, tmp_path / training.WEIGHTS, task)), task, spec.size)
    assert outcome.grid == Grid(scores.axes, scores.scores) and outcome.grid.mode == "free_running"
    scalars = outcome.info["scalars"]
    assert (scalars["reach"], scalars["area"], scalars["in_range"]) == (scores.reach, scores.area, scores.in_range)
    assert outcome.info["trained"] == ((6, 6) if task == "addition" else (10, 1))


@pytest.mark.slow
def test_a_calibrated_run_that_was_killed_between_its_trainings_goes_on_there(tmp_path, monkeypatch):
    spec = cell("copy", "abc", "smoke")
    first = tmp_path / calibration.FIRST / training.WEIGHTS

    def killed(model):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(procedures, "lines_of", killed)
        run_setting(spec, 0, tmp_path, silent)
    before = first.stat().st_mtime_ns
    outcome = run_setting(spec, 0, tmp_path, silent)
    assert first.stat().st_mtime_ns == before
    weights = load_file(tmp_path / training.WEIGHTS)
    assert torch.equal(weights["lines.cross.table"], torch.from_numpy(outcome.arrays["lines.cross.table"]))
    assert {"interpolation_val_exact_match", "transparent_heads", "reach"} <= outcome.info["scalars"].keys()
    broken = lengen.replace(spec, benchmark="copies")
    refused(lengen.SettingError, "benchmark=copies, size=10: 'copies' is no task", validate, broken)


@pytest.mark.parametrize("task", LINES)
def test_a_planted_line_is_calibrated_and_no_other(task, tmp_path, monkeypatch):
    """A model that reads one line, whatever its weights: calibrated from a few rows, the line has every length."""
    spec = cell(task, "abc", "smoke")
    first, _ = spec.trainings()
    model, data, lines = build_model(first, 0).eval(), TaskData(first, 0), spec.model.attention_bias
    bias = procedures.lines_of(model)
    for side in (bias.own, bias.cross):
        side.table.fill_(-torch.inf)
    column = lines.columns - 2 if lines.slopes[-1] < 0 else 1
    bias.cross.table[-1, :, column - bias.cross.first] = 0.0
    planted = bias.cross.table.clone()
    heads, tables = procedures.calibrate(spec, 0, model, data)
    assert bool(heads.all()) and torch.equal(tables["cross.table"], planted)
    assert bool((tables["own.table"] == -torch.inf).all())


@pytest.mark.parametrize("task", LINES)
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
            asked = [problems.operands[i, 0, place], *problems.operands[i, 1:, 0 if task == "n_by_1" else place]]
            assert sorted(seen) == sorted(int(digit) + FIRST for digit in asked), (row, batch.tokens[i].tolist())


def test_measures_read_the_frozen_problems_by_the_larger_operand():
    """A sum of 9 and 2 digits is one of nine."""
    one = run("addition/coupled", 0, 1.5)
    assert one.trained.size == (6, 6) and has_learned(one)
    assert reached(one, None) == (1.5, 1)
    assert exact_beyond(one, 1.5) == exact_beyond(one, 1.9) and len({*exact_beyond(one, 1.5)}) == 1
    assert exact_beyond(one, 2)[0] == exact_beyond(one, 1.5)[0] < exact_beyond(one, 2)[1]
    refused(lengen.metrics.run_measures.Missing, "not tested between one and 1.1 trained", exact_beyond, one, 1.1)


def test_measures_without_an_axis_or_a_number_are_unknown():
    known = vocabulary("matrix")
    assert measure_of(known, "beyond.3").proportion and not measure_of(known, "reach.both").proportion
    for name in ("beyond.far", "reach.width", "beyond"):
        with pytest.raises(KeyError):
            measure_of(known, name)


def test_controls_are_the_parts_of_the_statements():
    parts = [part for statement in statements("matrix") for part in statement.parts]
    names = {trick: f"matrix/{control.task}/" for trick, control in CONTROLS.items()}
    wanted = {(f"{names[k]}{k}", f"{names[k]}{c.against}", f"beyond.{FARTHEST:g}") for k, c in CONTROLS.items()}
    assert {(*part.left, *part.right, part.measure) for part in parts} == wanted and len(parts) == len(CONTROLS)
    assert {*TRICKS} == {*BASELINES, *CONTROLS} and len(statements("matrix")) <= 6


def test_a_control_is_shown_where_its_statement_holds():
    some = runs({
        "copy/plain": [1, 1, 1, 1], "copy/rope": [1, 1, 5, 1], "copy/index_hints": [1.5, 2, 2, 1.5],
        "copy/hard_alibi": [1.5, 2, 1, 5], "copy/randomised": [2, 2, 2, 2], "copy/association": [5, 5, 5],
    })  # fmt: skip
    said = {trick: special_plots.verdict(trick, some) for trick, control in CONTROLS.items() if control.task == "copy"}
    assert said == {
        "index_hints": "shown", "hard_alibi": "not shown", "randomised": "not shown", "association": "too few seeds",
    }  # fmt: skip
    assert special_plots.verdict("coupled", some) == "no runs yet"
    found = {answer.statement.id: answer for answer in answers("matrix", lambda name, profile: some.get(name, []))}
    words = {finding.part.left[0].split("/")[2]: finding.word for finding in found["copies"].findings}
    assert [name for name, word in words.items() if word == "holds"] == ["index_hints"]


def test_what_is_left_out_has_run_its_control_and_did_not_show():
    stored = reader("matrix", [Reference(Path(__file__).resolve().parents[2] / "results")])
    found = [finding for answer in answers("matrix", stored) for finding in answer.findings]
    said = {finding.part.left[0].split("/")[2]: finding.word for finding in found}
    assert {said[trick] for trick in LEFT_OUT} <= {"not seen here", "contradicted"}


@pytest.mark.slow
@pytest.mark.parametrize("made", [{}, {"addition/coupled": [5, 5], "addition/plain": [0.5], "copy/plain": [1, 2]}])
def test_pictures_say_what_ran_and_what_did_not(made):
    drawn = {}
    for figure in FIGURES[:2]:
        with plotting.style():
            drawn[figure.name] = plotting.pictures(figure.draw(runs(made)), ["svg"])["svg"].decode()
    assert drawn["controls"].count(">no runs yet<") == len(CONTROLS) - bool(made)
    assert drawn["controls"].count(">too few seeds<") == bool(made)
    assert ">no runs yet<" in drawn["reach"] and drawn["reach"].count(">yes<") == 1
    assert (">1.5<" in drawn["reach"]) is bool(made)
