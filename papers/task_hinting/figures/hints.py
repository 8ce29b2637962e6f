"""Figures 3.6 to 3.9 and 3.11: exact match and edit distance by length, with and without hints, and the training of the
same runs."""

from collections.abc import Callable, Mapping, Sequence
from statistics import median

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengen import plotting
from lengen.plotting import METHODS, NONE, Published, Runs, first, setting
from lengen.records import Run
from papers.task_hinting.figures import panels, words
from papers.task_hinting.figures.panels import EDITS, EXACT, Points

GREEDY = "Greedy decoding, compared with the sorted sequence."


def fig3_6(runs: Runs, published: Published = NONE) -> Figure:
    """Figure 3.6: exact match on uniform sequences."""
    labels = words.labels(runs, "hints", "updates")
    return panels.by_length(runs, panels.exact, labels, EXACT, _set(runs), published=published)


def fig3_7(runs: Runs) -> Figure:
    """Figure 3.7: mean edit distance in tokens on the same sequences."""
    labels = words.labels(runs, "hints", "updates")
    return panels.by_length(runs, panels.edits, labels, EDITS, GREEDY, _set(runs), share=False, interval=False)


def fig3_11(runs: Runs, published: Published = NONE) -> Figure:
    """Figure 3.11: exact match with every hint, and with all at once (Section 7)."""
    return panels.by_length(runs, panels.exact, words.labels(runs, "hints"), EXACT, _set(runs), published=published)


def _set(runs: Runs) -> str:
    """The sizes of the training sets."""
    sizes = dict.fromkeys(words.examples(some[0]) for some in runs.values() if some)
    return f"Training sets: {'; '.join(sizes)}." if sizes else ""


# -- Figures 3.8 and 3.9 -----------------------------------------------------------------------------------


def fig3_8(runs: Runs) -> Figure:
    """Figure 3.8: exact match on rep(i, r), a panel an r."""
    return _repetitions(runs, panels.exact, EXACT, interval=True)


def fig3_9(runs: Runs) -> Figure:
    """Figure 3.9: mean edit distance in tokens on rep(i, r), a panel an r."""
    return _repetitions(runs, panels.edits, EDITS, interval=False)


def _repetitions(
    runs: Runs, measure: Callable[[Sequence[Run], int], pd.DataFrame], label: str, *, interval: bool
) -> Figure:
    repetitions = sorted({r for some in runs.values() for r in panels.counts(some) if r > 1})
    points = {r: {name: measure(some, r) for name, some in runs.items()} for r in repetitions}
    if not any(panels.lengths(known) for known in points.values()):
        return plotting.empty(runs, panels.reason(runs), words.SLUGS)

    def axis(axes: Axes, known: Points) -> None:
        tested = panels.lengths(known)
        panels.length_axis(axes, first(runs), tested, most=10)
        axes.tick_params(axis="x", labelrotation=90 if len(tested) > 6 else 0)

    labels = words.labels(runs, "hints", "updates")
    figure = panels.by_repetition(runs, points, labels, label, axis, interval=interval)
    panels.footnote(figure, runs, f"{panels.REP}.", "" if interval else GREEDY, interval=interval)
    return figure


# -- training ----------------------------------------------------------------------------------------------

VALIDATION = "val_exact_match"
LOSS = "train_loss"
WINDOW = 7
"""Recorded batches around a step whose median is drawn: a batch has one length, and its loss says much about that."""


def training(runs: Runs) -> Figure:
    """Validation exact match above and training loss below, by step, a column an experiment; every task has a line."""
    shown = {name: some for name, some in runs.items() if any(run.metrics for run in some)}
    if not shown:
        return plotting.empty(runs, panels.reason(runs), words.SLUGS)
    figure = Figure(figsize=(max(2.0 * len(shown) + 0.8, 4.5), 4.2), layout="constrained")
    grid = figure.subplots(2, len(shown), squeeze=False, sharex="col", sharey="row")
    labels = words.labels(shown, "hints", "softmax", "depth")
    losses = _losses(shown)
    for (above, below), (name, some) in zip(grid.T, shown.items(), strict=True):
        _history(above, some, VALIDATION, 1, "")
        for number, (metric, task) in enumerate(losses.items()):
            _history(below, some, metric, WINDOW, task, number)
        above.set_title(labels[name].capitalize())
        below.set_xlabel("Updates of all tasks")
        plotting.step_ticks(below, 4)
    plotting.percent(grid[0, 0])
    grid[0, 0].set_ylabel("Validation exact match\n(trained lengths)")
    grid[1, 0].set_ylabel("Training loss (nats)")
    if any(value > 0 for some in shown.values() for run in some for _, name, value in run.metrics if name in losses):
        grid[1, 0].set_yscale("log")
    plotting.legend(figure, grid[1], "Loss of")
    note = (
        "Losses: nats summed over a batch, over the mean number of trained tokens in a batch; medians of "
        f"{WINDOW} recorded batches; logarithmic. {plotting.seeds_note(shown)}"
    )
    without = plotting.not_recorded(runs, shown, "Nothing recorded in training", words.SLUGS)
    ends = {labels[name]: _end(some) for name, some in shown.items()}
    plotting.found(figure, f"Validation exact match at the end of training: {plotting.ranked(ends, len(ends))}")
    plotting.footnote(figure, note, without, *plotting.absent(runs, words.SLUGS))
    return figure


def _end(runs: Sequence[Run]) -> float:
    """The last validation exact match, median over seeds; nan where none was recorded."""
    last = [values[-1] for run in runs if (values := [value for _, name, value in run.metrics if name == VALIDATION])]
    return median(last) if last else float("nan")


def _losses(runs: Runs) -> Mapping[str, str]:
    """Losses that were recorded, and their tasks, the main one first."""
    names = dict.fromkeys(name for some in runs.values() for run in some for _, name, _ in run.metrics)
    main = str(setting(first(runs), "task"))
    known = {name: name.partition(".")[2] or main for name in names if name.partition(".")[0] == LOSS}
    return dict(sorted(known.items(), key=lambda item: item[0] != LOSS))


def _history(axes: Axes, runs: Sequence[Run], metric: str, window: int, label: str, number: int = 0) -> None:
    """A metric by step in the look of its task's hints; losses smoothed."""
    points = plotting.metrics(runs, metric, window)
    look = METHODS[label if number else "unhinted"].look._replace(line="-")
    if len(points):
        plotting.line(axes, points, look, label, interval=False, sparse=number)
