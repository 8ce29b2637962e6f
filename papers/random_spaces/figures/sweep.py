"""Table 4.3 and Figures 4.7 and 4.8: widths, data sizes, additions only against sub-tasks; runs go in, a Figure leaves.

The runs of the sweep differ in width, size of the training set, mixture and seed, all read from their
specifications; losses are means over examples of ``values.answer_loss.<length>`` (nats per answer token).
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter, NullLocator, PercentFormatter

from lengen import plotting
from lengen.intervals import median
from lengen.records import Run
from papers.random_spaces import lengths as titles
from papers.random_spaces import sweep
from papers.random_spaces.figures import panels
from papers.random_spaces.figures.panels import Runs

LOOKS = {"add": (plotting.COLOURS[3], "o", "-"), "mix": (plotting.COLOURS[2], "^", "--")}
"""Colours as published, red and green, of shades that colour-blind eyes tell apart; markers and lines as well."""
WORDS = {"add": "additions only\n(add)", "mix": "with sub-tasks\n(mix)"}
WRITTEN = {
    "greedy": "Greedy: the most probable token (exact match of every tested problem)",
    "sampled": "Sampled at temperature 1, as the published numbers were",
}
SIZES = mpl.colormaps["viridis"]


# -- Table 4.3 ---------------------------------------------------------------------------------------------


def table4_3_csv(runs: Runs) -> str:
    """What `table4_3` draws and the cells it has no room for, as CSV text (`sweep.HEADER`)."""
    return sweep.to_csv(sweep.rows(runs))


def table4_3(runs: Runs) -> Figure:
    """Table 4.3: mean and deviation of accuracy over widths and seeds, with the number of runs in each cell; once
    greedily, once sampled at temperature 1."""
    found = sweep.rows(runs)
    shown = sweep.columns(found)
    if not shown:
        return plotting.empty(runs)
    sizes = sorted({row.examples for row in found})
    figure = Figure(figsize=(3.2 * len(shown) + 1.2, 2 * (0.42 * len(sizes) + 1.2) + 0.6), layout="constrained")
    grid = figure.subplots(2, 1)
    for axes, (mode, title) in zip(grid, WRITTEN.items(), strict=True):
        if any(row.mode == mode for row in found):
            _block(axes, found, mode, sizes, shown)
        else:
            plotting.missing(axes, "Table 4.3", f"{mode}: not measured at this profile")
        axes.set_title(title)
    note = (
        "Accuracy in per cent, mean ± sample deviation over all runs of a cell; n: their number, with how many widths. "
        "add: additions only; mix: a fifth of each sub-task; improvement: mean over data sizes of mix - add. "
        "A cell of one run has no deviation; – : no run."
    )
    plotting.footnote(figure, note, *titles.absent(runs))
    return figure


def _block(
    axes: Axes, found: Sequence[sweep.Row], mode: str, sizes: Sequence[int], shown: Sequence[tuple[int, ...]]
) -> None:
    columns = [(lengths, training) for lengths in shown for training in sweep.KINDS]
    means = np.full((len(sizes) + 1, len(columns)), np.nan)
    for down, size in enumerate(sizes):
        for right, (lengths, training) in enumerate(columns):
            row = sweep.cell(found, size, training, lengths, mode)
            if row is None:
                axes.text(right, down, "–", ha="center", va="center")
                continue
            means[down, right] = row.mean
            value = sweep.text(row).partition(" (")[0]
            words = f"{value}\nn = {row.runs}, {row.widths} width{'s' * (row.widths > 1)}"
            axes.text(right, down, words, ha="center", va="center", size=7, color="w" if row.mean > 0.55 else "k")
    axes.imshow(means, cmap=plotting.HEAT, vmin=0, vmax=1, aspect="auto", interpolation="none")
    for number, lengths in enumerate(shown):
        gain = sweep.improvement(found, lengths, mode)
        words = "–" if math.isnan(gain) else f"{100 * gain:+.1f}"
        axes.text(2 * number + 1, len(sizes), words, ha="center", va="center", weight="bold")
        if number:
            axes.axvline(2 * number - 0.5, color="0.3", linewidth=0.8)
    axes.axhline(len(sizes) - 0.5, color="0.3", linewidth=0.8)
    kinds = {"gap": "left out of training", "longer": "longer than trained"}
    roles = {row.lengths: kinds[row.role] for row in found if row.lengths in shown}
    labels = [f"{titles.spans(lengths)} digits ({roles[lengths]})\n{training}" for lengths, training in columns]
    axes.set_xticks(range(len(columns)), labels=labels)
    axes.set_yticks(range(len(sizes) + 1), labels=[*(titles.examples(size) for size in sizes), "Improvement"])
    axes.set_ylabel("Training examples")
    axes.tick_params(length=0)


# -- Figure 4.7, and accuracy in the same way --------------------------------------------------------------


def fig4_7(runs: Runs) -> Figure:
    """Figure 4.7: answer loss against width, a column a data size, in distribution above and every other length
    below; read along a curve it is the view on double descent over widths."""
    words = "Double descent would show as a loss that rises with the width and falls again."
    return _over_widths(runs, _loss, "Answer loss\n(nats per token)", words, logarithmic=True)


def widths(runs: Runs) -> Figure:
    """Exact match against width, data size and mixture: the other half of Section 4.5 (no figure of its own there)."""
    return _over_widths(runs, _exact, "Exact match", "Greedy, every tested problem.", logarithmic=False)


def _loss(run: Run, group: Sequence[int]) -> float:
    return sweep.values(run, "values.answer_loss", group)


def _exact(run: Run, group: Sequence[int]) -> float:
    return sweep.accuracy(run, group, "teacher_forced")


def _over_widths(
    runs: Runs, measure: Callable[[Run, Sequence[int]], float], label: str, words: str, *, logarithmic: bool
) -> Figure:
    every = titles.distinct(runs)
    if not every:
        return plotting.empty(runs)
    sizes = sorted({sweep.examples(run) for run in every})
    groups = list(dict.fromkeys(group for run in every for group in titles.groups(run)))
    shape = (len(groups), len(sizes))
    figure = Figure(figsize=(1.75 * len(sizes) + 3.0, 1.5 * len(groups) + 1.3), layout="constrained")
    grid = figure.subplots(*shape, squeeze=False, sharex=True, sharey="row")
    for line, group in zip(grid, groups, strict=True):
        for axes, size in zip(line, sizes, strict=True):
            for kind in sweep.KINDS:
                some = [run for run in every if (sweep.examples(run), sweep.kind(run)) == (size, kind)]
                _widths(axes, some, kind, lambda run, group=group: measure(run, group))  # type: ignore[misc]
            if not axes.lines:
                axes.text(0.5, 0.5, "not measured", ha="center", va="center", color="0.4", transform=axes.transAxes)
        line[0].set_ylabel(f"{titles.group_label(every[0], group)}\n{label}")
        drawn = [value for axes in line for curve in axes.lines for value in np.asarray(curve.get_ydata(), dtype=float)]
        if logarithmic:
            panels.logarithmic(line[0], drawn)
        else:
            line[0].set_ylim(-0.04, 1.04)
            line[0].yaxis.set_major_formatter(PercentFormatter(1.0))
    ticks = sorted({sweep.width(run) for run in every})
    for axes in grid[-1]:
        axes.set_xlabel("Width of the model")
    grid[0, 0].set_xscale("log", base=2)
    grid[0, 0].set_xlim(ticks[0] / 1.25, ticks[-1] * 1.25)
    for axes in grid.flat:
        axes.set_xticks(ticks, labels=[str(tick) for tick in ticks], rotation=45 if len(ticks) > 4 else 0)
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_minor_formatter(NullFormatter())
    for axes, size in zip(grid[0], sizes, strict=True):
        axes.set_title(f"{titles.examples(size)} training examples")
    figure.legend(handles=[_handle(kind) for kind in sweep.KINDS], loc="outside right center", frameon=False)
    axis = "Both axes logarithmic" if logarithmic else "Widths on a logarithmic axis"
    plotting.footnote(
        figure,
        f"{words} {axis}. Points: runs; lines: medians over seeds. {titles.size_of_sweep(every)}",
        *titles.absent(runs),
    )
    return figure


def _handle(kind: str) -> Line2D:
    colour, marker, line = LOOKS[kind]
    return Line2D([], [], color=colour, marker=marker, ls=line, label=WORDS[kind])


def _widths(axes: Axes, runs: Sequence[Run], kind: str, measure: Callable[[Run], float]) -> None:
    """Every run as a point, a line through the medians over seeds."""
    colour, marker, line = LOOKS[kind]
    found: dict[int, list[float]] = defaultdict(list)
    for run in runs:
        value = measure(run)
        if not math.isnan(value):
            found[sweep.width(run)].append(value)
    xs = sorted(found)
    if not xs:
        return
    axes.plot(xs, [median(found[x]) for x in xs], line, color=colour, marker=marker, label=WORDS[kind])
    across, up = zip(*((x, value) for x in xs for value in found[x]), strict=True)
    axes.scatter(across, up, color=colour, marker=marker, s=7, alpha=0.5, linewidths=0)


# -- Figure 4.8 --------------------------------------------------------------------------------------------


def fig4_8(runs: Runs) -> Figure:
    """Figure 4.8: loss in distribution against loss at every length out of it, a panel a length."""
    every = titles.distinct(runs)
    groups = list(dict.fromkeys(group for run in every for group in titles.groups(run)))
    roles = {group: titles.role(every[0], group[0]) for group in groups}
    inside, others = ([g for g in groups if (roles[g] == "trained") is wanted] for wanted in (True, False))
    if not every or not inside or not others:
        return plotting.empty(runs)
    sizes = sorted({sweep.examples(run) for run in every})
    colours = {size: SIZES(0.9 * number / max(len(sizes) - 1, 1)) for number, size in enumerate(sizes)}
    figure = Figure(figsize=(2.5 * len(others) + 1.5, 3.8), layout="constrained")
    grid = figure.subplots(1, len(others), squeeze=False, sharex=True, sharey=True)[0]
    drawn: list[float] = []
    for axes, group in zip(grid, others, strict=True):
        for run in every:
            point = [sweep.values(run, "values.answer_loss", lengths) for lengths in (inside[0], group)]
            if all(value > 0 for value in point):
                area = 4 + 6 * math.log2(max(sweep.width(run) / 32, 1))
                colour, marker = colours[sweep.examples(run)], LOOKS[sweep.kind(run)][1]
                axes.scatter(*point, s=area, color=colour, marker=marker, alpha=0.8, ec="k", linewidths=0.3)
                drawn += point
        axes.set(
            title=titles.group_label(every[0], group),
            xlabel=f"Loss at {titles.spans(inside[0])} digits (nats per token)",
        )
    grid[0].set_ylabel("Loss at the panel's length (nats per token)")
    if not drawn:
        return plotting.empty(runs, "no losses recorded at this profile")
    edges = (min(drawn) / 1.6, max(drawn) * 1.6)
    grid[0].set(xscale="log", yscale="log", xlim=edges, ylim=edges)
    for axes in grid:
        axes.plot(edges, edges, "--", color="0.5", linewidth=0.9, zorder=0)
        axes.set_box_aspect(1)  # both axes have the same limits
    handles = [
        *(Line2D([], [], color=colours[s], marker="s", ls="", label=f"{titles.examples(s)} examples") for s in sizes),
        *(Line2D([], [], color="0.4", marker=LOOKS[kind][1], linestyle="", label=WORDS[kind]) for kind in sweep.KINDS),
        Line2D([], [], color="0.5", linestyle="--", linewidth=0.9, label="as good as in distribution"),
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside right center", frameon=False)
    note = f"Both axes logarithmic. A point is a run, larger for wider models. {titles.size_of_sweep(every)}"
    plotting.footnote(figure, note, *titles.absent(runs))
    return figure
