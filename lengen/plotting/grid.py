"""Heat maps by the axes of a table, and tables as pictures: ours and, beside it, what is published.

From pale yellow (0) to dark blue (1): the lightness falls steadily, so maps survive grey print and colour-blind eyes.
Cells are medians over the seeds that learned their trained range; if none did, the map is grey.
"""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lengen.experiment import Experiment, Runs
from lengen.experiment import Figure as Picture
from lengen.metrics.run_measures import learned, most_have_learned
from lengen.plotting.frames import MEASURES, Point, Published, at_same_lengths, medians, scores, values
from lengen.plotting.layout import COLUMN, LETTER, PAGE, empty, label, labels, length_axis, sheet, shown, spans
from lengen.plotting.style import RED
from lengen.results.records import Run

HEAT = mpl.colormaps["YlGnBu"]
"""Accuracy, 0 to 1."""
GREY = LinearSegmentedColormap.from_list("grey", ["0.97", "0.5"])
"""The same of models that have not learned their trained range."""
AXES = {
    "addition": ("Digits", "Operands"),
    "multiplication": ("Digits of the first factor", "Digits of the second factor"),
}
"""Vertical and horizontal axis by task."""
MODES = {"teacher_forced": "teacher-forced", "free_running": "free-running"}

Map = tuple[str, Experiment, Sequence[Run], str]
"""Title, experiment, runs, mode."""


def grid(
    picture: Picture, runs: Runs, published: Published, *, metric: str = "correct",
    modes: Sequence[str] = ("teacher_forced",), titles: Mapping[str, str] = MappingProxyType({}),
) -> Figure:  # fmt: skip
    """Draw a heat map for each variant: rows and columns are the axes of its table, if it has no gaps, or a sequence.

    Args:
        titles: titles of maps by variant, where the labels of its axes do not tell it from the others.
    """
    rows, columns, maps = _layout(picture, runs, modes)
    if not maps:
        return empty()
    down, across = math.ceil(len(maps) / columns), columns
    figure = sheet(PAGE if len(maps) > 1 else COLUMN, 1.75 * down + 0.75)
    panels = figure.subplots(down, across, squeeze=False)
    for place, axes in enumerate(panels.flat):
        if place >= len(maps):
            axes.set_axis_off()
            continue
        title, experiment, group, mode = maps[place]
        values = published.get(experiment.name, ()) if metric == "correct" else ()
        theirs = at_same_lengths(values, group[0], "exact", mode)
        heat_map(axes, group, mode, metric, theirs)
        vertical, horizontal = AXES.get(group[0].spec.data.task.name, ("Length", "Count"))
        lines = [titles.get(experiment.variant, title)]
        if len(theirs) == 1:
            lines.append(f"dashed: published {theirs[0].printed}")
        if not most_have_learned(group):
            lines.append("grey: not learned")
        axes.set(title="\n".join(filter(None, lines)), xlabel="", ylabel="")
        if place + across >= len(maps):
            axes.set_xlabel(horizontal)
        if place % across == 0:
            lead = f"{rows[place // across]}\n" if rows else ""
            axes.set_ylabel(f"{lead}{vertical}")
    bar = figure.colorbar(
        ScalarMappable(Normalize(0, 1), HEAT), ax=panels, aspect=30, format="{x:.0%}", pad=0.01,
        shrink=min(1.0, 2.6 / figure.get_figheight() + 0.3),
    )  # fmt: skip
    bar.set_label("Final answer" if metric == "answer_correct" else "Exact match")
    return figure


def _layout(picture: Picture, runs: Runs, modes: Sequence[str]) -> tuple[list[str], int, list[Map]]:
    """Return the labels of rows, the number of columns, and the maps in order."""
    cells = [(item, group, mode) for mode in modes for item, group in shown(picture, runs) if _scored(group, mode)]
    several = len({mode for *_, mode in cells}) > 1
    keys = [(*labels(item, group).values(), *[MODES[mode]] * several) for item, group, mode in cells]
    if keys and all(len(key) == 2 for key in keys):
        firsts, seconds = (list(dict.fromkeys(key[k] for key in keys)) for k in (0, 1))
        if len(keys) == len(firsts) * len(seconds) and 1 < len(seconds) <= 3:
            order = dict(zip(keys, cells, strict=True))
            pairs = [(first, second) for first in firsts for second in seconds]
            maps = [(second if first == firsts[0] else "", *order[first, second]) for first, second in pairs]
            return firsts, len(seconds), [(title, *rest) for title, *rest in maps]  # type: ignore[misc]
    columns = 2 if len(cells) == 4 else min(3, len(cells))
    titles = [_title(key or (label(*cell[:2]),)) for key, cell in zip(keys, cells, strict=True)]
    return [], columns, [(title, *cell) for title, cell in zip(titles, cells, strict=True)]


def _title(key: Sequence[str]) -> str:
    """Return the labels of a map; on two lines if one is too narrow for them."""
    joined = ", ".join(filter(None, key))
    return joined if len(joined) < 30 or len(key) < 2 else f"{', '.join(key[:-1])},\n{key[-1]}"


def _scored(runs: Sequence[Run], mode: str) -> bool:
    return any(len(run.grid.axes) == 2 and any(mode in modes for modes in run.grid.scores.values()) for run in runs)


def heat_map(axes: Axes, runs: Sequence[Run], mode: str, metric: str, published: Sequence[Point] = ()) -> None:
    """Draw one map: the second axis of the grid to the right, the first downwards, as published.

    Cells of 0 and of 100 % have no number: their colour says it.
    """
    values = cell_medians(runs, mode, metric)
    rows, columns = list(values.index), list(values.columns)
    numbers = (100 * values).round().map(lambda value: f"{value:.0f}" if 0 < value < 100 else "")
    sns.heatmap(
        values, ax=axes, vmin=0, vmax=1, cbar=False, cmap=HEAT if most_have_learned(runs) else GREY,
        annot=numbers if max(values.shape) <= 12 else None, fmt="", annot_kws={"size": LETTER},
    )  # fmt: skip
    axes.patch.set(facecolor="0.94")
    for ticks, place in ((columns, axes.set_xticks), (rows, axes.set_yticks)):
        labelled = [(k, value) for k, value in enumerate(ticks) if len(ticks) <= 12 or value % 10 == 0 or k == 0]
        labelled = [tick for tick in labelled if tick is labelled[-1] or labelled[-1][0] - tick[0] > len(ticks) / 12]
        place([k + 0.5 for k, _ in labelled], labels=[str(value) for _, value in labelled], rotation=0)
    if not runs[0].constructed:
        span = runs[0].trained
        high, wide = sum(row <= span.length for row in rows), sum(column <= span.second for column in columns)
        outline(axes, 0, 0, wide, high)
    for value in published:
        _box(axes, value, rows, columns)


def cell_medians(runs: Sequence[Run], mode: str, metric: str) -> Any:
    """Return a frame of medians over the seeds that learned: rows are lengths, columns counts."""
    cells = scores(learned(runs), mode, metric)
    first, second = runs[0].grid.axes
    return cells.groupby([first, second])["value"].median().unstack().sort_index().sort_index(axis=1)


def _box(axes: Axes, value: Point, rows: Sequence[int], columns: Sequence[int]) -> None:
    """Mark the cells of a published value with a dashed box."""
    spans_of = ((value.lengths, rows), (value.counts, columns))
    down, across = ([k for k, size in enumerate(held) if low <= size <= high] for (low, high), held in spans_of)
    if down and across:
        corner = across[0] + 0.08, down[0] + 0.08
        size = across[-1] - across[0] + 0.84, down[-1] - down[0] + 0.84
        axes.add_patch(Rectangle(corner, *size, fill=False, ec="black", ls=(0, (3, 2)), lw=0.9, zorder=3.5))


def outline(axes: Axes, left: float, top: float, width: float, height: float) -> None:
    """Box the trained cells: white under red, to stand out on both ends of the scale."""
    for colour, line in (("white", 2.6), (RED, 1.5)):
        box = Rectangle((left, top), width, height, fill=False, ec=colour, lw=line, zorder=3, clip_on=False)
        axes.add_patch(box)


MOST = 9
"""Columns that a page has room for."""


def table(picture: Picture, runs: Runs, published: Published, *, measure: str = "exact", alone: str = "") -> Figure:
    """Draw a row for each variant and a column for each length: ours and, beside it, published values.

    The first column is the trained lengths together, or the longest if a value is published there, then comes every
    other one.

    Args:
        alone: a measure of which settings with a scratchpad have a row of their own.
    """
    rows: list[tuple[str, str, Sequence[Run], Sequence[Point]]] = []
    for item, group in shown(picture, runs):
        has_scratchpad = bool(alone) and group[0].spec.data.format.scratchpad
        for name in (measure, alone) if has_scratchpad and len(values(group, alone)) else (measure,):
            theirs = published.get(item.name, ()) if name == measure else ()
            named = label(item, group)
            named += "" if name == measure else f": {MEASURES[name].label.split(',')[0].lower()}"
            rows.append((named, name, group, at_same_lengths(theirs, group[0])))
    if not rows:
        return empty()
    longest = any(
        value.lengths == (group[0].trained.length,) * 2 for *_, group, beside_it in rows for value in beside_it
    )
    ours = pd.DataFrame({named: _row(group, name, longest) for named, name, group, _ in rows}).T
    theirs = pd.DataFrame({named: _theirs(group[0], beside_it) for named, _, group, beside_it in rows}).T
    columns = _columns(ours.columns, theirs.columns)
    ours = ours.reindex(columns=columns)
    beside = bool(theirs.notna().any(axis=None))
    figure = sheet(PAGE, (0.24 if len(rows) < 12 else 0.18) * len(rows) + 1.05)
    panels = figure.subplots(1, 1 + beside, squeeze=False, sharey=True)[0]
    grey = [k for k, (_, _, group, _) in enumerate(rows) if not most_have_learned(group)]
    heads = [_named(column, [group[0] for *_, group, _ in rows], longest) for column in columns]
    across = length_axis(rows[0][2][0])
    cells(panels[0], ours, heads, grey)
    panels[0].set(title="ours" if beside else "", xlabel=across)
    if beside:
        cells(panels[1], theirs.reindex(columns=columns), heads, ())
        panels[1].set(title="published", xlabel=across)
    for axes in panels:
        outline(axes, 0, 0, 1, len(rows))
    return figure


def _row(runs: Sequence[Run], name: str, longest: bool) -> pd.Series:
    """Return a dictionary from column to median; 0 is all trained lengths together, or the longest alone."""
    span, frame = runs[0].trained, values(runs, name)
    inside = frame["length"].map(lambda length: span.has((length,)))
    first = frame["length"] == span.length if longest else inside
    together = frame[first].groupby("run").agg({"total": "sum", "n": "sum", "learned": "first"}).reset_index()
    together = together.assign(length=0, value=together["total"] / together["n"])
    return medians(pd.concat([together, frame[~inside]]))


def _theirs(run: Run, values: Sequence[Point]) -> pd.Series:
    """Return a row of published values; the longest trained length represents the trained ones."""
    span = run.trained
    cells: dict[int, float] = {}
    for value in values:
        inside = value.region == "in_range" or value.lengths == (span.length, span.length)
        if inside or value.lengths[0] == value.lengths[1]:
            cells.setdefault(0 if inside else value.lengths[1], value.value)
    return pd.Series(cells, dtype=float)


def _columns(ours: Sequence[int], theirs: Sequence[int]) -> list[int]:
    """Return all columns, or as many as a page has room for: published ones first, and the last."""
    every = sorted(ours)
    if len(every) <= MOST:
        return every
    first = [0, *(column for column in theirs if column), every[-1]]
    rest = every[1 :: max(1, len(every) // MOST)]
    return sorted(list(dict.fromkeys([*first, *rest]))[:MOST])


def _named(column: int, runs: Sequence[Run], longest: bool) -> str:
    if column:
        return str(column)
    spans_of = [run.trained for run in runs]
    if longest:
        return " or ".join(map(str, sorted({span.length for span in spans_of})))
    ranges = {spans(span.every) for span in spans_of}
    return ranges.pop().replace(", ", ",\n") if len(ranges) == 1 else "trained"


def cells(axes: Axes, frame: pd.DataFrame, columns: Sequence[str], grey: Sequence[int]) -> None:
    """Draw a frame of shares with its numbers in per cent; rows of models that have not learned are grey."""
    words = frame.map(lambda value: "" if np.isnan(value) else per_cent(value))
    for chosen, colours in (([k for k in range(len(frame)) if k not in grey], HEAT), (list(grey), GREY)):
        mask = frame.isna().to_numpy() | ~np.isin(np.arange(len(frame)), chosen)[:, None]
        if not mask.all():
            sns.heatmap(
                frame, ax=axes, mask=mask, vmin=0, vmax=1, cmap=colours, cbar=False, annot=words, fmt="",
                annot_kws={"size": LETTER},
            )  # fmt: skip
    axes.patch.set(facecolor="white")
    axes.set_xticks(np.arange(len(columns)) + 0.5, labels=columns, rotation=0)
    axes.set_yticks(np.arange(len(frame)) + 0.5, labels=list(frame.index), rotation=0)
    axes.tick_params(length=0)
    axes.set(ylabel="")


def per_cent(value: float) -> str:
    """Return a share in per cent; one that is neither 0 nor 1 is not rounded to it."""
    percent = 100 * value
    if 0 < percent < 0.05:
        return "<0.1"
    if 99.95 <= percent < 100:
        return ">99.9"
    return f"{percent:.1f}" if 0 < percent < 10 or 99 < percent < 100 else f"{percent:.0f}"
