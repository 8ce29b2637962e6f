"""Theorem 5.1 beside trained models: exact match and the two operations of Section 4 by length; runs go in, a Figure
leaves."""

from collections.abc import Mapping
from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengen import plotting
from lengen.config.sections import NUMBER_FORMATS
from lengen.records import Run
from papers.task_hinting.figures import panels
from papers.task_hinting.figures import words as titles
from papers.task_hinting.figures.panels import EXACT, Points, Runs


def thm5_1(runs: Runs) -> Figure:
    """Exact match, the minimum after the first attention, identity and successor after the second."""
    if not any(runs.values()):
        return plotting.empty(runs, panels.reason(runs))
    figure = Figure(figsize=(10.0, 3.6), layout="constrained")
    grid = figure.subplots(1, 3, sharey=True)
    measured: tuple[tuple[str, Mapping[str, Points]], ...] = (
        (EXACT, {name: panels.exact(some) for name, some in runs.items()}),
        (
            "Minimum at the delimiter\n(attention 1)",
            {name: panels.hits(some, "minimum") for name, some in runs.items()},
        ),
        (
            "Identity and successor\n(attention 2)",
            {name: panels.hits(some, "identity_successor") for name, some in runs.items()},
        ),
    )
    labels = {name: _label(some[0]) for name, some in runs.items() if some}
    for axes, (title, points) in zip(grid, measured, strict=True):
        panels.lines(axes, points, panels.in_order(runs), labels, interval=False)
        axes.set_title(title, pad=14)
        _lengths(runs, axes, points)
    panels.percent(grid[0])
    grid[0].set_ylabel("Share of sequences, or of tokens")
    panels.legend(figure, grid)
    trained = {name: some for name, some in runs.items() if some and not some[0].constructed}
    notes = ["Lengths on a logarithmic axis."]
    if trained:
        low, high = titles.trained(panels.first(trained))
        notes.append(f"Grey: trained lengths of the trained models, {low}–{high}; {titles.model(trained)}.")
    plotting.footnote(figure, " ".join([*notes, titles.seeds(runs)]), titles.absent(runs))
    return figure


def thm5_1_formats(runs: Runs) -> Figure:
    """Exact match of the construction in three number formats."""
    points = {name: panels.exact(some) for name, some in runs.items()}
    if not any(points.values()):
        return plotting.empty(runs, panels.reason(runs))
    figure = Figure(figsize=(7.2, 3.0), layout="constrained")
    axes = figure.subplots()
    precision = {name: titles.setting(some[0], "train", "precision", "32-true") for name, some in runs.items() if some}
    labels = {name: NUMBER_FORMATS[known].name for name, known in precision.items()}
    panels.lines(axes, points, panels.in_order(runs), labels, interval=True)
    axes.set_xticks(sorted({length for some in points.values() for length in some}))
    axes.set(xlabel=titles.axis(panels.first(runs)), ylabel=EXACT)
    panels.percent(axes)
    panels.legend(figure, [axes])
    alphabet = titles.setting(panels.first(runs), "data", "alphabet", 0)
    note = f"Constructed for numbers 1 to {alphabet}. Lines coincide; bands: 95 % Wilson intervals."
    plotting.footnote(figure, note, titles.absent(runs))
    return figure


def thm5_1_repeats(runs: Runs) -> Figure:
    """Exact match on rep(i, r), a panel an r: the construction, and a trained model."""
    repetitions = sorted({r for some in runs.values() for r in panels.counts(some)})
    points = {r: {name: panels.exact(some, r) for name, some in runs.items()} for r in repetitions}
    if not any(some for known in points.values() for some in known.values()):
        return plotting.empty(runs, panels.reason(runs))
    labels = {name: _label(some[0]) for name, some in runs.items() if some}
    figure = panels.by_repetition(runs, points, labels, EXACT, partial(_lengths, runs), interval=True)
    note = f"{panels.REP}; r = 1: all drawn uniformly."
    plotting.footnote(figure, f"{note} {titles.seeds(runs)}", titles.absent(runs))
    return figure


def _label(run: Run) -> str:
    """What an experiment is called in the legend."""
    numbers = f"numbers 1 to {titles.setting(run, 'data', 'alphabet', 0)}"
    if not run.constructed:
        repeats = ", repetitions" * bool(titles.setting(run, "data", "repeats", 0.0))
        return f"trained, {titles.softmax(run)}{repeats}; {numbers}"
    variant = titles.setting(run, "theorem", "variant", "repaired")
    return f"constructed{' as printed' * (variant == 'printed')}; {numbers}"


def _lengths(runs: Runs, axes: Axes, points: Mapping[str, Points]) -> None:
    """A logarithmic length axis with round ticks, and the trained lengths shaded."""
    axes.set_xscale("log")
    tested = sorted({length for some in points.values() for length in some})
    shown = [length for length in (1, 2, 5, 10, 20, 50, 100, 200, 500) if tested and tested[0] <= length <= tested[-1]]
    axes.set_xticks(shown, labels=[str(length) for length in shown])
    axes.minorticks_off()
    axes.set_xlabel(titles.axis(panels.first(runs)))
    for run in [some[0] for some in runs.values() if some and not some[0].constructed][:1]:
        low, high = titles.trained(run)
        plotting.trained_band(axes, (low, high))
        panels.above(axes, (low * high) ** 0.5, "trained")
