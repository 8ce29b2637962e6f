"""Pictures of the matrix: which trick shows its published effect, and how far each trick carries each task."""

from collections.abc import Sequence
from statistics import median

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lengen import plotting
from lengen.experiment import Figure as Picture
from lengen.metrics.measures import exact_at, most_have_learned, reached
from lengen.plotting import Published, Runs
from lengen.results.records import Run
from papers.matrix.experiments import EXPERIMENTS
from papers.matrix.settings import ROOM, TASKS
from papers.matrix.tricks import CONTROLS, TRICKS, Control

REFUSED = {item.name for item in EXPERIMENTS if not item.specs}
SEEDS = 4
"""Seeds on each side that a control needs."""
FLOOR = 0.01
"""Median exact match below which nothing is shown."""


def reaches(runs: Sequence[Run]) -> list[float]:
    """Return the solved multiple of the trained length of every seed."""
    return [reached(run, None)[0] for run in runs]


def beside(control: Control) -> str:
    """Return the name of the baseline of a control."""
    return f"matrix/{control.task}/{control.against}"


def verdict(trick: str, runs: Runs) -> str:
    """Return whether the control of a trick is shown: each of its seeds exceeds each of the baseline, as in statements."""
    control = CONTROLS[trick]
    sides = [runs.get(name, ()) for name in (f"matrix/{control.task}/{trick}", beside(control))]
    if min(map(len, sides)) < SEEDS:
        return "not run" if not sides[0] else "too few seeds"
    ours, theirs = ([top / of for top, of in (exact_at(run, control.at) for run in side)] for side in sides)
    return "shown" if min(ours) > max(theirs) and median(ours) >= FLOOR else "not shown"


def controls(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Draw each trick on its own task: reach of its seeds, of the baseline's, and what was published."""
    figure = plotting.sheet(plotting.PAGE, 0.21 * len(CONTROLS) + 0.9)
    axes = figure.subplots()
    ours, theirs = plotting.COLOURS[0], plotting.COLOURS[1]
    for row, (trick, control) in enumerate(CONTROLS.items()):
        for name, colour, marker, shift in (
            (f"matrix/{control.task}/{trick}", ours, "o", -0.15),
            (beside(control), theirs, "x", 0.15),
        ):
            values = reaches(runs.get(name, ()))
            axes.plot(values, np.full(len(values), row + shift), marker, color=colour, ms=4, clip_on=False)
        axes.plot(control.published, row, "D", mfc="none", mec=plotting.BLACK, ms=5)
        axes.text(1.01, row, verdict(trick, runs), transform=axes.get_yaxis_transform(), va="center")
    for label, colour, marker, fill in (
        ("trick", ours, "o", ours), ("baseline", theirs, "x", theirs), ("published", plotting.BLACK, "D", "none"),
    ):  # fmt: skip
        axes.plot([], [], marker, color=colour, mfc=fill, label=label)
    axes.set_xscale("symlog", linthresh=1, linscale=0.6)
    axes.set_xlim(-0.05, 120)
    axes.set_xticks([0, 1, 2, 5, 10, 100], labels=["0", "1", "2", "5", "10", "100"])
    axes.axvline(1, color="0.8", lw=0.8, zorder=0)
    names = [f"{trick} ({control.task} {TASKS[control.task].size})" for trick, control in CONTROLS.items()]
    axes.set_yticks(range(len(names)), labels=names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel("Solved multiple of the trained length")
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    return figure


def reach(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Draw tricks by tasks, the solved multiple in each cell; theory stands beside the tasks, frames are what to expect."""
    figure = plotting.sheet(plotting.PAGE, 0.3 * len(TASKS) + 1.7)
    axes = figure.subplots()
    colours = ScalarMappable(LogNorm(1, 100), plotting.HEAT)
    for row, task in enumerate(TASKS):
        axes.text(-0.6, row, TASKS[task].theory, ha="center", va="center")
        for column, trick in enumerate(TRICKS):
            control = CONTROLS.get(trick)
            expected = control is not None and task in (control.task, *control.also)
            if (name := f"matrix/{task}/{trick}") in REFUSED:
                continue
            some = runs.get(name, ())
            look: dict[str, object] = {"facecolor": "white", "hatch": "////", "edgecolor": "0.85"}
            if some:
                value = median(reaches(some))
                learned = most_have_learned(some)
                look = {"facecolor": colours.to_rgba(max(value, 1)) if learned else "0.8", "edgecolor": "white"}
                dark = learned and value > 20
                axes.text(
                    column, row, f"{value:.2g}" if value < 10 else f"{value:.0f}" if learned else "", ha="center",
                    va="center", size=plotting.LETTER, color="white" if dark else plotting.BLACK,
                ) if learned else None
            axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, lw=0.6, **look))
            if expected:
                assert control is not None
                own = task == control.task
                frame = {"fill": False, "edgecolor": plotting.BLACK, "lw": 1.4 if own else 0.7, "zorder": 3}
                axes.add_patch(Rectangle((column - 0.44, row - 0.44), 0.88, 0.88, ls="-" if own else ":", **frame))
    axes.set_xlim(-1.1, len(TRICKS) - 0.4)
    axes.set_ylim(len(TASKS) - 0.4, -0.6)
    axes.set_xticks([-0.6, *range(len(TRICKS))], labels=["C-RASP", *TRICKS], rotation=45, ha="right")
    axes.set_yticks(range(len(TASKS)), labels=[f"{task} {column.size}" for task, column in TASKS.items()])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    bar = figure.colorbar(colours, ax=axes, shrink=0.8, aspect=25, pad=0.01, ticks=[1, 2, ROOM, 10, 100])
    bar.ax.set_yticklabels(["1", "2", str(ROOM), "10", "100"])
    bar.set_label("Solved multiple of the trained length")
    return figure
