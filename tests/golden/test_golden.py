"""Declared experiments train and test on what they always did: a part of the golden file, another at every commit."""

import json

import pytest
import torch

from reproduce.store.provenance import commit
from tests.golden.capture import BATCHES, HASHES, PARTS, captured, declared

BATCHES_OF = json.loads(BATCHES.read_text())
HASHES_OF = json.loads(HASHES.read_text())
EVERY = {"smoke": 1, "cpu": 4, "night": 8, "paper": 16}
"""Of how many settings one is drawn, by profile."""


@pytest.fixture(scope="module")
def settings():
    """Those that are recorded; a new experiment need not be."""
    return {name: spec for name, spec in declared().items() if name in HASHES_OF}


def test_every_recorded_experiment_is_declared(settings):
    assert settings.keys() == BATCHES_OF.keys() == HASHES_OF.keys()


def test_hashes_of_settings_stay(settings):
    """Stored runs are found by them."""
    assert {name: spec.hash() for name, spec in settings.items()} == HASHES_OF


def quick(spec) -> bool:
    """Its longest problems are written in little time."""
    return max(spec.test.lengths) * max(spec.test.counts) <= 1000


def chosen(settings, profile: str) -> dict[str, str]:
    """Hashes of settings and an experiment that has each: all of a profile, or those whose turn it is."""
    first: dict[str, str] = {}
    for name in sorted(settings):
        if name.endswith(f"|{profile}") and (profile == "smoke" or quick(settings[name])):
            first.setdefault(settings[name].hash(), name)
    turn = int(commit()[0][:8], 16) if commit()[0] != "unknown" else 0
    return {key: name for i, (key, name) in enumerate(first.items()) if (i + turn) % EVERY[profile] == 0}


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
