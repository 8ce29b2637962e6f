"""Made runs of the matrix: a trick solves the multiple of the trained length that the test names."""

from collections.abc import Mapping

from lengen.results.records import Grid, Run
from papers.matrix.experiments import EXPERIMENTS
from tests.counted import counted

DECLARED = {item.name: item for item in EXPERIMENTS}
PROBLEMS = 200


def run(name: str, seed: int = 0, reach: float = 1.0, at_range: float = 1.0, budgets: int = 1) -> Run:
    """A run at the night size whose lengths up to ``reach`` times the trained one are right; beyond them a tenth is.

    ``at_range``: exact match at the longest trained length.
    """
    spec = DECLARED[f"matrix/{name}"].specs["night"]
    test, task = spec.test, spec.data.task
    grid = Grid(("length",) if len(test.counts) == 1 else ("length", "count"))
    for length in test.lengths:
        for count in test.counts:
            share = at_range if length == task.longest else 1.0 if length <= reach * task.longest else 0.1
            right = round(PROBLEMS * (share if count <= task.most else 0.1))
            cell = (length,) if len(test.counts) == 1 else (length, count)
            grid.add(cell, "teacher_forced", counted(PROBLEMS, right, right, 0, PROBLEMS))
    info = {"spec": spec.to_dict(), "spec_hash": spec.hash(), "overrides": [], "scalars": {"budgets": budgets}}
    return Run(f"matrix/{name}", "night", seed, 1, "reference", info, grid, arrays={})


def runs(task: str, reaches: Mapping[str, float], seeds: int = 3) -> dict[str, list[Run]]:
    """Every experiment of the matrix; those of a task whose tricks are named have runs."""
    made = {name: [] for name in DECLARED}
    for trick, reach in reaches.items():
        made[f"matrix/{task}/{trick}"] = [run(f"{task}/{trick}", seed, reach) for seed in range(seeds)]
    return made
