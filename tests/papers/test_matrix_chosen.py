"""Matrix trainings: their rates and calibrated lines."""

import json

import pytest
import torch
from safetensors.torch import load_file

from lengen import Lines, SettingError, TaskData, build_model, validate
from lengen.decoding.inside import longest_problems, mean_attention, of_response
from lengen.metrics.measures import exact_at_longest
from lengen.results.progress import Progress
from lengen.settings.changes import overlay
from lengen.settings.sections import Trained
from lengen.training import calibration
from lengen.training import run as lengen
from lengen.training.build import load
from lengen.training.procedure import run_setting
from papers.matrix import procedures
from papers.matrix.experiments import EXPERIMENTS, cell
from papers.matrix.procedures import Tried, best
from papers.matrix.settings import RATES, CalibratedSpec
from reproduce.runs.costs import cost

pytestmark = pytest.mark.slow

SPEC = cell("copy", "learned", "smoke")


def silent(progress: Progress) -> None:
    """Tells nobody."""


@pytest.fixture
def trained(monkeypatch):
    made, execute = [], lengen.execute

    def counted(spec, *arguments, **named):
        made.append((spec.train.lr, spec.train.steps))
        return execute(spec, *arguments, **named)

    monkeypatch.setattr(lengen, "execute", counted)
    return made


@pytest.fixture
def reached(monkeypatch):
    """Exact match at the longest trained length that each rate is said to come to."""
    said: dict[float, float] = {}
    inner = procedures._train

    def told(spec, training, *arguments):
        found, outcome = inner(spec, training, *arguments)
        return found._replace(learned=said[training.train.lr]), outcome

    monkeypatch.setattr(procedures, "_train", told)
    return said


def test_a_model_that_no_rate_teaches_is_trained_once_more(trained, tmp_path):
    spec = overlay(SPEC, {"choice.retry": 3})
    outcome = run_setting(spec, 0, tmp_path, silent)
    scalars, steps, rates = outcome.info["scalars"], spec.train.steps, spec.choice.rates
    rate = scalars["lr"]
    assert trained == [*((one, steps) for one in rates), (rate, 3 * steps)]
    assert scalars["budgets"] == 3 and "3 times the budget" in outcome.info["notes"][1]
    assert all(scalars[f"exact_at_longest_with_{one:g}"] < 0.95 for one in rates)
    assert load(spec, tmp_path / lengen.WEIGHTS) is not None and (tmp_path / "metrics.csv").exists()
    assert exact_at_longest(outcome.grid, Trained(spec.data.task.longest, 1)) < 0.95
    trained.clear()
    again = run_setting(spec, 0, tmp_path, silent)
    assert trained == [(rate, 3 * steps)], "what is over is not made again"
    assert again.grid.scores == outcome.grid.scores
    assert again.info["kernels_of"].keys() == {"further", *(f"rate-{one:g}" for one in rates)}
    trained.clear()
    (tmp_path / f"rate-{rates[0]:g}" / procedures.DONE).write_text("")  # as a power failure may leave it
    assert run_setting(spec, 0, tmp_path, silent).grid.scores == outcome.grid.scores
    assert trained == [(rates[0], steps), (rate, 3 * steps)]


def test_the_first_rate_that_teaches_the_range_is_kept(trained, tmp_path):
    spec = overlay(SPEC, {"choice": {"rates": RATES, "retry": 3, "learned": 0.0}})
    outcome = run_setting(spec, 0, tmp_path, silent)
    assert trained == [(RATES[0], spec.train.steps)]
    scalars = outcome.info["scalars"]
    rate, *others = outcome.info["notes"]
    assert scalars["budgets"] == 1 and rate == "learning rate 0.0015, after 1 of 3"
    assert all("chance" in note for note in others), "what the training says of itself is kept"
    assert scalars["lr"] == RATES[0] and not any(f"_with_{one:g}" in name for name in scalars for one in RATES[1:])
    assert run_setting(spec, 0, tmp_path, silent).grid.scores == outcome.grid.scores


def test_others_are_tried_after_one_that_does_not(trained, reached, tmp_path):
    spec = overlay(SPEC, {"choice": {"rates": RATES, "retry": 3}})
    reached.update(zip(RATES, (0.5, 0.97, 1.0), strict=True))
    scalars = run_setting(spec, 0, tmp_path, silent).info["scalars"]
    assert (scalars["lr"], scalars["budgets"]) == (RATES[1], 1) and len(trained) == 2


def test_where_none_did_the_best_goes_on_and_not_the_last(trained, reached, tmp_path):
    spec = overlay(SPEC, {"choice": {"rates": RATES, "retry": 3}})
    reached.update(zip(RATES, (0.5, 0.9, 0.2), strict=True))
    scalars = run_setting(spec, 0, tmp_path, silent).info["scalars"]
    assert (scalars["lr"], scalars["budgets"]) == (RATES[1], 3)
    assert trained[-1] == (RATES[1], 3 * spec.train.steps)
    once = overlay(spec, {"choice.retry": 1})
    (tmp_path / "once").mkdir()
    outcome = run_setting(once, 0, tmp_path / "once", silent)
    assert (outcome.info["scalars"]["lr"], outcome.info["scalars"]["budgets"]) == (RATES[1], 1)
    kept = tmp_path / "once" / f"rate-{RATES[1]:g}" / lengen.WEIGHTS
    assert (tmp_path / "once" / lengen.WEIGHTS).read_bytes() == kept.read_bytes(), "the scores are of the kept rate"


def test_a_run_killed_between_its_rates_goes_on_there(trained, monkeypatch, tmp_path):
    class Killed(Exception):
        """Stands for a kill."""

    inner = procedures._train

    def killed(spec, training, *arguments):
        if training.train.lr == spec.choice.rates[1]:
            raise Killed
        return inner(spec, training, *arguments)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(procedures, "_train", killed)
        run_setting(SPEC, 0, tmp_path, silent)
    assert (
        json.loads((tmp_path / f"rate-{SPEC.choice.rates[0]:g}" / procedures.DONE).read_text())["rate"] == trained[0][0]
    )
    trained.clear()
    run_setting(SPEC, 0, tmp_path, silent)
    assert trained[0][0] == SPEC.choice.rates[1], "the first is over"


def test_a_rate_that_diverges_is_not_chosen(monkeypatch, tmp_path):
    execute, bad = lengen.execute, SPEC.choice.rates[0]

    def diverging(spec, *arguments, **named):
        if spec.train.lr == bad:
            raise procedures.DivergedError("the loss is nan")
        return execute(spec, *arguments, **named)

    monkeypatch.setattr(lengen, "execute", diverging)
    scalars = run_setting(SPEC, 0, tmp_path, silent).info["scalars"]
    assert scalars["lr"] != bad and scalars[f"exact_at_longest_with_{bad:g}"] == -1


def test_the_first_rate_and_a_longer_training_are_estimated_or_two_rates():
    night = cell("copy", "learned", "night")
    once, retried = night.trainings()
    assert (once.train.steps, retried.train.steps) == (night.train.steps, night.choice.retry * night.train.steps)
    assert once.train.lr == retried.train.lr == RATES[0]
    parts = SPEC.trainings()
    assert [part.train.lr for part in parts] == list(SPEC.choice.rates[:2])
    assert cost(SPEC, "smoke").train == pytest.approx(sum(cost(part, "smoke").train for part in parts))
    with pytest.raises(SettingError, match=r"train.lr=0.5: expected one of choice.rates"):
        validate(overlay(SPEC, {"train.lr": 0.5}))
    low, high = Tried(1e-3, 0.2, 0.9, 1.0), Tried(1e-2, 0.1, 1.0, 1.0)
    assert best([low, high]) is low
    assert best([low, high, Tried(5e-3, 0.2, 0.95, 1.0)]).rate == 5e-3
    assert best([Tried(1.0, -1.0, 0.0, 0.0), Tried(0.1, 0.0, 0.0, 1.0)]).rate == 0.1, "better than what diverged"


TASKS = tuple(item.figure for item in EXPERIMENTS if item.variant == "abc" and item.specs)
CALIBRATED = cell("copy", "abc", "smoke")


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
    return folder, run_setting(CALIBRATED.trained(1e-3), 0, folder, told.append), told


def test_a_run_killed_between_its_trainings_goes_on_there(finished, tmp_path, monkeypatch):
    folder, outcome, _ = finished

    def killed(*arguments):
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(procedures, "calibrate", killed)
        run_setting(CALIBRATED.trained(1e-3), 0, tmp_path, lambda progress: None)
    first = tmp_path / calibration.FIRST / lengen.WEIGHTS
    before = first.stat().st_mtime_ns
    resumed = run_setting(CALIBRATED.trained(1e-3), 0, tmp_path, lambda progress: None)
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
    steps = CALIBRATED.train.steps
    assert {report.steps for report in told if report.stage == "train"} == {2 * steps} and steps > 2
    names = {line.split(",")[1] for line in (folder / "metrics.csv").read_text().splitlines()[1:]}
    assert {"val_exact_match", "interpolation_val_exact_match"} <= names


def test_both_trainings_are_estimated_at_one_rate_with_a_bias_of_lines():
    first, second, *other = CALIBRATED.trainings()
    assert [part.train.lr for part in (first, second, *other)] == [
        rate for rate in CALIBRATED.choice.rates for _ in "12"
    ]
    assert first.model.encoding != second.model.encoding and first.model.attention_bias == second.model.attention_bias
    parts = (first, second, *other)
    assert cost(CALIBRATED, "smoke").train == pytest.approx(sum(cost(part, "smoke").train for part in parts))
    longer = CALIBRATED.trained(1e-3, 4)
    assert isinstance(longer, CalibratedSpec) and longer.train.steps == 4 * second.train.steps
    with pytest.raises(SettingError, match="attention_bias: a calibrated bias is made of lines"):
        validate(overlay(CALIBRATED, {"model.architecture.attention_bias": None}))
    assert isinstance(CALIBRATED.model.attention_bias, Lines)
