"""Figure 4.5, settings side by side, and the looped decoder of Section 2.1.3: exact match by length."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from lengen import plotting
from lengen.intervals import median
from lengen.plotting import METHODS, Runs, first, setting
from lengen.records import Run
from papers.random_spaces import lengths
from papers.random_spaces.figures import words


class Line(NamedTuple):
    """A row of Figure 4.5: a setting and how its responses are scored."""

    runs: Sequence[Run]
    label: str
    mode: str = "teacher_forced"
    metric: str = "correct"


def fig4_5(runs: Runs) -> Figure:
    """Figure 4.5: exact match of every setting, all trained lengths together, then every other length by itself.

    A scratchpad has two rows: the whole response, and its final answer as the model writes it.
    """
    lines = [line for some in runs.values() if some for line in _lines(some)]
    if not lines:
        return plotting.empty(runs)
    run = first(runs)
    groups = list(dict.fromkeys(group for line in lines for group in lengths.groups(line.runs[0])))
    groups.sort(key=lambda group: (lengths.role(run, group[0]) != "trained", group))
    figure = Figure(figsize=(1.05 * len(groups) + 3.0, 0.46 * len(lines) + 1.5), layout="constrained")
    axes = figure.subplots()
    found = [[_rates(line, group) for group in groups] for line in lines]
    plotting.heat_table(
        axes,
        np.array([[median(rates) if rates else np.nan for rates in row] for row in found]),
        [[_cell(rates) for rates in row] for row in found],
        rows=[line.label for line in lines],
        columns=[lengths.group_label(run, group) for group in groups],
        size=7.5,
        hatched=True,
    )
    inside = [k for k, group in enumerate(groups) if lengths.role(run, group[0]) == "trained"]
    if inside:
        plotting.outline(axes, inside[0], 0, len(inside), len(lines))
    scale = figure.colorbar(plotting.heat_scale(), ax=axes, shrink=0.9, aspect=25)
    scale.set_label("Exact match")
    sizes = dict.fromkeys(plotting.size(line.runs[0]) for line in lines)
    note = (
        "Per cent of all problems of a cell: the median over seeds and, below where they differ, their range. Red: "
        f"trained lengths, together. {'; '.join(sizes)}. {plotting.seeds_note(runs, lines=False)}"
    )
    plotting.footnote(figure, note, *plotting.absent(runs))
    return figure


def _lines(runs: Sequence[Run]) -> list[Line]:
    label = words.label(runs[0]).replace(", ", ",\n", 1)
    if not setting(runs[0], "scratchpad"):
        return [Line(runs, label)]
    return [
        Line(runs, f"{label} (whole)"),
        Line(runs, f"{label} (final answer)", "free_running", "answer_correct"),
    ]


def _rates(line: Line, group: Sequence[int]) -> list[float]:
    """One rate per seed that scored the lengths."""
    rates = [plotting.total_rate(run.grid, group, line.mode, line.metric) for run in line.runs]
    return [rate for rate in rates if not np.isnan(rate)]


def _cell(rates: Sequence[float]) -> str:
    """The median in per cent, with the range below where the seeds differ."""
    if not rates:
        return ""
    middle = f"{100 * median(rates):.1f}"
    return f"{middle}\n({100 * min(rates):.1f}–{100 * max(rates):.1f})" if min(rates) < max(rates) else middle


def looped(runs: Runs) -> Figure:
    """Section 2.1.3: exact match by length of the looped decoder, with and without input injection."""
    shown = {name: some for name, some in runs.items() if some}
    if not shown:
        return plotting.empty(runs)
    figure = Figure(figsize=(5.6, 3.2), layout="constrained")
    axes = figure.subplots()
    methods = {name: "uninjected" if setting(some[0], "inject") == "none" else "input" for name, some in shown.items()}
    labels = {name: METHODS[method].name for name, method in methods.items()}
    points = {name: plotting.scores([run.grid for run in some]) for name, some in shown.items()}
    plotting.lines(axes, points, plotting.looks(methods), labels)
    run = first(shown)
    plotting.trained_lengths(axes, lengths.tested_trained(run))
    plotting.percent(axes)
    axes.set(xlabel=plotting.length_axis(run), ylabel="Exact match")
    axes.set_xticks(lengths.tested(run))
    plotting.legend(figure, [axes])
    note = (
        f"{words.label(run)}, {plotting.size(run)}. Grey: trained lengths. "
        f"{plotting.seeds_note(shown, interval=True)} {plotting.BESIDE_NOTE}"
    )
    plotting.footnote(figure, note, *plotting.absent(runs))
    return figure
