"""Runs of paper 3 made by hand: what a figure must show is known beforehand."""

import numpy as np

import lengen
from lengen.results.records import AttentionMap, Grid, Run
from lengen.settings.changes import overlay
from tests.counted import counted

PAPER = "random_spaces"
LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8)
TRAINED = (1, 2, 3, 4, 6)
STEPS = (0, 100, 200, 300, 400)
PARTS = ("reversed", "partials", "answer", "answer_of_partials", "partials_imply_answer")
MIXED = lengen.Subtasks()
SPEC = lengen.Spec(
    data=lengen.DataSpec(task=lengen.TwoOperandAddition(TRAINED), format=lengen.Linear(), examples=10_000),
    model=lengen.ModelSpec(layers=2, heads=4, width=64, head_dim=16, ff_width=256, encoding=lengen.Sinusoidal()),
    train=lengen.TrainSpec(steps=400, batch=2, lr=1e-3),
    test=lengen.TestSpec(lengths=LENGTHS),
)


def spec(tested=LENGTHS, changes=None) -> dict:
    """A specification as run.json holds it."""
    return overlay(SPEC, {"test.lengths": tested}, changes or {}).to_dict()


def curve(of: dict, rate: float = 0.0, gap: float = 0.0) -> Grid:
    """Every trained length right, ``gap`` of those left out, ``rate`` of the longer ones; sampled a little worse."""
    grid, known = Grid(("length",)), of["data"]["task"]["lengths"]
    for length in of["test"]["lengths"]:
        share = 1.0 if length in known else gap if length < max(known) else rate
        for mode, factor in (("teacher_forced", 1.0), ("free_running", 1.0), ("sampled", 0.9)):
            right = round(200 * share * factor)
            grid.add((length,), mode, counted(200, right, right, 0, 200 * length))
    return grid


def run(
    name: str, seed=0, *, rate=0.0, gap=0.0, arrays=None, metrics=(), attention=None, tested=LENGTHS, changes=None
) -> Run:
    of = spec(tested, changes)
    info = {"spec": of, "spec_hash": "x", "overrides": []}
    return Run(
        f"{PAPER}/{name}", "cpu", seed, 1, "reference", info, curve(of, rate, gap),
        attention=attention, metrics=metrics, arrays=arrays or {},
    )  # fmt: skip


def several(*names: str, seeds=1, **known) -> dict[str, list[Run]]:
    return {f"{PAPER}/{name}": [run(name, seed, **known) for seed in range(seeds)] for name in names}


def tracked(seed=0, tested=LENGTHS, trained=TRAINED) -> list[tuple[int, str, float]]:
    """Metrics of a training in which trained lengths rise to 1 and the others stay at 0.01 x seed."""
    rows = []
    for step in STEPS:
        for length in tested:
            inside = length in trained
            rows.append((step, f"exact_match.{length}", step / 400 if inside else 0.01 * seed))
            rows.append((step, f"answer_loss.{length}", 2.0 ** (1 - step / 100) if inside else 2.0 + seed))
        rows += [(step, f"digit_loss.{place}", 2.0 ** (place - step / 50)) for place in range(1, max(trained) + 2)]
    return rows


def learning(late=0) -> list[tuple[int, str, float]]:
    """Metrics of a training in which each sub-task is learned one evaluation after another, from ``late`` on."""
    return [
        (step, f"subtask.{task}", float(number >= late + place) * 0.96)
        for number, step in enumerate(STEPS)
        for place, task in enumerate(lengen.SUBTASKS)
    ]


def attention(layers=2, heads=2, tokens="$12+34=46$") -> AttentionMap:
    """Head 1 of layer k looks k + 1 tokens back, head 0 at the start."""
    weights = np.zeros((layers, heads, len(tokens), len(tokens)), np.float32)
    weights[..., 0] = 0.5
    for layer in range(layers):
        weights[layer, 1] = 0.9 * np.eye(len(tokens), k=-1 - layer)
    return AttentionMap(tuple(tokens), weights, 10)


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


REVERSED = {"data.format.reverse_response": True}
SCRATCHPAD = {"data.format": lengen.DigitSteps()}
SPACES = {"data.spaces": lengen.RandomSpaces(ratio=0.5)}
ABACUS = {"data.position_ids": lengen.Abacus(128)}
LOOPED = {"model.loops": 4}
SETTINGS = {
    "ape": {},
    "reversed": {"changes": REVERSED},
    "scratchpad": {"changes": SCRATCHPAD},
    "zero-pad": {"changes": {"data.format.pad_to": 9}},
    "spaces": {"changes": SPACES},
    "abacus": {"changes": ABACUS, "gap": 1.0, "rate": 1.0},
}
SHORT = {"changes": {"data.task.lengths": (1, 3)}, "tested": (1, 2, 3, 4)}
