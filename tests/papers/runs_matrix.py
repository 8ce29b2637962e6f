"""Made runs of the matrix: each solves the multiple of the trained length that the test names."""

from collections.abc import Sequence

from lengen.results.records import Grid, Run
from papers.matrix.experiments import EXPERIMENTS
from tests.fixtures.runs import counted

DECLARED = {item.name: item for item in EXPERIMENTS}
PROBLEMS = 200


def run(name: str, seed=0, reach=1.0, at_range=1.0, in_count=1.0, profile="night", **scalars: float) -> Run:
    """A run that is right up to ``reach`` times the trained length, and up to ``in_count`` times the most trained
    operands; beyond them a tenth is.

    ``at_range``: exact match at the longest trained length.
    """
    spec = DECLARED[f"matrix/{name}"].specs[profile]
    test, task = spec.test, spec.data.task
    grid = Grid(("length",) if len(test.counts) == 1 else ("length", "count"))
    for length in test.lengths:
        for count in test.counts:
            solved = length <= reach * task.longest and count <= in_count * task.most
            right = round(PROBLEMS * ((at_range if length == task.longest else 1) if solved else 0.1))
            grid.add((length, count)[: len(grid.axes)], "teacher_forced", counted(PROBLEMS, right))
    info = {"spec": spec.to_dict(), "spec_hash": spec.hash(), "overrides": [], "parameters": 1000, "scalars": scalars}
    return Run(f"matrix/{name}", profile, seed, 1, "reference", info, grid, arrays={})


def runs(name: str, reaches: Sequence[float], **known: float) -> dict[str, list[Run]]:
    """The runs of one cell, a seed for each multiple."""
    return {f"matrix/{name}": [run(name, seed, reach, **known) for seed, reach in enumerate(reaches)]}
