"""Pictures of the matrix that no shared drawing makes: how far tricks carry tasks, aggregates over tasks."""

import textwrap

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure

from lengen import plotting
from lengen.experiment import Figure as Picture
from lengen.plotting import Published, Runs
from papers.matrix import scores as aggregated
from papers.matrix.experiments import REFUSED
from papers.matrix.scores import BASELINE, cells, multiple
from papers.matrix.settings import TASKS
from papers.matrix.tricks import FILES

FURTHEST = 5.0
"""Largest tested multiple of the trained length: the darkest colour."""


def reached(runs: Runs) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the solved multiples (tricks, tasks; nan if not learned), and which cells ran and learned nothing.

    Tricks stand by family, in each the furthest first; a task with several numbers has a second column.
    """
    tested = cells(runs, REFUSED)
    several = {task for (task, _), cell in tested.items() if cell.in_count == cell.in_count}
    rows = []
    for (task, trick), cell in tested.items():
        columns = {TASKS[task].name: cell.reach.median}
        if task in several:
            columns[f"{TASKS[task].name}: operands"] = cell.in_count
        rows += [(trick, column, value, cell.state == "not learned") for column, value in columns.items()]
    table = pd.DataFrame(rows, columns=["trick", "column", "value", "missed"]).set_index(["trick", "column"])
    frame, lacking = table["value"].unstack(), table["missed"].unstack().fillna(False).astype(bool)
    names = [row.name for row in TASKS.values()]
    order_of = [c for name in names for c in frame.columns if c == name or c.startswith(f"{name}: ")]
    groups = [[trick for trick in family if trick in frame.index] for family in FILES.values()]
    order = [trick for group in groups for trick in sorted(group, key=lambda name: -frame.loc[name].sum())]
    return frame.loc[order, order_of], lacking.loc[order, order_of]


def matrix(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Draw tasks by tricks; colour and number are the solved multiple of what was trained."""
    if not any(runs.values()):
        return plotting.empty()
    values, lacking = reached(runs)
    figure = plotting.sheet(plotting.PAGE, 0.165 * len(values) + 1.5)
    axes = figure.subplots()
    grey = lacking.astype(float).where(lacking)
    sns.heatmap(grey, ax=axes, cmap=ListedColormap(["0.8"]), cbar=False, linewidths=0.5)
    numbers = values.map(lambda value: "" if np.isnan(value) else multiple(value))
    sns.heatmap(
        values, ax=axes, vmin=1, vmax=FURTHEST, cmap=plotting.HEAT, cbar=False, annot=numbers, fmt="",
        annot_kws={"size": plotting.LETTER}, linewidths=0.5,
    )  # fmt: skip
    end = 0
    for family in FILES.values():
        end += sum(trick in values.index for trick in family)
        axes.axhline(end, color="0.3", lw=0.8)
    axes.set_xticks(
        np.arange(len(values.columns)) + 0.5,
        labels=[textwrap.fill(column, 9) for column in values.columns], rotation=0,
    )  # fmt: skip
    axes.set_yticks(np.arange(len(values)) + 0.5, labels=list(values.index), rotation=0)
    axes.tick_params(length=0)
    axes.set(xlabel="", ylabel="")
    colours = ScalarMappable(Normalize(1, FURTHEST), plotting.HEAT)
    bar = figure.colorbar(colours, ax=axes, shrink=0.5, aspect=30, pad=0.01)
    bar.set_label("Solved multiple of what was trained")
    return figure


def aggregates(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Draw the interquartile mean of the accuracy beyond the range, and probability to beat the plain decoder."""
    tricks = aggregated.aggregates(runs)
    if not tricks:
        return plotting.empty()
    figure = plotting.sheet(plotting.PAGE, 0.16 * len(tricks) + 1.2)
    first, second = figure.subplots(1, 2, sharey=True)
    for row, trick in enumerate(tricks):
        first.plot([*trick.between], [row, row], color="0.6", lw=2)
        first.plot(trick.mean, row, "o", color="black", ms=3)
        if trick.beside:
            second.plot([*trick.improves_between], [row, row], color="0.6", lw=2)
            second.plot(trick.improves, row, "o", color="black", ms=3)
    labels = [f"{trick.trick} ({len(trick.learned)} of {trick.ran})" for trick in tricks]
    first.set_yticks(range(len(tricks)), labels=labels)
    first.set(xlabel="Accuracy beyond, above guessing", ylim=(-0.7, len(tricks) - 0.3), xlim=(-0.03, None))
    second.set(xlabel=f"Probability to beat {BASELINE}", xlim=(-0.03, 1.03))
    second.axvline(0.5, color="0.8", lw=0.8, zorder=0)
    return figure
