"""What rounding products changes: which runs are paired, and when a difference is more than the spread of seeds."""

import dataclasses

import pytest

from reproduce.bench import rounding
from reproduce.bench.page import precision
from reproduce.bench.rounding import OVERRIDE, Pair, pairs


def pair(plain, rounded):
    return Pair("p/f/v", "cpu", "outside", tuple(plain), tuple(rounded))


def test_a_difference_is_held_against_the_spread_of_both_sides():
    found = pair([0.5, 0.6, 0.7], [0.4, 0.5, 0.6])
    assert found.difference == pytest.approx(-0.1)
    assert found.deviation == pytest.approx((0.01 / 3 + 0.01 / 3) ** 0.5)
    assert found.alike
    assert not pair([0.96, 0.961, 0.962], [0.92, 0.921, 0.922]).alike
    assert pair([1.0, 1.0, 1.0], [1.0, 1.0, 0.9999]).alike, "no spread, and no difference to speak of"


@dataclasses.dataclass
class Made:
    experiment: str
    seed: int
    commit: str
    overrides: list[str]
    shares: tuple[float, float]
    profile: str = "cpu"

    @property
    def info(self):
        return {"commit": self.commit, "overrides": self.overrides}


class Runs:
    def __init__(self, *runs):
        self.runs = runs

    def headers(self):
        return list(self.runs)

    def load(self, run):
        return run


def test_runs_of_one_commit_are_paired_seed_by_seed(monkeypatch):
    monkeypatch.setattr(rounding, "shares", lambda run: run.shares)
    both = [
        Made("p/f/v", seed, commit, overrides, (0.9 + seed / 100, share))
        for seed in (0, 1)
        for commit, overrides, share in (("old", [], 0.1), ("new", [], 0.2), ("new", [OVERRIDE], 0.3))
    ]
    lone = [Made("p/f/w", seed, "new", [OVERRIDE], (1.0, 1.0)) for seed in (0, 1)]
    other = [Made("p/f/v", 0, "new", ["train.steps=1"], (0.0, 0.0)), Made("p/f/v", 2, "new", [], (0.0, 0.0))]
    inside, outside = pairs(Runs(*both, *lone, *other))
    assert (inside.plain, inside.rounded) == ((0.9, 0.91), (0.9, 0.91))
    assert (outside.plain, outside.rounded) == ((0.2, 0.2), (0.3, 0.3))
    shown = precision([inside, outside])
    assert "| p/f/v | outside | 20.0 20.0 | 30.0 30.0 | +10.0 ± 0.0 | **different** |" in shown
    assert "| p/f/v | in the trained range | 90.0 91.0 | 90.0 91.0 | +0.0 ± 0.7 | alike |" in shown
