"""Estimates of time: tokens as the formats write them, and seconds as they were once measured on one core."""

import pytest

from lengen.data.task_data import TaskData
from lengen.formats.base import PAD
from lengen.settings.changes import overlay
from lengen.settings.spec import Spec, replace
from lengen.tasks.arithmetic import NByOne, PairAddition, Successor
from lengen.tasks.running import ListOpsMax, ListOpsMin, RunningXor
from lengen.tasks.two_operand_addition import TwoOperandAddition
from lengen.training import operations
from papers.bias_calibration.profiles import profile
from papers.bias_calibration.settings import calibrated, plain, relative, scaffolded, with_code_masks
from papers.random_spaces.experiments import WRITTEN, swept
from reproduce.runs import costs


def single(spec: Spec, width: int, batch: int) -> Spec:
    """In single precision, with numbers of so many digits and batches of that size: as it was when it was measured."""
    return overlay(spec, {"data.format.width": width, "train": {"precision": "32-true", "batch": batch}})


SUCCESSOR = single(plain(profile("cpu", Successor)), 23, 64)
MEASURED = {
    "addition": (single(plain(profile("cpu", PairAddition)), 13, 128), 0.073),
    "successor": (SUCCESSOR, 0.057),
    "n by one": (single(plain(profile("cpu", NByOne)), 13, 128), 0.132),
    "ListOps in a window": (single(scaffolded(profile("cpu", ListOpsMax), "cyclic"), 17, 64), 0.101),
    "addition in a window": (single(scaffolded(profile("cpu", PairAddition), "cyclic"), 13, 64), 0.078),
    "relative keys, shared layers": (single(relative(profile("cpu", PairAddition)), 13, 128), 0.323),
    "one encoder layer": (overlay(SUCCESSOR, {"model.architecture.encoder_layers": 1}), 0.087),
}
"""Specification, seconds of a training step on one core (``seconds_per_step`` of stored runs)."""


@pytest.mark.parametrize("name", MEASURED)
def test_a_step_takes_what_was_measured_within_thirty_percent(name):
    spec, seconds = MEASURED[name]
    spec = replace(spec, train={"steps": 1000, "evaluations": 0})
    estimated = (costs.cost(spec, "cpu").train - costs.START["core"]) / 1000
    assert estimated == pytest.approx(seconds, rel=0.3)


def test_samples_and_loops_cost_what_they_take():
    spec = plain(profile("cpu", PairAddition))
    assert costs.cost(replace(spec, test={"sampled": 1000}), "cpu").measure > costs.cost(spec, "cpu").measure
    assert costs.cost(replace(spec, model={"loops": 4}), "cpu").train > 2 * costs.cost(spec, "cpu").train


@pytest.mark.parametrize("task", [Successor, PairAddition, NByOne, RunningXor, ListOpsMin])
@pytest.mark.parametrize("configuration", ["vanilla", "cyclic"])
def test_tokens_of_a_fixed_length_are_those_written(task, configuration):
    spec = scaffolded(profile("cpu", task), configuration)
    data = TaskData(spec, 0)
    batch = data.writer.write(data.test(2, spec.data.task.most, 1))
    prompt, response = spec.data.tokens(2, spec.data.task.most)
    assert abs(prompt - batch.source.tokens.shape[1]) <= 1
    assert response == batch.tokens.shape[1] - 1  # the last token predicts nothing


@pytest.mark.parametrize(
    "spec",
    [*(specs["cpu"] for specs in WRITTEN.values()), swept("10k", "mix", 64)["cpu"]],
    ids=[*WRITTEN, "sub-tasks"],
)
def test_tokens_of_two_operands_are_those_trained_on_within_a_tenth(spec):
    """Spaces are random, so the mean over a window is compared."""
    length = spec.data.task.longest
    alone = {"data": {"task": TwoOperandAddition((length,)), "examples": 0}, "train.batch": 64}
    data = TaskData(overlay(spec, alone), 0)
    written = sum(float((data.batch(step).tokens != PAD).sum()) for step in range(8)) / (8 * 64)
    assert sum(spec.data.tokens(length, 2)) == pytest.approx(written, rel=0.1)


def test_a_response_that_sees_itself_whole_is_written_token_by_token():
    """Measured for the successor of 22 digits: 14 times the time of one pass."""
    spec = with_code_masks(calibrated(profile("cpu", Successor), positions=True))
    pair = spec.data.tokens(1, 1)
    ratio = operations.verify(spec.model, *pair) / operations.forward(spec.model, *pair)
    assert ratio == pytest.approx(14, rel=0.3)


def test_two_trainings_take_the_time_of_both():
    spec = calibrated(profile("cpu", PairAddition))
    first, second = (costs.cost(part, "cpu") for part in spec.trainings())
    assert costs.cost(spec, "cpu") == (first.train + second.train, second.measure)


def test_rounded_products_halve_the_training_of_a_core_that_has_them_and_nothing_else(monkeypatch):
    monkeypatch.setattr(costs, "rounds_natively", lambda: True)
    float32 = plain(profile("cpu", PairAddition)).override("train.precision=32-true")
    rounded = float32.override("train.precision=bf16-products")
    slow, fast = costs.cost(float32, "cpu"), costs.cost(rounded, "cpu")
    assert fast.measure == slow.measure and 0.5 < fast.train / slow.train < 0.6
    assert costs.cost(float32, "paper") == costs.cost(rounded, "paper")
    monkeypatch.setattr(costs, "rounds_natively", lambda: False)
    assert costs.cost(rounded, "cpu") == slow
