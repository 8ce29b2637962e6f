"""What several figures share: counts by length, lines through them, trained lengths shaded."""

import textwrap
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from lengen import plotting
from lengen.intervals import median, wilson
from lengen.records import Run
from papers.task_hinting.figures import words as titles

Runs = Mapping[str, Sequence[Run]]
EXACT = "Exact match"
EDITS = "Mean edit distance (tokens)"


class Share(NamedTuple):
    """What was counted in one run at one length, of ``n`` examples: a rate, or a mean."""

    total: int
    n: int

    @property
    def value(self) -> float:
        return self.total / self.n


Points = Mapping[int, Sequence[Share]]
"""Length -> one share per seed."""


class Look(NamedTuple):
    """How a line is told from the others, in colour and in print."""

    colour: object
    marker: str
    line: str = "-"


BLACK = (0.15, 0.15, 0.15)
PALETTE = (
    Look(BLACK, "o", "--"),
    Look(plotting.COLOURS[0], "s"),
    Look(plotting.COLOURS[1], "^"),
    Look(plotting.COLOURS[2], "D"),
    Look(plotting.COLOURS[4], "v"),
    Look(plotting.COLOURS[9], "P"),
    Look(plotting.COLOURS[3], "X"),
)
"""Looks in the order of a figure's experiments; the first is what the others are compared with."""
MANY = 20
"""Most tested lengths that all get a tick."""


def in_order(runs: Runs) -> dict[str, Look]:
    """A look for every experiment, with runs or without: it keeps its look where others are missing."""
    return {name: PALETTE[number % len(PALETTE)] for number, name in enumerate(runs)}


# -- what runs measured ------------------------------------------------------------------------------------


def counts(runs: Sequence[Run]) -> tuple[int, ...]:
    """Repetitions r of the tested rep(i, r), ascending; 1 is the uniform distribution."""
    return tuple(sorted({_cell(run, cell)[1] for run in runs for cell in run.grid.scores}))


def exact(runs: Sequence[Run], count: int = 1) -> Points:
    """Sequences that are right as a whole, by length; ``count`` is r of rep(i, r)."""
    return _scores(runs, count, "teacher_forced", "correct")


def edits(runs: Sequence[Run], count: int = 1) -> Points:
    """Edit distance in tokens between what the model writes and the truth, by length."""
    return _scores(runs, count, "free_running", "edit_sum")


def hits(runs: Sequence[Run], name: str) -> Points:
    """Ones of the arrays ``hits.<name>.<length>``."""
    found: dict[int, list[Share]] = defaultdict(list)
    for run in runs:
        for key, values in run.arrays.items():
            head, _, length = key.rpartition(".")
            if head == f"hits.{name}" and values.size:
                found[int(length)].append(Share(int(values.sum()), int(values.size)))
    return dict(found)


def _scores(runs: Sequence[Run], count: int, mode: str, field: str) -> Points:
    found: dict[int, list[Share]] = defaultdict(list)
    for run in runs:
        for cell, modes in run.grid.scores.items():
            length, repetitions = _cell(run, cell)
            if repetitions == count and mode in modes and modes[mode].n:
                found[length].append(Share(int(getattr(modes[mode], field)), modes[mode].n))
    return dict(found)


def _cell(run: Run, cell: tuple[int, ...]) -> tuple[int, int]:
    """Length and count of a cell; a grid over lengths only has one count, which its specification names."""
    if len(cell) == 2:
        return cell
    return cell[0], int((titles.setting(run, "test", "counts", ()) or (1,))[0])


# -- how it is drawn ---------------------------------------------------------------------------------------


def line(axes: Axes, points: Points, look: Look, label: str, *, width: float = 1.4, interval: bool = True) -> Axes:
    """Medians over seeds by length with a band: the seeds' range, or of one seed the 95 % Wilson interval.

    Without ``interval`` one seed has no band: where totals are no numbers of independent successes.
    """
    xs = sorted(points)
    axes.plot(
        xs,
        [median([share.value for share in points[x]]) for x in xs],
        look.line,
        color=look.colour,
        marker=look.marker,
        markerfacecolor="white" if look.line == "--" else None,
        markersize=4,
        linewidth=width,
        label=label,
    )
    several = any(len(points[x]) > 1 for x in xs)
    if several or interval:
        edges = [_edges(points[x], several) for x in xs]
        low, high = [edge[0] for edge in edges], [edge[1] for edge in edges]
        axes.fill_between(xs, low, high, color=look.colour, alpha=0.15, linewidth=0)
    return axes


def _edges(shares: Sequence[Share], several: bool) -> tuple[float, float]:
    if several:
        values = [share.value for share in shares]
        return min(values), max(values)
    return tuple(wilson(*shares[0]))  # type: ignore[return-value]


def lines(
    axes: Axes, points: Mapping[str, Points], looks: Mapping[str, Look], labels: Mapping[str, str], *, interval: bool
) -> Axes:
    """A line for every experiment that measured something; each is thinner than those below it, because lines often
    coincide, at 0 or at 1."""
    shown = [name for name, some in points.items() if some]
    for number, name in enumerate(shown):
        width = 2.0 - 0.9 * number / max(len(shown) - 1, 1)
        line(axes, points[name], looks[name], labels[name], width=width, interval=interval)
    return axes


def percent(axes: Axes) -> Axes:
    """A vertical axis from 0 to 100 %."""
    axes.set_ylim(-0.03, 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    return axes


def lengths(axes: Axes, run: Run, tested: Sequence[int], most: int = MANY) -> Axes:
    """A length axis with the trained lengths shaded and named, and a tick for every tested length up to ``most``."""
    low, high = titles.trained(run)
    plotting.trained_band(axes, (low - 0.5, high + 0.5))
    above(axes, (low + high) / 2, "trained")
    axes.set_xlabel(titles.axis(run))
    if len(tested) <= most:
        axes.set_xticks(sorted(tested))
    else:
        axes.xaxis.set_major_locator(MaxNLocator(most // 2, integer=True))
    return axes


def above(axes: Axes, length: float, words: str) -> None:
    """Name a length above the panel."""
    axes.text(
        length, 1.01, words, size=6.5, ha="center", va="bottom", color="0.35", transform=axes.get_xaxis_transform()
    )


def by_length(
    runs: Runs,
    points: Mapping[str, Points],
    labels: Mapping[str, str],
    words: str,
    *notes: str,
    looks: Mapping[str, Look] | None = None,
    share: bool = True,
    interval: bool = True,
) -> Figure:
    """One panel, a line an experiment, the legend at the right and ``notes`` below.

    ``words`` label the vertical axis, which goes from 0 to 100 % where ``share``, else from 0. ``looks``: those of
    `in_order` where none are given. ``interval``: one seed has a band.
    """
    if not any(points.values()):
        return plotting.empty(runs, reason(runs))
    figure = Figure(figsize=(7.2, 3.4), layout="constrained")
    axes = figure.subplots()
    lines(axes, points, looks or in_order(runs), labels, interval=interval)
    lengths(axes, first(runs), sorted({length for some in points.values() for length in some}))
    axes.set_ylabel(words)
    if share:
        percent(axes)
    else:
        axes.set_ylim(bottom=0)
    legend(figure, [axes])
    footnote(figure, runs, *notes, interval=interval)
    return figure


REP = "rep(i, r): i // r different numbers, each r times, the rest of i drawn uniformly"
"""What a repetition is, for footnotes."""


def by_repetition(
    runs: Runs,
    points: Mapping[int, Mapping[str, Points]],
    labels: Mapping[str, str],
    words: str,
    axis: Callable[[Axes, Mapping[str, Points]], None],
    *,
    interval: bool,
) -> Figure:
    """A panel a repetition r of rep(i, r), a line an experiment, the legend at the right; without footnote.

    ``axis`` draws the length axis of a panel for what it shows; with ``interval`` the vertical one is a share.
    """
    figure = Figure(figsize=(max(1.95 * len(points) + 1.9, 4.5), 2.9), layout="constrained")
    grid = figure.subplots(1, len(points), squeeze=False, sharey=True)[0]
    for axes, (r, known) in zip(grid, points.items(), strict=True):
        lines(axes, known, in_order(runs), labels, interval=interval)
        axis(axes, known)
        axes.set_title(f"r = {r}", pad=12)
        axes.set_xlabel("Length i (numbers)")
    grid[0].set_ylabel(words)
    if interval:
        percent(grid[0])
    else:
        grid[0].set_ylim(bottom=0)
    legend(figure, grid)
    return figure


def legend(figure: Figure, grid: Sequence[Axes], title: str = "") -> None:
    """Every line of the panels once, at the right."""
    found = {
        str(known.get_label()): known
        for axes in grid
        for known in axes.lines
        if not str(known.get_label()).startswith("_")
    }
    words = ["\n".join(textwrap.wrap(label, 32)) for label in found]
    figure.legend(list(found.values()), words, loc="outside right center", frameon=False, title=title, title_fontsize=7)


def footnote(figure: Figure, runs: Runs, *notes: str, interval: bool) -> None:
    """Write ``notes``, what is grey, the model, the seeds, and which experiments have no run."""
    low, high = titles.trained(first(runs))
    said = [*notes, f"Grey: trained lengths, {low}–{high}. Model: {titles.model(runs)}.", titles.seeds(runs)]
    said += ["Band of one seed: 95 % Wilson interval."] * (interval and any(len(some) == 1 for some in runs.values()))
    plotting.footnote(figure, " ".join(filter(None, said)), titles.absent(runs))


def first(runs: Runs) -> Run:
    """The first run there is."""
    return next(run for some in runs.values() for run in some)


def reason(runs: Runs) -> str:
    """Why nothing can be drawn."""
    return "not recorded at this profile" if any(runs.values()) else "not run at this profile"
