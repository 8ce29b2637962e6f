"""Declared experiments train and test on what they always did: a part of the golden file, another at every commit."""

import json

import pytest
import torch

from reproduce.store.checkout import commit
from tests.golden.capture import BATCHES, HASHES, PARTS, PROBLEMS, captured, declared

pytestmark = pytest.mark.slow

BATCHES_OF = json.loads(BATCHES.read_text())
HASHES_OF = json.loads(HASHES.read_text())
EVERY = {"smoke": 1, "cpu": 4, "night": 8, "paper": 16}
"""Of how many settings one is drawn, by profile; of the many cells of the matrix never more than one in eight."""


@pytest.fixture(scope="module")
def settings():
    return declared()


def test_every_declared_setting_is_recorded_and_no_other_and_every_task_has_a_problem(settings):
    """``python -m tests.golden.capture`` records a new one."""
    assert settings.keys() == HASHES_OF.keys()
    assert settings.keys() == BATCHES_OF.keys()
    assert {spec.data.task.kind for spec in settings.values()} <= PROBLEMS.keys()


def test_hashes_of_settings_stay(settings):
    """Stored runs are found by them."""
    assert {name: spec.hash() for name, spec in settings.items()} == HASHES_OF


def chosen(settings, profile: str) -> dict[str, str]:
    """Hashes of settings and an experiment that has each: those of a profile whose turn it is."""
    first: dict[str, str] = {}
    for name in sorted(settings):
        test = settings[name].test
        quick = max(test.lengths) * max(test.counts) <= 1000  # its longest problems are written in little time
        if name.endswith(f"|{profile}") and (profile == "smoke" or quick):
            first.setdefault(settings[name].hash(), name)
    turn = int(commit()[0][:8], 16) if commit()[0] != "unknown" else 0
    every = {name: max(EVERY[profile], 8 if name.startswith("matrix/") else 1) for name in first.values()}
    return {key: name for i, (key, name) in enumerate(first.items()) if (i + turn) % every[name] == 0}


@pytest.mark.parametrize("profile", EVERY)
def test_batches_stay(profile, settings):
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    wrong = {}
    for name in chosen(settings, profile).values():
        pairs = zip(PARTS, BATCHES_OF[name].split(), captured(settings[name]).split(), strict=True)
        differ = [part for part, golden, found in pairs if golden != found]
        if differ:
            wrong[name] = differ
    torch.set_num_threads(threads)
    assert not wrong
