"""Finished runs of the matrix as tables: the state of each cell, and scores over tasks for aggregates."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from lengen.across_tasks import Scores
from lengen.config.experiment import Runs
from lengen.intervals import median
from lengen.records import Run
from papers.matrix.measures import learned, reach
from papers.matrix.spec import LEARNED

State = Literal["refused", "not run", "untested", "tested"]
"""Of a cell: tested where the median over seeds at the longest trained length is at least `LEARNED`."""


class Cell(NamedTuple):
    """What is known of a trick on a task."""

    state: State
    reach: float
    """Median over seeds of the multiple of the trained length that is solved; nan where it is not tested."""
    seeds: int
    retried: bool
    """A run of it was trained with more than one budget."""


def named(experiment: str) -> tuple[str, str]:
    """Task and trick of ``matrix/task/trick``."""
    _, task, trick = experiment.split("/")
    return task, trick


def cells(runs: Runs, refused: Sequence[str]) -> Mapping[tuple[str, str], Cell]:
    """Every cell by task and trick; ``refused``: names of experiments that make no sense."""
    found = {}
    for name, some in runs.items():
        if name in refused:
            cell = Cell("refused", np.nan, 0, False)
        elif not some:
            cell = Cell("not run", np.nan, 0, False)
        else:
            retried = any(_scalar(run, "budgets", 1.0) > 1 for run in some)
            tested = median([learned(run) for run in some]) >= LEARNED
            how_far = median([reach(run)[0] for run in some]) if tested else np.nan
            cell = Cell("tested" if tested else "untested", how_far, len(some), retried)
        found[named(name)] = cell
    return found


def compared(runs: Runs, trick: str, baseline: str, measure: Callable[[Run], float]) -> tuple[Scores, Scores]:
    """Scores (tasks, seeds) of a trick and of a baseline on the tasks on which both have learned their trained range.

    Of seeds as many as every one of these cells has; both are empty where no task is left.
    """
    by_cell = {named(name): some for name, some in runs.items() if some}
    tasks = dict.fromkeys(task for task, _ in by_cell)
    pairs = [
        (by_cell[task, trick], by_cell[task, baseline])
        for task in tasks
        if (task, trick) in by_cell and (task, baseline) in by_cell
    ]
    pairs = [pair for pair in pairs if all(median([learned(run) for run in some]) >= LEARNED for some in pair)]
    seeds = min((len(some) for pair in pairs for some in pair), default=0)
    left, right = (
        np.array([[measure(run) for run in pair[side][:seeds]] for pair in pairs]).reshape(len(pairs), seeds)
        for side in (0, 1)
    )
    return left, right


def _scalar(run: Run, name: str, other: float) -> float:
    scalars = run.info.get("scalars", {})
    return float(scalars.get(name, other)) if isinstance(scalars, dict) else other
