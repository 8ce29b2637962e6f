"""Runs of paper 3 made by hand: what a figure must show is known beforehand."""

import numpy as np

import lengen
from lengen.results.records import Grid, Run
from lengen.settings.changes import overlay
from tests.fixtures.runs import counted

PAPER = "random_spaces"
LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8)
TRAINED = (1, 2, 3, 4, 6)
MIXED = lengen.Subtasks()
SPEC = lengen.Spec(
    data=lengen.DataSpec(task=lengen.TwoOperandAddition(TRAINED), format=lengen.Linear(), examples=10_000),
    model=lengen.ModelSpec(layers=2, heads=4, width=64, head_dim=16, ff_width=256, encoding=lengen.Sinusoidal()),
    train=lengen.TrainSpec(steps=400, batch=2, lr=1e-3),
    test=lengen.TestSpec(lengths=LENGTHS),
)


def spec(changes=None) -> dict:
    return overlay(SPEC, changes or {}).to_dict()


def run(name: str, seed=0, *, rate=0.0, gap=0.0, arrays=None, metrics=(), changes=None) -> Run:
    """Every trained length right, ``gap`` of those left out, ``rate`` of the longer ones; sampled a little worse."""
    of = spec(changes)
    info, grid, known = (
        {"spec": of, "spec_hash": "x", "overrides": []},
        Grid(("length",)),
        of["data"]["task"]["lengths"],
    )
    for length in of["test"]["lengths"]:
        share = 1.0 if length in known else gap if length < max(known) else rate
        for mode, factor in (("teacher_forced", 1.0), ("free_running", 1.0), ("sampled", 0.9)):
            right = round(200 * share * factor)
            grid.add((length,), mode, counted(200, right, right, 0, 200 * length))
    return Run(f"{PAPER}/{name}", "cpu", seed, 1, "reference", info, grid, metrics=metrics, arrays=arrays or {})


def losses(of: dict, inside: float, outside: float, problems=20) -> dict[str, np.ndarray]:
    """Answer loss of every example and, for mixtures, loss and accuracy by sub-task."""
    found = {}
    for length in of["test"]["lengths"]:
        level = inside if length in of["data"]["task"]["lengths"] else outside
        found[f"values.answer_loss.{length}"] = np.full(problems, level, np.float32)
        for number, task in enumerate(of["data"]["format"].get("names", ())):
            hits = np.arange(problems) < (problems if level == inside else problems // (number + 2))
            found[f"hits.subtask.{task}.{length}"] = hits.astype(np.uint8)
            found[f"values.loss.{task}.{length}"] = np.full(problems, level * (number + 1), np.float32)
    return found


def sweep(sizes=(10_000, 100_000), widths=(64, 128), seeds=2) -> dict[str, list[Run]]:
    """Table 4.3 with accuracies and losses that differ in every cell; ``mix`` is the better one at the gap."""
    runs: dict[str, list[Run]] = {}
    for big, size in enumerate(sizes):
        for kind in ("add", "mix"):
            for wide, width in enumerate(widths):
                name = f"table4.3/{size // 1000}k-{kind}-w{width}"
                changes = {"data.examples": size, "model.width": width}
                if kind == "mix":
                    changes["data.format"] = MIXED
                gap = 0.1 + 0.2 * (kind == "mix") + 0.1 * big + 0.05 * wide
                arrays = losses(spec(changes=changes), 0.01 * (1 + wide), 1.0 + big + 2 * (kind == "add") + wide)
                runs[f"{PAPER}/{name}"] = [
                    run(name, seed, gap=gap + 0.02 * seed, rate=0.01 * (seed + wide), arrays=arrays, changes=changes)
                    for seed in range(seeds)
                ]
    return runs
