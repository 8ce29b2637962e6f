"""Figures 4.6 and 4.9: a scratchpad scored part by part, and sub-tasks by themselves; runs go in, a Figure leaves.

A run's arrays hold one number per example and tested length: ``hits.part.<part>.<length>`` and
``edits.<part>`` (characters), ``hits.subtask.<task>`` and ``values.loss.<task>`` (nats per answer token).
"""

import math
from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

from lengen import plotting
from lengen.intervals import median, wilson
from lengen.records import Run
from papers.random_spaces import lengths as titles
from papers.random_spaces import sweep
from papers.random_spaces.figures import panels
from papers.random_spaces.figures.panels import Runs

PARTS = {
    "reversed": "Reversed operands",
    "partials": "Partial sums",
    "answer": "Final answer",
    "answer_of_partials": "Reading off: final answer\nagainst its own partial sums",
    "partials_imply_answer": "Calculating: what the partial\nsums imply, against the truth",
}
"""Parts of the scratchpad, then the two halves of what the thesis reads as one."""
HALVES = 2
"""How many of the parts, the last ones, are those halves."""
MOST = 9
"""Lengths that a panel has room for."""
BARS = mpl.colormaps["YlGnBu"]
HATCHES = ("", "//", "xx", "..", "\\\\", "++")


# -- Figure 4.6 --------------------------------------------------------------------------------------------


def fig4_6(runs: Runs) -> Figure:
    """Figure 4.6: distribution of edit distances above, accuracy below; a column a part of the scratchpad."""
    some = next((some for some in runs.values() if some), None)
    if some is None:
        return plotting.empty(runs)
    lengths = [length for length in titles.lengths(some[0]) if f"hits.part.answer.{length}" in some[0].arrays][-MOST:]
    if not lengths:
        return plotting.empty(runs, "no parts recorded at this profile")
    figure = Figure(figsize=(2.05 * len(PARTS) + 0.6, 4.4), layout="constrained")
    grid = figure.subplots(2, len(PARTS), sharex=True, sharey="row")
    for number, ((above, below), (part, title)) in enumerate(zip(grid.T, PARTS.items(), strict=True)):
        half = number >= len(PARTS) - HALVES
        _violins(above, some, part, lengths, plotting.COLOURS[1 if half else 0])
        _accuracy(below, some, part, lengths, plotting.COLOURS[1 if half else 0])
        above.set_title(title, weight="bold" if half else None)
        for axes in (above, below):
            panels.shade(axes, [length for length in lengths if titles.role(some[0], length) == "trained"])
        below.set_xlabel("Operand length (digits)")
        below.set_xticks(lengths)
        below.set_xlim(lengths[0] - 0.7, lengths[-1] + 0.7)
    grid[0, 0].set_ylabel("Edit distance (characters)")
    grid[0, 0].set_yscale("symlog", linthresh=1)
    grid[0, 0].yaxis.set_major_formatter(FuncFormatter(panels.plain))
    grid[0, 0].set_ylim(-0.15, None)
    grid[1, 0].set_ylabel("Accuracy")
    grid[1, 0].set_ylim(-0.04, 1.04)
    grid[1, 0].yaxis.set_major_formatter(PercentFormatter(1.0))
    prompts = max(run.arrays[f"hits.part.answer.{length}"].size for run in some for length in lengths)
    note = (
        f"{titles.label(some[0])}, {titles.trained_on(some[0])}, {titles.size(some[0])}. {prompts} problems a length, "
        f"{plotting.seeds(len(some))}. Grey: trained lengths. Violins: all problems of all seeds, a bar at their mean, "
        "linear up to 1 and logarithmic above. Accuracy bars: range of the seeds, or the 95 % Wilson interval of one. "
        "The published panel of the answer with respect to the scratchpad measured the last column and was read as the "
        "one before; both halves are shown."
    )
    plotting.footnote(figure, note, *titles.absent(runs))
    return figure


def _violins(axes: Axes, runs: Sequence[Run], part: str, lengths: Sequence[int], colour: object) -> None:
    shown = [length for length in lengths if any(f"values.edits.{part}.{length}" in run.arrays for run in runs)]
    if not shown:
        plotting.missing(axes, part, "not recorded")
        return
    data = [edits(runs, part, length) for length in shown]
    # a distribution of one value has no width to draw: its mean bar stands alone
    spread = [(length, values) for length, values in zip(shown, data, strict=True) if np.ptp(values) > 0]
    if spread:
        drawn = axes.violinplot(
            [values for _, values in spread], [length for length, _ in spread], widths=0.85, showextrema=False
        )
        for body in drawn["bodies"]:  # type: ignore[attr-defined]
            body.set(facecolor=colour, edgecolor="k", linewidth=0.5, alpha=0.6)
    axes.plot(shown, [values.mean() for values in data], "_", color="k", markersize=9, markeredgewidth=1.6)


def edits(runs: Sequence[Run], part: str, length: int) -> np.ndarray:
    """Edit distances of one part at one length, all problems of all runs: (problems,), characters."""
    name = f"values.edits.{part}.{length}"
    return np.concatenate([run.arrays[name].astype(np.float64) for run in runs if name in run.arrays])


def _accuracy(axes: Axes, runs: Sequence[Run], part: str, lengths: Sequence[int], colour: object) -> None:
    for length in lengths:
        found = [run.arrays[name] for run in runs if (name := f"hits.part.{part}.{length}") in run.arrays]
        if not found:
            continue
        rates = [float(hits.mean()) for hits in found]
        middle = median(rates)
        low, high = (min(rates), max(rates)) if len(found) > 1 else wilson(int(found[0].sum()), found[0].size)
        axes.errorbar(
            length, middle, yerr=[[middle - low], [high - middle]], fmt="o", color=colour, ecolor="k", capsize=2.5,
            elinewidth=0.9, markersize=5, markeredgecolor="k", markeredgewidth=0.5,
        )  # fmt: skip


# -- Figure 4.9 --------------------------------------------------------------------------------------------


def fig4_9(runs: Runs) -> Figure:
    """Figure 4.9: mean and deviation over models of loss (above) and accuracy (below) of every sub-task, in
    distribution and at every other length."""
    every = [run for run in titles.distinct(runs) if sweep.kind(run) == "mix"]
    tasks = [
        task for task in titles.TASKS if any(f"hits.subtask.{task}." in name for run in every for name in run.arrays)
    ]
    if not tasks:
        return plotting.empty(runs, "not measured at this profile" if every else "not run at this profile")
    groups = list(dict.fromkeys(group for run in every for group in titles.groups(run)))
    figure = Figure(figsize=(8.4, 4.6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    for axes, family in ((above, "values.loss"), (below, "hits.subtask")):
        for number, group in enumerate(groups):
            _bars(axes, every, family, tasks, group, number, len(groups))
        axes.set_xticks(range(len(tasks)), labels=[titles.TASKS[task] for task in tasks])
        axes.tick_params(axis="x", length=0)
    above.set_ylabel("Answer loss (nats per token)")
    above.set_ylim(0, None)
    above.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    below.set_ylabel("Accuracy")
    below.set_ylim(0, 1.04)
    below.yaxis.set_major_formatter(PercentFormatter(1.0))
    handles, labels = below.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False)
    sizes = ", ".join(titles.examples(size) for size in sorted({sweep.examples(run) for run in every}))
    models = ", ".join(str(width) for width in sorted({sweep.width(run) for run in every}))
    note = (
        f"Bars: mean, whiskers: sample deviation, over {len(every)} model{'s' * (len(every) > 1)} trained on all "
        f"sub-tasks (widths {models}; training examples {sizes}; seeds). Losses of different sub-tasks are not "
        "comparable: their answers differ in length and in the number of likely tokens. Red outline: trained lengths."
    )
    plotting.footnote(figure, note, *titles.absent(runs))
    return figure


def _bars(
    axes: Axes, runs: Sequence[Run], family: str, tasks: Sequence[str], group: tuple[int, ...], number: int, of: int
) -> None:
    found = [[sweep.values(run, f"{family}.{task}", group) for run in runs] for task in tasks]
    spread = [sweep.spread([value for value in values if not math.isnan(value)]) for values in found]
    xs = np.arange(len(tasks)) + (number - (of - 1) / 2) * 0.8 / of
    mean, deviation = np.array(spread).T
    deviation = np.nan_to_num(deviation)
    top = mean + deviation if family == "values.loss" else np.minimum(mean + deviation, 1.0)
    whiskers = [mean - np.maximum(mean - deviation, 0.0), top - mean]
    edge, line = ("#d7191c", 1.2) if titles.role(runs[0], group[0]) == "trained" else ("k", 0.5)
    axes.bar(
        xs, mean, 0.8 / of, yerr=whiskers, color=BARS(0.15 + 0.75 * number / max(of - 1, 1)),
        edgecolor=edge, linewidth=line, hatch=HATCHES[number % len(HATCHES)],
        label=titles.group_label(runs[0], group), capsize=2, error_kw={"elinewidth": 0.8, "ecolor": "k"},
    )  # fmt: skip
