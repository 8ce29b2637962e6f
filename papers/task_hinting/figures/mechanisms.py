"""Figures 4.15 and 4.16: how often the residual stream shows the two operations, by length."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengen.plotting import Runs, hits
from lengen.records import Run
from papers.task_hinting.figures import panels, words


def fig4_15(runs: Runs) -> Figure:
    """Figure 4.15: the delimiter finds the minimum after the first attention."""
    note = (
        "Hit: the delimiter's largest projection on the decoder basis is the minimum. Dotted: a guess of 1 every time. "
        "Faint: seeds."
    )
    label = "Share of sequences whose\nminimum is found (attention 1)"
    figure = panels.by_length(runs, minimum, words.labels(runs, "hints"), label, note)
    if figure.axes and figure.axes[0].lines:
        _seeds(figure.axes[0], runs)
    guess = guessed([run for some in runs.values() for run in some]).groupby("length")["value"].median()
    if len(guess):  # the sequences are the same for all runs
        figure.axes[0].plot(guess.index.tolist(), guess.tolist(), ":", color="0.4", zorder=1)
    return figure


def fig4_16(runs: Runs) -> Figure:
    """Figure 4.16: an output token shows itself and its successor after the second attention."""
    note = (
        "Hit: the two largest projections of an output token on the decoder basis are itself and the next larger "
        "number of the sequence. Tokens of one sequence are no independent samples: one seed has no band."
    )
    label = "Share of output tokens that show\nthemselves and the next (attention 2)"
    return panels.by_length(runs, identity_successor, words.labels(runs, "hints"), label, note, interval=False)


def _seeds(axes: Axes, runs: Runs) -> None:
    """A faint line a seed where there are several: models of one setting may be of two kinds, and no median is."""
    looks = panels.method_looks(runs)
    for name, some in runs.items():
        for _, one in minimum(some).groupby("run") if len(some) > 1 else ():
            one = one.sort_values("length")
            axes.plot(one["length"], one["value"], color=looks[name].colour, alpha=0.3, zorder=1)


def minimum(runs: Sequence[Run]) -> pd.DataFrame:
    """How often the delimiter finds the minimum, by length."""
    return hits(runs, "minimum")


def guessed(runs: Sequence[Run]) -> pd.DataFrame:
    """How often the minimum is 1, by length."""
    return hits(runs, "guessed")


def copy(runs: Sequence[Run]) -> pd.DataFrame:
    """How often input tokens show themselves after the first attention, by length."""
    return hits(runs, "copy")


def identity_successor(runs: Sequence[Run]) -> pd.DataFrame:
    """How often output tokens show themselves and their successor, by length."""
    return hits(runs, "identity_successor")
