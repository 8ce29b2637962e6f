"""Published values beside ours: numbers with their place go in, hollow marks on the same axes leave.

A value is drawn only beside models that were trained on the published range, at its own lengths. Beside shorter
problems none is drawn.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

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

    @property
    def printed(self) -> str:
        """The share in percent, after the relation of a bound: ``>= 90 %``."""
        return f"{'' if self.relation == '=' else f'{self.relation} '}{100 * self.value:.4g} %"


Published = Mapping[str, Sequence[Value]]
"""Name of an experiment -> its published values."""
NONE: Published = {}
BOUND = {">=": "^", ">": "^", "<=": "v", "<": "v"}
"""Markers of bounds, which point to the possible values."""
AROUND = 3.0
"""Points by which a mark at the place of another is larger."""


def of_measure(values: Sequence[Value], measure: str = "exact", mode: str = "teacher_forced") -> list[Value]:
    """Return the values of one measure, at whatever lengths."""
    return [value for value in values if (value.measure, value.mode, value.across) == (measure, mode, "")]


def at_same_lengths(
    values: Sequence[Value], run: Run, measure: str = "exact", mode: str = "teacher_forced"
) -> list[Value]:
    """Return the values of one measure to draw beside a run: it was trained on the published range, and tested as far
    as the value goes.
    """
    span = run.trained
    tested = [max(axis) for axis in zip(*run.grid.scores, strict=True)] or [0]
    return [
        value
        for value in of_measure(values, measure, mode)
        if value.trained == (span.length, span.second) and value.lengths[1] <= tested[0]
    ]


def mark(axes: Axes, value: Value, look: Look, number: int = 0) -> None:
    """Draw one hollow mark at its length, with a dotted line over several.

    The ``number``-th at its place is larger and stands around the others.
    """
    first, last = value.lengths
    if first < last:
        axes.plot([first, last], [value.value] * 2, ":", color=look.colour, linewidth=0.9, zorder=3.5)
    axes.plot(
        [last], [value.value], BOUND.get(value.relation, "D"), color=look.colour, markersize=5 + AROUND * number,
        markerfacecolor="none" if number else "white", markeredgewidth=1.1, zorder=4, clip_on=False,
    )  # fmt: skip


def keys(drawn: Iterable[Value]) -> list[Line2D]:
    """Return the handles of a legend for the hollow marks that are drawn: of numbers, and of bounds."""
    marks = {BOUND.get(value.relation, "D") for value in drawn}
    told = {"D": "published", "^": "published, at least", "v": "published, below"}
    return [
        Line2D([], [], marker=mark, label=text, color="0.35", markerfacecolor="white", markersize=5, ls="")
        for mark, text in told.items()
        if mark in marks
    ]
