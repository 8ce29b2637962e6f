"""Finished runs of the matrix: reach and accuracy beyond the trained lengths of a run, state and cost of each cell."""

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Literal, NamedTuple

from lengen.metrics.measures import (
    Family,
    Measure,
    Missing,
    OfRun,
    along,
    exact_at_longest,
    most_have_learned,
    reached,
)
from lengen.paper.experiment import Runs
from lengen.results.records import Run, to_table
from lengen.settings.spec import from_dict
from lengen.tasks.parity import Parity
from papers.matrix.spec import CalibratedChoice, ChosenSpec, step_tokens


def accuracy_beyond(run: Run) -> float:
    """Mean exact match over the tested lengths beyond the trained ones."""
    right, problems = beyond(run)
    return right / problems


def beyond(run: Run) -> tuple[float, int]:
    """The same as a share of problems: those of one count, so that tasks count alike if they are pooled."""
    longest = run.trained.length
    values = [value for length, value in along(run, 0).items() if length > longest]
    examples = run.info["spec"]["test"]["examples"]
    return sum(values) * examples, len(values) * examples


def guessing(run: Run) -> float:
    """Exact match of guessing: an answer of one bit is right half the time, longer ones hardly ever.

    A parity that is written out bit by bit, as a scratchpad does, is a long one.
    """
    data = run.spec.data
    return 0.5 if isinstance(data.task, Parity) and not data.format.scratchpad else 0.0


def above_guessing(run: Run) -> float:
    """`accuracy_beyond` above what guessing gives, as a share of what lies above it: 0 for a guess, 1 for no error."""
    guess = guessing(run)
    return max(0.0, accuracy_beyond(run) - guess) / (1 - guess)


def learned(run: Run) -> float:
    """Exact match at the longest trained length."""
    return exact_at_longest(run.grid, run.trained)


def tokens(run: Run) -> float:
    """Tokens that the model of a run was trained on: those of the training that was kept, of a calibrated bias of both
    its models, and not those of rates that were tried and left.
    """
    values = run.info["spec"]
    assert isinstance(values, dict)
    spec = from_dict(values, CalibratedChoice if "calibration" in values else ChosenSpec)
    return run.scalar("budgets", 1.0) * spec.train.steps * step_tokens(spec)


MEASURES: Mapping[str, Measure | Family] = {
    "reach": OfRun("largest solved length, as a multiple of the trained one", partial(reached, axis=0)),
    "reach_in_count": OfRun("most operands solved, as a multiple of the most trained", partial(reached, axis=1)),
    "beyond": OfRun("mean exact match over the lengths beyond the trained ones", beyond, proportion=True),
}

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
    span: tuple[float, float] = (math.nan, math.nan)
    """Between what the seeds' multiples lie."""
    learned: float = math.nan
    """Median over seeds of exact match at the longest trained length; nan if it has not run."""
    in_count: float = math.nan
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
            cell = Cell("refused", math.nan, 0, False)
        elif not some:
            cell = Cell("not run", math.nan, 0, False)
        else:
            cell = _ran(some)
        found[named(name)] = cell
    return found


def _ran(some: Sequence[Run]) -> Cell:
    """Return the cell of a trick on a task that it has runs of."""
    retried = any(run.scalar("budgets", 1.0) > 1 for run in some)
    at_range = at_longest(some)
    if not most_have_learned(some):
        return Cell("not learned", math.nan, len(some), retried, learned=at_range)
    multiples = [reached(run, 0)[0] for run in some]
    in_count = math.nan
    with contextlib.suppress(Missing):  # one count of operands alone was tested
        in_count = median([reached(run, 1)[0] for run in some])
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
        took = [median([value(run) for run in some]) if some else math.nan for value in TOOK.values()]
        beyond = [accuracy_beyond(run) for run in some] or [math.nan]
        found = (cell.learned, cell.reach, *cell.span, cell.in_count, median(beyond), min(beyond), max(beyond))
        rows.append((task, trick, cell.state, cell.seeds, *map(shown, (*found, *took))))
    head = ("task", "trick", "state", "seeds", "at_longest_trained", "reach", "least_reach", "largest_reach")
    return to_table((*head, "reach_in_count", "beyond", "least_beyond", "largest_beyond", *TOOK), rows)


def shown(value: float) -> str:
    """Six digits, all of a whole number; nothing for what is not known."""
    return "" if math.isnan(value) else f"{value:.0f}" if float(value).is_integer() else f"{value:.6g}"


TOOK: Mapping[str, Callable[[Run], float]] = {
    "lr": lambda run: run.scalar("lr", math.nan),
    "budgets": lambda run: run.scalar("budgets", 1.0),
    "parameters": lambda run: float(run.info["parameters"]),
    "tokens_of_kept_training": tokens,
    "seconds_of_all_trainings": lambda run: run.scalar("seconds_of_all_trainings", math.nan),
}
"""Columns of `table` for the cost of a cell; seconds are those of one core by the clock."""
