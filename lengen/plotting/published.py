"""Published values beside ours: numbers with their place go in, hollow marks on the same axes leave.

A value is drawn only beside models that were trained on the published range, at its own lengths. Beside shorter
problems none is drawn.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.transforms import offset_copy

from lengen.metrics.measures import trained
from lengen.plotting.methods import Look
from lengen.results.records import Run


class Value(NamedTuple):
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


Published = Mapping[str, Sequence[Value]]
"""Name of an experiment -> its published values."""
NONE: Published = {}
BOUND = {">=": "^", ">": "^", "<=": "v", "<": "v"}
"""Markers of bounds, which point to the possible values."""
APART = 4.0
"""Points between marks at one place."""


def at_same_lengths(
    values: Sequence[Value], run: Run, measure: str = "exact", mode: str = "teacher_forced"
) -> list[Value]:
    """Return the values of one measure to draw beside a run: it was trained on the published range, and tested as far
    as the value goes."""
    span = trained(run)
    tested = [max(axis) for axis in zip(*run.grid.scores, strict=True)] or [0]
    return [
        value
        for value in values
        if (value.measure, value.mode, value.across) == (measure, mode, "")
        and value.trained == (span.length, span.second)
        and value.lengths[1] <= tested[0]
    ]


def mark(axes: Axes, value: Value, look: Look, number: int = 0) -> None:
    """Draw one hollow mark at its length, with a dotted line over several; the ``number``-th at its place is moved
    towards the middle of the axes."""
    first, last = value.lengths
    across = (axes.transData - axes.transAxes).transform((last, value.value))[0]
    moved = APART * number * (-1 if across > 0.5 else 1)
    aside = offset_copy(axes.transData, axes.get_figure(root=True), x=moved, units="points")
    if first < last:
        axes.plot([first, last], [value.value] * 2, ":", color=look.colour, linewidth=0.9, zorder=3.5)
    axes.plot(
        [last], [value.value], BOUND.get(value.relation, "D"), color=look.colour, markerfacecolor="white", markersize=5,
        markeredgewidth=1.1, zorder=4, transform=aside, clip_on=False,
    )  # fmt: skip


def key() -> Line2D:
    """Return the handle of a legend for hollow marks."""
    return Line2D([], [], marker="D", label="published", color="0.35", markerfacecolor="white", markersize=5, ls="")
