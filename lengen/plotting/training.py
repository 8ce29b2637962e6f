"""Lines over optimizer steps: what was recorded in training."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from matplotlib.transforms import offset_copy

from lengen.paper.experiment import Figure as Picture
from lengen.paper.experiment import Runs
from lengen.plotting.frames import metrics
from lengen.plotting.methods import Look, in_order, looks
from lengen.plotting.published import Published, Value, at_same_lengths, keys
from lengen.plotting.sheet import COLUMN, PAGE, empty, label, legend, percent, sheet, shown
from lengen.results.records import Run


def training(
    picture: Picture,
    runs: Runs,
    published: Published,
    *,
    families: Mapping[str, str],
    lines: str = "",
    names: Mapping[str, str] | None = None,
    shares: Sequence[str] = (),
    smooth: int = 1,
    dashed: bool = False,
) -> Figure:
    """Draw records of training over optimizer steps: a column an experiment, a row a family of metrics.

    Args:
        families: prefix of the names of metrics -> label of the axis; ``loss.7`` is the line 7 of the family ``loss``.
        lines: title of the legend.
        names: line -> label; by default as recorded.
        shares: families that are shares; the others are drawn on a logarithmic axis.
        smooth: recorded rows around a step whose median is drawn.
        dashed: lines are lengths, and those that were not trained are dashed.
    """
    drawn = [(item, some) for item, some in shown(picture, runs) if any(_lines_of(some, name) for name in families)]
    if not drawn:
        return empty()
    wide = min(len(drawn), 5)
    figure = sheet(PAGE if wide > 1 else COLUMN, 1.6 * len(families) + 1.25)
    grid = figure.subplots(len(families), wide, squeeze=False, sharex="col", sharey="row")
    every = list(dict.fromkeys(line for name in families for _, some in drawn for line in _lines_of(some, name)))
    every.sort(key=lambda line: (not line.isdecimal(), int(line) if line.isdecimal() else 0))
    told = in_order(every) if lines else looks([(names or {}).get(line, line) for line in every])
    if not lines:  # colours and dashes tell them apart
        told = {name: look._replace(marker="") for name, look in told.items()}
    marked = False
    for place, (row, (name, what)) in enumerate(zip(grid, families.items(), strict=True)):
        for axes, (item, some) in zip(row, drawn, strict=False):
            found = _lines_of(some, name)
            for line in found:
                points = metrics(some, f"{name}.{line}" if line else name, smooth)
                look = told[line if lines else (names or {}).get(line, line)]
                middle = points.groupby("step")["value"].median()
                dashes = "--" if dashed and not some[0].trained.has((int(line),)) else look.line
                some_points = max(1, len(middle) // 5)
                axes.plot(
                    middle.index, middle.to_numpy(), ls=dashes, color=look.colour, lw=1.1, ms=3, mew=0,
                    marker=look.marker, markevery=(every.index(line) % some_points, some_points),
                )  # fmt: skip
            if name in shares:
                percent(axes)
                theirs = published.get(item.name, ())
                for mode in ("teacher_forced", "sampled"):
                    marked |= _at_end(axes, at_same_lengths(theirs, some[0], mode=mode), told)
            axes.set_title(label(item, some).replace(", ", ",\n", 1) if place == 0 else "")
            axes.xaxis.set_major_locator(MaxNLocator(3))
            axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        row[0].set_ylabel(what)
        if name not in shares:
            _logarithmic(
                row[0],
                [value for _, some in drawn for run in some for _, one, value in run.metrics if one.startswith(name)],
            )
    for axes in grid[-1]:
        axes.set_xlabel("Steps")
    entries = {line: told[line if lines else (names or {}).get(line, line)] for line in every if line or not lines}
    handles: list[Artist] = [
        Line2D([], [], color=look.colour, ls=look.line, label=(names or {}).get(line, line), ms=3, marker=look.marker)
        for line, look in entries.items()
    ]
    if len(handles) > 1:
        legend(figure, [*handles, *keys([Value(1.0)] * marked)], lines)
    return figure


def _at_end(axes: Axes, theirs: Sequence[Value], told: Mapping[str, Look]) -> bool:
    """Draw published values as hollow marks at the end of the training, in the colours of their lengths.

    True if any was drawn.
    """
    last = max((float(np.max(line.get_xdata())) for line in axes.lines), default=0.0)
    drawn = False
    for k, value in enumerate(theirs):
        look = told.get(str(value.lengths[1]))
        if look and value.lengths[0] == value.lengths[1]:
            drawn = True
            aside = offset_copy(axes.transData, axes.get_figure(root=True), x=3 * (k % 3), units="points")
            axes.plot(
                [last], [value.value], "D", color=look.colour, markerfacecolor="white", markersize=5, transform=aside
            )
    axes.set_xlim(right=1.08 * last)
    return drawn


def _lines_of(runs: Sequence[Run], family: str) -> list[str]:
    names = dict.fromkeys(name for run in runs for _, name, _ in run.metrics)
    return [
        name.removeprefix(family).removeprefix(".") for name in names if name == family or name.startswith(f"{family}.")
    ]


def _logarithmic(axes: Axes, found: Sequence[float]) -> None:
    positive = [value for value in found if value > 0 and np.isfinite(value)]
    if positive:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
