"""Cells with a calibrated bias: two trainings in one budget, a bias from what is planted, kills, and their costs."""

import pytest
import torch
from safetensors.torch import load_file

from lengen import SettingError, TaskData, build_model, validate
from lengen.decoding.inside import longest_problems, mean_attention, of_response
from lengen.settings.attention_biases import Lines
from lengen.settings.changes import overlay
from lengen.training import calibration
from lengen.training import run as lengen
from lengen.training.procedure import run_setting
from papers.matrix import procedures
from papers.matrix.experiments import EXPERIMENTS, cell
from papers.matrix.settings import CalibratedSpec
from reproduce.runs.costs import cost

pytestmark = pytest.mark.slow

TASKS = tuple(item.figure for item in EXPERIMENTS if item.variant == "abc" and item.specs)
SPEC = cell("copy", "abc", "smoke")


class Killed(Exception):
    """Stands for a kill."""


@pytest.mark.parametrize("task", TASKS)
def test_a_planted_line_is_calibrated_and_no_other(task):
    """A model that reads one line, whatever its weights: calibrated from a few rows, the line has every length."""
    spec = cell(task, "abc", "smoke").trained(1e-3)
    first, _ = spec.trainings()
    model, data = build_model(first, 0).eval(), TaskData(first, 0)
    bias, slopes = procedures.lines_of(model), spec.lines.slopes
    for side in (bias.own, bias.cross):
        side.table.fill_(-torch.inf)
    column = spec.lines.columns - 2 if slopes[-1] < 0 else 1
    bias.cross.table[-1, :, column - bias.cross.first] = 0.0
    planted = bias.cross.table.clone()
    heads = procedures.calibrate(model, data, spec, 0)
    assert bool(heads.all()) and torch.equal(bias.cross.table, planted)
    assert bool((bias.own.table == -torch.inf).all())


def test_attention_is_averaged_over_one_length_of_prompt_and_response():
    """As numbers are, a product with zero has one digit; padded they all have as many."""
    padded = cell("n-by-one", "abc", "smoke")
    plain = overlay(padded, {"calibration.width": 0})
    for spec in (padded, plain):
        first, _ = spec.trained(1e-3).trainings()
        model, data = build_model(first, 0).eval(), TaskData(first, 0)
        problems = longest_problems(data, 60, 0)
        if spec is plain:
            with pytest.raises(ValueError, match=r"responses from 2 tokens on: expected .* at least 3"):
                mean_attention(model, data, problems, sides=of_response(3))
            problems = problems.select((problems.operands[:, 1, 0] > 0).nonzero()[:, 0])
        mean = mean_attention(model, data, problems, sides=of_response(3))
        assert mean["self"].shape == (2, 3, 3) and mean["cross"].shape[1] == 3
        response = mean["self"][:, :, 1:].clamp(min=0).sum(dim=2)  # but for the prompt's last token, which both have
        assert torch.allclose(response + mean["cross"].sum(dim=2), torch.ones(2, 3).double()), "one softmax over both"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder, told = tmp_path_factory.mktemp("whole"), []
    return folder, run_setting(SPEC.trained(1e-3), 0, folder, told.append), told


def test_a_run_killed_between_its_trainings_goes_on_there(finished, tmp_path, monkeypatch):
    folder, outcome, _ = finished

    def killed(*arguments):
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(procedures, "calibrate", killed)
        run_setting(SPEC.trained(1e-3), 0, tmp_path, lambda progress: None)
    first = tmp_path / calibration.FIRST / lengen.WEIGHTS
    before = first.stat().st_mtime_ns
    resumed = run_setting(SPEC.trained(1e-3), 0, tmp_path, lambda progress: None)
    assert first.stat().st_mtime_ns == before, "what is over is not made again"
    assert resumed.grid == outcome.grid
    for name in (lengen.WEIGHTS, "metrics.csv"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_the_second_model_has_the_bias_of_the_first(finished):
    folder, outcome, told = finished
    weights = load_file(folder / lengen.WEIGHTS)
    assert torch.equal(weights["lines.cross.table"], torch.from_numpy(outcome.arrays["lines.cross"]))
    scalars = outcome.info["scalars"]
    assert {"interpolation_val_exact_match", "transparent_heads", "lines_own", "lines_cross"} <= scalars.keys()
    assert set(outcome.info["kernels_of"]) == {"interpolation"}
    steps = SPEC.train.steps
    assert {report.steps for report in told if report.stage == "train"} == {2 * steps} and steps > 2
    names = {line.split(",")[1] for line in (folder / "metrics.csv").read_text().splitlines()[1:]}
    assert {"val_exact_match", "interpolation_val_exact_match"} <= names


def test_both_trainings_are_estimated_and_have_one_rate():
    first, second, *other = SPEC.trainings()
    assert [part.train.lr for part in (first, second, *other)] == [rate for rate in SPEC.choice.rates for _ in "12"]
    assert first.model.encoding != second.model.encoding and first.model.attention_bias == second.model.attention_bias
    parts = (first, second, *other)
    assert cost(SPEC, "smoke").train == pytest.approx(sum(cost(part, "smoke").train for part in parts))
    longer = SPEC.trained(1e-3, 4)
    assert isinstance(longer, CalibratedSpec) and longer.train.steps == 4 * second.train.steps


def test_a_bias_that_is_not_of_lines_is_refused():
    with pytest.raises(SettingError, match="attention_bias: a calibrated bias is made of lines"):
        validate(overlay(SPEC, {"model.architecture.attention_bias": None}))
    assert isinstance(SPEC.model.attention_bias, Lines)
