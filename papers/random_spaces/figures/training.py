"""Figures 4.1, 4.2 and B.1: what is measured while a model trains; runs go in, a Figure leaves.

A run's metrics hold ``exact_match.<length>`` and ``answer_loss.<length>`` (nats per answer token) of every tested
length, and ``digit_loss.<place>`` (place 1 is the units) at the longest trained one, each at every evaluation.
"""

from collections import defaultdict
from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator, PercentFormatter

from lengen import plotting
from lengen.records import Run
from papers.random_spaces import lengths as titles
from papers.random_spaces.figures import panels
from papers.random_spaces.figures.panels import Runs

UNTRAINED = (plotting.COLOURS[3], (0.0, 0.0, 0.0), plotting.COLOURS[4], plotting.COLOURS[1], plotting.COLOURS[5])
"""Colours of lengths that were not trained, in their order; trained ones share a scale from dark to light."""
TRAINED = mpl.colormaps["YlGnBu_r"]
DIGITS = mpl.colormaps["viridis"]
NOT_RECORDED = "nothing recorded during training"


def history(runs: Sequence[Run], name: str) -> dict[float, list[float]]:
    """Step -> one finite value per seed that has the metric there, in the order of the runs."""
    found: dict[float, list[float]] = defaultdict(list)
    for run in runs:
        for step, metric, value in run.metrics:
            if metric == name and np.isfinite(value):
                found[step].append(value)
    return dict(found)


def fig4_1(runs: Runs) -> Figure:
    """Figure 4.1: exact match and answer loss by length over the training of a decoder, a column a trained range."""
    return _over_training(runs)


def fig4_2(runs: Runs) -> Figure:
    """Figure 4.2: the same for the Universal Transformer."""
    return _over_training(runs)


def _over_training(runs: Runs) -> Figure:
    shown = {name: some for name, some in runs.items() if some}
    if not shown:
        return plotting.empty(runs)
    figure = Figure(figsize=(max(2.7 * len(shown) + 0.5, 4.5), 5.0), layout="constrained")
    grid = figure.subplots(2, len(shown), squeeze=False, sharex="col", sharey="row")
    for (above, below), some in zip(grid.T, shown.values(), strict=True):
        for axes, metric in ((above, "exact_match"), (below, "answer_loss")):
            _lengths(axes, some, metric)
        above.set_title(f"{titles.trained_on(some[0]).capitalize()}\n{titles.size(some[0])}")
        above.set_ylim(-0.03, 1.03)
        above.yaxis.set_major_formatter(PercentFormatter(1.0))
        if below.lines:
            columns = 3 if len(below.lines) <= 12 else 4
            legend = below.legend(
                loc="upper center", bbox_to_anchor=(0.5, -0.24), ncols=columns, frameon=False, handlelength=2.4,
                columnspacing=1.0, title="Digits of an operand", title_fontsize=7,
            )  # fmt: skip
            legend.set_in_layout(True)
    grid[0, 0].set_ylabel("Exact match")
    grid[1, 0].set_ylabel("Answer loss (nats per token)")
    _logarithmic(grid[1], "answer_loss", list(shown.values()))
    note = (
        "Solid: trained lengths. Dashed with markers: lengths never trained, left out between trained ones or longer. "
        f"Loss on a logarithmic scale. {titles.seeds(runs)}"
    )
    plotting.footnote(figure, note + _seeds_note(shown), *titles.absent(runs))
    return figure


def _seeds_note(runs: Runs) -> str:
    return " Line: median, band: range." if any(len(some) > 1 for some in runs.values()) else ""


def _logarithmic(row: Sequence[Axes], metric: str, groups: Sequence[Sequence[Run]]) -> None:
    """Steps below, losses on a logarithmic axis that the row shares."""
    found = [value for some in groups for run in some for _, name, value in run.metrics if name.startswith(metric)]
    for axes in row:
        axes.set_xlabel("Optimizer steps")
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.xaxis.set_major_formatter(EngFormatter(sep="", places=None))
    panels.logarithmic(row[0], found)


def _lengths(axes: Axes, runs: Sequence[Run], metric: str) -> None:
    known = titles.by_role(runs[0], "trained")
    others = [length for length in titles.lengths(runs[0]) if length not in known]
    for number, length in enumerate(known):
        _line(axes, runs, metric, length, colour=TRAINED(0.05 + 0.58 * number / max(len(known) - 1, 1)))
    for number, length in enumerate(others):
        colour, marker = UNTRAINED[number % len(UNTRAINED)], plotting.MARKERS[number % len(plotting.MARKERS)]
        _line(axes, runs, metric, length, colour=colour, line="--", marker=marker, width=1.6, shift=number)
    if not axes.lines:
        plotting.missing(axes, runs[0].experiment, NOT_RECORDED)


def _line(axes: Axes, runs: Sequence[Run], metric: str, length: int, **look: object) -> None:
    found = history(runs, f"{metric}.{length}")
    if found:
        role = {"trained": "", "gap": " (left out)", "longer": " (longer)"}[titles.role(runs[0], length)]
        panels.over_seeds(axes, found, label=f"{length}{role}", **look)  # type: ignore[arg-type]


# -- Figure B.1 --------------------------------------------------------------------------------------------


def figB_1(runs: Runs) -> Figure:
    """Figure B.1: loss of every answer digit over training, plain and reversed answers side by side."""
    shown = {name: some for name, some in runs.items() if some}
    if not shown:
        return plotting.empty(runs)
    figure = Figure(figsize=(max(3.3 * len(shown) + 1.4, 4.8), 3.4), layout="constrained")
    grid = figure.subplots(1, len(shown), squeeze=False, sharey=True)[0]
    for axes, some in zip(grid, shown.values(), strict=True):
        _digits(axes, some)
        order = "least" if titles.setting(some[0], "data", "reverse_response", False) else "most"
        axes.set_title(f"{titles.label(some[0])}\nwritten {order} significant digit first")
    grid[0].set_ylabel("Loss of the digit (nats)")
    _logarithmic(grid, "digit_loss", list(shown.values()))
    lines = {str(line.get_label()): line for axes in grid for line in axes.lines}
    ordered = sorted(lines, key=lambda label: -int(label.split()[0]))
    handles = [lines[label] for label in ordered]
    columns = 1 + (len(ordered) > 12)
    figure.legend(
        handles,
        ordered,
        loc="outside right center",
        frameon=False,
        ncols=columns,
        title="Place in the sum",
        title_fontsize=7,
    )
    first = next(iter(shown.values()))[0]
    longest = titles.trained(first)[-1]
    note = (
        f"Sums of two numbers of {longest} digits, the longest trained, given the true digits before. Place 1 is the "
        f"units. {titles.seeds(runs)}{_seeds_note(shown)}"
    )
    plotting.footnote(figure, note, *titles.absent(runs))
    return figure


def _digits(axes: Axes, runs: Sequence[Run]) -> None:
    names = {name for run in runs for _, name, _ in run.metrics if name.startswith("digit_loss.")}
    places = sorted((int(name.rpartition(".")[2]) for name in names), reverse=True)
    for number, place in enumerate(places):
        word = {places[0]: " (most significant)", 1: " (units)"}.get(place, "")
        colour, marker = (
            DIGITS(0.92 * number / max(len(places) - 1, 1)),
            plotting.MARKERS[number % len(plotting.MARKERS)],
        )
        panels.over_seeds(
            axes, history(runs, f"digit_loss.{place}"), colour=colour, label=f"{place}{word}", marker=marker
        )
    if not places:
        plotting.missing(axes, runs[0].experiment, NOT_RECORDED)
