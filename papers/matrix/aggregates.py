"""Aggregates of each trick over the tasks: an interquartile mean, the chance to beat the plain decoder; with intervals.

Finished runs enter; what leaves is drawn by `papers.matrix.figures`, written as a table beside the picture, and named
in the lines of Markdown of `summary`.
"""

import functools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lengen.metrics.measures import RIGHT, most_have_learned
from lengen.paper.experiment import Runs
from lengen.results.across_tasks import Scores, interquartile_mean, probability_of_improvement, stratified_interval
from lengen.results.intervals import Interval
from lengen.results.records import Run, to_table
from papers.matrix.scores import Cell, above_guessing, cells, multiple, named, seeds_told, shown
from papers.matrix.tasks import TASKS

BASELINE = "plain"
SEED = 0
"""Of the bootstrap."""
UNKNOWN = Interval(np.nan, np.nan)
PROFILE = "night"
LEVELS = 2
"""So many of the largest multiples are listed, each with its tricks."""
EVEN = 0.5
"""Probability of improvement of what is neither better nor worse."""
NAMED = 3
"""Tricks that are named at one multiple; the others are counted."""


class Aggregate(NamedTuple):
    """Aggregates of a trick that has learned some task."""

    trick: str
    ran: int
    """Tasks that it has runs of."""
    learned: frozenset[str]
    """Those whose trained range it has learned; only these count."""
    seeds: int
    """Of every one of them."""
    mean: float
    """Interquartile mean over tasks and seeds of accuracy beyond the trained lengths, above what guessing gives."""
    between: Interval
    """Its stratified bootstrap interval; unknown with one seed."""
    beside: int
    """Tasks that the plain decoder has learned, too."""
    improves: float
    """Probability to beat the plain decoder on these; nan for itself, and if there are none."""
    improves_between: Interval
    """Its interval; unknown if one of them has one seed."""


def of_trick(runs: Runs, trick: str, measure: Callable[[Run], float]) -> Scores:
    """Scores (tasks, seeds) of a trick on the tasks of which it has learned the trained range.

    Of seeds as many as every one of these cells has; empty if no task is left.
    """
    return _table(list(learned_by(runs, trick).values()), measure)


def compared(runs: Runs, trick: str, baseline: str, measure: Callable[[Run], float]) -> tuple[Scores, Scores]:
    """Scores (tasks, seeds) of a trick and of a baseline on the tasks on which both have learned their trained range.

    Of seeds as many as every one of these cells has; both are empty if no task is left.
    """
    left, right = learned_by(runs, trick), learned_by(runs, baseline)
    tasks = [task for task in left if task in right]
    both = _table([left[task] for task in tasks] + [right[task] for task in tasks], measure)
    return both[: len(tasks)], both[len(tasks) :]


def learned_by(runs: Runs, trick: str) -> Mapping[str, Sequence[Run]]:
    """The runs of a trick by task, if it has learned the trained range."""
    found = {named(name)[0]: some for name, some in runs.items() if some and named(name)[1] == trick}
    return {task: some for task, some in found.items() if most_have_learned(some)}


def _table(cells: Sequence[Sequence[Run]], measure: Callable[[Run], float]) -> Scores:
    seeds = min(map(len, cells), default=0)
    return np.array([[measure(run) for run in some[:seeds]] for some in cells]).reshape(len(cells), seeds)


def aggregates(runs: Runs) -> list[Aggregate]:
    """Return a line for every trick that has learned some task, fewest tasks first, then the lowest mean."""
    tables = {trick: of_trick(runs, trick, above_guessing) for trick in dict.fromkeys(named(name)[1] for name in runs)}
    ran = Counter(named(name)[1] for name, some in runs.items() if some)
    generator = np.random.default_rng(SEED)
    found = [_aggregate(runs, trick, table, ran[trick], generator) for trick, table in tables.items() if table.size]
    return sorted(found, key=lambda one: (len(one.learned), one.mean))


def _aggregate(runs: Runs, trick: str, table: Scores, ran: int, generator: np.random.Generator) -> Aggregate:
    interval = functools.partial(stratified_interval, generator=generator)
    left, right = compared(runs, trick, BASELINE, above_guessing)
    both = trick != BASELINE and bool(left.size)
    seeds = table.shape[1]
    return Aggregate(
        trick,
        ran,
        frozenset(learned_by(runs, trick)),
        seeds,
        float(interquartile_mean(table)),
        interval(interquartile_mean, table) if seeds > 1 else UNKNOWN,
        len(left) if both else 0,
        float(probability_of_improvement(left, right)) if both else np.nan,
        interval(probability_of_improvement, left, right) if both and left.shape[1] > 1 else UNKNOWN,
    )


def table(runs: Runs) -> str:
    """Return a line of CSV for every trick that has learned some task, the highest mean first."""
    mean = ("trick", "tasks_run", "tasks_learned", "seeds", "interquartile_mean", "low", "high")
    beside = ("tasks_compared", "probability_of_improvement", "improvement_low", "improvement_high")
    rows = [
        (
            *(one.trick, one.ran, len(one.learned), one.seeds),
            *map(shown, (one.mean, *one.between)),
            one.beside,
            *map(shown, (one.improves, *one.improves_between)),
        )
        for one in sorted(aggregates(runs), key=lambda one: -one.mean)
    ]
    return to_table((*mean, *beside), rows)


def summary(runs: Runs, refused: Sequence[str]) -> str:
    """A table of the tasks: how many tricks learned the trained range, and which went furthest beyond it; below it how
    much of the matrix has run, and which tricks help over tasks.
    """
    found = {place: cell for place, cell in cells(runs, refused).items() if cell.state != "refused"}
    lines = ["| task, trained to | learned by, of plain and tricks | furthest, in trained lengths |", "|---|---|---|"]
    for task, row in TASKS.items():
        tricks = {trick: cell for (name, trick), cell in found.items() if name == task}
        ran = {trick: cell for trick, cell in tricks.items() if cell.seeds}
        learned = {trick: cell for trick, cell in ran.items() if cell.state == "tested"}
        left = f", {len(tricks) - len(ran)} to run" * (len(ran) < len(tricks))
        by = f"{len(learned)} of {len(ran)}{left}"
        lines.append(f"| {row.name}, {row.trained[PROFILE]} | {by} | {furthest(learned) if ran else 'not run'} |")
    solved = f"exact match of at least {RIGHT:g}, median over all seeds (brackets: least to most)"
    told = f"Furthest: {solved}; {coverage(found)}. {beside_plain(aggregates(runs))}"
    return "\n".join([*lines, "", told.rstrip()])


def beside_plain(found: Sequence[Aggregate]) -> str:
    """List the tricks that beat the plain decoder beyond the trained lengths, over the tasks that both learned, and
    those below it: the whole interval of the probability of improvement lies on one side of a half.

    >>> from math import nan
    >>> from lengen.results.intervals import Interval
    >>> unknown = Interval(nan, nan)
    >>> plain = Aggregate("plain", 8, frozenset(("copy", "sorting")), 3, 0.2, unknown, 0, nan, unknown)
    >>> abc = plain._replace(trick="abc", beside=2, improves=1.0, improves_between=Interval(1.0, 1.0))
    >>> rope = abc._replace(trick="rope", improves=0.2, improves_between=Interval(0.1, 0.3))
    >>> once = abc._replace(trick="fire", improves_between=unknown)
    >>> beside_plain([plain, abc, rope, once]).partition("): ")[2]
    'more often above plain abc (2); more often below rope (2); neither 1.'
    >>> beside_plain([plain, once]).partition("): ")[2]
    'neither 1.'
    >>> beside_plain([plain])
    ''
    """
    others = sorted((one for one in found if one.beside), key=lambda one: (-one.beside, -one.improves))
    better = [one for one in others if one.improves_between[0] > EVEN]
    worse = [one for one in others if one.improves_between[1] < EVEN]
    left = len(others) - len(better) - len(worse)
    parts = [
        f"more often above {BASELINE} {_with_tasks(better)}" * bool(better),
        f"more often below {_with_tasks(worse)}" * bool(worse),
        f"neither {left}" * bool(left),
    ]
    told = "; ".join(filter(None, parts))
    by = f"pairs of seeds on the tasks that both learned, in brackets; no test, no correction for {len(others)} tricks"
    return f"Beyond the trained lengths ({by}): {told}." if told else ""


def _with_tasks(some: Sequence[Aggregate]) -> str:
    """All of them, each with the number of tasks it is compared on: beating one task is not helping everywhere."""
    return ", ".join(f"{one.trick} ({one.beside})" for one in some)


def coverage(found: Mapping[tuple[str, str], Cell]) -> str:
    """Return the share of cells that have run, with their seeds.

    >>> cell = Cell("tested", 1.0, 3, False)
    >>> once, never = cell._replace(seeds=1), cell._replace(seeds=0)
    >>> coverage({("copy", "abc"): cell, ("copy", "rope"): once, ("copy", "fire"): never})
    '2 of 3 cells have run, with 1 to 3 seeds'
    """
    return f"{sum(cell.seeds > 0 for cell in found.values())} of {len(found)} cells have run, with {seeds_told(found)}"


def furthest(learned: Mapping[str, Cell]) -> str:
    """The largest solved multiples beyond the trained length, each with its tricks.

    >>> reached = {"abc": 5.0, "fire": 1.5, "rope": 1.5, "alibi": 1.0}
    >>> found = {trick: Cell("tested", reach, 3, False, (reach, reach)) for trick, reach in reached.items()}
    >>> furthest({**found, "abc": found["abc"]._replace(span=(1.5, 5.0))})
    '5 abc (1.5 to 5); 1.5 fire, rope'
    >>> furthest({})
    'none goes beyond it'
    """
    by_reach: dict[float, list[str]] = {}
    for trick, cell in learned.items():
        if cell.reach > 1:
            low, high = cell.span
            spread = f" ({multiple(low)} to {multiple(high)})" if low < high else ""
            by_reach.setdefault(cell.reach, []).append(f"{trick}{spread}")
    best = sorted(by_reach, reverse=True)[:LEVELS]
    return "; ".join(f"{multiple(reach)} {_listed(by_reach[reach])}" for reach in best) or "none goes beyond it"


def _listed(tricks: Sequence[str]) -> str:
    more = f" and {len(tricks) - NAMED} more" * (len(tricks) > NAMED)
    return ", ".join(tricks[:NAMED]) + more
