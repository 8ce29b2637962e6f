"""Constructed runs for the drawing tests: every record a figure can show, with values that a glance can check.

Run as a script it draws three figures and prints a digest of their bytes, for comparing processes.
"""

import hashlib
import sys

import numpy as np

from lengen import Addition, Coupled, Format, Linear, NoPositionIds, Parity, PositionIds, Task
from lengen.paper.experiment import CURVES, GRID, Experiment, Figure, figure_of
from lengen.results.records import MODES, AttentionMap, ExampleMap, Grid, KeyCount, Run
from lengen.settings.spec import DataSpec, ModelSpec, Spec, TestSpec, TrainSpec
from tests.counted import counted

TOKENS = tuple("$05+17=50>22$")


STEPS = Linear(scratchpad=True, pad_query=True, pad_response=True, reverse_response=True)
"""How sums of several operands are written, with what the sum of each further operand is."""


def adding(digits=2, operands=3) -> Task:
    return Addition(digits=digits, operands=operands)


def spec(task: Task | None = None, format: Format = STEPS, position_ids: PositionIds = Coupled((9, 9))) -> Spec:
    task = task or adding()
    return Spec(
        data=DataSpec(task=task, format=format, position_ids=position_ids),
        model=ModelSpec(layers=2, heads=2, width=8, head_dim=4, ff_width=8),
        train=TrainSpec(steps=4, batch=2, lr=1e-3),
        test=TestSpec(lengths=(1, 2, 3, 5), counts=(1,) if isinstance(task, Parity) else (2, 3, 4)),
    )


def grid(of: Spec, rate=0.5) -> Grid:
    curve = isinstance(of.data.task, Parity)
    found = Grid(("length",) if curve else ("length", "count"))
    for length in of.test.lengths:
        for count in of.test.counts:
            for mode in MODES:
                cell = (length,) if curve else (length, count)
                found.add(cell, mode, counted(100, round(100 * rate), round(90 * rate), 50, 1000))
    return found


def attention() -> AttentionMap:
    size = len(TOKENS)
    weights = np.zeros((2, 2, size, size), np.float32)
    weights[:, :, :, 0] = 1  # three heads rest on the start token, one looks two tokens back
    weights[1, 0] = np.eye(size, k=-2)
    weights[1, 0, :2, 0] = 1
    alone = np.broadcast_to(255 * np.eye(size, dtype=np.uint8), weights.shape).copy()
    return AttentionMap(TOKENS, weights, 20, (ExampleMap(TOKENS, alone),))


def run(name: str, of: Spec, seed=0, rate=0.5, **records) -> Run:
    info = {"spec": of.to_dict(), "spec_hash": of.hash(), "overrides": []}
    return Run(name, "cpu", seed, 1, "reference", info, grid(of, rate), **records)


def key_counts(slope: int) -> list[KeyCount]:
    return [KeyCount(4, count, 0, head, 10, 10 * (2 + slope * count)) for count in (2, 4, 8) for head in (0, 1)]


def attentive(name: str) -> list[Run]:
    return [run(name, spec(), attention=attention(), key_counts=key_counts(1))]


def figures() -> list[tuple[Figure, dict[str, list[Run]]]]:
    """Three figures with their runs: curves, heat maps, attention; each lacks an experiment."""
    parity = spec(Parity(2), Linear(scratchpad=True), Coupled((41,)))
    plain = spec(Parity(2), Linear(), NoPositionIds())
    found = {
        "fig3": {
            "coupling/fig3/coupling-scratchpad": [run("a", parity, seed, 0.9 + 0.02 * seed) for seed in range(3)],
            "coupling/fig3/nope-plain": [run("b", plain)],
            "coupling/fig3/fire-plain": [],
        },
        "fig5": {
            "coupling/fig5/trained-7": [run("c", spec(), seed) for seed in range(2)],
            "coupling/fig5/trained-10": [run("d", spec(adding(3)))],
            "coupling/fig5/trained-13": [],
        },
        "fig7": {"coupling/fig7/coupling-scratchpad": attentive("e"), "coupling/fig7/fire-plain": []},
    }
    how = {"fig3": CURVES, "fig5": GRID, "fig7": "papers.coupling.figures:fig7"}
    return [
        (figure_of(name, f"title of {name}", how[name], [experiment(one) for one in runs]), runs)
        for name, runs in found.items()
    ]


def experiment(name: str) -> Experiment:
    """An experiment with nothing but a name."""
    return Experiment(name=name, claim="c", place="p", specs={}, seeds=1)


if __name__ == "__main__":
    from reproduce.figures import render

    for figure, runs in figures():
        for kind, content in render(figure, runs).items():
            print(figure.name, kind, hashlib.sha256(content).hexdigest())
    print("torch" in sys.modules)
