"""Threads, clocks and optimizers of a training."""

import itertools
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from lengen import ArithmeticData, SequenceModule, TrainSpec, execute, replace
from lengen.callbacks import monitoring as clocks
from lengen.callbacks.monitoring import Clock
from lengen.training.model_building import few_threads
from lengen.training.module import build_optimizer, learning_rate_factor
from tests.fixtures.settings import TEST, TRAIN, data_spec, kill_at, spec
from tests.lengen.test_stock_trainer import TWELVE as SPEC
from tests.lengen.test_stock_trainer import trained

SLEEP = "import_module('lengen.this_machine').sleep_while_waiting()"
CLOCKED = spec(data_spec("addition", 1, 2, room=8), replace(TRAIN, steps=7, evaluations=3, bucket=3), TEST, layers=1)
"""Evaluated, and written as a checkpoint, after steps 3, 6 and 7."""


@pytest.fixture
def two_threads(monkeypatch):
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_small_work_is_done_by_one_thread_unless_the_user_chose_more(two_threads, monkeypatch):
    with few_threads(nn.Linear(2, 2)):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2
    with few_threads(nn.Linear(100, 100), most=10):
        assert torch.get_num_threads() == 2
    with pytest.raises(KeyError), few_threads(nn.Linear(2, 2)):
        raise KeyError
    assert torch.get_num_threads() == 2
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with few_threads(nn.Linear(2, 2)):
        assert torch.get_num_threads() == 2


def test_a_small_model_trains_with_one_thread_in_any_trainer(two_threads, tmp_path):
    seen = []

    class Watched(SequenceModule):
        def training_step(self, batch, index):
            seen.append(torch.get_num_threads())
            return super().training_step(batch, index)

    trained(tmp_path, module=Watched(SPEC), data={"datamodule": ArithmeticData(SPEC)}, fast_dev_run=True)
    assert seen == [1] and torch.get_num_threads() == 2


@pytest.mark.slow
@pytest.mark.parametrize(("given", "start", "policy"), [
    ({}, "lengen.Addition(digits=2)", None), ({}, "lengen.train('copy', digits=1, steps=1, batch=2)", "PASSIVE"),
    ({}, "import_module('reproduce')", "PASSIVE"), ({"OMP_WAIT_POLICY": "ACTIVE"}, SLEEP, "ACTIVE"),
    ({"KMP_BLOCKTIME": "9"}, SLEEP, None), ({}, f"sys.modules.update(torch=None), {SLEEP}", None),
])  # fmt: skip
def test_threads_sleep_while_they_wait_once_a_training_starts_unless_the_user_says_how(given, start, policy):
    names = ("OMP_WAIT_POLICY", "KMP_BLOCKTIME", "GOMP_SPINCOUNT")
    environment = {name: value for name, value in os.environ.items() if name not in names} | given
    code = f"import lengen, os, sys; from importlib import import_module; {start}; print(os.getenv('OMP_WAIT_POLICY'))"
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], env=environment, cwd=root, capture_output=True, text=True)
    assert done.stdout.strip() == str(policy), done.stderr


def test_measuring_is_no_training_and_a_resumed_clock_adds_to_its_checkpoint(monkeypatch):
    """Every look at the clock is a second later than the one before."""
    looks = itertools.count()
    monkeypatch.setattr(clocks.time, "monotonic", lambda: float(next(looks)))
    one = Clock()
    one.start()
    one.stop()
    assert (one.training, one.measuring) == (1.0, 1.0)
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


@pytest.mark.parametrize("step", [2, 5])
def test_a_killed_run_counts_the_steps_before_the_kill(step, tmp_path, monkeypatch):
    seen = []

    class Seen(Clock):
        def on_train_end(self, trainer, pl_module):
            super().on_train_end(trainer, pl_module)
            seen.append((self.steps, self.training))

    monkeypatch.setattr("lengen.training.run.Clock", Seen)

    def run(folder):
        return execute(CLOCKED, 0, folder, lambda progress: None)

    kill_at(step, monkeypatch, run, tmp_path)
    outcome = run(tmp_path)
    ((steps, training),) = seen[-1:]
    assert steps == CLOCKED.train.steps and outcome.info["seconds_training"] == round(training, 1)
    assert outcome.info["seconds_per_step"] * steps == pytest.approx(training)


def test_steps_are_counted_by_device(tmp_path, monkeypatch):
    """Those that a checkpoint holds; also if the last process only measures."""
    folder, here = tmp_path, ["cuda, H100"]
    monkeypatch.setattr(clocks, "device_name", lambda device: here[0])
    monkeypatch.setattr("lengen.training.run.device_name", lambda device: here[0])

    def run():
        return execute(CLOCKED, 0, folder, lambda progress: None).info["steps_on"]

    kill_at(5, monkeypatch, run)
    here[:] = ["cpu, AMD"]
    assert run() == {"cuda, H100": 3, "cpu, AMD": 4}
    here[:] = ["cpu, Intel"]
    assert run() == {"cuda, H100": 3, "cpu, AMD": 4, "cpu, Intel": 0}


def test_schedule_and_optimizer_take_their_numbers_from_the_spec():
    """50,000 steps: linear from 0 to LR over the first 1 %, then cosine to 0.1 LR."""
    train = TrainSpec(steps=50_000, batch=400, lr=3e-5)
    expected = {
        0: 0.0, 1: 0.002, 250: 0.5, 499: 0.998, 500: 1.0, 25_250: 0.55, 50_000: 0.1, 60_000: 0.1,
        12_875: 0.1 + 0.45 * (1 + math.sqrt(0.5)), 37_625: 0.1 + 0.45 * (1 - math.sqrt(0.5)),
    }  # fmt: skip
    for step, factor in expected.items():
        assert learning_rate_factor(step, train) == pytest.approx(factor, abs=1e-9)
    train = TrainSpec(steps=10, batch=1, lr=0.2, betas=(0.8, 0.95), weight_decay=0.3, warmup=0.2)
    model = torch.nn.Linear(3, 2)
    optimizer, schedule = build_optimizer(model, train)
    group, kept = optimizer.param_groups
    assert isinstance(optimizer, torch.optim.AdamW)
    assert (group["betas"], group["weight_decay"], group["eps"]) == ((0.8, 0.95), 0.3, 1e-8)
    assert group["params"][0] is model.weight and kept["params"][0] is model.bias and kept["weight_decay"] == 0
    assert (kept["betas"], kept["eps"], len(group["params"]), len(kept["params"])) == ((0.8, 0.95), 1e-8, 1, 1)
    seen = []
    for _ in range(4):
        seen.append(group["lr"])
        model(torch.ones(3)).sum().backward()
        optimizer.step()
        schedule.step()
    assert seen == pytest.approx([0.2 * learning_rate_factor(step, train) for step in range(4)])
    assert seen[0] == 0.0 and seen[2] == 0.2
