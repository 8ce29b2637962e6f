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


def has_learned(some: Sequence[Run]) -> bool:
    """Whether the runs of a cell have learned their trained range: the median at its longest length says so."""
    return median([learned(run) for run in some]) >= LEARNED


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
            tested = has_learned(some)
            how_far = median([reach(run)[0] for run in some]) if tested else np.nan
            cell = Cell("tested" if tested else "untested", how_far, len(some), retried)
        found[named(name)] = cell
    return found


def of_trick(runs: Runs, trick: str, measure: Callable[[Run], float]) -> Scores:
    """Scores (tasks, seeds) of a trick on the tasks of which it has learned the trained range.

    Of seeds as many as every one of these cells has; empty where no task is left.
    """
    return _table(list(_learned_by(runs, trick).values()), measure)


def compared(runs: Runs, trick: str, baseline: str, measure: Callable[[Run], float]) -> tuple[Scores, Scores]:
    """Scores (tasks, seeds) of a trick and of a baseline on the tasks on which both have learned their trained range.

    Of seeds as many as every one of these cells has; both are empty where no task is left.
    """
    left, right = _learned_by(runs, trick), _learned_by(runs, baseline)
    tasks = [task for task in left if task in right]
    both = _table([left[task] for task in tasks] + [right[task] for task in tasks], measure)
    return both[: len(tasks)], both[len(tasks) :]


def _learned_by(runs: Runs, trick: str) -> Mapping[str, Sequence[Run]]:
    """The runs of a trick by task, where it has learned the trained range."""
    found = {named(name)[0]: some for name, some in runs.items() if some and named(name)[1] == trick}
    return {task: some for task, some in found.items() if has_learned(some)}


def _table(cells: Sequence[Sequence[Run]], measure: Callable[[Run], float]) -> Scores:
    seeds = min(map(len, cells), default=0)
    return np.array([[measure(run) for run in some[:seeds]] for some in cells]).reshape(len(cells), seeds)


def _scalar(run: Run, name: str, other: float) -> float:
    scalars = run.info.get("scalars", {})
    return float(scalars.get(name, other)) if isinstance(scalars, dict) else other
