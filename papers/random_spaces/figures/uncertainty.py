"""Figure 4.3: how sure a model is of its next token, place by place of the answer.

A run brings, per tested length, ``uncertainty.<length>`` (2 [end allowed, end suppressed], 3 [entropy, probability
of the end, probability of the correct token], 2 [mean, deviation over prompts], places) and
``uncertainty_prompts.<length>`` (2, places), the prompts still writing at that place.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from lengen import plotting
from lengen.plotting import Runs, plural
from lengen.records import Run
from papers.random_spaces import lengths
from papers.random_spaces.figures import words

QUANTITIES = (
    ("Entropy (nats)", plotting.COLOURS[0], "-", "o"),
    ("Probability of the end", plotting.COLOURS[3], "--", "s"),
    ("Probability of the\ncorrect token", plotting.COLOURS[2], "-.", "^"),
)
"""Colours as published: blue, red, green; told apart by line and marker as well."""
COLUMNS = ("end allowed", "end suppressed")


class Pooled(NamedTuple):
    """One panel's numbers over all prompts of all seeds, by place of the answer."""

    mean: np.ndarray
    """(3, places)"""
    deviation: np.ndarray
    """(3, places)"""
    prompts: np.ndarray
    """(places,)"""


def fig4_3(runs: Runs) -> Figure:
    """Figure 4.3: entropy, probability of the end and of the correct token; the longest trained length above, the
    longest tested below; the model may end its answer at the left, it may not at the right."""
    some = next((some for some in runs.values() if some), None)
    if some is None:
        return plotting.empty(runs)
    measured = sorted(length for length in lengths.tested(some[0]) if f"uncertainty.{length}" in some[0].arrays)
    known = [length for length in measured if lengths.role(some[0], length) == "trained"]
    rows = list(dict.fromkeys((*known[-1:], *measured[-1:])))
    if not rows:
        return plotting.empty(runs, "no uncertainty recorded at this profile")
    figure = Figure(figsize=(8.6, 2.35 * len(rows) + 0.9), layout="constrained")
    grid = figure.subplots(len(rows), 2, squeeze=False, sharex=True, sharey=True)
    for line, length in zip(grid, rows, strict=True):
        for column, axes in enumerate(line):
            _panel(axes, some, length, column)
    every = [pool(some, length, column) for length in rows for column in (0, 1)]
    top = max(1.0, *(float(np.nanmax(found.mean + found.deviation)) for found in every))
    grid[0, 0].set_ylim(-0.04 * top, 1.05 * top)
    grid[0, 0].set_xlim(0.5, max(found.prompts.size for found in every) + 0.5)
    grid[0, 0].xaxis.set_major_locator(MaxNLocator(integer=True))
    for axes in grid[-1]:
        axes.set_xlabel("Place in the answer, as written")
    for axes in grid[:, 0]:
        axes.set_ylabel("Probability, or entropy (nats)")
    plotting.legend(figure, [grid[0, 0]])
    prompts = max(int(found.prompts.max()) for found in every)
    note = (
        f"{words.model(some[0])}. Bands: deviation over at most "
        f"{prompts} prompts of {plural(len(some), 'seed')}. Grey: places that answers have in "
        "training, end token included. A place counts the prompts still writing whose "
        "true answer has a token there: the dotted line is their share."
    )
    plotting.footnote(figure, note, *plotting.absent(runs))
    return figure


def pool(runs: Sequence[Run], length: int, column: int) -> Pooled:
    """Mean and deviation over all prompts of all seeds, weighted by the prompts at each place; nan where none wrote."""
    records = [run for run in runs if f"uncertainty.{length}" in run.arrays]
    places = max(run.arrays[f"uncertainty.{length}"].shape[-1] for run in records)
    count, total, squares = np.zeros(places), np.zeros((3, places)), np.zeros((3, places))
    for run in records:
        values = run.arrays[f"uncertainty.{length}"][column].astype(np.float64)  # quantity, statistic, place
        prompts = run.arrays[f"uncertainty_prompts.{length}"][column].astype(np.float64)
        here, wrote = slice(values.shape[-1]), prompts > 0
        mean, deviation = (np.where(wrote, values[:, statistic], 0.0) for statistic in (0, 1))
        count[here] += prompts
        total[:, here] += prompts * mean
        squares[:, here] += prompts * (deviation**2 + mean**2)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / count
        spread = np.sqrt(np.maximum(squares / count - mean**2, 0.0))
    return Pooled(mean, spread, count)


def _panel(axes: Axes, runs: Sequence[Run], length: int, column: int) -> None:
    found = pool(runs, length, column)
    places = np.arange(1, len(found.prompts) + 1)
    for (label, colour, line, marker), mean, deviation in zip(QUANTITIES, found.mean, found.deviation, strict=True):
        axes.plot(places, mean, line, color=colour, marker=marker, markersize=3, label=label)
        high = mean + deviation if "nats" in label else np.minimum(mean + deviation, 1.0)
        axes.fill_between(places, np.maximum(mean - deviation, 0.0), high, color=colour, alpha=0.15, linewidth=0)
    share = found.prompts / max(found.prompts.max(), 1)
    axes.plot(places, share, ":", color="0.25", linewidth=1.2, label="Share of prompts\nthat count")
    longest = lengths.trained(runs[0])[-1]
    plotting.trained_band(axes, (0.5, longest + 2.5))  # a carry and the end token
    kind = {"trained": "trained", "gap": "left out of training", "longer": "longer than trained"}
    role = kind[lengths.role(runs[0], length)]
    axes.set_title(f"{length} digits ({role}), {COLUMNS[column]}")
