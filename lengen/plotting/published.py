"""Published values beside ours: numbers with their place go in, hollow marks on the same axes leave.

A value is of one experiment at one size of the published setting. Beside a run of another size it stands at the same
multiple of the trained range: published at 30 of 10 digits is drawn at 9 of 3. What has no place on the axes of a panel
is counted and told, never moved. A length that training left out is no multiple: it stands at the one left out here.
"""

import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import offset_copy

from lengen.measures import Trained, trained
from lengen.plotting.methods import Look
from lengen.plotting.words import share, unbroken
from lengen.records import Run


class Value(NamedTuple):
    """One published number of one experiment."""

    value: float
    relation: str = "="
    """``=`` where it is the number itself, ``>=`` or ``<=`` where the paper gives a bound."""
    lengths: tuple[int, int] = (1, 1)
    """First and last length it is about, at the published setting."""
    counts: tuple[int, int] = (1, 1)
    """First and last value of the second axis; 1 where there is none."""
    trained: tuple[int, int] = (1, 1)
    """Longest trained length and largest trained second value of the published setting."""
    left_out: bool = False
    """Whether its lengths lie between trained ones and were left out of the training."""
    measure: str = "exact"
    mode: str = "teacher_forced"
    region: str = "all"
    statistic: str = "minimum"
    """Of several cells: their minimum, mean or maximum."""
    across: str = ""
    """mean or deviation where it is taken over the runs of several experiments."""
    place: str = ""
    """Table or figure."""


Published = Mapping[str, Sequence[Value]]
"""Name of an experiment -> what is published of it."""
NONE: Published = {}
BOUND = {">=": "^", ">": "^", "<=": "v", "<": "v"}
"""Markers of bounds, which point to where the values lie."""
APART = 3.5
"""Points between marks that would coincide."""
LINE = 38
"""Characters of a line above a heat map."""
NEAR = 0.1
"""Cells by which a square on a heat map may lie beside the place that was published."""
ROOM = 1.02
"""How far beyond the longest tested length a mark may lie, as a factor."""


def of(published: Published, name: str, measure: str = "exact", mode: str = "teacher_forced") -> list[Value]:
    """The values of one experiment alone by measure and mode, in the order of the paper's file."""
    wanted = (measure, mode, "")
    return [value for value in published.get(name, ()) if (value.measure, value.mode, value.across) == wanted]


def here(value: Value, span: Trained) -> tuple[float, float] | None:
    """First and last length of a value at the same multiples of another trained range; of a length that was left out,
    the one that was left out of that range. None where there is no such one, or several.

    >>> here(Value(0.5, lengths=(20, 30), trained=(10, 1)), Trained(3, 1))
    (6.0, 9.0)
    >>> here(Value(0.5, lengths=(8, 8), trained=(9, 1), left_out=True), Trained(6, 1, frozenset({1, 2, 3, 4, 6})))
    (5.0, 5.0)
    """
    if value.left_out:
        return (float(span.left_out[0]), float(span.left_out[0])) if len(span.left_out) == 1 else None
    first, last = (size * span.length / value.trained[0] for size in value.lengths)
    return first, last


def on_curves(
    axes: Axes,
    published: Published,
    runs: Mapping[str, Sequence[Run]],
    looks: Mapping[str, Look],
    *,
    measure: str = "exact",
    mode: str = "teacher_forced",
) -> tuple[int, float]:
    """Draw what is published of the experiments of a panel over lengths; how many values, and the largest multiple of
    the trained length that has no place on the axis (0: all have one).

    ``runs`` and ``looks`` by the name of the experiment. Values of several lengths together are a line.
    """
    drawn, beyond = 0, 0.0
    longest = max((cell[0] for some in runs.values() for run in some for cell in run.grid.scores), default=0)
    taken: dict[tuple[float, float], int] = {}
    for name, some in runs.items():
        for value in of(published, name, measure, mode) if some else ():
            if (at := here(value, trained(some[0]))) is None:
                continue
            first, last = at
            if last > ROOM * longest:
                beyond = max(beyond, value.lengths[1] / value.trained[0])
                if first > longest or value.statistic != "minimum":
                    continue
                last = longest  # what holds of all of them holds of these
            place = (round(last, 2), round(value.value, 2))
            mark(axes, first, last, value, looks[name], taken.get(place, 0))
            taken[place] = taken.get(place, 0) + 1
            drawn += 1
    return drawn, beyond


def mark(axes: Axes, first: float, last: float, value: Value, look: Look, number: int = 0) -> None:
    """One hollow mark at ``last``, with a thin line from ``first``; the ``number``-th at its place is moved aside."""
    aside = offset_copy(axes.transData, axes.get_figure(root=True), x=APART * number, units="points")
    if first < last:
        axes.plot([first, last], [value.value] * 2, ":", color=look.colour, linewidth=0.9, zorder=3.5)
    axes.plot(
        [last], [value.value], BOUND.get(value.relation, look.marker), color=look.colour, markerfacecolor="white",
        markersize=6, markeredgewidth=1.1, zorder=4, transform=aside, clip_on=False,
    )  # fmt: skip


def on_map(
    axes: Axes, values: Sequence[Value], rows: Sequence[int], columns: Sequence[int], here: tuple[int, int]
) -> list[str]:
    """Mark on a heat map the cells that published values are about, and say of each what is published.

    Args:
        rows, columns: tested values of the first and the second axis, one a cell.
        here: longest trained value of either axis.

    Returns:
        One line for each value: those of several cells stand in a dashed box, of one at a square; those further out
        than anything here was tested, or between two cells, are said alone. "It" is the trained range.
    """
    lines = []
    for value in values:
        spans = [
            [size * trained / published for size in span]
            for span, trained, published in zip((value.lengths, value.counts), here, value.trained, strict=True)
        ]
        inside = [
            [place for place, size in enumerate(tested) if span[0] - 0.01 <= size <= span[1] + 0.01]
            for tested, span in zip((rows, columns), spans, strict=True)
        ]
        places = [
            float(np.interp(span[1], tested, range(len(tested))))
            for tested, span in zip((rows, columns), spans, strict=True)
        ]
        one = value.lengths[0] == value.lengths[1] and value.counts[0] == value.counts[1]
        where = "at the square" if one else "in every dashed cell"
        sizes = dict.fromkeys(
            f"{size:.3g}" for size in (value.lengths[1] / value.trained[0], value.counts[1] / value.trained[1])
        )
        times = f"{' × '.join(sizes)} times it"
        if value.statistic == "mean":
            where = "on average outside" if value.region == "outside" else f"on average up to {times}"
        elif any(span[1] > ROOM * tested[-1] for span, tested in zip(spans, (rows, columns), strict=True)):
            where = f"{'at' if one else 'up to'} {times}"
        elif one and not all(abs(place - round(place)) <= NEAR for place in places):
            where = f"at {times}"
        elif one:
            y, x = map(round, places)
            axes.plot(x, y, "s", color="black", markerfacecolor="none", markersize=11, markeredgewidth=0.9, zorder=4)
        elif all(inside):
            (top, bottom), (left, right) = ((some[0], some[-1]) for some in inside)
            corner, size = (left - 0.45, top - 0.45), (right - left + 0.9, bottom - top + 0.9)
            axes.add_patch(Rectangle(corner, *size, fill=False, ec="black", ls=(0, (3, 2)), lw=0.9, zorder=3.5))
        said = unbroken(f"published: {SIGNS.get(value.relation, '')}{share(value.value)} {where}")
        lines += textwrap.wrap(said, LINE)
    return lines


SIGNS = {">=": "≥ ", ">": "> ", "<=": "≤ ", "<": "< ", "=": ""}
"""How a relation is written."""


def key() -> Line2D:
    """The handle of a legend: what hollow marks are."""
    return Line2D(
        [], [], marker="o", label="published", color="0.35", markerfacecolor="white", markersize=6,
        markeredgewidth=1.1, ls="",
    )  # fmt: skip


def times_axis(axes: Axes, length: int) -> None:
    """A second axis above the panel: the length over the longest trained ``length``."""
    above = axes.secondary_xaxis("top", functions=(lambda x: np.divide(x, length), lambda x: np.multiply(x, length)))
    above.tick_params(length=1.5, pad=1, labelsize=6, colors="0.35")
    above.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    above.xaxis.set_major_formatter("{x:g}×")
    above.spines["top"].set_visible(False)


def note(drawn: int, beyond: float, bounds: bool = False) -> str:
    """What a footnote says of hollow marks; empty where nothing is published of what is shown."""
    words = ""
    if drawn:
        words = "Hollow: published values, at the same multiple of the trained length (top axis)"
        words += "; triangles are bounds." if bounds else "."
    if beyond:
        words += f" Published values go on to {beyond:.3g} times the trained length, beyond what is tested here."
    return words.strip()
