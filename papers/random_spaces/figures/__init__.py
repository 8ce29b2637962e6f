"""The thesis's figures, one function each: finished runs go in, a matplotlib Figure leaves.

Every function takes a mapping from the name of an experiment to its runs, one per seed. Here are accuracies by
length; what happens in training, uncertainty, attention, parts and the sweep have files of their own. Experiments
without a run are named below the figure.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengen import plotting
from lengen.intervals import median
from lengen.records import Run
from papers.random_spaces import lengths as titles
from papers.random_spaces.figures import panels
from papers.random_spaces.figures.attention import fig4_4
from papers.random_spaces.figures.panels import Runs
from papers.random_spaces.figures.parts import fig4_6, fig4_9
from papers.random_spaces.figures.sweep import fig4_7, fig4_8, table4_3, table4_3_csv, widths
from papers.random_spaces.figures.training import fig4_1, fig4_2, figB_1
from papers.random_spaces.figures.uncertainty import fig4_3

__all__ = [
    "fig4_1",
    "fig4_2",
    "fig4_3",
    "fig4_4",
    "fig4_5",
    "fig4_6",
    "fig4_7",
    "fig4_8",
    "fig4_9",
    "figB_1",
    "looped",
    "table4_3",
    "table4_3_csv",
    "widths",
]


class Line(NamedTuple):
    """A row of Figure 4.5: a setting and how its responses are scored."""

    runs: Sequence[Run]
    label: str
    mode: str
    metric: str


def fig4_5(runs: Runs) -> Figure:
    """Figure 4.5: exact match of every setting, all trained lengths together, then every other length by itself.

    A scratchpad has two rows: the whole response, and its final answer as the model writes it.
    """
    lines = [line for some in runs.values() if some for line in _lines(some)]
    if not lines:
        return plotting.empty(runs)
    groups = list(dict.fromkeys(group for line in lines for group in titles.groups(line.runs[0])))
    groups.sort(key=lambda group: (titles.role(lines[0].runs[0], group[0]) != "trained", group))
    figure = Figure(figsize=(1.05 * len(groups) + 3.0, 0.46 * len(lines) + 1.5), layout="constrained")
    axes = figure.subplots()
    found = [[_rates(line, group) for group in groups] for line in lines]
    values = np.array([[median(rates) if rates else np.nan for rates in row] for row in found])
    axes.patch.set(facecolor="0.94", edgecolor="0.6", hatch="/////")
    axes.imshow(values, cmap=plotting.HEAT, vmin=0, vmax=1, aspect="auto", interpolation="none")
    for (down, right), value in np.ndenumerate(values):
        if not np.isnan(value):
            colour = "white" if value > 0.55 else "black"
            axes.text(right, down, _cell(found[down][right]), ha="center", va="center", color=colour, size=7.5)
    axes.set_xticks(range(len(groups)), labels=[titles.group_label(lines[0].runs[0], group) for group in groups])
    axes.set_yticks(range(len(lines)), labels=[line.label for line in lines])
    axes.tick_params(length=0)
    inside = [k for k, group in enumerate(groups) if titles.role(lines[0].runs[0], group[0]) == "trained"]
    if inside:
        plotting.outline(axes, inside[0], 0, len(inside), len(lines))
    scale = figure.colorbar(plotting.heat_scale(), ax=axes, shrink=0.9, aspect=25)
    scale.set_label("Exact match")
    sizes = dict.fromkeys(titles.size(line.runs[0]) for line in lines)
    note = (
        "Per cent of all problems of a cell: the median over seeds and, below where they differ, their range. Red: "
        f"trained lengths, together. {'; '.join(sizes)}. {titles.seeds(runs)}"
    )
    plotting.footnote(figure, note, *titles.absent(runs))
    return figure


def _lines(runs: Sequence[Run]) -> list[Line]:
    label = titles.label(runs[0]).replace(", ", ",\n", 1)
    if not titles.setting(runs[0], "data", "scratchpad", False):
        return [Line(runs, label, "teacher_forced", "correct")]
    return [
        Line(runs, f"{label} (whole)", "teacher_forced", "correct"),
        Line(runs, f"{label} (final answer)", "free_running", "answer_correct"),
    ]


def _rates(line: Line, group: Sequence[int]) -> list[float]:
    """One rate per seed that scored the lengths."""
    totals = [run.grid.total([(length,) for length in group], line.mode) for run in line.runs]
    return [plotting.rate(total, line.metric) for total in totals if total.n]


def _cell(rates: Sequence[float]) -> str:
    """The median in per cent, with the range below where the seeds differ."""
    middle = f"{100 * median(rates):.1f}"
    return f"{middle}\n({100 * min(rates):.1f}–{100 * max(rates):.1f})" if min(rates) < max(rates) else middle


def looped(runs: Runs) -> Figure:
    """Section 2.1.3: exact match by length of the looped decoder, with and without input injection."""
    shown = {name: some for name, some in runs.items() if some}
    if not shown:
        return plotting.empty(runs)
    figure = Figure(figsize=(5.6, 3.2), layout="constrained")
    axes = figure.subplots()
    for number, some in enumerate(shown.values()):
        _curve(axes, some, number, len(shown))
    first = next(iter(shown.values()))[0]
    panels.shade(axes, titles.by_role(first, "trained"))
    axes.set_xlabel("Operand length (digits)")
    axes.set_ylabel("Exact match")
    axes.set_xticks(titles.lengths(first))
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right center", frameon=False)
    note = (
        f"{titles.label(first)}, {titles.size(first)}. Grey: trained lengths. {titles.seeds(runs)} Bands: range of the "
        "seeds, or the 95 % Wilson interval of one."
    )
    plotting.footnote(figure, note, *titles.absent(runs))
    return figure


def _curve(axes: Axes, runs: Sequence[Run], number: int, of: int) -> None:
    injected = titles.setting(runs[0], "model", "inject", "none")
    words = {"none": "without input injection", "input": "with input injection"}
    plotting.curve(
        axes,
        [run.grid for run in runs],
        label=words.get(injected, f"with injected {injected}"),
        colour=plotting.COLOURS[(0, 3)[number % 2]],
        marker=plotting.MARKERS[number],
        dashed=injected == "none",
    )
    # curves often coincide, at 0 or at 1: each is thinner than those below it
    axes.lines[-1].set(linewidth=2.6 - 1.2 * number / max(of - 1, 1))
