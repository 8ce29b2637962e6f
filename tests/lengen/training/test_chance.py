"""Models that learned nothing are told from those that learned something."""

import math

import pytest
import torch

from lengen.callbacks import METRICS, read_metrics
from lengen.config.spec import change
from lengen.data.datamodule import ArithmeticData
from lengen.training.chance import at_chance, entropy
from tests.lengen.test_execute import SPEC, run


def test_chance_is_the_entropy_of_the_target_tokens():
    batch = ArithmeticData(SPEC, 0).validation()
    few = batch._replace(tokens=torch.tensor([[0, 5, 5, 7, 9]]), loss=torch.tensor([[False, True, True, True, True]]))
    assert entropy(few) == pytest.approx(1.5 * math.log(2))
    assert 0 < entropy(batch) < math.log(len(torch.unique(batch.tokens)))


def test_a_run_that_did_not_train_is_flagged_and_one_that_did_is_not(tmp_path):
    """A learning rate of nothing leaves the weights as they were drawn."""
    frozen = run(tmp_path / "frozen", change(SPEC, train={"lr": 1e-12})).info
    assert frozen["never_left_chance"]["lowest_loss"] > frozen["never_left_chance"]["chance"] > 0
    (note,) = frozen["notes"]
    assert note.startswith("it never left chance")
    trained = change(SPEC, train={"steps": 150, "warmup": 0.0})
    learned = run(tmp_path / "learned", trained).info
    assert "never_left_chance" not in learned and "notes" not in learned
    metrics = read_metrics(tmp_path / "learned" / METRICS)
    assert at_chance(metrics, ArithmeticData(SPEC, 0).validation()) == {}


def test_a_model_set_by_hand_is_not_flagged():
    assert at_chance([], ArithmeticData(SPEC, 0).validation()) == {}
