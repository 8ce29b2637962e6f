"""Theorem 5.1 beside trained models: exact match and the two operations of Section 4 by length."""

from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengen import plotting
from lengen.config.sections import NUMBER_FORMATS
from lengen.plotting import Runs, first, setting
from lengen.records import Run
from papers.task_hinting.figures import mechanisms, panels, words
from papers.task_hinting.figures.panels import EXACT, Points

MEASURED = (
    (EXACT, panels.exact),
    ("Minimum at the delimiter\n(attention 1)", mechanisms.minimum),
    ("Identity and successor\n(attention 2)", mechanisms.identity_successor),
)


def thm5_1(runs: Runs) -> Figure:
    """Exact match, the minimum after the first attention, identity and successor after the second."""
    if not any(runs.values()):
        return plotting.empty(runs, panels.reason(runs))
    figure = Figure(figsize=(10.0, 3.6), layout="constrained")
    grid = figure.subplots(1, 3, sharey=True)
    for axes, (title, measure) in zip(grid, MEASURED, strict=True):
        points = {name: measure(some) for name, some in runs.items()}
        plotting.lines(axes, points, panels.method_looks(runs), _labels(runs), interval=False)
        axes.set_title(title, pad=14)
        _length_axis(runs, axes, points)
    plotting.percent(grid[0])
    grid[0].set_ylabel("Share of sequences, or of tokens")
    plotting.legend(figure, grid, wrap=32)
    trained = {name: some for name, some in runs.items() if some and not some[0].constructed}
    notes = ["Lengths on a logarithmic axis."]
    if trained:
        low, high = words.trained(first(trained))
        notes.append(f"Grey: trained lengths of the trained models, {low}–{high}; {words.model(trained)}.")
    notes += [plotting.seeds_note(runs), plotting.BESIDE_NOTE]
    plotting.footnote(figure, " ".join(notes), *plotting.absent(runs))
    return figure


def thm5_1_formats(runs: Runs) -> Figure:
    """Exact match of the construction in three number formats."""
    points = {name: panels.exact(some) for name, some in runs.items()}
    if not panels.lengths(points):
        return plotting.empty(runs, panels.reason(runs))
    figure = Figure(figsize=(7.2, 3.0), layout="constrained")
    axes = figure.subplots()
    labels = {name: NUMBER_FORMATS[setting(some[0], "precision")].name for name, some in runs.items() if some}
    plotting.lines(axes, points, plotting.in_order(runs), labels)
    axes.set_xticks(panels.lengths(points))
    axes.set(xlabel=plotting.length_axis(first(runs)), ylabel=EXACT)
    plotting.percent(axes)
    plotting.legend(figure, [axes])
    alphabet = setting(first(runs), "alphabet")
    note = f"Constructed for numbers 1 to {alphabet}. {plotting.BESIDE_NOTE} Bands: 95 % Wilson intervals."
    plotting.footnote(figure, note, *plotting.absent(runs))
    return figure


def thm5_1_repeats(runs: Runs) -> Figure:
    """Exact match on rep(i, r), a panel an r: the construction, and a trained model."""
    repetitions = sorted({r for some in runs.values() for r in panels.counts(some)})
    points = {r: {name: panels.exact(some, r) for name, some in runs.items()} for r in repetitions}
    if not any(panels.lengths(known) for known in points.values()):
        return plotting.empty(runs, panels.reason(runs))
    figure = panels.by_repetition(runs, points, _labels(runs), EXACT, partial(_length_axis, runs), interval=True)
    note = f"{panels.REP}; r = 1: all drawn uniformly. {plotting.seeds_note(runs)} {plotting.BESIDE_NOTE}"
    plotting.footnote(figure, note, *plotting.absent(runs))
    return figure


def _labels(runs: Runs) -> dict[str, str]:
    return {name: _label(some[0]) for name, some in runs.items() if some}


def _label(run: Run) -> str:
    """What an experiment is called in the legend."""
    numbers = f"numbers 1 to {setting(run, 'alphabet')}"
    if run.constructed:
        return f"{plotting.METHODS[words.method(run)].name}; {numbers}"
    return f"trained, {words.softmax(run)}{', repetitions' * bool(setting(run, 'repeats'))}; {numbers}"


def _length_axis(runs: Runs, axes: Axes, points: Points) -> None:
    """A logarithmic length axis with round ticks, and the trained lengths shaded."""
    axes.set_xscale("log")
    tested = panels.lengths(points)
    shown = [length for length in (1, 2, 5, 10, 20, 50, 100, 200, 500) if tested and tested[0] <= length <= tested[-1]]
    axes.set_xticks(shown, labels=[str(length) for length in shown])
    axes.minorticks_off()
    axes.set_xlabel(plotting.length_axis(first(runs)))
    for run in [some[0] for some in runs.values() if some and not some[0].constructed][:1]:
        low, high = words.trained(run)
        plotting.trained_band(axes, (low, high))
        plotting.above(axes, (low * high) ** 0.5, "trained")
