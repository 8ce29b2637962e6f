"""The pictures of the matrix: how far every trick carries every task, curves by length, aggregates over tasks."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lengen import plotting
from lengen.across_tasks import performance_profile
from lengen.measures import LEARNED, trained
from lengen.records import Run
from papers.matrix import aggregates as aggregated
from papers.matrix.aggregates import BASELINE
from papers.matrix.measures import RIGHT, accuracy_beyond, counts_by_length, guessing, reach
from papers.matrix.scores import Cell, cells, has_learned, named, of_trick, seeds_told
from papers.matrix.tasks import TASKS

FURTHEST = 5.0
"""Largest tested multiple of the trained length: the darkest colour."""


class Column(NamedTuple):
    """A column of the matrix: a task, and which axis of it is read."""

    task: str
    in_count: bool = False

    @property
    def name(self) -> str:
        return f"{TASKS[self.task].name}: operands" if self.in_count else TASKS[self.task].name

    def value(self, cell: Cell) -> float:
        return cell.in_count if self.in_count else cell.reach

    def words(self, cell: Cell) -> str:
        """``1.5 (1-2)*``: the median, between what seeds lie where they differ, and whether the budget was larger."""
        low, high = cell.span
        apart = f" ({low:.3g}\N{EN DASH}{high:.3g})" if low < high and not self.in_count else ""
        return f"{self.value(cell):.3g}{apart}{'*' * cell.retried}"


def matrix(runs: plotting.Runs, refused: Sequence[str]) -> Figure:
    """Tasks by tricks; the number is the solved multiple of the trained length, or of the most trained operands."""
    found = cells(runs, refused)
    tasks, tricks = (list(dict.fromkeys(key[axis] for key in found)) for axis in (0, 1))
    counted = {task for (task, _), cell in found.items() if cell.in_count == cell.in_count}
    columns = [column for task in tasks for column in (Column(task), *[Column(task, True)] * (task in counted))]
    values = np.full((len(tricks), len(columns)), np.nan)
    words = [["" for _ in columns] for _ in tricks]
    figure = Figure(figsize=(0.66 * len(columns) + 3.4, 0.2 * len(tricks) + 1.7), layout="constrained")
    axes = figure.subplots()
    places = [
        (tricks.index(trick), k) for task, trick in found for k, column in enumerate(columns) if column.task == task
    ]
    shown = [(row, k, columns[k], found[columns[k].task, tricks[row]]) for row, k in places]
    for row, k, column, cell in shown:
        if cell.state == "tested":
            values[row, k], words[row][k] = column.value(cell) / FURTHEST, column.words(cell)
    plotting.heat_table(
        axes, values, words, rows=tricks, columns=[column.name for column in columns], size=6.2, hatched=True
    )
    for row, k, _, cell in shown:
        if cell.state in ("refused", "not run"):
            axes.add_patch(_square(k, row, "white"))
        if cell.state == "refused":
            half = 0.28
            axes.plot([k - half, k + half], [row - half, row + half], color="0.6", lw=0.7)
            axes.plot([k - half, k + half], [row + half, row - half], color="0.6", lw=0.7)
        if cell.state == "untested":
            said = f"{cell.learned:.2f}".removeprefix("0")
            back = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
            axes.text(k, row, said, size=5.5, ha="center", va="center", color="0.3", bbox=back)
    axes.tick_params(axis="x", labelrotation=35)
    axes.tick_params(labelsize=7)
    bar = figure.colorbar(plotting.heat_scale(), ax=axes, ticks=[k / FURTHEST for k in range(6)], shrink=0.6)
    bar.ax.set_yticklabels([str(k) for k in range(6)])
    bar.set_label("solved multiple of the trained length")
    plotting.found(figure, _reached(found))
    plotting.footnote(
        figure,
        f"Number and colour: largest length with exact match of at least {RIGHT:g}, and of all shorter ones, over the "
        f"trained length (of operands: their number); median of {seeds_told(found)}, in brackets between what "
        f"they lie. Hatched: the longest trained length stays below {LEARNED:g}, at the value written. Crossed: the "
        "trick makes no sense for the task, or is not built for it. White: not run. *: with four times the budget.",
        *_absent({name: some for name, some in runs.items() if name not in refused}),
    )
    return figure


def _reached(found: Mapping[tuple[str, str], Cell]) -> str:
    """How many cells are tested, and how many of these solve twice the trained length."""
    tested = [cell for cell in found.values() if cell.state == "tested"]
    ran = [cell for cell in found.values() if cell.state in ("tested", "untested")]
    twice = sum(cell.reach >= 2 for cell in tested)
    return (
        f"{len(tested)} of {len(ran)} pairs of trick and task that ran learned their trained range; {twice} of these "
        "solve twice the trained length"
        if ran
        else ""
    )


def _absent(runs: plotting.Runs) -> list[str]:
    """What has no run; a trick is called by its name."""
    return plotting.absent(runs, {trick: trick.replace("-", " ") for _, trick in map(named, runs)})


def _square(column: int, row: int, colour: str) -> Rectangle:
    return Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=colour, edgecolor="none", zorder=1)


def curves(runs: plotting.Runs, refused: Sequence[str]) -> Figure:
    """Exact match by length on one task, a line a trick; six tricks a panel, in the order of the table."""
    shown = {name: some for name, some in runs.items() if some}
    if not shown:
        return plotting.empty([name for name in runs if name not in refused])
    names = list(shown)
    groups = [names[start : start + 6] for start in range(0, len(names), 6)]
    across = min(len(groups), 3)
    down = -(-len(groups) // across)
    figure = Figure(figsize=(3.2 * across, 2.5 * down + 0.9), layout="constrained")
    panels = figure.subplots(down, across, squeeze=False, sharey=True).flatten()
    for axes in panels[len(groups) :]:
        axes.set_axis_off()
    looks = plotting.in_order(runs)  # the same for a trick on every task
    for axes, group in zip(panels, groups, strict=False):
        points = {name: _points(shown[name]) for name in group}
        labels = {name: named(name)[1] + (" (not learned)" * (not has_learned(shown[name]))) for name in group}
        plotting.lines(axes, points, looks, labels)
        tested = sorted({length for some in points.values() for length in some["length"]})
        plotting.length_ticks(axes, tested, most=8)
        plotting.trained_lengths(axes, range(1, trained(shown[group[0]][0]).length + 1))
        plotting.lengths_axis(axes, "length", tested)
        axes.legend(frameon=False, fontsize=6)
    plotting.percent(panels[0])
    for axes in panels[::across]:
        axes.set_ylabel("exact match")
    task = TASKS[named(names[0])[0]].name
    absent = _absent({name: some for name, some in runs.items() if name not in refused})
    solved = {
        named(name)[1]: median([accuracy_beyond(run) for run in some])
        for name, some in shown.items()
        if has_learned(some)
    }
    best = plotting.ranked(solved, 3)
    guess = max(guessing(some[0]) for some in shown.values())
    for axes in panels[: len(groups)] if guess else ():
        axes.axhline(guess, color="0.6", lw=0.8, ls=":", zorder=0)
    where = f", where guessing gives {plotting.share(guess)}" if guess else ""
    said = f"Exact match beyond the trained length{where}: {best}"
    plotting.found(figure, plotting.over_seeds(said, shown.values()) if best else f"No trick has learned {task}")
    note = (
        f"Not learned: below {LEARNED:g} at the longest trained length. Grey: trained lengths. "
        f"{plotting.seeds_note(shown, interval=True)} {plotting.BESIDE_NOTE}"
    )
    plotting.footnote(figure, note, *absent)
    return figure


def _points(some: Sequence[Run]) -> pd.DataFrame:
    """A row for every run and length, as `lengen.plotting.lines` draws them."""
    rows = [
        {"length": length, "value": right / n, "total": right, "n": n}
        for run in some
        for length, (right, n) in counts_by_length(run).items()
    ]
    return pd.DataFrame(rows)


def aggregates(runs: plotting.Runs, refused: Sequence[str]) -> Figure:
    """Interquartile mean of the accuracy beyond the range, probability of improvement, performance profiles.

    Accuracies are above what guessing gives, so that tasks can be taken together. A trick is shown by the tasks that it
    has learned, most tasks first, and compared with the plain decoder on those that both have; profiles are of those
    with the highest means among the ones that learned enough tasks, and of the plain decoder. The title ranks those
    alone that learned the same tasks, which are as many as any trick did.
    """
    found = aggregated.aggregates(runs)
    wanted = {name: some for name, some in runs.items() if name not in refused}
    if not found:
        return plotting.empty(list(wanted))
    figure = Figure(figsize=(9.6, 0.19 * len(found) + 1.8), layout="constrained")
    first, second, third = figure.subplots(1, 3)
    for row, one in enumerate(found):
        first.plot([*one.between], [row, row], color="0.6", lw=2)
        first.plot(one.mean, row, "o", color="black", ms=3)
        if one.beside:
            second.plot([*one.improves_between], [row, row], color="0.6", lw=2)
            second.plot(one.improves, row, "o", color="black", ms=3)
            second.text(1.06, row, str(one.beside), size=6, va="center")
    first.set_yticks(
        range(len(found)), labels=[f"{one.trick} ({len(one.learned)} of {one.ran})" for one in found], fontsize=6.5
    )
    second.set_yticks([])
    first.set(xlabel="accuracy beyond, above guessing, IQM", ylim=(-0.7, len(found) - 0.3))
    second.set(
        xlabel=f"probability to beat {BASELINE} beyond\n(tasks that both have learned)",
        xlim=(-0.03, 1.14),
        ylim=(-0.7, len(found) - 0.3),
    )
    second.axvline(0.5, color="0.8", lw=0.8, zorder=0)
    thresholds = np.linspace(0, FURTHEST, 51)
    looks = plotting.in_order(dict.fromkeys(named(name)[1] for name in runs))  # as in every other figure
    for trick in (one.trick for one in aggregated.best(found)):
        far = of_trick(runs, trick, lambda run: reach(run)[0])
        look = looks[trick]
        profile = performance_profile(far, thresholds)
        third.plot(thresholds, profile, look.line, color=look.colour, marker=look.marker, markevery=10, label=trick)
    third.set(xlabel="multiple of the trained length", ylabel="share of runs that solve more")
    third.legend(frameon=False, fontsize=6, loc="upper right", bbox_to_anchor=(0.97, 0.93))
    learned = {one.trick: one.learned for one in found}
    most = max(learned.values(), key=lambda tasks: (len(tasks), sum(other == tasks for other in learned.values())))
    alike = {one.trick: one.mean for one in found if one.learned == most}
    tasks = len({named(name)[0] for name, some in runs.items() if some})
    plotting.found(
        figure,
        f"Right beyond the range, above guessing, where {plotting.count(len(most))} of {plotting.count(tasks)} tasks "
        f"were learned: {plotting.ranked(alike, 3)}",
    )
    beside = ", ".join(TASKS[task].name for task in TASKS if task in learned.get(BASELINE, ())) or "nothing"
    plotting.footnote(
        figure,
        "IQM: interquartile mean over tasks and seeds, 0 for a guess. In brackets: tasks whose trained range the trick "
        "has learned, of those that ran; only these count, so rows compare only where they rest on the same ones. "
        f"Right of the second panel: how many tasks both have learned; {BASELINE} learned {beside}. Third panel: the "
        f"highest means of tricks that learned {plotting.count(aggregated.enough(found))} tasks or more, beside "
        f"{BASELINE}. "
        "Bars: 95 % stratified bootstrap over seeds, too narrow with three, absent with one.",
        *_absent(wanted),
    )
    return figure
