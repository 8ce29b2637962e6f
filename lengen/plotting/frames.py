"""Values that pictures draw: records as pandas frames, quantities by name, published values beside them.

The first columns say where a value stands (length, count, step), ``run`` which run it is of. ``value`` is a rate, a
mean or a loss; if it was counted, ``total`` out of ``n``.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from lengen.metrics import METRICS
from lengen.metrics.run_measures import has_learned
from lengen.plotting.style import Look
from lengen.results.records import Run


def scores(runs: Sequence[Run], mode: str = "teacher_forced", metric: str = "correct") -> pd.DataFrame:
    """Return the axes of the grids, ``run``, ``total``, ``n``, ``value``: every cell that was scored in that mode.

    ``metric`` is one of `lengen.metrics`, or any count per response.
    """
    known = METRICS.get(metric)
    top, bottom = (known.numerator, known.denominator) if known else (metric, "n")
    frames = [run.frame[run.frame["mode"] == mode].assign(run=number) for number, run in enumerate(runs)]
    if not frames:
        return pd.DataFrame(columns=["length", "run", "total", "n", "value"])
    cells = pd.concat(frames)
    cells = cells[cells["n"] > 0]
    total, n = (cells.get(name, pd.Series(np.nan, cells.index)) for name in (top, bottom))
    places = cells[[*runs[0].grid.axes, "run"]]
    return places.assign(total=total.fillna(0), n=n.fillna(0), value=total / n.where(n > 0))


def hits(runs: Sequence[Run], name: str) -> pd.DataFrame:
    """Return ``length``, ``run``, ``total``, ``n``, ``value``: ones among the arrays ``hits.<name>.<length>``."""
    rows = [
        (int(key.rpartition(".")[2]), number, int(values.sum()), values.size, float(values.sum()) / values.size)
        for number, run in enumerate(runs)
        for key, values in run.arrays.items()
        if key.rpartition(".")[0] == f"hits.{name}" and values.size
    ]
    return pd.DataFrame(rows, columns=["length", "run", "total", "n", "value"])


def metrics(runs: Sequence[Run], name: str, window: int = 1) -> pd.DataFrame:
    """Return ``step``, ``run``, ``value``: a metric recorded in training, if it is finite.

    Medians of ``window`` rows around each, fewer at the ends.
    """
    frames = []
    for number, run in enumerate(runs):
        rows = [(step, number, value) for step, metric, value in run.metrics if metric == name and np.isfinite(value)]
        frame = pd.DataFrame(rows, columns=["step", "run", "value"])
        frames.append(frame.assign(value=frame["value"].rolling(window, center=True, min_periods=1).median()))
    return pd.concat(frames, ignore_index=True)


def arrays(runs: Sequence[Run], name: str, lengths: Sequence[int]) -> list[float]:
    """Return one mean per run over the examples of these lengths of the arrays ``<name>.<length>``.

    nan where none was recorded.
    """
    means = []
    for run in runs:
        parts = [run.arrays[f"{name}.{length}"] for length in lengths if f"{name}.{length}" in run.arrays]
        every = np.concatenate([array.astype(np.float64) for array in parts]) if parts else np.empty(0)
        means.append(float(every.mean()) if every.size else float("nan"))
    return means


class Measured(NamedTuple):
    """A measure over lengths."""

    label: str
    mode: str = "teacher_forced"
    metric: str = "correct"
    published: str = ""
    """The measure of published values; empty: none is published."""
    share: bool = True
    """Between 0 and 1, drawn in per cent."""


MEASURES = {
    "exact": Measured("Exact match", published="exact"),
    "answer_token": Measured("Answer token right\nin its place", metric="answer_token", published="answer_token"),
    "answer_correct": Measured("Answer before\nthe first end", metric="answer_correct", published="answer"),
    "final": Measured("Final answer,\nfree-running", "free_running", "answer_correct"),
    "edit": Measured("Edit distance\nper token", "free_running", "edit", share=False),
    "edits": Measured("Edit distance (tokens)", "free_running", "edit_sum", share=False),
    "hits.minimum": Measured("Minimum at the delimiter"),
    "hits.guessed": Measured("Minimum is 1"),
    "hits.copy": Measured("Copy of an input token"),
    "hits.identity_successor": Measured("Identity and successor"),
}
"""Every measure of curves."""


def published_kinds(options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return measure and mode of the published values that belong beside a figure with these options.

    Panels of single counts have none: published values are of all counts, or of the first.
    """
    if options.get("panels") == "count":
        return []
    return [(MEASURES[name].published, MEASURES[name].mode) for name in options.get("measures", ("exact",))]


def values(runs: Sequence[Run], name: str, count: int | None = None) -> pd.DataFrame:
    """Return ``length``, ``run``, ``value``, ``learned``: a row per run and length.

    Args:
        count: of the second axis of a grid; by default all trained ones together.
    """
    array = name.removeprefix("hits.")
    cells = hits(runs, array) if array != name else _scored(runs, MEASURES[name], count)
    learned = [has_learned(run) for run in runs]
    return cells.assign(learned=[learned[run] for run in cells["run"]])


def _scored(runs: Sequence[Run], measure: Measured, count: int | None) -> pd.DataFrame:
    two = [run for run in runs if len(run.grid.axes) == 2]
    cells = scores(two or runs, measure.mode, measure.metric)
    if not two:
        return cells
    most = max(1, runs[0].trained.second)
    tested = cells["count"]
    wanted = tested == count if count else (tested <= most if (tested <= most).any() else tested == tested.min())
    sums = cells[wanted].groupby(["length", "run"])[["total", "n"]].sum().reset_index()
    return sums.assign(value=sums["total"] / sums["n"])


def medians(frame: pd.DataFrame) -> pd.Series:
    """Return the median over runs by length: of those that learned, as `lengen.metrics.run_measures.learned` does."""
    most = 2 * frame.groupby("run")["learned"].first().sum() >= frame["run"].nunique()
    counted = frame[frame["learned"]] if most else frame
    return counted.groupby("length")["value"].median()


# A value is drawn only beside models that were trained on the published range, at its own lengths. Beside shorter
# problems none is drawn.


class Point(NamedTuple):
    """One published number of one experiment."""

    value: float
    relation: str = "="
    """``=`` for the number itself, ``>=`` or ``<=`` for a bound."""
    lengths: tuple[int, int] = (1, 1)
    """First and last length it is about, at the published setting."""
    counts: tuple[int, int] = (1, 1)
    """First and last value of the second axis; 1 if there is none."""
    trained: tuple[int, int] = (1, 1)
    """Longest trained length and largest trained second value of the published setting."""
    measure: str = "exact"
    mode: str = "teacher_forced"
    region: str = "all"
    across: str = ""
    """mean or deviation if it is taken over the runs of several experiments."""

    @property
    def printed(self) -> str:
        """The share in percent, after the relation of a bound: ``>= 90 %``."""
        return f"{'' if self.relation == '=' else f'{self.relation} '}{100 * self.value:.4g} %"


Published = Mapping[str, Sequence[Point]]
"""Name of an experiment -> its published values."""
HALF = {">=": "top", ">": "top", "<=": "bottom", "<": "bottom"}
"""Filled half of the mark of a bound: the possible values lie there."""
AROUND = 3.0
"""Points by which a mark at the place of another is larger."""


def of_measure(values: Sequence[Point], measure: str = "exact", mode: str = "teacher_forced") -> list[Point]:
    """Return the values of one measure, at whatever lengths."""
    return [value for value in values if (value.measure, value.mode, value.across) == (measure, mode, "")]


def at_same_lengths(
    values: Sequence[Point], run: Run, measure: str = "exact", mode: str = "teacher_forced"
) -> list[Point]:
    """Return the values of one measure to draw beside a run.

    It was trained on the published range, and tested as far as the value goes.
    """
    span = run.trained
    tested = [max(axis) for axis in zip(*run.grid.scores, strict=True)] or [0]
    seen = [value for value in of_measure(values, measure, mode) if value.lengths[1] <= tested[0]]
    return [value for value in seen if value.trained == span.size]


def mark(axes: Axes, value: Point, look: Look, number: int = 0) -> None:
    """Draw the hollow mark of a line at its length, with a dotted line over several; of a bound half is filled.

    The ``number``-th at its place is larger and stands around the others.
    """
    half = "full" if number else HALF.get(value.relation, "full")
    first, last = value.lengths
    if first < last:
        axes.plot([first, last], [value.value] * 2, ":", color=look.colour, linewidth=0.9, zorder=3.5)
    axes.plot(
        [last], [value.value], look.marker or "D", color=look.colour, markersize=5.5 + AROUND * number,
        fillstyle=half, markerfacecolor="none" if number else "white" if half == "full" else look.colour,
        markerfacecoloralt="white", markeredgewidth=1.1, zorder=4, clip_on=False,
    )  # fmt: skip


def keys(drawn: Iterable[Point]) -> list[Line2D]:
    """Return the handles of a legend for the hollow marks that are drawn: of numbers, and of bounds."""
    halves = {HALF.get(value.relation, "full") for value in drawn}
    labels = {"full": "published (hollow)", "top": "published, at least", "bottom": "published, below"}
    faces = {half: "white" if half == "full" else "0.35" for half in labels if half in halves}
    shown: dict[str, Any] = {"color": "0.35", "markerfacecoloralt": "white", "marker": "o", "markersize": 5.5, "ls": ""}
    return [
        Line2D([], [], label=labels[half], **shown | {"fillstyle": half, "mfc": face}) for half, face in faces.items()
    ]
