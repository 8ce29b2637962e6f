"""Runs of three steps: what they record, that a kill anywhere changes nothing, and each step by itself."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import lengen
from lengen import ArithmeticData, Given, NByOne, PairAddition, SequenceModule, Successor, Window, build_model, replace
from lengen.callbacks.accuracy_grid import score_cell
from lengen.callbacks.loggers import METRICS
from lengen.callbacks.resuming import CHECKPOINT
from lengen.digits import generator
from lengen.encodings.alibi_rope_and_keys import RelativeKeys
from lengen.model_probing import longest_problems
from lengen.models.blocks import Context
from lengen.settings.changes import overlay
from lengen.training import calibration
from lengen.training.dispatch import run_setting
from lengen.training.model_building import load
from lengen.training.run import WEIGHTS
from papers.bias_calibration import procedures, settings
from papers.bias_calibration.calibrated_spec import CalibratedSpec
from papers.bias_calibration.procedures import average_attention, calibrate, converged
from papers.bias_calibration.profiles import profile
from tests.fixtures.settings import Killed

pytestmark = pytest.mark.slow

SPEC = settings.calibrated(profile("smoke", PairAddition))
"""Interpolates in 8 steps, evaluated after 4 and 8; retrains in 6, evaluated after 3 and 6."""
HEADS, ROWS, COLUMNS = 2, 6, 13
"""Heads, response places and source places at a fixed length of 5."""


def run(folder: Path, spec=SPEC, reports=None):
    folder.mkdir(exist_ok=True)
    return procedures.execute(spec, 0, folder, (reports if reports is not None else []).append)


def traces(folder: Path) -> dict[str, bytes]:
    names = (METRICS, WEIGHTS, f"{procedures.FIRST}/{METRICS}", f"{procedures.FIRST}/{WEIGHTS}")
    return {name: (folder / name).read_bytes() for name in names}


def untimed(outcome) -> dict[str, float]:
    return {name: value for name, value in outcome.info["scalars"].items() if "seconds" not in name}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder, reports = tmp_path_factory.mktemp("whole"), []
    return folder, run(folder, reports=reports), reports


def test_a_run_records_both_trainings_once_and_weights_that_hold_the_bias(finished):
    folder, outcome, reports = finished
    assert sorted(outcome.grid.scores) == [(1,), (2,), (3,), (4,)]
    assert {mode for modes in outcome.grid.scores.values() for mode in modes} == {"teacher_forced", "free_running"}
    square, wide = (HEADS, ROWS, ROWS), (HEADS, ROWS, COLUMNS)
    shapes = {"bias.self": square, "bias.cross": wide, "attention.self": square, "attention.cross": wide}
    assert {name: array.shape for name, array in outcome.arrays.items()} == shapes
    assert all(array.dtype == np.float32 for array in outcome.arrays.values())
    assert np.allclose(outcome.arrays["attention.cross"].sum(axis=2), 1)
    scalars = outcome.info["scalars"]
    assert {"val_exact_match", "interpolation_val_exact_match", "interpolation_seconds", "retraining_seconds"} <= {
        *scalars
    }
    assert {"open_self", "open_cross", "transparent_self", "transparent_cross", "steps"} <= {*scalars}
    assert 0 <= scalars["heads_first_operand"] + scalars["heads_second_operand"] <= HEADS
    assert scalars["interpolation_seconds"] > 0 and scalars["steps"] == 6
    assert not {"interpolation_steps", "retraining_steps", "steps_ratio", "seconds_ratio"} & {*scalars}
    told = [report for report in reports if report.stage == "train"]
    assert all(report.steps == 14 for report in told)
    assert min(told).step <= 8 < max(told).step, "one count over both trainings"
    assert {report.stage for report in reports} == {"train", "measure"}
    rows = list(csv.reader((folder / METRICS).read_text().splitlines()))[1:]
    steps = {name: [int(step) for step, other, _ in rows if other == name] for _, name, _ in rows}
    assert steps == {
        "train_loss": list(range(1, 7)), "val_exact_match": [3, 6], "interpolation_train_loss": list(range(1, 9)),
        "interpolation_val_exact_match": [4, 8],
    }  # fmt: skip
    weights = load_file(folder / WEIGHTS)
    assert torch.equal(weights["bias.own"], torch.from_numpy(outcome.arrays["bias.self"]))
    assert torch.equal(weights["bias.cross"], torch.from_numpy(outcome.arrays["bias.cross"]))
    spec = lengen.from_dict(json.loads(json.dumps(SPEC.to_dict())))
    assert type(spec) is not CalibratedSpec
    model, data = load(spec, folder / WEIGHTS), ArithmeticData(spec, 0)
    trained = build_model(spec, 0).eval()
    kept = torch.load(folder / CHECKPOINT, weights_only=True)["state_dict"]
    trained.load_state_dict({name.removeprefix("model."): value for name, value in kept.items()})
    batch = data.validation()
    assert torch.equal(model.predict(batch), trained.predict(batch))
    for (length,), scores in outcome.grid.scores.items():
        assert score_cell(model, data.writer, data.test(length, 2, spec.test.examples), True) == scores


@pytest.mark.parametrize(("task", "second"), [(PairAddition, 8), (NByOne, 7)])
def test_open_lines_and_the_heads_of_each_operand_are_counted(task, second):
    """Sources are "$ a a a a a + b b b b b $" and "$ a a a a a * b $"; two rows are of trained digits."""
    spec = settings.calibrated(profile("smoke", task))
    own, cross = torch.full((5, 6, 6), -torch.inf), torch.full((5, 6, 13), -torch.inf)
    own[:, range(6), range(6)] = 1.0
    cross[0, :, 5] = cross[1, 1, 1] = cross[1, 1, 2] = cross[2, :2, second] = cross[3, :, [2, second]] = 0.5
    cross[0, 2, second] = cross[2, 2:, 3] = 0.5  # in rows beyond the trained digits
    cross[4], own[4] = 0.0, 0.0
    assert procedures._lines(spec, own, cross) == pytest.approx(
        {
            "open_self": (4 * 1 + 6) / 5, "open_cross": (1 + 2 + 1 + 2 + 13) / 5, "transparent_self": 1,
            "transparent_cross": 1, "heads_first_operand": 2, "heads_second_operand": 1,
        }
    )  # fmt: skip


@pytest.mark.parametrize(("place", "again"),
    [("first", 4), ("first info", 0), ("between", 0), ("second", 0), ("metrics", 0), ("after", 0)])  # fmt: skip
def test_a_run_killed_anywhere_ends_as_if_it_had_not_been(place, again, finished, tmp_path, monkeypatch):
    """``again``: steps of the first training that are still to be made, or made again."""
    folder, outcome, _ = finished
    train, written, rows_written = SequenceModule.training_step, calibration.write_whole, calibration.write_metrics
    counted = []

    def step(self, batch, index):
        which, at = "second" if self.spec.model.attention_bias == Given() else "first", self.trainer.global_step
        if place == which and at == 5 and killing:
            raise Killed
        counted.append(which)
        return train(self, batch, index)

    def whole(path, text):
        if killing and place == "first info":
            raise Killed
        written(path, text)

    def rows(path, kept):
        if killing and place == "metrics":
            raise Killed
        rows_written(path, kept)

    def between(*arguments):
        raise Killed

    killing = True
    monkeypatch.setattr(SequenceModule, "training_step", step)
    monkeypatch.setattr(calibration, "write_whole", whole)
    monkeypatch.setattr(calibration, "write_metrics", rows)
    with monkeypatch.context() as patch:
        if place == "between":
            patch.setattr(procedures, "average_attention", between)
        if place == "after":
            run(tmp_path)
        else:
            with pytest.raises(Killed):
                run(tmp_path)
    killing = False
    counted.clear()
    resumed = run(tmp_path)
    assert counted.count("first") == again
    assert traces(tmp_path) == traces(folder)
    assert resumed.grid == outcome.grid and untimed(resumed) == untimed(outcome)
    assert all(np.array_equal(array, outcome.arrays[name]) for name, array in resumed.arrays.items())


@pytest.mark.parametrize("kind", ["probabilities", "scores"])
def test_averaged_attention_is_the_mean_over_examples_one_by_one(kind, monkeypatch):
    monkeypatch.setattr("lengen.digits.AT_ONCE", 3)
    first = SPEC.first()
    model, data = build_model(replace(first, model={"layers": 2}), 0).eval(), ArithmeticData(first, 0)
    chosen = replace(SPEC.calibration, attention=kind, examples=8)
    found = average_attention(model, data, chosen, 0)
    problems = longest_problems(data, 8, 0)
    mean = {"self": np.zeros((HEADS, ROWS, ROWS)), "cross": np.zeros((HEADS, ROWS, COLUMNS))}
    for i in range(8):
        batch = data.writer.write(problems.select(torch.tensor([i])))
        for name, weights in model.attention(batch, kind == "probabilities")[-1].items():
            mean[name] += weights[0].detach().double().numpy() / 8
    below = np.tril(np.ones((ROWS, ROWS), dtype=bool))
    assert np.allclose(found["cross"], mean["cross"], atol=1e-6)
    assert np.allclose(found["self"].numpy()[:, below], mean["self"][:, below], atol=1e-6)
    beyond = found["self"][:, ~torch.from_numpy(below)]
    assert bool(beyond.isneginf().all()), "no softmax sees it"


@pytest.mark.parametrize("task", [Successor, PairAddition, NByOne, lengen.RunningXor])
@pytest.mark.parametrize("size", ["cpu", "paper"])
def test_attention_is_averaged_over_operands_of_the_trained_length(task, size):
    spec = settings.plain(profile(size, task))
    problems = longest_problems(ArithmeticData(spec, 0), 40, 0)
    operands = task.OPERANDS
    assert problems.operands.shape[:2] == (40, operands)
    assert (problems.lengths[:, 0] == spec.data.task.digits).all()
    if operands == 2:
        assert (problems.lengths[:, 1] == (1 if task is NByOne else spec.data.task.digits)).all()
    assert len(torch.unique(problems.operands[:, 0], dim=0)) > 30, "different problems"


@pytest.mark.parametrize("task", [Successor, PairAddition, NByOne])
def test_a_planted_pattern_gives_the_planted_bias(task):
    """A window of w = 0 attends to one diagonal and one anti-diagonal, whatever the weights: so does its calibration.

    Looked at are two rows of six: the rest is continued.
    """
    spec = settings.calibrated(profile("smoke", task))
    planted = overlay(spec.first(), {"model.architecture.attention_bias": Window(0)})
    model = build_model(planted, 0).eval()
    attention = average_attention(model, ArithmeticData(planted, 0), spec.calibration, 0)
    own, cross = calibrate(attention, spec)
    assert torch.equal(own, model.bias.own) and torch.equal(cross, model.bias.cross)
    assert 0 < (cross == 0).sum() < cross.numel()


def test_masks_of_the_code_leave_order_to_the_bias(tmp_path):
    spec = settings.with_code_masks(SPEC)
    assert not spec.model.causal and spec.first().model.causal
    assert overlay(spec, {"model.architecture.causal": True}) == SPEC
    outcome = run(tmp_path, spec)
    assert {mode for modes in outcome.grid.scores.values() for mode in modes} == {"teacher_forced", "free_running"}
    model = load(spec.retrained(), tmp_path / WEIGHTS)
    own = np.where(np.isneginf(outcome.arrays["bias.self"]).all(axis=2, keepdims=True), 0, outcome.arrays["bias.self"])
    weights = model.attention(ArithmeticData(spec, 0).validation())[-1]["self"]
    assert torch.equal((weights > 0).all(dim=0), torch.from_numpy(own > -np.inf)), "what the bias opens, and only that"


def test_a_training_converges_near_perfect_and_averages_over_problems_of_its_seed():
    rows = [(3, "val_exact_match", 0.5), (6, "train_loss", 1.0), (6, "val_exact_match", 0.99)]
    assert converged([*rows, (9, "val_exact_match", 1.0)]) == 6
    assert converged(rows[:2]) is None and converged([]) is None
    data = ArithmeticData(SPEC.first(), 0)
    one, same, other = (longest_problems(data, 20, seed).operands for seed in (0, 0, 1))
    assert torch.equal(one, same) and not torch.equal(one, other)
    assert generator("calibration", 0).initial_seed() != generator("train", 0, 0).initial_seed()


@pytest.mark.parametrize(("first", "second"), [(8, 2), (8, None), (None, 2), (None, None)])
def test_ratios_need_two_trainings_that_converged(first, second, tmp_path):
    for folder, step in ((tmp_path / procedures.FIRST, first), (tmp_path, second)):
        folder.mkdir(exist_ok=True)
        value = 0.98 if step is None else 1.0
        (folder / METRICS).write_text(f"step,name,value\n{step or 9},val_exact_match,{value}\n")
    began, info = (
        {"scalars": {"val_exact_match": 1.0, "steps": 10}, "seconds_per_step": seconds} for seconds in (0.5, 0.25)
    )
    scalars = procedures._times(tmp_path, began, info)
    assert (scalars["interpolation_seconds"], scalars["retraining_seconds"]) == (5.0, 2.5)
    assert (scalars.get("interpolation_steps"), scalars.get("retraining_steps")) == (first, second)
    ratios = (0.25, 0.125) if first and second else (None, None)
    assert (scalars.get("steps_ratio"), scalars.get("seconds_ratio")) == ratios
    resumed = procedures._times(tmp_path, began, info | {"seconds_per_step": 0.0})
    assert resumed.get("steps_ratio") == ratios[0] and "seconds_ratio" not in resumed


def test_relative_keys_are_recorded_as_computed_pair_by_pair(tmp_path):
    spec = settings.relative(profile("smoke", PairAddition))
    outcome = run_setting(spec, 0, tmp_path, [].append)
    model, batch = load(spec, tmp_path / WEIGHTS), ArithmeticData(spec, 0).validation()
    encoding = model.encoding
    assert isinstance(encoding, RelativeKeys)
    queries = []
    with torch.no_grad():
        x = model.embedding(torch.where(batch.loss, 0, batch.tokens)) * spec.model.width**0.5
        context = Context(encoding, batch.ids, batch.ids, None, (batch.tokens != 0)[:, None, None])
        for block in model.stack():
            queries.append(block.attention.query(block.before[0](x)).unflatten(2, (HEADS, -1)))
            x = block(x, context)
    assert len(queries) == 2, "one block applied twice"
    mean = torch.cat(queries).mean(dim=(0, 1))  # (heads, head dimension)
    expected = [[(row @ key).item() * spec.model.head_dim**-0.5 for key in encoding.table] for row in mean]
    assert outcome.arrays["relative.distance"].tolist() == list(range(-19, 20)), "every distance of the sequence"
    assert np.allclose(outcome.arrays["relative.score"], expected, atol=1e-5)
    assert outcome.arrays["relative.score"].shape == (HEADS, 39)
