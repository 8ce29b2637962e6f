"""Panels over lengths: what the runs measured, a line an experiment, the trained lengths shaded and named."""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengen import plotting
from lengen.plotting import NONE, NOT_RUN, Look, Published, Runs, first, setting
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


def length_axis(axes: Axes, run: Run, tested: Sequence[int], most: int = 20, times: bool = False) -> None:
    """A length axis with the trained lengths shaded and named, and a tick for every tested length up to ``most``;
    ``times``: their multiples of the trained length above."""
    low, high = words.trained(run)
    plotting.trained_band(axes, (low - 0.5, high + 0.5))
    if not times:
        plotting.above(axes, (low + high) / 2, "trained")
    plotting.lengths_axis(axes, plotting.length_axis(run), tested, high if times else 0)
    plotting.length_ticks(axes, tested, most)


def with_learning(runs: Runs, labels: Mapping[str, str]) -> dict[str, str]:
    """The same labels, which say so where a setting has not learned its trained range."""
    lacking = {name: plotting.unlearned(some) for name, some in runs.items() if some}
    return {name: f"{label} ({lacking[name]})" if lacking[name] else label for name, label in labels.items()}


def _told_apart(labels: Mapping[str, str]) -> dict[str, str]:
    """The same labels without what all of them end with."""
    parts = {name: label.split(", ") for name, label in labels.items()}
    while len(parts) > 1 and all(len(part) > 1 for part in parts.values()):
        if len({part[-1] for part in parts.values()}) > 1:
            break
        parts = {name: part[:-1] for name, part in parts.items()}
    return {name: ", ".join(part) for name, part in parts.items()}


def furthest(runs: Runs, points: Points, labels: Mapping[str, str], *, share: bool = True) -> str:
    """Who gets how far, of those that have learned: values at the furthest length at which one of them is still right
    in 5 % (or, of distances, at the longest tested one)."""
    learned = {name: frame for name, frame in points.items() if len(frame) and plotting.has_learned(runs[name])}
    if not learned:
        return "No setting has learned its trained lengths" if lengths(points) else ""
    middles = {name: frame.groupby("length")["value"].median() for name, frame in learned.items()}
    common = sorted(set.intersection(*(set(values.index) for values in middles.values())))
    taught = [runs[name][0] for name in middles if not runs[name][0].constructed]  # weights set by hand have no range
    trained = words.trained((taught or [first(runs)])[0])[1]
    reached = [length for length in common if not share or any(values[length] >= 0.05 for values in middles.values())]
    length = (reached or common or [trained])[-1]
    short = _told_apart({name: labels[name].partition(";")[0] for name in middles})
    named = {short[name]: float(values[length]) for name, values in middles.items() if length in values.index}
    where = f"At {length} numbers" if not taught else f"At {length / trained:.3g} times the trained length"
    if share:
        return plotting.over_seeds(f"{where}: {plotting.ranked(named, 3)}", runs.values())
    ordered = sorted(named.items(), key=lambda item: item[1])
    told = f"{where}, edits per sequence: " + "; ".join(f"{name} {value:.2g}" for name, value in ordered[:4])
    return plotting.over_seeds(told, runs.values())


def by_length(
    runs: Runs,
    measure: Callable[[Sequence[Run]], pd.DataFrame],
    labels: Mapping[str, str],
    label: str,
    *notes: str,
    looks: Mapping[str, Look] | None = None,
    share: bool = True,
    interval: bool = True,
    published: Published = NONE,
    found: str | None = None,
) -> Figure:
    """One panel, a line an experiment, the legend at the right and ``notes`` below.

    ``label`` is of the vertical axis, which goes from 0 to 100 % where ``share``, else from 0. ``looks``: those of the
    methods where none are given. ``interval``: one seed has a band. ``published``: of exact match. ``found``: what the
    title says, where it is not `furthest`.
    """
    points = {name: measure(some) for name, some in runs.items()}
    if not lengths(points):
        return plotting.empty(runs, reason(runs), words.SLUGS)
    figure = Figure(figsize=(7.2, 3.7), layout="constrained")
    axes = figure.subplots()
    looks = looks or method_looks(runs)
    plotting.lines(axes, points, looks, with_learning(runs, labels), interval=interval)
    drawn, beyond = plotting.published.on_curves(axes, published, runs, looks)
    length_axis(axes, first(runs), lengths(points), times=bool(drawn))
    axes.set_ylabel(label)
    if share:
        plotting.percent(axes)
    else:
        axes.set_ylim(bottom=0)
    bounds = any(value.relation != "=" for name in runs for value in plotting.published.of(published, name))
    plotting.legend(figure, [axes, *([plotting.published.key()] if drawn else [])], wrap=32)
    plotting.found(figure, furthest(runs, points, labels, share=share) if found is None else found)
    footnote(figure, runs, *notes, plotting.published.note(drawn, beyond, bounds), interval=interval)
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
        plotting.lines(axes, known, method_looks(runs), with_learning(runs, labels), interval=interval)
        axis(axes, known)
        axes.set_title(f"r = {r}", pad=12)
        axes.set_xlabel("Length i (numbers)")
    grid[0].set_ylabel(label)
    if interval:
        plotting.percent(grid[0])
    else:
        grid[0].set_ylim(bottom=0)
    plotting.legend(figure, grid, wrap=32)
    most = max(points)
    told = furthest(runs, points[most], labels, share=interval)
    plotting.found(figure, f"Numbers repeated {most} times. {told}" if told else "")
    return figure


def footnote(figure: Figure, runs: Runs, *notes: str, interval: bool) -> None:
    """Write ``notes``, what is grey, the model, the seeds, and which experiments have no run."""
    low, high = words.trained(first(runs))
    said = [*notes, f"Grey: trained lengths, {low}–{high}. Model: {words.model(runs)}."]
    said += [plotting.seeds_note(runs, interval=interval), plotting.BESIDE_NOTE]
    said += [plotting.RULE] * any(plotting.unlearned(some) for some in runs.values() if some)
    plotting.footnote(figure, " ".join(filter(None, said)), *plotting.absent(runs, words.SLUGS))
