"""Finished runs of the matrix as tables: the state of each cell, and scores over tasks for aggregates."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Literal, NamedTuple

import numpy as np

from lengen.metrics.learned import most_have_learned
from lengen.metrics.measures import Missing
from lengen.paper.experiment import Runs
from lengen.results.across_tasks import Scores
from lengen.results.records import Run, to_table
from papers.matrix.budget import tokens
from papers.matrix.measures import accuracy_beyond, learned, reach, reach_in_count

State = Literal["refused", "not run", "not learned", "tested"]
"""Of a cell: tested where at least half of its seeds have learned their trained range, not learned where fewer have."""


class Cell(NamedTuple):
    """Result of a trick on a task."""

    state: State
    reach: float
    """Median over seeds of the multiple of the trained length that is solved; nan if it is not tested."""
    seeds: int
    retried: bool
    """A run of it was trained with more than one budget."""
    span: tuple[float, float] = (np.nan, np.nan)
    """Between what the seeds' multiples lie."""
    learned: float = np.nan
    """Median over seeds of exact match at the longest trained length; nan if it has not run."""
    in_count: float = np.nan
    """Median over seeds of the multiple of the most trained operands that is solved; nan if there is no such axis,
    or the cell is not tested."""


def multiple(value: float) -> str:
    """Return a multiple of the trained length in three digits.

    >>> multiple(9 / 8), multiple(5.0)
    ('1.13', '5')
    """
    return f"{value + 1e-9:.3g}"  # 1.125 would round to an even digit


def named(experiment: str) -> tuple[str, str]:
    """Return task and trick of ``matrix/task/trick``."""
    _, task, trick = experiment.split("/")
    return task, trick


def at_longest(some: Sequence[Run]) -> float:
    """Return median over runs of exact match at the longest trained length."""
    return median([learned(run) for run in some])


def seeds_told(found: Mapping[tuple[str, str], Cell]) -> str:
    """Return the number of seeds of the cells that ran: ``3 seeds``, ``1 to 3 seeds``, ``no seeds``."""
    seeds = sorted({cell.seeds for cell in found.values() if cell.seeds})
    of = " to ".join(str(count) for count in (*seeds[:1], *seeds[1:][-1:])) or "no"
    return f"{of} seed{'s' * (of != '1')}"


def cells(runs: Runs, refused: Sequence[str]) -> Mapping[tuple[str, str], Cell]:
    """Return every cell by task and trick; ``refused``: names of experiments that make no sense."""
    found = {}
    for name, some in runs.items():
        if name in refused:
            cell = Cell("refused", np.nan, 0, False)
        elif not some:
            cell = Cell("not run", np.nan, 0, False)
        else:
            cell = _ran(some)
        found[named(name)] = cell
    return found


def _ran(some: Sequence[Run]) -> Cell:
    """Return the cell of a trick on a task that it has runs of."""
    retried = any(run.scalar("budgets", 1.0) > 1 for run in some)
    at_range = at_longest(some)
    if not most_have_learned(some):
        return Cell("not learned", np.nan, len(some), retried, learned=at_range)
    multiples = [reach(run)[0] for run in some]
    in_count = np.nan
    with contextlib.suppress(Missing):  # one count of operands alone was tested
        in_count = median([reach_in_count(run)[0] for run in some])
    span = min(multiples), max(multiples)
    return Cell("tested", median(multiples), len(some), retried, span, at_range, in_count)


def csv(runs: Runs) -> str:
    """Return `table` with the refused cells of the matrix."""
    from papers.matrix.experiments import REFUSED

    return table(runs, REFUSED)


def table(runs: Runs, refused: Sequence[str]) -> str:
    """Return a line of CSV for every cell: what was found, and what its trainings took (medians over seeds)."""
    rows = []
    for (task, trick), cell in cells(runs, refused).items():
        some = runs[f"matrix/{task}/{trick}"] if cell.seeds else []
        took = [median([value(run) for run in some]) if some else np.nan for value in TOOK.values()]
        beyond = [accuracy_beyond(run) for run in some] or [np.nan]
        found = (cell.learned, cell.reach, *cell.span, cell.in_count, median(beyond), min(beyond), max(beyond))
        rows.append((task, trick, cell.state, cell.seeds, *map(shown, (*found, *took))))
    head = ("task", "trick", "state", "seeds", "at_longest_trained", "reach", "least_reach", "largest_reach")
    return to_table((*head, "reach_in_count", "beyond", "least_beyond", "largest_beyond", *TOOK), rows)


def shown(value: float) -> str:
    """Return six digits, all of a whole number; nothing for what is not known."""
    return "" if np.isnan(value) else f"{value:.0f}" if float(value).is_integer() else f"{value:.6g}"


TOOK: Mapping[str, Callable[[Run], float]] = {
    "lr": lambda run: run.scalar("lr", np.nan),
    "budgets": lambda run: run.scalar("budgets", 1.0),
    "parameters": lambda run: float(run.info["parameters"]),
    "tokens_of_kept_training": tokens,
    "seconds_of_all_trainings": lambda run: run.scalar("seconds_of_all_trainings", np.nan),
}
"""Columns of `table` for the cost of a cell; seconds are those of one core by the clock."""


def of_trick(runs: Runs, trick: str, measure: Callable[[Run], float]) -> Scores:
    """Return scores (tasks, seeds) of a trick on the tasks of which it has learned the trained range.

    Of seeds as many as every one of these cells has; empty if no task is left.
    """
    return _table(list(learned_by(runs, trick).values()), measure)


def compared(runs: Runs, trick: str, baseline: str, measure: Callable[[Run], float]) -> tuple[Scores, Scores]:
    """Return scores (tasks, seeds) of a trick and of a baseline.

    They are of the tasks on which both have learned their trained range.

    Of seeds as many as every one of these cells has; both are empty if no task is left.
    """
    left, right = learned_by(runs, trick), learned_by(runs, baseline)
    tasks = [task for task in left if task in right]
    both = _table([left[task] for task in tasks] + [right[task] for task in tasks], measure)
    return both[: len(tasks)], both[len(tasks) :]


def learned_by(runs: Runs, trick: str) -> Mapping[str, Sequence[Run]]:
    """Return the runs of a trick by task, if it has learned the trained range."""
    found = {named(name)[0]: some for name, some in runs.items() if some and named(name)[1] == trick}
    return {task: some for task, some in found.items() if most_have_learned(some)}


def _table(cells: Sequence[Sequence[Run]], measure: Callable[[Run], float]) -> Scores:
    seeds = min(map(len, cells), default=0)
    return np.array([[measure(run) for run in some[:seeds]] for some in cells]).reshape(len(cells), seeds)
