"""What a training takes counts every step once, interrupted or not."""

import itertools

import pytest

from lengen.callbacks import monitoring as clocks
from lengen.callbacks.monitoring import Clock
from lengen.settings.spec import replace
from lengen.training.run import execute
from tests.fixtures.settings import TEST, TRAIN, data_spec, kill_at, spec

SPEC = spec(data_spec("addition", 1, 2, room=8), replace(TRAIN, steps=7, evaluations=3, bucket=3), TEST, layers=1)
"""Evaluated, and written as a checkpoint, after steps 3, 6 and 7."""


@pytest.fixture
def seconds(monkeypatch):
    """Every look at the clock is a second later than the one before."""
    looks = itertools.count()
    monkeypatch.setattr(clocks.time, "monotonic", lambda: float(next(looks)))


def test_a_resumed_clock_adds_to_what_the_checkpoint_has(seconds):
    first = Clock()
    first.start()
    first.step(40)
    first.stop()
    second = Clock()
    second.load_state_dict(first.state_dict())
    second.start()
    second.step(2)
    second.stop()
    assert (second.training, second.steps, second.tokens) == (2.0, 2, 42)


def test_measuring_is_no_training(seconds):
    one = Clock()
    one.start()
    one.stop()
    assert (one.training, one.measuring) == (1.0, 1.0)


@pytest.mark.parametrize("step", [2, 5])
def test_a_killed_run_counts_the_steps_before_the_kill(step, tmp_path, monkeypatch):
    seen = []

    class Seen(Clock):
        def on_train_end(self, trainer, pl_module):
            super().on_train_end(trainer, pl_module)
            seen.append((self.steps, self.training))

    monkeypatch.setattr("lengen.training.run.Clock", Seen)

    def run(folder):
        return execute(SPEC, 0, folder, lambda progress: None)

    kill_at(step, monkeypatch, run, tmp_path)
    outcome = run(tmp_path)
    ((steps, training),) = seen[-1:]
    assert steps == SPEC.train.steps and outcome.info["seconds_training"] == round(training, 1)
    assert outcome.info["seconds_per_step"] * steps == pytest.approx(training)


def test_steps_are_counted_by_device(tmp_path, monkeypatch):
    """Those that a checkpoint holds; also if the last process only measures."""
    folder, here = tmp_path, ["cuda, H100"]
    monkeypatch.setattr(clocks, "device_name", lambda device: here[0])
    monkeypatch.setattr("lengen.training.run.device_name", lambda device: here[0])

    def run():
        return execute(SPEC, 0, folder, lambda progress: None).info["steps_on"]

    kill_at(5, monkeypatch, run)
    here[:] = ["cpu, AMD"]
    assert run() == {"cuda, H100": 3, "cpu, AMD": 4}
    here[:] = ["cpu, Intel"]
    assert run() == {"cuda, H100": 3, "cpu, AMD": 4, "cpu, Intel": 0}
