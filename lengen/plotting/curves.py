"""Lines over lengths and over optimizer steps: a panel a value of an axis, a line a variant.

Lines are medians over the seeds that learned their trained range; a seed that did not is a hollow dot. Published values
are hollow marks of their lines at the same lengths; many of them have panels of their own below ours.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from matplotlib.transforms import offset_copy

from lengen.experiment import Experiment, Runs
from lengen.experiment import Figure as Picture
from lengen.metrics.run_measures import has_learned, most_have_learned
from lengen.plotting import layout as page
from lengen.plotting.frames import MEASURES, Point, Published, at_same_lengths, keys, mark, medians, metrics, values
from lengen.plotting.style import Look, in_order, looks
from lengen.results.records import Run

PALE = 0.35
"""Opacity of the line of a variant of which most seeds have not learned."""
CROWDED = 8
"""Most published marks of a panel that are drawn among ours."""

Curve = tuple[str, Experiment, Sequence[Run]]


def curves(
    picture: Picture, runs: Runs, published: Published, *, panels: str = "", measures: Sequence[str] = ("exact",),
    chance: float | None = None, log: bool = False, fewest: int = 2, across: int = 3, ordered: bool = False,
) -> Figure:  # fmt: skip
    """Draw a line for each variant over lengths.

    Args:
        panels: the axis whose values are panels; ``count``: the tested second axis, from ``fewest`` on.
        measures: of `MEASURES`, a row each (a column each without ``panels``).
        chance: accuracy of a guessed answer, dotted where answers alone are scored.
        log: lengths on a logarithmic axis.
        across: most panels of a row.
        ordered: lines have an order, and their colours too.
    """
    drawn = page.shown(picture, runs)
    wanted = [name for name in measures if any(len(values(group, name)) for _, group in drawn)]
    if not drawn or not wanted:
        return page.empty()
    groups = _groups(drawn, panels, fewest)
    styles = _looks(groups, ordered)
    named = list(styles)
    lacking = _lacking([group for lines in groups.values() for *_, group in lines])
    compared = [name for name in wanted if MEASURES[name].published and panels != "count"]

    def beside_ours(lines: Sequence[Curve], kind: tuple[str, str]) -> dict[str, list[Point]]:
        return {line: at_same_lengths(published.get(item.name, ()), group[0], *kind) for line, item, group in lines}

    kinds = {name: (MEASURES[name].published, MEASURES[name].mode) for name in compared}
    marks = {(title, name): beside_ours(lines, kinds[name]) for title, lines in groups.items() for name in compared}
    crowded = {name for (_, name), points in marks.items() if sum(map(len, points.values())) > CROWDED}
    beside = [name for name in wanted if name in crowded]
    cells = _cells(list(groups), wanted, beside, across)
    if not cells:
        return page.empty()
    down = max(row for row, *_ in cells) + 1
    wide = max(column for _, column, *_ in cells) + 1
    width = page.PAGE if wide > 1 or len(named) > 4 else page.COLUMN
    figure = page.sheet(width, 1.65 * down + 0.45 + page.legend_height([*named, *lacking], width))
    grid = figure.subplots(down, wide, squeeze=False)
    for axes in grid.flat:
        axes.set_visible(False)
    for row, column, title, name, theirs in cells:
        axes = grid[row][column]
        axes.set_visible(True)
        lines, points = groups[title], marks.get((title, name), {})
        count = int(title.rpartition(" ")[2]) if panels == "count" else None
        if theirs:
            _published(axes, points, styles)
        else:
            _panel(axes, lines, name, styles, count, {} if name in beside else points)
        if chance is not None and MEASURES[name].share and name != "exact":
            axes.axhline(chance, color="0.5", linewidth=0.7, linestyle=":")
        _name(axes, lines, name, log)
        axes.set_title(title if row == 0 or len(groups) > across else "")
        axes.set_ylabel((("Published: " if theirs else "") + MEASURES[name].label) if column == 0 or not panels else "")
        last = not any(r > row and c == column for r, c, *_ in cells)
        axes.set_xlabel(page.length_axis(lines[0][2][0]) if last else "")
    handles: list[Artist] = [
        Line2D([], [], color=styles[line].colour, marker=styles[line].marker, ls=styles[line].line, label=line)
        for line in named
    ]
    hollow = keys(value for points in marks.values() for group in points.values() for value in group)
    if len(named) > 1 or hollow or lacking:
        page.legend(figure, [*handles, *hollow, *lacking.values()])
    return figure


def _lacking(groups: Sequence[Sequence[Run]]) -> dict[str, Line2D]:
    """Return the handles of a legend for seeds and lines that have not learned, by their labels."""
    made = [group for group in groups if not group[0].constructed]
    dot = Line2D([], [], color="0.4", marker="o", ls="", ms=2.6, mfc="none", mew=0.6, label="seed, not learned")
    line = Line2D([], [], color="0.4", alpha=PALE, lw=1.4, label="pale: most seeds not learned")
    seen = [(dot, not all(map(has_learned, group))) for group in made]
    seen += [(line, not most_have_learned(group)) for group in made]
    return {str(handle.get_label()): handle for handle, is_drawn in seen if is_drawn}


def lines_of(picture: Picture, runs: Runs) -> dict[str, tuple[str, str]]:
    """Return the label and colour of the line of every experiment that a picture of curves draws."""
    panels, options = picture.options.get("panels", ""), picture.options
    groups = _groups(page.shown(picture, runs), panels, options.get("fewest", 2))
    looks_of = _looks(groups, options.get("ordered", False))
    return {
        item.name: (
            line if panels == "count" else ", ".join(filter(None, (title, line))),
            to_hex(looks_of[line].colour),
        )
        for title, lines in groups.items()
        for line, item, _ in lines
    }


def _looks(groups: Mapping[str, Sequence[Curve]], ordered: bool) -> dict[str, Look]:
    named = list(dict.fromkeys(line for lines in groups.values() for line, *_ in lines))
    return in_order(named) if ordered else looks(named)


def _groups(drawn: Sequence[tuple[Experiment, Sequence[Run]]], panels: str, fewest: int) -> dict[str, list[Curve]]:
    """Return a dictionary from the title of a panel to its lines."""
    groups: dict[str, list[Curve]] = {}
    if panels == "count":
        counts = sorted({cell[1] for _, group in drawn for run in group for cell in run.grid.scores if cell[1:]})
        for count in (count for count in counts if count >= fewest):
            groups[f"r = {count}"] = [
                (page.label(item, group), item, group)
                for item, group in drawn
                if any(cell[1:] == (count,) for run in group for cell in run.grid.scores)
            ]
        return groups
    for item, group in drawn:
        names = page.labels(item, group)
        rest = ", ".join(text for name, text in names.items() if name != panels and text) or page.label(item, group)
        groups.setdefault(names.get(panels, ""), []).append((rest, item, group))
    return groups


def _cells(
    titles: Sequence[str], measures: Sequence[str], beside: Sequence[str], across: int
) -> list[tuple[int, int, str, str, bool]]:
    """Return the panels: row, column, title, measure, and True if it shows published values."""
    kinds = [(name, theirs) for name in measures for theirs in (False, True)[: 1 + (name in beside)]]
    if len(titles) == 1:
        return [(0, column, titles[0], *kind) for column, kind in enumerate(kinds)]
    if len(titles) <= across or len(kinds) > 1:
        return [(row, column, title, *kind) for row, kind in enumerate(kinds) for column, title in enumerate(titles)]
    return [(place // across, place % across, title, *kinds[0]) for place, title in enumerate(titles)]


def _panel(
    axes: Axes, lines: Sequence[Curve], name: str, styles: Mapping[str, Look], count: int | None,
    marks: Mapping[str, Sequence[Point]],
) -> None:  # fmt: skip
    for line, _, group in lines:
        frame = values(group, name, count)
        if len(frame):
            _line(axes, frame, styles[line], 1.0 if most_have_learned(group) else PALE)
    taken: dict[tuple[float, float], int] = {}
    for line, theirs in marks.items():
        for value in theirs:
            place = (value.lengths[1], round(value.value, 2))
            mark(axes, value, styles[line], taken.setdefault(place, 0))
            taken[place] += 1


def _line(axes: Axes, frame: pd.DataFrame, look: Look, alpha: float) -> None:
    """Draw the median as a line, every seed as a dot."""
    middle = medians(frame)
    sns.lineplot(
        x=middle.index, y=middle.to_numpy(), ax=axes, color=look.colour, marker=look.marker, errorbar=None,
        legend=False, linestyle=look.line, markersize=3.5, markeredgewidth=0, zorder=3, alpha=alpha,
        markevery=max(1, len(middle) // 10),
    )  # fmt: skip
    if frame["run"].nunique() > 1 or not frame["learned"].all():
        for learned, points in frame.groupby("learned"):
            axes.plot(
                points["length"], points["value"], "o", ls="", color=look.colour, markersize=2.2, alpha=0.55, zorder=2,
                markerfacecolor=look.colour if learned else "none", markeredgewidth=0 if learned else 0.6,
            )  # fmt: skip


def _published(axes: Axes, marks: Mapping[str, Sequence[Point]], styles: Mapping[str, Look]) -> None:
    """Draw a panel of published values alone: hollow marks joined by a thin line."""
    for line, theirs in marks.items():
        points = sorted((value.lengths[1], value.value) for value in theirs)
        if points:
            xs, ys = zip(*points, strict=True)
            axes.plot(
                xs, ys, marker=styles[line].marker, ls=styles[line].line, lw=0.8, color=styles[line].colour,
                markerfacecolor="none", markersize=4.5, clip_on=False,
            )  # fmt: skip


def _name(axes: Axes, lines: Sequence[Curve], name: str, log: bool) -> None:
    runs = [run for *_, group in lines for run in group]
    tested = sorted({cell[0] for run in runs for cell in run.grid.scores})
    if MEASURES[name].share:
        page.percent(axes)
    else:
        axes.set_ylim(bottom=0)
    page.lengths_axis(axes, tested, runs)
    if log:
        axes.set_xscale("log")
        ticks = [tick for tick in (1, 10, 100, 1000) if tested[0] <= tick <= tested[-1]]
        axes.set_xlim(0.8 * tested[0], 1.25 * tested[-1])
        axes.set_xticks(ticks, labels=[str(tick) for tick in ticks])
        axes.minorticks_off()
    else:
        axes.set_xlim(min(0.4, tested[0]), 1.05 * tested[-1])


def training(
    picture: Picture, runs: Runs, published: Published, *, families: Mapping[str, str], lines: str = "",
    names: Mapping[str, str] | None = None, shares: Sequence[str] = (), smooth: int = 1, dashed: bool = False,
) -> Figure:  # fmt: skip
    """Draw records of training over optimizer steps: a column an experiment, a row a family of metrics.

    Args:
        families: prefix of the names of metrics -> label of the axis; ``loss.7`` is the line 7 of the family ``loss``.
        lines: title of the legend.
        names: line -> label; by default as recorded.
        shares: families that are shares; the others are drawn on a logarithmic axis.
        smooth: recorded rows around a step whose median is drawn.
        dashed: lines are lengths, and those that were not trained are dashed.
    """
    shown = page.shown(picture, runs)
    drawn = [(item, group) for item, group in shown if any(_lines_of(group, name) for name in families)]
    if not drawn:
        return page.empty()
    wide = min(len(drawn), 5)
    figure = page.sheet(page.PAGE if wide > 1 else page.COLUMN, 1.6 * len(families) + 1.25)
    grid = figure.subplots(len(families), wide, squeeze=False, sharex="col", sharey="row")
    every = list(dict.fromkeys(line for name in families for _, group in drawn for line in _lines_of(group, name)))
    every.sort(key=lambda line: (not line.isdecimal(), int(line) if line.isdecimal() else 0))
    styles = in_order(every) if lines else looks([(names or {}).get(line, line) for line in every])
    if not lines:  # colours and dashes tell them apart
        styles = {name: look._replace(marker="") for name, look in styles.items()}
    marked = False
    for place, (row, (name, what)) in enumerate(zip(grid, families.items(), strict=True)):
        for axes, (item, group) in zip(row, drawn, strict=False):
            line_names = _lines_of(group, name)
            for line in line_names:
                points = metrics(group, f"{name}.{line}" if line else name, smooth)
                look = styles[line if lines else (names or {}).get(line, line)]
                middle = points.groupby("step")["value"].median()
                dashes = "--" if dashed and not group[0].trained.has((int(line),)) else look.line
                some_points = max(1, len(middle) // 5)
                axes.plot(
                    middle.index, middle.to_numpy(), ls=dashes, color=look.colour, lw=1.1, ms=3, mew=0,
                    marker=look.marker, markevery=(every.index(line) % some_points, some_points),
                )  # fmt: skip
            if name in shares:
                page.percent(axes)
                theirs = published.get(item.name, ())
                for mode in ("teacher_forced", "sampled"):
                    marked |= _at_end(axes, at_same_lengths(theirs, group[0], mode=mode), styles)
            axes.set_title(page.label(item, group).replace(", ", ",\n", 1) if place == 0 else "")
            axes.xaxis.set_major_locator(MaxNLocator(3))
            axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        row[0].set_ylabel(what)
        if name not in shares:
            logged = [row for _, group in drawn for run in group for row in run.metrics]
            _logarithmic(row[0], [value for _, metric, value in logged if metric.startswith(name)])
    for axes in grid[-1]:
        axes.set_xlabel("Steps")
    entries = {line: styles[line if lines else (names or {}).get(line, line)] for line in every if line or not lines}
    handles: list[Artist] = [
        Line2D([], [], color=look.colour, ls=look.line, label=(names or {}).get(line, line), ms=3, marker=look.marker)
        for line, look in entries.items()
    ]
    if len(handles) > 1:
        page.legend(figure, [*handles, *keys([Point(1.0)] * marked)], lines)
    return figure


def _at_end(axes: Axes, theirs: Sequence[Point], styles: Mapping[str, Look]) -> bool:
    """Draw published values as hollow marks at the end of the training, in the looks of their lengths.

    True if any was drawn.
    """
    last = max((float(np.max(line.get_xdata())) for line in axes.lines), default=0.0)
    drawn = False
    for k, value in enumerate(theirs):
        look = styles.get(str(value.lengths[1]))
        if look and value.lengths[0] == value.lengths[1]:
            drawn = True
            aside = offset_copy(axes.transData, axes.get_figure(root=True), x=3 * (k % 3), units="points")
            mark(axes, value._replace(lengths=(int(last), int(last))), look)
            axes.lines[-1].set_transform(aside)
    axes.set_xlim(right=1.08 * last)
    return drawn


def _lines_of(runs: Sequence[Run], family: str) -> list[str]:
    names = dict.fromkeys(name for run in runs for _, name, _ in run.metrics)
    lines = [name for name in names if name == family or name.startswith(f"{family}.")]
    return [line.removeprefix(family).removeprefix(".") for line in lines]


def _logarithmic(axes: Axes, losses: Sequence[float]) -> None:
    positive = [value for value in losses if value > 0 and np.isfinite(value)]
    if positive:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
