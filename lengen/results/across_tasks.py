"""Aggregates of a method over many tasks with few seeds each, with intervals; pure functions on arrays.

Agarwal et al. 2021, "Deep Reinforcement Learning at the Edge of the Statistical Precipice" (2108.13264): the
interquartile mean, intervals by a bootstrap that is stratified by task, and the probability of improvement. A table of
scores has one row per task and one column per seed, (tasks, seeds); a cell without a score (refused, untested) has no
place in it: leave its task out for all methods that are compared.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lengen.results.records import Interval

Scores = NDArray[np.float64]
"""(tasks, seeds) scores of one method; a bootstrap hands on (draws, tasks, seeds)."""
DRAWS = 2000
"""Bootstrap samples of an interval."""
TRIMMED = 0.25
"""Share of the runs that is left out at each end."""


def interquartile_mean(scores: ArrayLike) -> Any:
    """Return the mean of the middle half of all runs of all tasks; leading axes before (tasks, seeds) stay.

    Of n runs the int(n / 4) lowest and as many highest are left out.

    >>> float(interquartile_mean([[0.0, 0.5], [0.7, 1.0]]))
    0.6
    """
    table = _checked(scores)
    runs = np.sort(table.reshape(*table.shape[:-2], -1), axis=-1)
    cut = int(TRIMMED * runs.shape[-1])
    return runs[..., cut : runs.shape[-1] - cut].mean(axis=-1)


def probability_of_improvement(scores: ArrayLike, baseline: ArrayLike) -> Any:
    """Return the probability that a run of a method beats one of the baseline on a random task; ties count half.

    The mean over tasks of the Mann-Whitney statistic over the product of the numbers of seeds, which may differ.

    >>> float(probability_of_improvement([[0.9, 0.4]], [[0.4, 0.1]]))
    0.875
    """
    ours, theirs = _checked(scores), _checked(baseline)
    if ours.shape[-2] != theirs.shape[-2]:
        fault = f"expected the same tasks on both sides, got {ours.shape[-2]} and {theirs.shape[-2]} of them"
        raise ValueError(f"probability_of_improvement: {fault}")
    differences = ours[..., :, None] - theirs[..., None, :]
    return (0.5 * (np.sign(differences) + 1)).mean(axis=(-3, -2, -1))


def resampled(scores: ArrayLike, generator: np.random.Generator, draws: int = DRAWS) -> Scores:
    """Return (draws, tasks, seeds) tables in which the seeds of every task are drawn again with replacement.

    Each task draws from its own.
    """
    table = _checked(scores)
    tasks, seeds = table.shape
    chosen = generator.integers(0, seeds, (draws, tasks, seeds))
    return table[np.arange(tasks)[:, None], chosen]


def stratified_interval(
    statistic: Callable[..., Any], *scores: ArrayLike, generator: np.random.Generator, draws: int = DRAWS
) -> Interval:
    """Return the 95 % percentile interval of a ``statistic`` of one or more tables, seeds drawn again within each task.

    The statistic takes tables with a leading axis of draws, as all of this file do. With three seeds a percentile
    interval is too narrow: it never leaves the values that were seen.
    """
    samples = statistic(*(resampled(table, generator, draws) for table in scores))
    low, high = np.quantile(samples, [0.025, 0.975], axis=0)
    return Interval(float(low), float(high))


def _checked(scores: ArrayLike) -> Scores:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim < 2 or not table.size:
        raise ValueError(f"scores: expected a table (tasks, seeds) with a score or more, got the shape {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError("scores: expected numbers, got a cell without one: leave its task out for every method")
    return table
