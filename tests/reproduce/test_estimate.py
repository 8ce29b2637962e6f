"""Estimates of time: tokens as the formats write them, and seconds as they were once measured on one core."""

import pytest

from lengen.config.spec import change
from lengen.config.token_counts import tokens
from lengen.data.datamodule import ArithmeticData
from lengen.vocab import PAD
from papers.bias_calibration.settings import calibrated, plain, scaffolded, with_code_masks
from papers.random_spaces.settings import STEPS, fig45, table43
from reproduce.runs import estimate

MEASURED = {
    "addition": (plain("addition", "vanilla", "cpu"), 0.073),
    "successor": (plain("successor", "vanilla", "cpu"), 0.057),
    "n by one": (plain("n_by_one", "vanilla", "cpu"), 0.132),
    "ListOps in a window": (scaffolded("listops_max", "cyclic", "cpu"), 0.101),
    "addition in a window": (scaffolded("addition", "cyclic", "cpu"), 0.078),
    "relative keys, shared layers": (plain("addition", "rpe", "cpu"), 0.323),
    "one encoder layer": (change(plain("successor", "vanilla", "cpu"), model={"encoder_layers": 1}), 0.087),
}
"""Specification, seconds of a training step on one core (``seconds_per_step`` of stored runs)."""


@pytest.mark.parametrize("name", MEASURED)
def test_a_step_takes_what_was_measured_within_thirty_percent(name):
    spec, seconds = MEASURED[name]
    spec = change(spec, train={"steps": 1000, "evaluations": 0})
    estimated = (estimate.cost(spec, "cpu").train - estimate.START["core"]) / 1000
    assert estimated == pytest.approx(seconds, rel=0.3)


@pytest.mark.parametrize("task", ["successor", "addition", "n_by_one", "running_xor", "listops_min"])
@pytest.mark.parametrize("configuration", ["vanilla", "cyclic"])
def test_tokens_of_a_fixed_length_are_those_written(task, configuration):
    spec = scaffolded(task, configuration, "cpu")
    data = ArithmeticData(spec, 0)
    batch = data.writer.write(data.test(2, spec.data.count, 1))
    prompt, response = tokens(spec.data, 2, spec.data.count)
    assert abs(prompt - batch.source.tokens.shape[1]) <= 1
    assert response == batch.tokens.shape[1] - 1  # the last token predicts nothing


@pytest.mark.parametrize(
    "spec",
    [*(fig45(kind, "cpu") for kind in STEPS), table43("10k", "mix", 64, "cpu")],
    ids=[*STEPS, "sub-tasks"],
)
def test_tokens_of_two_operands_are_those_trained_on_within_a_tenth(spec):
    """Spaces are random, so the mean over a window is compared."""
    length = spec.data.length
    data = ArithmeticData(change(spec, data={"lengths": (length,), "examples": 0}, train={"batch": 64}), 0)
    written = sum(float((data.batch(step).tokens != PAD).sum()) for step in range(8)) / (8 * 64)
    assert sum(tokens(spec.data, length, 2)) == pytest.approx(written, rel=0.1)


def test_a_response_that_sees_itself_whole_is_written_token_by_token():
    """Measured for the successor of 22 digits: 14 times the time of one pass."""
    spec = with_code_masks(calibrated("successor", "cpu", positions=True))
    pair = tokens(spec.data, 1, 1)
    ratio = estimate.verify(spec.model, *pair) / estimate.forward(spec.model, *pair)
    assert ratio == pytest.approx(14, rel=0.3)


def test_two_trainings_take_the_time_of_both():
    spec = calibrated("addition", "cpu")
    first, second = (estimate.cost(part, "cpu") for part in spec.trainings())
    assert estimate.cost(spec, "cpu") == (first.train + second.train, second.measure)
