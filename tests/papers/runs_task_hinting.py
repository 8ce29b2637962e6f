"""Runs of paper 4 made by hand: what a figure must show is known beforehand."""

import numpy as np

import lengen
from lengen.results.records import Grid, Run
from lengen.settings.changes import overlay
from papers.task_hinting.profiles import FORMAT
from tests.fixtures.runs import counted

TRAINED = 10
N = 400
"""Examples of a cell."""
SPEC = lengen.Spec(
    data=lengen.DataSpec(task=lengen.Sorting(longest=TRAINED, alphabet=100), format=FORMAT, examples=4096),
    model=lengen.ModelSpec(layers=2, heads=4, width=64, head_dim=16, ff_width=128, encoding=lengen.NoEncoding()),
    train=lengen.TrainSpec(steps=400, batch=64, lr=1e-3),
    test=lengen.TestSpec(lengths=(5, 10, 15, 20, 25, 30, 40, 50)),
)


def right(length: int, reach: float, seed: int) -> int:
    """Examples of `N` that are right: all that were trained, then fewer up to ``reach``; a seed more, one fewer."""
    share = 1.0 if length <= TRAINED else max(0.0, 1 - (length - TRAINED) / (reach - TRAINED))
    return max(round(N * share) - seed, 0)


def run(
    name: str,
    seed=0,
    *,
    reach=30.0,
    lengths=SPEC.test.lengths,
    counts=(1,),
    arrays: dict[str, np.ndarray] | None = None,
) -> Run:
    """A run whose cells of more repetitions are a little worse."""
    spec = overlay(SPEC, {"test": {"lengths": lengths, "counts": counts}})
    grid = Grid(("length", "count") if len(counts) > 1 else ("length",))
    for length in lengths:
        for count in counts:
            good = right(length, reach - 2 * (count - 1), seed)
            grid.add((length, count)[: len(grid.axes)], "teacher_forced", counted(N, good, good, 0, N * length))
    info = {"spec": spec.to_dict(), "spec_hash": "x", "overrides": []}
    return Run(f"task_hinting/{name}", "cpu", seed, 1, "reference", info, grid, arrays=arrays or {})
