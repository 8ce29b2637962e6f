"""Cells with a calibrated bias: two trainings in one budget, a bias from what is planted, kills, and their costs."""

import pytest
import torch
from safetensors.torch import load_file

from lengen.config.model import Lines
from lengen.config.overlay import overlay
from lengen.config.part import SettingError
from lengen.config.spec import check
from lengen.data.task_data import TaskData
from lengen.mean_attention import longest_problems, mean_attention, of_response
from lengen.training import run as lengen
from lengen.training.build import build_model
from papers.matrix import calibrated
from papers.matrix.experiments import EXPERIMENTS, cell
from papers.matrix.spec import CalibratedSpec
from reproduce.runs.estimate import cost

TASKS = tuple(item.figure for item in EXPERIMENTS if item.variant == "abc" and item.specs)
SPEC = cell("copy", "abc", "smoke")


class Killed(Exception):
    """Stands for a kill."""


@pytest.mark.parametrize("task", TASKS)
def test_a_planted_line_is_calibrated_and_no_other(task):
    """A model that reads one line, whatever its weights: calibrated from a few rows, the line has every length."""
    spec = cell(task, "abc", "night").trained(1e-3)
    first, _ = spec.trainings()
    model, data = build_model(first, 0).eval(), TaskData(first, 0)
    bias, slopes = calibrated.lines_of(model), spec.lines.slopes
    for side in (bias.own, bias.cross):
        side.table.fill_(-torch.inf)
    column = spec.lines.columns - 2 if slopes[-1] < 0 else 1
    bias.cross.table[-1, :, column - bias.cross.first] = 0.0
    planted = bias.cross.table.clone()
    heads = calibrated.calibrate(model, data, spec, 0)
    assert bool(heads.all()) and torch.equal(bias.cross.table, planted)
    assert bool((bias.own.table == -torch.inf).all())


def test_attention_is_averaged_where_responses_have_all_rows():
    """Of N x 1 the longest problems, but not those times zero, whose answer has one digit."""
    spec = cell("n-by-one", "abc", "smoke").trained(1e-3)
    first, _ = spec.trainings()
    model, data = build_model(first, 0).eval(), TaskData(first, 0)
    problems = longest_problems(data, 60, 0)
    with pytest.raises(ValueError, match=r"responses from 2 tokens on: expected .* at least 3"):
        mean_attention(model, data, problems, sides=of_response(3))
    kept = problems.select((problems.operands[:, 1, 0] > 0).nonzero()[:, 0])
    mean = mean_attention(model, data, kept, sides=of_response(3))
    assert mean["self"].shape == (2, 3, 3) and mean["cross"].shape == (2, 3, spec.lines.columns)
    written = mean["self"].where(mean["self"] > -torch.inf, 0.0).sum(dim=2) - mean["self"][:, :, 0]
    assert torch.allclose(written + mean["cross"].sum(dim=2), torch.ones(2, 3).double()), "one softmax over both"


@pytest.mark.parametrize("place", ["first", "between", "after"])
def test_a_run_killed_anywhere_ends_as_if_it_had_not_been(place, tmp_path, monkeypatch):
    spec = SPEC.trained(1e-3)
    whole, again = tmp_path / "whole", tmp_path / "again"
    for folder in (whole, again):
        folder.mkdir()
    outcome = spec.run(0, whole, lambda progress: None)

    def killed(*arguments, **named):
        raise Killed

    with monkeypatch.context() as patch:
        if place == "first":
            patch.setattr(lengen, "execute", killed)
        if place == "between":
            patch.setattr(calibrated, "calibrate", killed)
        if place == "after":
            spec.run(0, again, lambda progress: None)
        else:
            with pytest.raises(Killed):
                spec.run(0, again, lambda progress: None)
    resumed = spec.run(0, again, lambda progress: None)
    assert resumed.grid == outcome.grid
    assert (again / lengen.WEIGHTS).read_bytes() == (whole / lengen.WEIGHTS).read_bytes()
    assert (again / "metrics.csv").read_bytes() == (whole / "metrics.csv").read_bytes()


def test_the_second_model_has_the_bias_of_the_first(tmp_path):
    told = []
    outcome = SPEC.trained(1e-3).run(0, tmp_path, told.append)
    weights = load_file(tmp_path / lengen.WEIGHTS)
    assert torch.equal(weights["lines.cross.table"], torch.from_numpy(outcome.arrays["lines.cross"]))
    scalars = outcome.info["scalars"]
    assert {"interpolation_val_exact_match", "transparent_heads", "lines_own", "lines_cross"} <= scalars.keys()
    steps = SPEC.train.steps
    assert {report.steps for report in told if report.stage == "train"} == {2 * steps} and steps > 2
    names = {line.split(",")[1] for line in (tmp_path / "metrics.csv").read_text().splitlines()[1:]}
    assert {"val_exact_match", "interpolation_val_exact_match"} <= names


def test_both_trainings_are_estimated_and_the_rate_is_tried_on_the_first():
    *trials, first, second = SPEC.trainings()
    assert [trial.train.lr for trial in trials] == list(SPEC.choice.rates)
    assert all(trial.model == first.model and trial.data == first.data for trial in trials)
    assert first.model.encoding != second.model.encoding and first.model.attention_bias == second.model.attention_bias
    parts = (*trials, first, second)
    assert cost(SPEC, "smoke").train == pytest.approx(sum(cost(part, "smoke").train for part in parts))
    longer = SPEC.trained(1e-3, 4)
    assert isinstance(longer, CalibratedSpec) and longer.train.steps == 4 * second.train.steps


def test_a_bias_that_is_not_of_lines_is_refused():
    with pytest.raises(SettingError, match="attention_bias: a calibrated bias is made of lines"):
        check(overlay(SPEC, {"model.architecture.attention_bias": None}))
    assert isinstance(SPEC.model.attention_bias, Lines)
