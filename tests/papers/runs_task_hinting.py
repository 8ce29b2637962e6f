"""Runs of paper 4 made by hand: what a figure must show is known beforehand."""

import numpy as np

import lengen
from lengen.results.records import Grid, Run
from lengen.settings.changes import overlay
from papers.task_hinting.profiles import FORMAT
from tests.counted import counted

PAPER = "task_hinting"
LENGTHS = (5, 10, 15, 20, 25, 30, 40, 50)
TRAINED = 10
N = 400
"""Examples of a cell."""
STEPS = tuple(range(0, 401, 20))
INPUTS = ("5", "17", "43", "78", "92")
ALPHABET = 100


SPEC = lengen.Spec(
    data=lengen.DataSpec(task=lengen.Sorting(longest=TRAINED, alphabet=ALPHABET), format=FORMAT, examples=4096),
    model=lengen.ModelSpec(layers=2, heads=4, width=64, head_dim=16, ff_width=128, encoding=lengen.NoEncoding()),
    train=lengen.TrainSpec(steps=400, batch=64, lr=1e-3),
    test=lengen.TestSpec(lengths=LENGTHS),
)
PLACES = {
    "task": "data.task", "hints": "data.hints", "examples": "data.examples", "tempered": "model.tempered",
    "layers": "model.layers", "encoding": "model.encoding", "ids": "data.position_ids",
    "steps": "train.steps", "lengths": "test.lengths", "counts": "test.counts",
}  # fmt: skip
"""Where a field stands."""


def spec(**fields) -> dict:
    """A specification as run.json holds it; ``fields`` of `PLACES` change it."""
    return overlay(SPEC, {PLACES[name]: value for name, value in fields.items()}).to_dict()


def right(length: int, reach: float, seed=0, trained=TRAINED) -> int:
    """Examples of `N` that are right: all that were trained, then fewer up to ``reach``; a seed more, one fewer."""
    share = 1.0 if length <= trained else max(0.0, 1 - (length - trained) / max(reach - trained, 1e-9))
    return max(round(N * share) - seed, 0)


def measured(of: dict, reach: float, seed: int, edits: bool) -> Grid:
    """Cells up to r = 5 where the specification counts them, each repetition a little worse; a wrong sequence is two
    edits away from the truth."""
    counts = of["test"]["counts"]
    grid = Grid(("length", "count") if len(counts) > 1 else ("length",))
    for length in of["test"]["lengths"]:
        for count in counts:
            good = right(length, reach - 2 * (count - 1), seed, of["data"]["task"]["longest"])
            cell = (length, count) if len(counts) > 1 else (length,)
            grid.add(cell, "teacher_forced", counted(N, good, good, 0, N * length))
            if edits:
                grid.add(cell, "free_running", counted(N, good, good, 2 * (N - good), N * length))
    return grid


def run(name: str, seed=0, *, reach=30.0, arrays=None, metrics=(), scalars=None, edits=True, **fields) -> Run:
    of = spec(**fields)
    info = {"spec": of, "spec_hash": "x", "overrides": [], "scalars": scalars or {}}
    grid = measured(of, reach, seed, edits)
    return Run(f"{PAPER}/{name}", "cpu", seed, 1, "reference", info, grid, metrics=metrics, arrays=arrays or {})


def several(name: str, seeds=1, **known) -> dict[str, list[Run]]:
    return {f"{PAPER}/{name}": [run(name, seed, **known) for seed in range(seeds)]}


def tracked(*hints: str, seed=0) -> list[tuple[int, str, float]]:
    """Losses that halve every 100 steps, each task's a half above the one before; validation rises to 1."""
    rows = []
    for step in STEPS:
        rows += [
            (step + task, f"train_loss{name}", (1 + task / 2 + seed / 10) * 0.5 ** (step / 100))
            for task, name in enumerate(["", *(f".{hint}" for hint in hints)])
        ]
        if step % 100 == 0:
            rows.append((step, "val_exact_match", step / 400))
    return rows


def hits(seed=0, reach=30.0, tokens=3) -> dict[str, np.ndarray]:
    """The minimum is found as often as sequences are right; identity and successor in half as many tokens."""
    found = {}
    for length in LENGTHS:
        good = right(length, reach, seed)
        found[f"hits.minimum.{length}"] = (np.arange(N) < good).astype(np.uint8)
        found[f"hits.identity_successor.{length}"] = (np.arange(tokens * N) < tokens * good // 2).astype(np.uint8)
    return found


def projections(inputs=INPUTS, alphabet=ALPHABET, layers=2, seed=0) -> dict[str, np.ndarray]:
    """Projections with the published peaks over noise below 1: every token on itself in the encoder basis (5), the
    delimiter on the minimum (6) and outputs on themselves and their successor (7, 8) in the decoder basis."""
    tokens = [*inputs, "⊥", *sorted(inputs, key=int)]
    vocabulary = ["PAD", "$", *map(str, range(1, alphabet + 1)), "⊥"]
    rng = np.random.default_rng(seed)
    encoder, decoder = (rng.uniform(-1, 1, (layers, 2, len(tokens), len(vocabulary))) for _ in range(2))
    for place, token in enumerate(tokens):
        encoder[:, :, place, vocabulary.index(token)] = 5
        if place == len(inputs):
            decoder[0, :, place, vocabulary.index(min(inputs, key=int))] = 6
        if place > len(inputs):
            decoder[1:, 0, place, vocabulary.index(token)] = 7
            for later in tokens[place + 1 : place + 2]:
                decoder[1:, :, place, vocabulary.index(later)] = 8
    return {
        "probe0.tokens": np.array(tokens),
        "probe0.vocabulary": np.array(vocabulary),
        "probe0.encoder": encoder.astype(np.float16),
        "probe0.decoder": decoder.astype(np.float16),
    }


SIZES = {"1m": 250, "10m": 2_500, "40m": 10_000, "160m": 40_000}
PARTS = {
    "successor": lengen.NextLarger(longest=TRAINED, alphabet=ALPHABET),
    "count": lengen.Counting(longest=TRAINED, alphabet=ALPHABET),
    "fill": lengen.Filling(longest=TRAINED, alphabet=ALPHABET),
}
"""Auxiliary tasks by their names."""
SUCCESSOR = {"hints": (PARTS["successor"],), "reach": 60.0}
ALL = tuple(PARTS)
