"""What several figures share: trained lengths shaded, a line with its seeds, a logarithmic axis."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from lengen import plotting
from lengen.intervals import median
from lengen.records import Run
from papers.random_spaces import lengths as titles

Runs = Mapping[str, Sequence[Run]]


def shade(axes: Axes, lengths: Sequence[int]) -> Axes:
    """Grey bands over the trained lengths of a length axis, with white between them where some were left out."""
    for low, high in titles.blocks(lengths):
        plotting.trained_band(axes, (low - 0.5, high + 0.5))
    return axes


def over_seeds(
    axes: Axes,
    points: Mapping[float, Sequence[float]],
    *,
    colour: object,
    label: str = "",
    line: str = "-",
    marker: str = "",
    width: float = 1.3,
    shift: int = 0,
) -> Axes:
    """A line through the medians over seeds with a band over their range; x -> one value per seed.

    Long lines carry some ten markers; ``shift`` moves them, so that those of coinciding lines are all seen.
    """
    xs = sorted(points)
    values = [median(points[x]) for x in xs]
    every = max(1, len(xs) // 8)
    axes.plot(
        xs,
        values,
        line,
        color=colour,
        marker=marker,
        markevery=(shift % every, every),
        markersize=3.5,
        lw=width,
        label=label,
    )
    if any(len(points[x]) > 1 for x in xs):
        low, high = [min(points[x]) for x in xs], [max(points[x]) for x in xs]
        axes.fill_between(xs, low, high, color=colour, alpha=0.15, linewidth=0)
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
