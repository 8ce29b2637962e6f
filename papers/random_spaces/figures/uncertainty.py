"""Figure 4.3: how sure a model is of its next token, place by place of the answer.

A run brings, per tested length, ``uncertainty.<length>`` (2 [end allowed, end suppressed], 3 [entropy, probability
of the end, probability of the correct token], 2 [mean, deviation over prompts], places) and
``uncertainty_prompts.<length>`` (2, places), the prompts still writing at that place.
"""

import math
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
    ("Entropy", plotting.COLOURS[0], "-", "o"),
    ("Probability of the end", plotting.COLOURS[3], "--", "s"),
    ("Probability of the\ncorrect token", plotting.COLOURS[2], "-.", "^"),
)
"""Colours as published: blue, red, green; told apart by line and marker as well."""
ENTROPY = 1
"""How many of them, the first ones, are no probabilities: they have a row of their own."""
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
    """Figure 4.3: entropy above, probabilities of the end and of the correct token below; the longest trained length,
    then the longest tested one as the model ends its answer, and as it may not end it."""
    some = next((some for some in runs.values() if some), None)
    if some is None:
        return plotting.empty(runs, words=words.SLUGS)
    measured = sorted(length for length in lengths.tested(some[0]) if f"uncertainty.{length}" in some[0].arrays)
    known = [length for length in measured if lengths.role(some[0], length) == "trained"]
    if not measured:
        return plotting.empty(runs, "no uncertainty recorded at this profile", words.SLUGS)
    # a model ends answers of trained lengths where they end, so that suppressing the end shows the same there
    places = [(known[-1], 0)] if known else []
    places += [(measured[-1], column) for column in (0, 1) if measured[-1] not in known]
    figure = Figure(figsize=(2.6 * len(places) + 1.7, 4.9), layout="constrained")
    grid = figure.subplots(2, len(places), squeeze=False, sharex=True, sharey="row")
    every = [pool(some, *place) for place in places]
    for (above, below), found, (length, column) in zip(grid.T, every, places, strict=True):
        _panel(above, found, QUANTITIES[:ENTROPY], 0, math.inf)
        _panel(below, found, QUANTITIES[ENTROPY:], ENTROPY, 1.0)
        share = found.prompts / max(found.prompts.max(), 1)
        axis = np.arange(1, len(share) + 1)
        below.plot(axis, share, ":", color="0.25", label="Share of prompts\nthat count")
        for axes in (above, below):  # a carry and the end token
            plotting.trained_band(axes, (0.5, lengths.trained(some[0])[-1] + 2.5))
        above.set_title(f"{length} digits ({ROLE[lengths.role(some[0], length)]}),\n{COLUMNS[column]}")
        below.set_xlabel("Place in the answer, as written")
    grid[0, 0].set_ylim(bottom=0)
    plotting.percent(grid[1, 0])
    grid[0, 0].set_xlim(0.5, max(found.prompts.size for found in every) + 0.5)
    grid[0, 0].xaxis.set_major_locator(MaxNLocator(integer=True))
    grid[0, 0].set_ylabel("Entropy (nats)")
    grid[1, 0].set_ylabel("Probability")
    plotting.legend(figure, [grid[0, 0], grid[1, 0]])
    plotting.found(figure, _found(places, every))
    prompts = max(int(found.prompts.max()) for found in every)
    lacking = plotting.unlearned(some)
    note = (
        f"{words.model(some[0])}. {f'{lacking.capitalize()}. ' if lacking else ''}Bands: deviation over at most "
        f"{prompts} prompts of {plural(len(some), 'seed')}. Grey: places that answers have in "
        "training, end token included. A place counts the prompts still writing whose "
        "true answer has a token there: the dotted line is their share."
    )
    plotting.footnote(figure, note, *plotting.absent(runs, words.SLUGS))
    return figure


ROLE = {"trained": "trained", "gap": "left out of training", "longer": "longer than trained"}


def _found(places: Sequence[tuple[int, int]], every: Sequence["Pooled"]) -> str:
    """The probability of the correct token, averaged over the places of an answer, in every column."""
    told = []
    for (length, column), found in zip(places, every, strict=True):
        wrote = found.prompts > 0
        mean = float(np.average(found.mean[2, wrote], weights=found.prompts[wrote]))
        told.append(f"{plotting.share(mean)} at {length} digits{' with the end suppressed' if column else ''}")
    return f"Mean probability of the correct token: {', '.join(told)}"


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


def _panel(
    axes: Axes, found: Pooled, quantities: Sequence[tuple[str, object, str, str]], start: int, most: float
) -> None:
    """Means by place with a band of one deviation that stays between 0 and ``most``."""
    places = np.arange(1, len(found.prompts) + 1)
    for (label, colour, line, marker), mean, deviation in zip(
        quantities, found.mean[start:], found.deviation[start:], strict=False
    ):
        axes.plot(places, mean, line, color=colour, marker=marker, markersize=3, label=label)
        low, high = np.maximum(mean - deviation, 0.0), np.minimum(mean + deviation, most)
        axes.fill_between(places, low, high, color=colour, alpha=0.12, linewidth=0)
