"""Lines over lengths or training steps: the median over seeds, a band, the trained lengths shaded.

The band is the range over seeds or, of one seed whose value is a share, its 95 % Wilson interval. Lines often coincide,
at 0 or at 1: those of one panel are drawn side by side, at most `ROOM` points from their values.
"""

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, MaxNLocator, NullFormatter, PercentFormatter
from matplotlib.transforms import offset_copy

from lengen.intervals import wilson
from lengen.plotting.labels import blocks, sampled
from lengen.plotting.methods import Look
from lengen.plotting.published import times_axis

BESIDE, ROOM = 1.0, 1.5
"""Points between lines that would coincide, and from the middle to the outermost of them."""
FEW = 20
"""Fewest examples with an interval: of fewer, such as all numbers of one digit, it is wider than the panel."""
MANY = 20
"""Most tested lengths that all get a tick."""


def line(
    axes: Axes,
    points: pd.DataFrame,
    look: Look,
    label: str = "",
    *,
    interval: bool = True,
    shift: float = 0.0,
    sparse: int | None = None,
) -> Axes:
    """Medians over runs of ``value`` against the first column of ``points``, with a band.

    ``interval``: one seed has its Wilson interval, from ``total`` and ``n``. ``shift``: points upwards. ``sparse``:
    some ten markers, the first at that place, so that those of long lines that coincide are all seen.
    """
    groups = points.groupby(points.columns[0])
    values = groups["value"]
    middle = values.median()
    every = max(1, len(middle) // 8)
    (drawn,) = axes.plot(
        middle.index.tolist(),
        middle.tolist(),
        look.line,
        color=look.colour,
        marker=look.marker,
        markevery=None if sparse is None else (sparse % every, every),
        markerfacecolor=None if look.line == "-" else "white",
        label=label,
    )
    if shift:
        drawn.set_transform(offset_copy(axes.transData, axes.get_figure(root=True), y=shift, units="points"))
    if (values.size() > 1).any():
        _band(axes, look, middle.index, values.min(), values.max())
    elif interval:
        counted = groups[["total", "n"]].first()
        counted = counted[counted["n"] >= FEW]
        if len(counted):
            low, high = zip(*(wilson(int(total), int(n)) for total, n in counted.to_numpy()), strict=True)
            _band(axes, look, counted.index, low, high)
    return axes


def _band(axes: Axes, look: Look, xs: Sequence[float], low: Sequence[float], high: Sequence[float]) -> None:
    axes.fill_between(xs, low, high, color=look.colour, alpha=0.15, linewidth=0)


def lines(
    axes: Axes,
    points: Mapping[str, pd.DataFrame],
    looks: Mapping[str, Look],
    labels: Mapping[str, str],
    *,
    interval: bool = True,
) -> Axes:
    """A line for every experiment that measured something, side by side where they coincide."""
    shown = [name for name, some in points.items() if len(some)]
    middle = (len(shown) - 1) / 2
    step = min(BESIDE, ROOM / middle) if middle else 0.0
    for number, name in enumerate(shown):
        shift = step * (middle - number)
        line(axes, points[name], looks[name], labels[name], interval=interval, shift=shift)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    return axes


BESIDE_NOTE = "Lines that coincide stand side by side."
"""What a footnote says of `lines`."""

# -- axes --------------------------------------------------------------------------------------------------


def trained_band(axes: Axes, trained: tuple[float, float]) -> Axes:
    """Shade the trained range of a curve's axis."""
    axes.axvspan(trained[0], trained[1], color="0.85", zorder=0, linewidth=0)
    return axes


def trained_lengths(axes: Axes, lengths: Sequence[int]) -> Axes:
    """Shade the trained lengths, with white between them where some were left out."""
    for low, high in blocks(lengths):
        trained_band(axes, (low - 0.5, high + 0.5))
    return axes


def above(axes: Axes, place: float, words: str) -> Axes:
    """Name a place of the horizontal axis above the panel."""
    axes.text(
        place, 1.01, words, size=6.5, ha="center", va="bottom", color="0.35", transform=axes.get_xaxis_transform()
    )
    return axes


def percent(axes: Axes, low: float = -0.03, high: float = 1.03) -> Axes:
    """A vertical axis from 0 to 100 %."""
    axes.set_ylim(low, high)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    return axes


def lengths_axis(axes: Axes, label: str, values: Sequence[int], longest_trained: int = 0) -> Axes:
    """Name the axis of tested lengths, say where it is sampled, and put the multiples of the trained length above."""
    axes.set_xlabel(label + sampled(values))
    if longest_trained:
        times_axis(axes, longest_trained)
    return axes


def length_ticks(axes: Axes, tested: Sequence[int], most: int = MANY) -> Axes:
    """A tick for every tested length, or few where they are more than ``most``."""
    if len(tested) <= most:
        axes.set_xticks(sorted(tested))
    else:
        axes.xaxis.set_major_locator(MaxNLocator(most // 2, integer=True))
    return axes


def step_ticks(axes: Axes, most: int) -> Axes:
    """Optimizer steps as short as they can be: 20k."""
    axes.xaxis.set_major_locator(MaxNLocator(most))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    return axes


def logarithmic(axes: Axes, values: Sequence[float]) -> Axes:
    """A logarithmic vertical axis with plain numbers; left linear where no value is positive."""
    shown = [value for value in values if value > 0]
    if shown:
        axes.set_yscale("log")
        fine = max(shown) / min(shown) < 100
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if fine else (1.0,)))
        axes.yaxis.set_major_formatter(FuncFormatter(plain))
        axes.yaxis.set_minor_formatter(NullFormatter())
    return axes


def plain(value: float, _place: int = 0) -> str:
    """A tick's number as short as it can be.

    >>> plain(0.01), plain(20.0), plain(1e-5)
    ('0.01', '20', '1e-05')
    """
    return f"{value:g}"
