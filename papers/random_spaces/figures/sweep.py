"""Table 4.3 and Figures 4.7 and 4.8: widths, data sizes, additions only against sub-tasks.

The runs of the sweep differ in width, size of the training set, mixture and seed, all read from their
specifications; losses are means over examples of ``values.answer_loss.<length>`` (nats per answer token).
"""

import math
from collections.abc import Callable, Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter, NullLocator

from lengen import plotting
from lengen.plotting import METHODS, Runs
from lengen.records import Run
from papers.random_spaces import lengths, sweep
from papers.random_spaces.figures import words

WRITTEN = {
    "greedy": "Greedy: the most probable token (exact match of every tested problem)",
    "sampled": "Sampled at temperature 1, as the published numbers were",
}
ROLES = {"gap": "left out of training", "longer": "longer than trained"}
Measure = Callable[[Sequence[Run], Sequence[int]], list[float]]
"""Runs and the lengths that count together -> a value for each run, nan where it was not measured."""
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
    plotting.footnote(figure, note, *plotting.absent(runs))
    return figure


def _block(
    axes: Axes, found: Sequence[sweep.Row], mode: str, sizes: Sequence[int], shown: Sequence[tuple[int, ...]]
) -> None:
    columns = [(group, training) for group in shown for training in sweep.KINDS]
    rows = [[sweep.cell(found, size, training, group, mode) for group, training in columns] for size in sizes]
    means = [[np.nan if row is None else row.mean for row in line] for line in rows]
    roles = {row.lengths: ROLES[row.role] for row in found if row.lengths in shown}
    plotting.heat_table(
        axes,
        np.array([*means, [np.nan] * len(columns)]),
        [*([_cell(row) for row in line] for line in rows), [""] * len(columns)],
        rows=[*map(lengths.examples, sizes), "Improvement"],
        columns=[f"{plotting.spans(group)} digits ({roles[group]})\n{training}" for group, training in columns],
        size=7,
    )
    for number, group in enumerate(shown):
        gain = sweep.improvement(found, group, mode)
        text = "–" if math.isnan(gain) else f"{100 * gain:+.1f}"
        axes.text(2 * number + 1, len(sizes), text, ha="center", va="center", weight="bold")
        if number:
            axes.axvline(2 * number - 0.5, color="0.3", linewidth=0.8)
    axes.axhline(len(sizes) - 0.5, color="0.3", linewidth=0.8)
    axes.set_ylabel("Training examples")


def _cell(row: sweep.Row | None) -> str:
    if row is None:
        return "–"
    return f"{sweep.text(row).partition(' (')[0]}\nn = {row.runs}, {plotting.plural(row.widths, 'width')}"


# -- Figure 4.7, and accuracy in the same way --------------------------------------------------------------


def fig4_7(runs: Runs) -> Figure:
    """Figure 4.7: answer loss against width, a column a data size, in distribution above and every other length
    below; read along a curve it is the view on double descent over widths."""
    note = "Double descent would show as a loss that rises with the width and falls again."
    return _over_widths(runs, _losses, "Answer loss\n(nats per token)", note, logarithmic=True)


def widths(runs: Runs) -> Figure:
    """Exact match against width, data size and mixture: the other half of Section 4.5 (no figure of its own there)."""
    return _over_widths(runs, _exact, "Exact match", "Greedy, every tested problem.", logarithmic=False)


def _losses(runs: Sequence[Run], group: Sequence[int]) -> list[float]:
    return plotting.arrays(runs, "values.answer_loss", group)


def _exact(runs: Sequence[Run], group: Sequence[int]) -> list[float]:
    return [plotting.total_rate(run.grid, group) for run in runs]


def _settings(runs: Sequence[Run]) -> pd.DataFrame:
    """``examples``, ``kind`` and ``width`` of every run."""
    rows = [(sweep.examples(run), sweep.kind(run), sweep.width(run)) for run in runs]
    return pd.DataFrame(rows, columns=["examples", "kind", "width"])


def _groups(runs: Sequence[Run]) -> list[tuple[int, ...]]:
    return list(dict.fromkeys(group for run in runs for group in lengths.groups(run)))


def _over_widths(runs: Runs, measure: Measure, label: str, note: str, *, logarithmic: bool) -> Figure:
    every = plotting.distinct(runs)
    if not every:
        return plotting.empty(runs)
    frame, groups = _settings(every), _groups(every)
    sizes, ticks = (sorted(frame[name].unique()) for name in ("examples", "width"))
    figure = Figure(figsize=(1.75 * len(sizes) + 3.0, 1.5 * len(groups) + 1.3), layout="constrained")
    grid = figure.subplots(len(groups), len(sizes), squeeze=False, sharex=True, sharey=True)
    for line, group in zip(grid, groups, strict=True):
        measured = frame.assign(value=measure(every, group)).dropna()
        for axes, size in zip(line, sizes, strict=True):
            for kind in sweep.KINDS:
                _widths(axes, measured[(measured["examples"] == size) & (measured["kind"] == kind)], kind)
            if not axes.lines:
                axes.text(0.5, 0.5, "not measured", ha="center", va="center", color="0.4", transform=axes.transAxes)
        line[0].set_ylabel(f"{lengths.group_label(every[0], group)}\n{label}")
    if logarithmic:  # one axis for all panels: a tenth of a nat fills none of them
        plotting.logarithmic(
            grid[0, 0], [value for axes in grid.flat for drawn in axes.lines for value in drawn.get_ydata()]
        )
    else:
        plotting.percent(grid[0, 0], -0.04, 1.04)
    for axes in grid[-1]:
        axes.set_xlabel("Width of the model")
    grid[0, 0].set_xscale("log", base=2)
    grid[0, 0].set_xlim(ticks[0] / 1.25, ticks[-1] * 1.25)
    for axes in grid.flat:
        axes.set_xticks(ticks, labels=[str(tick) for tick in ticks], rotation=45 if len(ticks) > 4 else 0)
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_minor_formatter(NullFormatter())
    for axes, size in zip(grid[0], sizes, strict=True):
        axes.set_title(f"{lengths.examples(size)} training examples")
    plotting.legend(figure, [_handle(kind) for kind in sweep.KINDS])
    axis = "Both axes logarithmic" if logarithmic else "Widths on a logarithmic axis"
    note = f"{note} {axis}. Points: runs; lines: medians over seeds. {words.sweep(every)}"
    plotting.footnote(figure, note, *plotting.absent(runs))
    return figure


def _handle(kind: str) -> Line2D:
    name, (colour, marker, line) = METHODS[kind]
    return Line2D([], [], color=colour, marker=marker, ls=line, label=name)  # type: ignore[arg-type]


def _widths(axes: Axes, measured: pd.DataFrame, kind: str) -> None:
    """Every run as a point, a line through the medians over seeds."""
    name, (colour, marker, line) = METHODS[kind]
    medians = measured.groupby("width")["value"].median()
    if len(medians):
        axes.plot(medians.index, medians.to_numpy(), line, color=colour, marker=marker, label=name)
        runs = measured.sort_values("width", kind="stable")
        axes.scatter(runs["width"], runs["value"], color=colour, marker=marker, s=7, alpha=0.5, linewidths=0)


# -- Figure 4.8 --------------------------------------------------------------------------------------------


def fig4_8(runs: Runs) -> Figure:
    """Figure 4.8: loss in distribution against loss at every length out of it, a panel a length."""
    every = plotting.distinct(runs)
    roles = {group: lengths.role(every[0], group[0]) for group in _groups(every)}
    inside, others = ([group for group in roles if (roles[group] == "trained") is wanted] for wanted in (True, False))
    if not inside or not others:
        return plotting.empty(runs)
    frame = _settings(every).assign(inside=_losses(every, inside[0]))
    sizes = sorted(frame["examples"].unique())
    colours = {size: SIZES(0.9 * number / max(len(sizes) - 1, 1)) for number, size in enumerate(sizes)}
    figure = Figure(figsize=(2.5 * len(others) + 1.5, 3.8), layout="constrained")
    grid = figure.subplots(1, len(others), squeeze=False, sharex=True, sharey=True)[0]
    drawn: list[float] = []
    for axes, group in zip(grid, others, strict=True):
        measured = frame.assign(outside=_losses(every, group))
        for row in measured[(measured["inside"] > 0) & (measured["outside"] > 0)].itertuples():
            area = 14 + 12 * math.log2(max(row.width / 32, 1))
            look = {"color": colours[row.examples], "marker": METHODS[row.kind].look.marker, "alpha": 0.8}
            axes.scatter(row.inside, row.outside, s=area, ec="k", linewidths=0.3, **look)
            drawn += [row.inside, row.outside]
        axes.set(
            title=lengths.group_label(every[0], group),
            xlabel=f"Loss at {plotting.spans(inside[0])} digits (nats per token)",
        )
    grid[0].set_ylabel("Loss at the panel's length (nats per token)")
    if not drawn:
        return plotting.empty(runs, "no losses recorded at this profile")
    edges = (min(drawn) / 1.6, max(drawn) * 1.6)
    grid[0].set(xscale="log", yscale="log", xlim=edges, ylim=edges)
    for axes in grid:
        axes.plot(edges, edges, "--", color="0.5", linewidth=0.9, zorder=0)
        axes.set_box_aspect(1)  # both axes have the same limits
    kinds = [METHODS[kind] for kind in sweep.KINDS]
    handles = [
        *(Line2D([], [], color=colours[s], marker="s", ls="", label=f"{lengths.examples(s)} examples") for s in sizes),
        *(Line2D([], [], color="0.4", marker=kind.look.marker, ls="", label=kind.name) for kind in kinds),
        Line2D([], [], color="0.5", linestyle="--", linewidth=0.9, label="as good as in distribution"),
    ]  # fmt: skip
    plotting.legend(figure, handles)
    note = f"Both axes logarithmic. A point is a run, larger for wider models. {words.sweep(every)}"
    plotting.footnote(figure, note, *plotting.absent(runs))
    return figure
