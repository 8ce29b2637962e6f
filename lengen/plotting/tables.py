"""Tables as pictures: cells coloured by a share and with their number; ours and, beside it, what is published."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengen.metrics.measures import most_have_learned
from lengen.paper.experiment import Figure as Picture
from lengen.paper.experiment import Runs
from lengen.plotting.grid import GREY, HEAT, outline
from lengen.plotting.labels import length_axis, spans
from lengen.plotting.measured import MEASURES, medians, values
from lengen.plotting.published import Published, Value, at_same_lengths
from lengen.plotting.sheet import LETTER, PAGE, empty, label, sheet, shown
from lengen.results.records import Run

MOST = 9
"""Columns that a page has room for."""


def table(picture: Picture, runs: Runs, published: Published, *, measure: str = "exact", alone: str = "") -> Figure:
    """Return a row a variant and a column a length: ours and, beside it, published values.

    The first column is the trained lengths together, or the longest if a value is published there, then comes every
    other one.

    Args:
        alone: a measure of which settings with a scratchpad have a row of their own.
    """
    rows: list[tuple[str, str, Sequence[Run], Sequence[Value]]] = []
    for item, some in shown(picture, runs):
        for name in (measure, *[alone] * bool(alone and _has(some, alone))):
            theirs = published.get(item.name, ()) if name == measure else ()
            named = label(item, some)
            named += "" if name == measure else f": {MEASURES[name].label.split(',')[0].lower()}"
            rows.append((named, name, some, at_same_lengths(theirs, some[0])))
    if not rows:
        return empty()
    longest = any(value.lengths == (some[0].trained.length,) * 2 for *_, some, found in rows for value in found)
    ours = pd.DataFrame({named: _row(some, name, longest) for named, name, some, _ in rows}).T
    theirs = pd.DataFrame({named: _theirs(some[0], found) for named, _, some, found in rows}).T
    columns = _columns(ours.columns, theirs.columns)
    ours = ours.reindex(columns=columns)
    beside = bool(theirs.notna().any(axis=None))
    figure = sheet(PAGE, (0.24 if len(rows) < 12 else 0.18) * len(rows) + 1.05)
    panels = figure.subplots(1, 1 + beside, squeeze=False, sharey=True)[0]
    grey = [k for k, (_, _, some, _) in enumerate(rows) if not most_have_learned(some)]
    heads = [_named(column, [some[0] for *_, some, _ in rows], longest) for column in columns]
    across = length_axis(rows[0][2][0])
    cells(panels[0], ours, heads, grey)
    panels[0].set(title="ours" if beside else "", xlabel=across)
    if beside:
        cells(panels[1], theirs.reindex(columns=columns), heads, ())
        panels[1].set(title="published", xlabel=across)
    for axes in panels:
        outline(axes, 0, 0, 1, len(rows))
    return figure


def _has(some: Sequence[Run], name: str) -> bool:
    return some[0].spec.data.format.scratchpad and bool(len(values(some, name)))


def _row(some: Sequence[Run], name: str, longest: bool) -> pd.Series:
    """Column -> median; 0 is all trained lengths together, or the longest alone."""
    span, frame = some[0].trained, values(some, name)
    inside = frame["length"].map(lambda length: span.has((length,)))
    first = frame["length"] == span.length if longest else inside
    together = frame[first].groupby("run").agg({"total": "sum", "n": "sum", "learned": "first"}).reset_index()
    together = together.assign(length=0, value=together["total"] / together["n"])
    return medians(pd.concat([together, frame[~inside]]))


def _theirs(run: Run, found: Sequence[Value]) -> pd.Series:
    """The same of published values; the longest trained length represents the trained ones."""
    span = run.trained
    cells: dict[int, float] = {}
    for value in found:
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
