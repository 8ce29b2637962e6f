"""Aggregates of each trick over the tasks: an interquartile mean, the chance to beat the plain decoder; with intervals.

Finished runs enter; what leaves is drawn by `papers.matrix.figures` and written as a table beside the picture.
"""

import functools
from collections import Counter
from typing import NamedTuple

import numpy as np

from lengen.paper.experiment import Runs
from lengen.results.across_tasks import Scores, interquartile_mean, probability_of_improvement, stratified_interval
from lengen.results.intervals import Interval
from lengen.results.records import to_table
from papers.matrix.measures import above_guessing
from papers.matrix.scores import compared, learned_by, named, of_trick, shown

BASELINE = "plain"
SEED = 0
"""Of the bootstrap."""
UNKNOWN = Interval(np.nan, np.nan)


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
