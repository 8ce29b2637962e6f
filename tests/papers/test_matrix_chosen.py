"""Runs of a cell: each rate is tried, the best trains, what does not learn is trained again; a killed run goes on."""

import json
import math

import pytest

from lengen.config.overlay import overlay
from lengen.config.part import SettingError
from lengen.config.spec import check
from lengen.measures import Trained
from lengen.progress import Progress
from lengen.training import run as lengen
from lengen.training.build import load
from papers.matrix import chosen
from papers.matrix.chosen import Trial, at_longest, best
from papers.matrix.experiments import cell
from reproduce.runs.estimate import cost

SPEC = cell("copy", "learned", "smoke")


def silent(progress: Progress) -> None:
    """Tells nobody."""


@pytest.fixture
def trained(monkeypatch):
    """Rates and steps of the trainings that were made, in order."""
    made, execute = [], lengen.execute

    def counted(spec, *arguments, **named):
        made.append((spec.train.lr, spec.train.steps))
        return execute(spec, *arguments, **named)

    monkeypatch.setattr(lengen, "execute", counted)
    return made


def test_validation_chooses_then_the_loss():
    low, high = Trial(1e-3, 0.2, 0.9, 1.0), Trial(1e-2, 0.1, 0.1, 1.0)
    assert best([low, high]) is low
    assert best([low, high, Trial(5e-3, 0.2, 0.5, 1.0)]).rate == 5e-3
    assert best([Trial(1.0, 0.0, math.inf, 0.0), Trial(0.1, 0.0, 9.0, 1.0)]).rate == 0.1


def test_a_model_that_does_not_learn_is_trained_once_more(trained, tmp_path):
    spec = overlay(SPEC, {"choice.retry": 3})
    outcome = spec.run(0, tmp_path, silent)
    short, steps = spec.choice.steps, spec.train.steps
    rate = outcome.info["scalars"]["lr"]
    assert trained == [*((one, short) for one in spec.choice.rates), (rate, steps), (rate, 3 * steps)]
    assert outcome.info["scalars"]["budgets"] == 3 and outcome.info["scalars"]["exact_at_longest_of_first"] < 0.95
    assert "3 times the budget" in outcome.info["notes"][1]
    assert load(spec, tmp_path / lengen.WEIGHTS) is not None and (tmp_path / "metrics.csv").exists()
    assert at_longest(outcome.grid, Trained(spec.data.task.longest, 1)) < 0.95
    trained.clear()
    again = spec.run(0, tmp_path, silent)
    assert trained == [(rate, 3 * steps)], "what is over is not made again"
    assert again.grid.scores == outcome.grid.scores


def test_a_model_that_learns_has_one_budget(trained, tmp_path):
    spec = overlay(SPEC, {"choice": {"retry": 3, "learned": 0.0}})
    outcome = spec.run(0, tmp_path, silent)
    assert len(trained) == len(spec.choice.rates) + 1
    scalars = outcome.info["scalars"]
    rate, *others = outcome.info["notes"]
    assert scalars["budgets"] == 1 and rate.startswith("learning rate ")
    assert all("chance" in note for note in others), "what the training says of itself is kept"
    trials = [json.loads((tmp_path / f"trial-{k}" / chosen.DONE).read_text()) for k in range(len(spec.choice.rates))]
    assert scalars["lr"] == best([Trial(**trial) for trial in trials]).rate
    assert {f"validation_at_{trial['rate']:g}" for trial in trials} <= scalars.keys()
    assert spec.run(0, tmp_path, silent).grid.scores == outcome.grid.scores


def test_a_rate_that_diverges_is_not_chosen(monkeypatch, tmp_path):
    execute, bad = lengen.execute, SPEC.choice.rates[0]

    def diverging(spec, *arguments, **named):
        if spec.train.lr == bad:
            raise chosen.DivergedError("the loss is nan")
        return execute(spec, *arguments, **named)

    monkeypatch.setattr(lengen, "execute", diverging)
    scalars = SPEC.run(0, tmp_path, silent).info["scalars"]
    assert scalars["lr"] != bad and f"loss_at_{bad:g}" not in scalars and scalars[f"validation_at_{bad:g}"] == 0


def test_what_is_estimated_is_what_is_trained():
    parts = SPEC.trainings()
    assert [part.train.lr for part in parts[:-1]] == list(SPEC.choice.rates)
    assert cost(SPEC, "smoke").train == pytest.approx(sum(cost(part, "smoke").train for part in parts))


def test_a_rate_that_is_no_choice_is_refused():
    with pytest.raises(SettingError, match=r"train.lr=0.5: expected one of choice.rates"):
        check(overlay(SPEC, {"train.lr": 0.5}))
