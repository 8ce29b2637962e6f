"""Figures that no shared drawing makes: keys of a step, the construction of Theorem 4.1, overlaps."""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D

from lengen import plotting
from lengen.experiment import Experiment
from lengen.experiment import Figure as Picture
from lengen.metrics.run_measures import has_learned, most_have_learned
from lengen.plotting import MapRow, Published, Runs
from lengen.results.records import AttentionMap, KeyCount, Run, to_table
from papers.coupling.measures import HEADS, nearest, of_map, uniform

PAD = re.compile(r", (?:no )?scratchpad|^(?:no )?scratchpad, ")
"""Words of labels on the scratchpad, which the titles of panels have already."""


def _scratchpad(run: Run) -> bool:
    return run.spec.data.format.scratchpad


def fig7(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Draw attention maps with and without scratchpad, above the keys a step needs against the number of operands."""
    drawn = list(_recorded(picture, runs))
    maps = []
    for pad in (True, False):
        first = next((pair for pair in drawn if _scratchpad(pair[1]) is pad), None)
        if first:
            item, run = first
            heads = plotting.structured_heads(_map(run), 3)
            maps.append(MapRow(plotting.label(item, [run]).replace(", ", ",\n"), _map(run), heads))
    held = plotting.shown(picture, runs)
    counted = {plotting.label(item, group): group for item, group in held if any(run.key_counts for run in group)}
    if not maps or not counted:
        return plotting.empty()
    figure, below = _maps_above(maps, 3, 1.75 * len(maps), 1.35)
    panels = below.subplots(1, 2, sharey=True)
    handles = []
    for axes, pad in zip(panels, (True, False), strict=True):
        lines = {label: group for label, group in counted.items() if _scratchpad(group[0]) is pad}
        names = {label: PAD.sub("", label) for label in lines}
        looks = plotting.looks(names.values())
        for label, group in lines.items():
            handles += [(names[label], _keys(axes, group, looks[names[label]], names[label]))]
        axes.set(title="scratchpad" if pad else "no scratchpad", xlabel="Operands", ylim=(0, None))
    panels[0].set_ylabel("Keys holding 90 %\nof the attention")
    plotting.legend(figure, list(dict(handles).values()))
    return figure


def _recorded(picture: Picture, runs: Runs) -> list[tuple[Experiment, Run]]:
    """Return the first learned run of each experiment that recorded attention, and otherwise the first."""
    recorded = []
    for item, group in plotting.shown(picture, runs):
        recorded += [(item, run) for run in plotting.learned(group) if run.attention is not None][:1]
    return recorded


def _map(run: Run) -> AttentionMap:
    assert run.attention is not None
    return run.attention


def _maps_above(rows: Sequence[MapRow], columns: int, height: float, size: float) -> tuple[Figure, SubFigure]:
    """Return a figure with rows of attention maps, so many inches high, and the empty figure below them."""
    figure = plotting.sheet(plotting.PAGE, height + 2.3)
    above, below = figure.subfigures(2, 1, height_ratios=(height, 2.3), squeeze=False)[:, 0]
    grid = above.subplots(len(rows), columns, squeeze=False)
    plotting.draw_rows(grid, rows, size)
    above.colorbar(plotting.attention_scale(), ax=grid, aspect=30, shrink=0.7, pad=0.01).set_label("Attention")
    return figure, below


def _keys(axes: Axes, runs: Sequence[Run], look: plotting.Look, label: str) -> Line2D:
    """Draw the mean over heads against the count, at the length with the widest span of counts; dots are seeds."""
    rows = [(k, *row, row.keys_sum / row.steps) for k, run in enumerate(runs) for row in run.key_counts if row.steps]
    frame = pd.DataFrame(rows, columns=["run", *KeyCount._fields, "keys"])
    counts = frame.groupby("length")["count"]
    frame = frame[frame["length"] == (counts.max() / counts.min()).idxmax()]
    means = frame.groupby(["run", "count"])["keys"].mean().reset_index()
    middle = means.groupby("count")["keys"].median()
    lacking = not most_have_learned(runs)
    sns.lineplot(x=middle.index, y=middle.to_numpy(), ax=axes, color=look.colour, legend=False, ls=look.line)
    face = "none" if lacking else None
    axes.plot(means["count"], means["keys"], look.marker, color=look.colour, markerfacecolor=face)
    axes.set_xticks(sorted(means["count"].unique()))
    return Line2D([], [], color=look.colour, ls=look.line, marker=look.marker, label=label)


def formats(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Draw the construction in three number formats: exact match in its worst cell."""
    least = {
        f"{plotting.label(item, group)}: {len(cells)} cells": {"worst cell": float(cells["value"].min())}
        for item, group in plotting.shown(picture, runs)
        if len(cells := plotting.scores(group))
    }
    if not least:
        return plotting.empty()
    figure = plotting.sheet(plotting.COLUMN, 0.3 * len(least) + 0.7)
    plotting.cells(figure.subplots(), pd.DataFrame(least).T, ["Exact match in the worst cell"], ())
    return figure


def overlap_csv(runs: Runs) -> str:
    """Return a row per trained head and head of the construction.

    It has their overlap, with and without the start token, and that of attention spread evenly over all visible keys.
    """
    columns = ("overlap", "overlap_without_start", "even_overlap", "even_overlap_without_start")
    rows = []
    for name, run in [(name, run) for name, group in runs.items() for run in group if run.attention is not None]:
        values = [function(_map(run), start) for function in (of_map, uniform) for start in (True, False)]
        for layer, head, made in np.ndindex(*values[0].shape):
            numbers = (values[0][layer, head, made], values[1][layer, head, made], values[2][made], values[3][made])
            row = (name, run.profile, run.seed, layer + 1, head + 1, made + 1)
            rows.append((*row, *(f"{value:.4f}" for value in numbers)))
    return to_table(("experiment", "profile", "seed", "layer", "head", "constructed_head", *columns), rows)


def construction(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Draw the four heads of the construction above the trained head nearest to each, and all overlaps below."""
    drawn = _recorded(picture, runs)
    made = next((run for _, run in drawn if run.constructed), None)
    trained = [(item, group) for item, group in plotting.shown(picture, runs) if not group[0].constructed]
    other = next((pair for pair in drawn if not pair[1].constructed and has_learned(pair[1])), None)
    if made is None or other is None:
        return plotting.empty()
    places = nearest(of_map(_map(other[1]), start=False))
    rows = [
        MapRow("constructed", _map(made), [(0, k) for k in range(4)], HEADS),
        MapRow(plotting.label(other[0], [other[1]]).replace(", ", ",\n"), _map(other[1]), places),
    ]
    figure, below = _maps_above(rows, 4, 3.3, 1.2)
    _overlaps(figure, below.subplots(), trained)
    return figure


def _overlaps(figure: Figure, axes: Axes, trained: Sequence[tuple[Experiment, Sequence[Run]]]) -> None:
    """Draw every trained head's overlap with each head of the construction; attention spread evenly as a dash."""
    held = {plotting.label(item, group): [run for run in group if run.attention is not None] for item, group in trained}
    held = {label: group for label, group in held.items() if group}
    looks = plotting.looks(held)
    handles = []
    for number, (label, group) in enumerate(held.items()):
        points = np.concatenate([of_map(_map(run), start=False).reshape(-1, 4) for run in group])
        xs = np.tile(np.arange(4) + 0.17 * (number - (len(held) - 1) / 2), len(points))
        lacking = not most_have_learned(group)
        handles += axes.plot(
            xs, points.ravel(), looks[label].marker, ls="", color=looks[label].colour, alpha=0.75, label=label,
            markerfacecolor="none" if lacking else None,
        )  # fmt: skip
    even = uniform(_map(next(iter(held.values()))[0]), start=False)
    axes.hlines(even, np.arange(4) - 0.4, np.arange(4) + 0.4, color="0.4", linestyle="--")
    axes.set_xticks(range(4), labels=HEADS)
    axes.set(ylim=(-0.02, 1.02), ylabel="Overlap of attention")
    plotting.legend(figure, handles)
