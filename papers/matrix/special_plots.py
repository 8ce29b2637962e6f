"""Pictures of the matrix: which trick shows its published effect, and how far each trick carries each task."""

from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from lengen import plotting
from lengen.experiment import Figure as Picture
from lengen.metrics.run_measures import exact_beyond, most_have_learned, reached
from lengen.metrics.significance import SIGNIFICANT, above
from lengen.plotting import BLACK, COLOURS, Published, Runs
from lengen.results.records import Run
from papers.matrix.experiments import EXPERIMENTS
from papers.matrix.settings import TASKS, THEORY
from papers.matrix.tricks import CONTROLS, FARTHEST, TRICKS

REFUSED = {item.name for item in EXPERIMENTS if not item.specs}
SEEDS = 4
"""Seeds on each side that a control needs."""
FLOOR = 0.01
"""Median exact match below which nothing is shown."""
AXIS = "Solved multiple of trained length"


def reaches(runs: Sequence[Run]) -> list[float]:
    """Return the solved multiple of the trained length of every seed."""
    return [reached(run, None)[0] for run in runs]


def sides(trick: str, runs: Runs) -> tuple[Sequence[Run], Sequence[Run]]:
    """Return the runs of a control and of its baseline."""
    control = CONTROLS[trick]
    return runs.get(f"matrix/{control.task}/{trick}", ()), runs.get(f"matrix/{control.task}/{control.against}", ())


def verdict(trick: str, runs: Runs) -> str:
    """Return whether a control is shown: its seeds exceed those of the baseline, by the test that statements have."""
    both = sides(trick, runs)
    if min(map(len, both)) < SEEDS:
        return "too few seeds" if both[0] else "no runs yet"
    ours, theirs = ([top / of for top, of in (exact_beyond(run, FARTHEST) for run in side)] for side in both)
    return "shown" if above(ours, theirs) <= SIGNIFICANT and median(ours) >= FLOOR else "not shown"


def controls(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Draw each trick on its own task: reach of its seeds, of the baseline's, and the length that was published."""
    figure = plotting.sheet(plotting.PAGE, 0.17 * len(CONTROLS) + 0.9)
    axes = figure.subplots()
    looks: Sequence[dict[str, Any]] = (
        {"label": "trick", "color": COLOURS[0], "marker": "o"},
        {"label": "baseline", "color": COLOURS[1], "marker": "x"},
        {"label": "published", "color": BLACK, "marker": "D", "mfc": "none"},
    )
    for row, (trick, control) in enumerate(CONTROLS.items()):
        values = [*map(reaches, sides(trick, runs)), [control.published] * (control.published > 0)]
        for look, some, shift in zip(looks, values, (-0.15, 0.15, 0), strict=True):
            if some:
                axes.plot(some, [row + shift] * len(some), ls="", ms=4, clip_on=False, **look)
        axes.text(1.02, row, verdict(trick, runs), transform=axes.get_yaxis_transform(), va="center")
    axes.set_xscale("symlog", linthresh=1, linscale=0.6)
    axes.set(xlim=(-0.05, 120), ylim=(len(CONTROLS) - 0.5, -0.5), xlabel=AXIS)
    axes.set_xticks(ticks := (0, 1, 2, 5, 10, 20, 50, 100), labels=map(str, ticks))
    axes.axvline(1, color="0.8", lw=0.8, zorder=0)
    names = [f"{trick}: {control.task} {TASKS[control.task].longest}" for trick, control in CONTROLS.items()]
    axes.set_yticks(range(len(names)), labels=names)
    plotting.legend(figure, [Line2D([], [], ls="", ms=4, **look) for look in looks])
    return figure


NOT_RUN: dict[str, Any] = {"facecolor": "white", "hatch": "////", "edgecolor": "0.8"}
GREY = "0.8"
OWN: dict[str, Any] = {"fill": False, "edgecolor": BLACK, "lw": 1.4}
EXPECTED: dict[str, Any] = {"fill": False, "edgecolor": BLACK, "lw": 0.8, "ls": ":"}


def reach(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Draw the solved multiple of each trick on each task; theory stands beside tasks, frames are what to expect."""
    figure = plotting.sheet(plotting.PAGE, 0.27 * len(TASKS) + 1.6)
    axes = figure.subplots()
    colours = ScalarMappable(LogNorm(1, 100), plotting.HEAT)
    for row, task in enumerate(TASKS):
        axes.text(-1.3, row, THEORY.get(task, "open"), ha="center", va="center")
        for column, trick in enumerate(TRICKS):
            if (name := f"matrix/{task}/{trick}") in REFUSED:
                continue
            look, control = NOT_RUN, CONTROLS.get(trick)
            if some := runs.get(name, ()):
                value, learned = float(median(reaches(some))), most_have_learned(some)
                look = {"facecolor": colours.to_rgba(np.maximum(value, 1)) if learned else GREY, "edgecolor": "white"}
                if learned:
                    ink = "white" if value > 20 else BLACK
                    axes.text(column, row, f"{value:.3g}", ha="center", va="center", size=plotting.LETTER, color=ink)
            axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, lw=0.6, **look))
            if control and task in (control.task, *control.also):
                frame = OWN if task == control.task else EXPECTED
                axes.add_patch(Rectangle((column - 0.43, row - 0.43), 0.86, 0.86, zorder=3, **frame))
    axes.set(xlim=(-1.9, len(TRICKS) - 0.4), ylim=(len(TASKS) - 0.4, -0.6))
    axes.set_xticks(
        [-1.3, *range(len(TRICKS))], labels=["C-RASP", *TRICKS], rotation=45, ha="right", rotation_mode="anchor"
    )
    axes.set_yticks(range(len(TASKS)), labels=[f"{name} {task.longest}" for name, task in TASKS.items()])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    ticks = [1, 2, 5, 10, 20, 50, 100]
    bar = figure.colorbar(colours, ax=axes, aspect=25, pad=0.01, ticks=ticks, format="{x:g}", label=AXIS)
    bar.ax.minorticks_off()
    key = {"its control": OWN, "its source expects help": EXPECTED, "no runs yet": NOT_RUN}
    key["range not learned"] = {"facecolor": GREY}
    plotting.legend(figure, [Patch(label=word, **look) for word, look in key.items()])
    return figure
