"""The learning rate of Tables 1-3, and which optimizer it drives."""

import math

import pytest
import torch

from lengen.settings.sections import TrainSpec
from lengen.training.module import build_optimizer, learning_rate_factor


def test_the_schedule_of_the_paper_at_literal_steps():
    """50,000 steps: linear from 0 to LR over the first 1 %, then cosine to 0.1 LR."""
    train = TrainSpec(steps=50_000, batch=400, lr=3e-5)
    expected = {
        0: 0.0,
        1: 0.002,
        250: 0.5,
        499: 0.998,
        500: 1.0,
        25_250: 0.55,
        50_000: 0.1,
        60_000: 0.1,
        12_875: 0.1 + 0.45 * (1 + math.sqrt(0.5)),
        37_625: 0.1 + 0.45 * (1 - math.sqrt(0.5)),
    }
    for step, factor in expected.items():
        assert learning_rate_factor(step, train) == pytest.approx(factor, abs=1e-9)


@pytest.mark.parametrize("warmup", [0.0, 0.5, 1.0])
def test_the_schedule_rises_then_falls_within_its_ends(warmup):
    train = TrainSpec(steps=20, batch=1, lr=1.0, warmup=warmup, final_lr=0.25)
    factors, peak = [learning_rate_factor(step, train) for step in range(21)], int(20 * warmup)
    assert factors[peak] == 1.0 and (peak == 20 or factors[20] == pytest.approx(0.25))
    assert factors[: peak + 1] == sorted(factors[: peak + 1]) and factors[peak:] == sorted(factors[peak:])[::-1]


def test_the_optimizer_takes_its_numbers_from_the_spec():
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
