"""Figure 4.9 and the text beside it: sub-tasks by themselves, in models that were trained on all of them.

A run's arrays hold one number per example and tested length: ``hits.subtask.<task>.<length>`` and
``values.loss.<task>.<length>`` (nats per answer token); its metrics ``subtask.<task>``, exact match at the longest
trained length at every evaluation.
"""

import math
from collections.abc import Sequence
from statistics import median

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from lengen import plotting
from lengen.plotting import COLOURS, MARKERS, Look, Runs, first
from lengen.records import Run
from papers.random_spaces import lengths, sweep
from papers.random_spaces.figures import words
from papers.random_spaces.measures import MASTERED, learned_at

TASKS = {
    "add": "Addition\n(add)",
    "rev": "Reversing\n(rev)",
    "ali": "Digit alignment\n(ali)",
    "mad": "Modular addition\n(mad)",
    "car": "Carry detection\n(car)",
}
"""Sub-tasks in their published order."""
BARS = mpl.colormaps["YlGnBu"]
HATCHES = ("", "//", "xx", "..", "\\\\", "++")


def fig4_9(runs: Runs) -> Figure:
    """Figure 4.9: mean and deviation over models of loss (above) and accuracy (below) of every sub-task, in
    distribution and at every other length."""
    every = [run for run in plotting.distinct(runs) if sweep.kind(run) == "mix"]
    tasks = [task for task in TASKS if any(f"hits.subtask.{task}." in name for run in every for name in run.arrays)]
    if not tasks:
        reason = "not measured at this profile" if every else plotting.NOT_RUN
        return plotting.empty(runs, reason, words.SLUGS)
    groups = list(dict.fromkeys(group for run in every for group in lengths.groups(run)))
    figure = Figure(figsize=(8.4, 4.6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    for axes, family in ((above, "values.loss"), (below, "hits.subtask")):
        for number, group in enumerate(groups):
            _bars(axes, every, family, tasks, group, number, len(groups))
        axes.set_xticks(range(len(tasks)), labels=[TASKS[task] for task in tasks])
        axes.tick_params(axis="x", length=0)
    above.set_ylabel("Answer loss\n(nats per token)")
    above.set_ylim(0, None)
    above.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    below.set_ylabel("Accuracy")
    plotting.percent(below, 0, 1.04)
    plotting.legend(figure, [below])
    sizes = ", ".join(lengths.examples(size) for size in sorted({sweep.examples(run) for run in every}))
    models = ", ".join(str(width) for width in sorted({sweep.width(run) for run in every}))
    note = (
        f"Bars: mean, whiskers: sample deviation, over {plotting.plural(len(every), 'model')} trained on all "
        f"sub-tasks (widths {models}; training examples {sizes}; seeds). Losses of different sub-tasks are not "
        "comparable: their answers differ in length and in the number of likely tokens. Red outline: trained lengths."
    )
    plotting.found(figure, _found(every, tasks, groups))
    plotting.footnote(figure, note, *plotting.absent(runs, words.SLUGS))
    return figure


def over_training(runs: Runs) -> Figure:
    """Exact match of every sub-task over the training (Section 4.5.3: some are learned quickly), a panel a model."""
    shown = {name: some for name, some in runs.items() if any(_followed(some))}
    if not shown:
        reason = "not recorded during training" if any(runs.values()) else plotting.NOT_RUN
        return plotting.empty(runs, reason, words.SLUGS)
    followed = set().union(*map(_followed, shown.values()))
    tasks = [task for task in TASKS if task in followed]
    figure = Figure(figsize=(max(3.0 * len(shown) + 1.4, 4.8), 3.2), layout="constrained")
    grid = figure.subplots(1, len(shown), squeeze=False, sharey=True)[0]
    for axes, some in zip(grid, shown.values(), strict=True):
        for number, task in enumerate(tasks):
            points = plotting.metrics(some, f"subtask.{task}")
            look = Look(COLOURS[number], MARKERS[number])
            plotting.line(axes, points, look, _name(task), interval=False, sparse=number)
        size = lengths.examples(sweep.examples(some[0]))
        axes.set_title(f"{plotting.size(some[0])}\n{size} training examples")
        axes.set_xlabel("Optimizer steps")
        plotting.step_ticks(axes, 5)
        plotting.percent(axes)
    grid[0].set_ylabel("Exact match")
    plotting.legend(figure, [grid[0]], "Sub-task")
    longest = lengths.trained(first(shown))[-1]
    plotting.found(figure, _learned(shown, tasks, longest))
    note = f"Numbers of {longest} digits, the longest trained. {plotting.seeds_note(shown)}"
    plotting.footnote(figure, note, *plotting.absent(runs, words.SLUGS))
    return figure


def _followed(runs: Sequence[Run]) -> set[str]:
    return {name.partition(".")[2] for run in runs for _, name, _ in run.metrics if name.startswith("subtask.")}


def _name(task: str) -> str:
    return TASKS[task].partition("\n")[0]


def _learned(shown: Runs, tasks: Sequence[str], longest: int) -> str:
    """After how many steps each sub-task was learned, the first one first; medians over all runs."""
    every = [run for some in shown.values() for run in some]
    steps = {task: median([learned_at(task).value(run)[0] for run in every]) for task in tasks}
    last = max(step for run in every for step, *_ in run.metrics)
    told = [
        f"{_name(task).lower()} {f'{round(at, -2):,.0f}' if at < last else 'never'}"
        for task, at in sorted(steps.items(), key=lambda item: item[1])
    ]
    return f"Steps until {plotting.share(MASTERED)} are right at {longest} digits: {', '.join(told)}"


def _found(runs: Sequence[Run], tasks: Sequence[str], groups: Sequence[tuple[int, ...]]) -> str:
    """Mean accuracy of every sub-task on trained lengths and at the shortest longer one."""
    told = []
    for role, place in (("trained", "On trained lengths"), ("longer", "at the next longer one")):
        group = next((group for group in groups if lengths.role(runs[0], group[0]) == role), None)
        if group is not None:
            values = {task: plotting.arrays(runs, f"hits.subtask.{task}", group) for task in tasks}
            means = {
                _name(task).lower(): sweep.spread([value for value in found if value == value])[0]
                for task, found in values.items()
            }
            told.append(f"{place}: {plotting.ranked(means)}")
    return "; ".join(told)


def _bars(
    axes: Axes, runs: Sequence[Run], family: str, tasks: Sequence[str], group: tuple[int, ...], number: int, of: int
) -> None:
    found = [plotting.arrays(runs, f"{family}.{task}", group) for task in tasks]
    spread = [sweep.spread([value for value in values if not math.isnan(value)]) for values in found]
    xs = np.arange(len(tasks)) + (number - (of - 1) / 2) * 0.8 / of
    mean, deviation = np.array(spread).T
    deviation = np.nan_to_num(deviation)
    top = mean + deviation if family == "values.loss" else np.minimum(mean + deviation, 1.0)
    whiskers = [mean - np.maximum(mean - deviation, 0.0), top - mean]
    edge, line = (plotting.RED, 1.2) if lengths.role(runs[0], group[0]) == "trained" else ("k", 0.5)
    axes.bar(
        xs, mean, 0.8 / of, yerr=whiskers, color=BARS(0.15 + 0.75 * number / max(of - 1, 1)),
        edgecolor=edge, linewidth=line, hatch=HATCHES[number % len(HATCHES)],
        label=lengths.group_label(runs[0], group), capsize=2, error_kw={"elinewidth": 0.8, "ecolor": "k"},
    )  # fmt: skip
