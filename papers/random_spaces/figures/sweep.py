"""Table 4.3 and Figures 4.7 and 4.8: widths, data sizes, additions only against sub-tasks.

The runs of the sweep differ in width, size of the training set, mixture and seed, all read from their
specifications; losses are means over examples of ``values.answer_loss.<length>`` (nats per answer token).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter, NullLocator, PercentFormatter

from lengen import plotting
from lengen.plotting import METHODS, NONE, Published, Runs
from lengen.records import Run
from papers.random_spaces import lengths, sweep
from papers.random_spaces.figures import beside, words

WRITTEN = {
    "greedy": "Greedy: the most probable token (exact match of every tested problem)",
    "sampled": "Sampled at temperature 1, as the published numbers were",
}
ROLES = {"gap": "left out of training", "longer": "longer than trained"}
Measure = Callable[[Sequence[Run], Sequence[int]], list[float]]
"""Runs and the lengths that count together -> a value for each run, nan where it was not measured."""


# -- Table 4.3 ---------------------------------------------------------------------------------------------


def table4_3_csv(runs: Runs) -> str:
    """What `table4_3` draws and the cells it has no room for, as CSV text (`sweep.HEADER`)."""
    return sweep.to_csv(sweep.rows(runs))


def table4_3(runs: Runs, published: Published = NONE) -> Figure:
    """Table 4.3: mean and deviation of accuracy over widths and seeds, with the number of runs in each cell; once
    greedily, once sampled at temperature 1. Published ones stand where the lengths are the same to the models."""
    found = sweep.rows(runs)
    shown = sweep.columns(found)
    if not shown:
        return plotting.empty(runs, words=words.SLUGS)
    called, theirs = published_sizes(runs), printed(runs, published)
    figure = Figure(figsize=(3.2 * len(shown) + 1.2, 2 * (0.58 * len(called) + 1.3) + 0.9), layout="constrained")
    grid = figure.subplots(2, 1)
    for axes, (mode, title) in zip(grid, WRITTEN.items(), strict=True):
        if any(row.mode == mode for row in found):
            _block(axes, found, mode, called, shown, theirs)
        else:
            plotting.missing(axes, "Table 4.3", f"{mode}: not measured at this profile")
        axes.set_title(title)
    note = (
        "Accuracy in per cent, mean ± sample deviation over all runs of a cell; n: their number, with how many widths. "
        "add: additions only; mix: a fifth of each sub-task; improvement: mean over data sizes of mix - add. "
        f"A cell of one run has no deviation; – : no run. {_beside(runs, published, shown)}"
    )
    plotting.found(figure, _gains(plotting.distinct(runs), _exact, plotting.share))
    plotting.footnote(figure, note, _unlearned(plotting.distinct(runs)), *plotting.absent(runs, words.SLUGS))
    return figure


Printed = Mapping[tuple[int, str, tuple[float, ...], str], float]
"""Size of the training set, add or mix, the one length here, mean or deviation -> published value."""


def printed(runs: Runs, published: Published) -> Printed:
    """What is published of the cells of Table 4.3 that have runs here, at the length here that is the same multiple or
    was left out as well."""
    return {
        (sweep.examples(run), sweep.kind(run), (at,), value.across): value.value
        for run, value in _pairs(runs, published)
        if (at := beside.place(run, value)) in lengths.tested(run)
    }


def _pairs(runs: Runs, published: Published) -> list[beside.Pair]:
    """The published means and deviations, each with a run of its experiment."""
    return [
        (some[0], value) for name, some in runs.items() if some for value in published.get(name, ()) if value.across
    ]


def _beside(runs: Runs, published: Published, shown: Sequence[tuple[float, ...]]) -> str:
    """What a footnote says of published values: both sizes, and what has no place among the lengths ``shown``."""
    drawn: list[beside.Pair] = []
    left: list[beside.Pair] = []
    for run, value in _pairs(runs, published):
        (drawn if (beside.place(run, value),) in shown else left).append((run, value))
    how = f"Published: sampled, over other widths and numbers of runs; {beside.sizes(drawn)}. " if drawn else ""
    return how + beside.without(left)


def published_sizes(runs: Runs) -> dict[int, str]:
    """Size of the training set here -> what the thesis calls the setting, which is as large there."""
    return {
        sweep.examples(some[0]): name.split("/")[-1].partition("-")[0].upper() for name, some in runs.items() if some
    }


def _size(size: int, called: Mapping[int, str]) -> str:
    """The size of a training set; of another one than in the thesis, also which it stands for."""
    said = lengths.examples(size)
    return said if called[size] == said else f"{said} (for {called[size]})"


def _block(
    axes: Axes,
    found: Sequence[sweep.Row],
    mode: str,
    called: Mapping[int, str],
    shown: Sequence[tuple[int, ...]],
    theirs: Printed,
) -> None:
    sizes = sorted(called)
    columns = [(group, training) for group in shown for training in sweep.KINDS]
    rows = [[sweep.cell(found, size, training, group, mode) for group, training in columns] for size in sizes]
    means = [[np.nan if row is None else row.mean for row in line] for line in rows]
    roles = {row.lengths: ROLES[row.role] for row in found if row.lengths in shown}
    plotting.heat_table(
        axes,
        np.array([*means, [np.nan] * len(columns)]),
        [*([_cell(row, theirs) for row in line] for line in rows), [""] * len(columns)],
        rows=[*(_size(size, called) for size in sizes), "Improvement"],
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


def _cell(row: sweep.Row | None, theirs: Printed) -> str:
    if row is None:
        return "–"
    said = f"{sweep.text(row).partition(' (')[0]}\nn = {row.runs}, {plotting.plural(row.widths, 'width')}"
    mean, deviation = (theirs.get((row.examples, row.training, row.lengths, what)) for what in ("mean", "deviation"))
    if mean is None:
        return said
    return f"{said}\npublished {100 * mean:.1f}" + (f" ± {100 * deviation:.1f}" if deviation is not None else "")


# -- Figure 4.7, and accuracy in the same way --------------------------------------------------------------

FEWEST = 4
"""Widths from which on a line over them can show a descent, a rise and a second descent; fewer stand in rows."""


def fig4_7(runs: Runs) -> Figure:
    """Figure 4.7: answer loss against width and data size, in distribution and at every other length; with enough
    widths the view on double descent."""
    note = "Double descent would show as a loss that rises with the width and falls again."
    return _over_widths(runs, NONE, _losses, "Answer loss (nats per token)", note, "{:.2f} nats".format)


def widths(runs: Runs, published: Published = NONE) -> Figure:
    """Exact match against width, data size and mixture: the other half of Section 4.5 (no figure of its own there)."""
    return _over_widths(runs, published, _exact, "Exact match", "Greedy, every tested problem.", plotting.share)


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


def _gains(runs: Sequence[Run], measure: Measure, say: Callable[[float], str]) -> str:
    """Sub-tasks against additions alone at every length that was not trained, medians over all runs."""
    if all(plotting.unlearned([run]) for run in runs):
        return "No model of the sweep has learned its trained range: nothing is tested beyond it"
    told = []
    kinds = [sweep.kind(run) for run in runs]
    roles = {lengths.role(runs[0], group[0]): group for group in reversed(_groups(runs))}
    for group in roles.values():
        values = measure(runs, group)
        found = [
            median(some)
            for kind in ("mix", "add")
            if (some := [value for value, own in zip(values, kinds, strict=True) if own == kind and value == value])
        ]
        if lengths.role(runs[0], group[0]) != "trained" and len(found) == 2:
            told.append(f"{say(found[0])} against {say(found[1])} at {plotting.spans(group)}")
    return f"With sub-tasks against additions only (medians over runs): {', '.join(told)} digits" if told else ""


def _unlearned(runs: Sequence[Run]) -> str:
    """How many of the models have not learned their trained range."""
    missed = [run for run in runs if plotting.unlearned([run])]
    return (
        f"{len(missed)} of {plotting.plural(len(runs), 'model')} have not learned their trained range. {plotting.RULE}"
        if missed
        else ""
    )


def _over_widths(
    runs: Runs, published: Published, measure: Measure, label: str, note: str, say: Callable[[float], str]
) -> Figure:
    """A panel a tested length; rows of points where widths are few, else a line over widths for every data size."""
    every = plotting.distinct(runs)
    if not every:
        return plotting.empty(runs, words=words.SLUGS)
    frame, groups, share = _settings(every), _groups(every), measure is _exact
    if all(math.isnan(value) for group in groups for value in measure(every, group)):
        return plotting.empty(runs, "not recorded at this profile", words.SLUGS)
    ticks = sorted(frame["width"].unique())
    many = len(ticks) >= FEWEST
    rows = list(frame.groupby(["examples", "width"]).groups)
    theirs = printed(runs, published)
    height = max(3.0, 0 if many else 0.34 * (len(rows) + len({size for size, *_ in theirs})) + 1.7)
    figure = Figure(figsize=(1.85 * len(groups) + 3.2, height), layout="constrained")
    grid = figure.subplots(1, len(groups), squeeze=False, sharex=True, sharey=True)[0]
    largest = 1.0
    for axes, group in zip(grid, groups, strict=True):
        measured = frame.assign(value=measure(every, group)).dropna()
        if many:
            _lines(axes, measured, ticks)
        else:
            _rows(axes, measured, rows, theirs, group, published_sizes(runs))
            axes.set_xlabel(label)
        axes.set_title(lengths.group_label(every[0], group))
        largest = max([largest, *measured["value"]])
    axis, limits = (grid[0].yaxis, grid[0].set_ylim) if many else (grid[0].xaxis, grid[0].set_xlim)
    if share:
        axis.set_major_formatter(PercentFormatter(1.0))
    # one axis for all: a tenth of a nat fills no panel
    limits((-0.06, 1.06) if share else (-0.03 * largest, 1.06 * largest))
    if many:
        grid[0].set_ylabel(label)
    handles = [_handle(kind) for kind in sweep.KINDS]
    plotting.legend(figure, [*handles, *([plotting.published.key()] if theirs and not many else [])])
    plotting.found(figure, _gains(every, measure, say))
    few = (
        "One width says nothing of a trend over widths, so none is drawn"
        if len(ticks) == 1
        else f"{plotting.count(len(ticks))} widths say nothing of a trend over widths, so none is drawn".capitalize()
    )
    beside_few = "" if many else f"{few}. {_beside(runs, published, groups)}"
    note = f"{note} {beside_few}Small points: runs; large: medians over seeds. {words.sweep(every)}"
    plotting.footnote(figure, note, _unlearned(every), *plotting.absent(runs, words.SLUGS))
    return figure


def _handle(kind: str) -> Line2D:
    name, (colour, marker, _) = METHODS[kind]
    return Line2D([], [], color=colour, marker=marker, ls="", label=name)  # type: ignore[arg-type]


def _rows(
    axes: Axes,
    measured: pd.DataFrame,
    rows: Sequence[tuple[int, int]],
    theirs: Printed,
    group: tuple[int, ...],
    called: Mapping[int, str],
) -> None:
    """A row for every data size and width, and one of the published means over widths below each data size."""
    labels: list[str] = []
    for size in dict.fromkeys(size for size, _ in rows):
        for width in (width for known, width in rows if known == size):
            some = measured[(measured["examples"] == size) & (measured["width"] == width)]
            for kind, aside in zip(sweep.KINDS, (-0.13, 0.13), strict=True):
                values, (colour, marker, _) = some[some["kind"] == kind]["value"], METHODS[kind].look
                if len(values):
                    axes.scatter(
                        values, [len(labels) + aside] * len(values), color=colour, marker=marker, s=7, alpha=0.5
                    )
                    axes.scatter([values.median()], [len(labels) + aside], color=colour, marker=marker, s=26, zorder=3)
            labels.append(f"{_size(size, called)}, width {width}")
        if any(key[0] == size for key in theirs):
            for kind in sweep.KINDS:
                if (value := theirs.get((size, kind, group, "mean"))) is not None:
                    colour, marker, _ = METHODS[kind].look
                    axes.scatter([value], [len(labels)], color=colour, facecolors="white", marker=marker, s=30)
            labels.append(f"{called[size]}, published")
    axes.set_yticks(range(len(labels)), labels=labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.grid(axis="y", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)


def _lines(axes: Axes, measured: pd.DataFrame, ticks: Sequence[int]) -> None:
    """Over widths: every run as a point, a line through the medians over seeds for every data size and mixture."""
    sizes = sorted(measured["examples"].unique())
    for (size, kind), some in measured.groupby(["examples", "kind"]):
        colour, marker, _ = METHODS[str(kind)].look
        medians = some.groupby("width")["value"].median()
        line = plotting.LINES[sizes.index(size) % len(plotting.LINES)]
        axes.plot(medians.index, medians.to_numpy(), line, color=colour, marker=marker)
        axes.scatter(some["width"], some["value"], color=colour, marker=marker, s=7, alpha=0.5, linewidths=0)
    axes.set_xscale("log", base=2)
    axes.set_xlabel("Width of the model")
    axes.set_xticks(ticks, labels=[str(tick) for tick in ticks], rotation=45)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())


# -- Figure 4.8 --------------------------------------------------------------------------------------------


FILLS: tuple[Literal["full", "none", "left", "right"], ...] = ("full", "none", "left", "right")
"""How markers tell data sizes apart, from the smallest on."""


def fig4_8(runs: Runs) -> Figure:
    """Figure 4.8: loss in distribution against loss at the next longer length, as published; a point a run."""
    every = plotting.distinct(runs)
    roles = {group: lengths.role(every[0], group[0]) for group in _groups(every)}
    inside, longer = ([group for group in roles if roles[group] == wanted][:1] for wanted in ("trained", "longer"))
    if not inside or not longer:
        return plotting.empty(runs, words=words.SLUGS)
    frame = _settings(every).assign(inside=_losses(every, inside[0]), outside=_losses(every, longer[0])).dropna()
    if frame.empty:
        return plotting.empty(runs, "no losses recorded at this profile", words.SLUGS)
    sizes = sorted(frame["examples"].unique())
    fills = {size: FILLS[number % len(FILLS)] for number, size in enumerate(sizes)}
    figure = Figure(figsize=(5.6, 3.9), layout="constrained")
    axes = figure.subplots()
    for row in frame.itertuples():
        look = METHODS[row.kind].look
        axes.plot(
            row.inside, row.outside, look.marker, color=look.colour, fillstyle=fills[row.examples], markersize=6,
            markerfacecoloralt="white",
        )  # fmt: skip
        axes.annotate(
            str(row.width), (row.inside, row.outside), (4, 2), textcoords="offset points", size=6.5, color="0.3"
        )
    low, high = frame[["inside", "outside"]].min().max(), frame[["inside", "outside"]].max().min()
    diagonal = high - low > 0.25 * (frame["outside"].max() - frame["inside"].min())
    if diagonal:
        alike = np.geomspace(low, high, 100)  # a curve: one axis is logarithmic
        axes.plot(alike, alike, "--", color="0.5", linewidth=0.9, zorder=0)
    axes.margins(0.12)
    axes.set(
        xscale="log",
        xlabel=f"Loss at {plotting.spans(inside[0])} digits, trained (nats per token)",
        ylabel=f"Loss at {plotting.spans(longer[0])} digits, longer than trained\n(nats per token)",
    )
    handles = [
        *(_handle(kind) for kind in sweep.KINDS),
        *(
            Line2D([], [], color="0.35", marker="o", ls="", fillstyle=fills[size], markerfacecoloralt="white",
                   label=f"{lengths.examples(size)} examples")
            for size in (sizes if len(sizes) > 1 else [])
        ),
    ]  # fmt: skip
    if diagonal:
        handles.append(Line2D([], [], color="0.5", linestyle="--", linewidth=0.9, label="as good as in distribution"))
    plotting.legend(figure, handles)
    plotting.found(figure, _together(frame, plotting.spans(longer[0])))
    note = "A point is a run, the number its width. "
    plotting.footnote(figure, note + words.sweep(every), _unlearned(every), *plotting.absent(runs, words.SLUGS))
    return figure


def _together(frame: pd.DataFrame, digits: str) -> str:
    """Whether runs with a low loss in distribution have one beyond it, by ranks where there are enough of them."""
    ranks = frame[["inside", "outside"]].rank()
    related = f"rank correlation {float(ranks['inside'].corr(ranks['outside'])):+.2f}; "
    return (
        f"Loss in distribution and loss at {digits} digits of {plotting.count(len(frame))} runs: "
        f"{related if len(frame) >= FEWEST else ''}the median is {frame['inside'].median():.2g} against "
        f"{frame['outside'].median():.2g} nats"
    )
