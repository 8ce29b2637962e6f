"""Panels over lengths: what the runs measured, a line an experiment, the trained lengths shaded and named."""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengen import plotting
from lengen.plotting import NOT_RUN, Look, Runs, first, setting
from lengen.records import Run
from papers.task_hinting.figures import words

Points = Mapping[str, pd.DataFrame]
"""Name of an experiment -> what its runs measured, as `lengen.plotting.frames` has it."""
EXACT = "Exact match"
EDITS = "Mean edit distance (tokens)"
REP = "rep(i, r): i // r different numbers, each r times, the rest of i drawn uniformly"
"""What a repetition is, for footnotes."""


# -- what runs measured ------------------------------------------------------------------------------------


def counts(runs: Sequence[Run]) -> tuple[int, ...]:
    """Repetitions r of the tested rep(i, r), ascending; 1 is the uniform distribution."""
    return tuple(sorted({count for run in runs for count in _counts(run)}))


def _counts(run: Run) -> set[int]:
    """A grid over lengths only has one count, which its specification names."""
    two = len(run.grid.axes) == 2
    return {cell[1] for cell in run.grid.scores} if two else set(setting(run, "tested_counts")[:1] or (1,))


def exact(runs: Sequence[Run], count: int = 1) -> pd.DataFrame:
    """Sequences that are right as a whole, by length; ``count`` is r of rep(i, r)."""
    return _scores(runs, count, "teacher_forced", "correct")


def edits(runs: Sequence[Run], count: int = 1) -> pd.DataFrame:
    """Edit distance in tokens between what the model writes and the truth, by length."""
    return _scores(runs, count, "free_running", "edit_sum")


def _scores(runs: Sequence[Run], count: int, mode: str, metric: str) -> pd.DataFrame:
    found = plotting.scores([run.grid for run in runs if count in _counts(run)], mode, metric)
    return found[found["count"] == count].drop(columns="count") if "count" in found else found


def lengths(points: Points) -> list[int]:
    """Every length at which something was measured, ascending."""
    return sorted({int(length) for frame in points.values() for length in frame["length"]})


def reason(runs: Runs) -> str:
    """Why nothing can be drawn."""
    return "not recorded at this profile" if any(runs.values()) else NOT_RUN


def method_looks(runs: Runs) -> dict[str, Look]:
    """The look of every experiment's method."""
    return plotting.looks({name: words.method(some[0]) for name, some in runs.items() if some})


# -- how it is drawn ---------------------------------------------------------------------------------------


def length_axis(axes: Axes, run: Run, tested: Sequence[int], most: int = 20) -> None:
    """A length axis with the trained lengths shaded and named, and a tick for every tested length up to ``most``."""
    low, high = words.trained(run)
    plotting.trained_band(axes, (low - 0.5, high + 0.5))
    plotting.above(axes, (low + high) / 2, "trained")
    axes.set_xlabel(plotting.length_axis(run))
    plotting.length_ticks(axes, tested, most)


def by_length(
    runs: Runs,
    measure: Callable[[Sequence[Run]], pd.DataFrame],
    labels: Mapping[str, str],
    label: str,
    *notes: str,
    looks: Mapping[str, Look] | None = None,
    share: bool = True,
    interval: bool = True,
) -> Figure:
    """One panel, a line an experiment, the legend at the right and ``notes`` below.

    ``label`` is of the vertical axis, which goes from 0 to 100 % where ``share``, else from 0. ``looks``: those of the
    methods where none are given. ``interval``: one seed has a band.
    """
    points = {name: measure(some) for name, some in runs.items()}
    if not lengths(points):
        return plotting.empty(runs, reason(runs))
    figure = Figure(figsize=(7.2, 3.4), layout="constrained")
    axes = figure.subplots()
    plotting.lines(axes, points, looks or method_looks(runs), labels, interval=interval)
    length_axis(axes, first(runs), lengths(points))
    axes.set_ylabel(label)
    if share:
        plotting.percent(axes)
    else:
        axes.set_ylim(bottom=0)
    plotting.legend(figure, [axes], wrap=32)
    footnote(figure, runs, *notes, interval=interval)
    return figure


def by_repetition(
    runs: Runs,
    points: Mapping[int, Points],
    labels: Mapping[str, str],
    label: str,
    axis: Callable[[Axes, Points], None],
    *,
    interval: bool,
) -> Figure:
    """A panel a repetition r of rep(i, r), a line an experiment, the legend at the right; without footnote.

    ``axis`` draws the length axis of a panel for what it shows; with ``interval`` the vertical one is a share.
    """
    figure = Figure(figsize=(max(1.95 * len(points) + 1.9, 4.5), 2.9), layout="constrained")
    grid = figure.subplots(1, len(points), squeeze=False, sharey=True)[0]
    for axes, (r, known) in zip(grid, points.items(), strict=True):
        plotting.lines(axes, known, method_looks(runs), labels, interval=interval)
        axis(axes, known)
        axes.set_title(f"r = {r}", pad=12)
        axes.set_xlabel("Length i (numbers)")
    grid[0].set_ylabel(label)
    if interval:
        plotting.percent(grid[0])
    else:
        grid[0].set_ylim(bottom=0)
    plotting.legend(figure, grid, wrap=32)
    return figure


def footnote(figure: Figure, runs: Runs, *notes: str, interval: bool) -> None:
    """Write ``notes``, what is grey, the model, the seeds, and which experiments have no run."""
    low, high = words.trained(first(runs))
    said = [*notes, f"Grey: trained lengths, {low}–{high}. Model: {words.model(runs)}."]
    said += [plotting.seeds_note(runs, interval=interval), plotting.BESIDE_NOTE]
    plotting.footnote(figure, " ".join(filter(None, said)), *plotting.absent(runs))
