"""Figures 3.6 to 3.9 and 3.11: exact match and edit distance by length, with and without hints, and the training of the
same runs; runs go in, a Figure leaves."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator

from lengen import plotting
from lengen.intervals import median
from lengen.records import Run
from papers.task_hinting.figures import panels
from papers.task_hinting.figures import words as titles
from papers.task_hinting.figures.panels import BLACK, EDITS, EXACT, PALETTE, Points, Runs

GREEDY = "Greedy decoding, compared with the sorted sequence."


def fig3_6(runs: Runs) -> Figure:
    """Figure 3.6: exact match on uniform sequences."""
    points = {name: panels.exact(some) for name, some in runs.items()}
    return panels.by_length(runs, points, titles.labels(runs, "hints", "updates"), EXACT, _set(runs))


def fig3_7(runs: Runs) -> Figure:
    """Figure 3.7: mean edit distance in tokens on the same sequences."""
    points = {name: panels.edits(some) for name, some in runs.items()}
    labels = titles.labels(runs, "hints", "updates")
    return panels.by_length(runs, points, labels, EDITS, GREEDY, _set(runs), share=False, interval=False)


def fig3_11(runs: Runs) -> Figure:
    """Figure 3.11: exact match with every hint, and with all at once (Section 7)."""
    points = {name: panels.exact(some) for name, some in runs.items()}
    return panels.by_length(runs, points, titles.labels(runs, "hints"), EXACT, _set(runs))


def _set(runs: Runs) -> str:
    """The sizes of the training sets."""
    words = dict.fromkeys(titles.examples(some[0]) for some in runs.values() if some)
    return f"Training sets: {'; '.join(words)}." if words else ""


# -- Figures 3.8 and 3.9 -----------------------------------------------------------------------------------


def fig3_8(runs: Runs) -> Figure:
    """Figure 3.8: exact match on rep(i, r), a panel an r."""
    return _repetitions(runs, panels.exact, EXACT, interval=True)


def fig3_9(runs: Runs) -> Figure:
    """Figure 3.9: mean edit distance in tokens on rep(i, r), a panel an r."""
    return _repetitions(runs, panels.edits, EDITS, interval=False)


def _repetitions(runs: Runs, measure: Callable[[Sequence[Run], int], Points], words: str, *, interval: bool) -> Figure:
    repetitions = sorted({r for some in runs.values() for r in panels.counts(some) if r > 1})
    points = {r: {name: measure(some, r) for name, some in runs.items()} for r in repetitions}
    if not any(some for known in points.values() for some in known.values()):
        return plotting.empty(runs, panels.reason(runs))

    def axis(axes: Axes, known: Mapping[str, Points]) -> None:
        tested = sorted({length for some in known.values() for length in some})
        panels.lengths(axes, panels.first(runs), tested, most=10)
        axes.tick_params(axis="x", labelrotation=90 if len(tested) > 6 else 0)

    labels = titles.labels(runs, "hints", "updates")
    figure = panels.by_repetition(runs, points, labels, words, axis, interval=interval)
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
        return plotting.empty(runs, panels.reason(runs))
    figure = Figure(figsize=(max(2.0 * len(shown) + 0.8, 4.5), 4.2), layout="constrained")
    grid = figure.subplots(2, len(shown), squeeze=False, sharex="col", sharey="row")
    labels = titles.labels(shown, "hints", "softmax", "depth")
    order = _tasks(shown)
    for (above, below), (name, some) in zip(grid.T, shown.items(), strict=True):
        _history(above, some, VALIDATION, 0, "")
        for number, (metric, task) in enumerate(order.items()):
            _history(below, some, metric, number, task)
        above.set_title(labels[name].capitalize())
        below.set_xlabel("Updates of all tasks")
        below.xaxis.set_major_locator(MaxNLocator(4))
        below.xaxis.set_major_formatter(EngFormatter(sep=""))
    panels.percent(grid[0, 0])
    grid[0, 0].set_ylabel("Validation exact match\n(trained lengths)")
    grid[1, 0].set_ylabel("Training loss (nats)")
    if any(value > 0 for some in shown.values() for run in some for _, name, value in run.metrics if name in order):
        grid[1, 0].set_yscale("log")
    panels.legend(figure, grid[1], "Loss of")
    note = (
        "Losses: nats summed over a batch, over the mean number of trained tokens in a batch; medians of "
        f"{WINDOW} recorded batches; logarithmic. {titles.seeds(shown)}"
    )
    bare = [name for name, some in runs.items() if some and name not in shown]
    without = "Nothing recorded in training: " + ", ".join(bare) if bare else ""
    plotting.footnote(figure, note, without, titles.absent(runs))
    return figure


def _tasks(runs: Runs) -> Mapping[str, str]:
    """Losses that were recorded, and their tasks, the main one first."""
    names = dict.fromkeys(name for some in runs.values() for run in some for _, name, _ in run.metrics)
    main = titles.task(panels.first(runs))
    known = {name: name.partition(".")[2] or main for name in names if name.partition(".")[0] == LOSS}
    return dict(sorted(known.items(), key=lambda item: item[0] != LOSS))


def _history(axes: Axes, runs: Sequence[Run], metric: str, number: int, label: str) -> None:
    """Median over seeds of a metric by step, with the band of their range; losses smoothed."""
    found: dict[int, list[float]] = defaultdict(list)
    for run in runs:
        rows = [(step, value) for step, name, value in run.metrics if name == metric]
        values = [value for _, value in rows]
        reach = 0 if metric == VALIDATION else WINDOW // 2
        for place, (step, _) in enumerate(rows):
            found[step].append(median(values[max(place - reach, 0) : place + reach + 1]))
    if not found:
        return
    look, xs = PALETTE[number % len(PALETTE)], sorted(found)
    colour, line = (BLACK, "-") if number == 0 else (look.colour, look.line)
    middle = [median(found[x]) for x in xs]
    every = max(1, len(xs) // 8)
    axes.plot(
        xs, middle, line, color=colour, marker=look.marker, markevery=(number % every, every), markersize=3.5,
        linewidth=1.3, label=label,
    )  # fmt: skip
    if any(len(found[x]) > 1 for x in xs):
        low, high = [min(found[x]) for x in xs], [max(found[x]) for x in xs]
        axes.fill_between(xs, low, high, color=colour, alpha=0.15, linewidth=0)
