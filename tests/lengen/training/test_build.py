"""Threads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from lengen import ArithmeticData, SequenceModule
from lengen.training.build import few_threads
from tests.lengen.data.test_any_trainer import SPEC, trained


@pytest.fixture
def two_threads(monkeypatch):
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_small_work_is_done_by_one_thread_and_later_work_by_as_many_as_before(two_threads):
    with few_threads(nn.Linear(2, 2)):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2
    with few_threads(nn.Linear(100, 100), most=10):
        assert torch.get_num_threads() == 2
    with pytest.raises(KeyError), few_threads(nn.Linear(2, 2)):
        raise KeyError
    assert torch.get_num_threads() == 2


def test_threads_that_the_user_chose_stay(two_threads, monkeypatch):
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


SLEEP = "import_module('lengen.machine').sleep_while_waiting()"


@pytest.mark.parametrize(
    ("given", "start", "policy"),
    [
        ({}, "lengen.Addition(digits=2)", None),
        ({}, "lengen.train('copy', digits=1, steps=1, batch=2)", "PASSIVE"),
        ({}, "import_module('reproduce')", "PASSIVE"),
        ({"OMP_WAIT_POLICY": "ACTIVE"}, SLEEP, "ACTIVE"),
        ({"KMP_BLOCKTIME": "9"}, SLEEP, None),
        ({}, f"sys.modules.update(torch=None), {SLEEP}", None),
    ],
)
def test_threads_sleep_while_they_wait_once_a_training_starts_unless_the_user_says_how(given, start, policy):
    names = ("OMP_WAIT_POLICY", "KMP_BLOCKTIME", "GOMP_SPINCOUNT")
    environment = {name: value for name, value in os.environ.items() if name not in names} | given
    code = f"import lengen, os, sys; from importlib import import_module; {start}; print(os.getenv('OMP_WAIT_POLICY'))"
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], env=environment, cwd=root, capture_output=True, text=True)
    assert done.stdout.strip() == str(policy), done.stderr
