"""Figure 4.6: a scratchpad scored part by part.

A run's arrays hold one number per example and tested length: ``hits.part.<part>.<length>`` and
``values.edits.<part>.<length>`` (characters).
"""

from collections.abc import Sequence
from statistics import median

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from lengen import plotting
from lengen.intervals import wilson
from lengen.plotting import COLOURS, NONE, Look, Published, Runs
from lengen.records import Run
from papers.random_spaces import lengths as by_length
from papers.random_spaces.figures import beside, words

PARTS = {
    "reversed": "Reversed operands",
    "partials": "Partial sums",
    "answer": "Final answer",
    "answer_of_partials": "Reading off: final answer\nagainst its own partial sums",
    "partials_imply_answer": "Calculating: what the partial\nsums imply, against the truth",
}
"""Parts of the scratchpad, then the two halves of what the thesis reads as one."""
HALVES = 2
"""How many of the parts, the last ones, are those halves."""
PUBLISHED = Look("0.2", "D")
"""How published values look."""
MOST = 9
"""Lengths that a panel has room for."""


def fig4_6(runs: Runs, published: Published = NONE) -> Figure:
    """Figure 4.6: distribution of edit distances above, accuracy below; a column a part of the scratchpad."""
    name, some = next(((name, some) for name, some in runs.items() if some), ("", []))
    if not some:
        return plotting.empty(runs, words=words.SLUGS)
    lengths = [length for length in by_length.tested(some[0]) if f"hits.part.answer.{length}" in some[0].arrays][-MOST:]
    if not lengths:
        return plotting.empty(runs, "no parts recorded at this profile", words.SLUGS)
    known = [length for length in lengths if by_length.role(some[0], length) == "trained"]
    figure = Figure(figsize=(2.05 * len(PARTS) + 0.6, 4.4), layout="constrained")
    grid = figure.subplots(2, len(PARTS), sharex=True, sharey="row")
    drawn: list[plotting.Value] = []
    for number, ((above, below), (part, title)) in enumerate(zip(grid.T, PARTS.items(), strict=True)):
        half = number >= len(PARTS) - HALVES
        _violins(above, some, part, lengths, COLOURS[1 if half else 0])
        _accuracy(below, some, part, lengths, COLOURS[1 if half else 0])
        for axes, measure in ((above, f"values.edits.{part}"), (below, f"hits.part.{part}")):
            values = _shown(some[0], plotting.published.of(published, name, measure), lengths)
            plotting.published.on_curves(axes, {name: values}, {name: some}, {name: PUBLISHED}, measure=measure)
            drawn += values
        above.set_title(title, weight="bold" if half else None)
        for axes in (above, below):
            plotting.trained_lengths(axes, known)
        below.set_xlabel("Operand length (digits)")
        below.set_xticks(lengths)
        below.set_xlim(lengths[0] - 0.7, lengths[-1] + 0.7)
    grid[0, 0].set_ylabel("Edit distance (characters)")
    grid[0, 0].set_yscale("symlog", linthresh=1)
    grid[0, 0].yaxis.set_major_formatter(FuncFormatter(plotting.plain))
    grid[0, 0].set_ylim(-0.15, None)
    grid[1, 0].set_ylabel("Accuracy")
    plotting.percent(grid[1, 0], -0.04, 1.04)
    prompts = max(run.arrays[f"hits.part.answer.{length}"].size for run in some for length in lengths)
    note = (
        f"{words.model(some[0])}. {prompts} problems a length, {plotting.seeds(len(some))}. Grey: lengths trained "
        "here. Violins: all problems of all seeds, a bar at their mean, linear up to 1 and logarithmic above. Accuracy "
        "bars: range of the seeds, or the 95 % Wilson interval of one. "
        f"{_beside(some[0], drawn)}"
        "The published panel of the answer with respect to the scratchpad measured the last column and was read as the "
        "one before; both halves are shown."
    )
    lacking = plotting.unlearned(some)
    plotting.found(figure, _found(some, lengths))
    plotting.footnote(
        figure, f"{f'{lacking.capitalize()}. ' if lacking else ''}{note}", *plotting.absent(runs, words.SLUGS)
    )
    return figure


def _shown(run: Run, values: Sequence[plotting.Value], lengths: Sequence[int]) -> list[plotting.Value]:
    """The values that have a place among the ``lengths`` that are drawn."""
    last = plotting.published.ROOM * lengths[-1]
    return [value for value in values if (at := beside.place(run, value)) is not None and lengths[0] <= at <= last]


def _beside(run: Run, values: Sequence[plotting.Value]) -> str:
    """What the footnote says of published values: both sizes, and where each of their lengths stands here."""
    if not values:
        return ""
    said = f"Diamonds: published, {beside.sizes([(run, value) for value in values])}. "
    places = {value.lengths[1]: beside.place(run, value) for value in values if not value.left_out}
    there, here = values[0].trained[0], by_length.trained(run)[-1]
    if not places or there == here:
        return said
    inside = plotting.listed([str(length) for length in sorted(places)])
    at = plotting.listed([f"{places[length]:.3g}" for length in sorted(places)])
    return f"{said}{inside} of {there} stand at {at} of {here}. "


def _found(runs: Sequence[Run], shown: Sequence[int]) -> str:
    """Which half fails first beyond the trained lengths: reading off or calculating."""
    longest = by_length.trained(runs[0])[-1]
    beyond = next((length for length in shown if length > longest), None)
    if beyond is None:
        return ""
    rates = []
    for part in list(PARTS)[-HALVES:]:
        found = [float(run.arrays[name].mean()) for run in runs if (name := f"hits.part.{part}.{beyond}") in run.arrays]
        if not found:
            return ""
        rates.append(plotting.share(median(found)))
    read, implied = rates
    return (
        f"At {beyond} digits, longer than trained, the partial sums imply the right answer in {implied}, and the "
        f"answer is what they imply in {read}"
    )


def _violins(axes: Axes, runs: Sequence[Run], part: str, lengths: Sequence[int], colour: object) -> None:
    shown = [length for length in lengths if any(f"values.edits.{part}.{length}" in run.arrays for run in runs)]
    if not shown:
        plotting.missing(axes, part, "not recorded")
        return
    data = [edits(runs, part, length) for length in shown]
    # a distribution of one value has no width to draw: its mean bar stands alone
    spread = [(length, values) for length, values in zip(shown, data, strict=True) if np.ptp(values) > 0]
    if spread:
        drawn = axes.violinplot(
            [values for _, values in spread], [length for length, _ in spread], widths=0.85, showextrema=False
        )
        for body in drawn["bodies"]:  # type: ignore[attr-defined]
            body.set(facecolor=colour, edgecolor="k", linewidth=0.5, alpha=0.6)
    axes.plot(shown, [values.mean() for values in data], "_", color="k", markersize=9, markeredgewidth=1.6, zorder=5)


def edits(runs: Sequence[Run], part: str, length: int) -> np.ndarray:
    """Edit distances of one part at one length, all problems of all runs: (problems,), characters."""
    name = f"values.edits.{part}.{length}"
    return np.concatenate([run.arrays[name].astype(np.float64) for run in runs if name in run.arrays])


def _accuracy(axes: Axes, runs: Sequence[Run], part: str, lengths: Sequence[int], colour: object) -> None:
    for length in lengths:
        found = [run.arrays[name] for run in runs if (name := f"hits.part.{part}.{length}") in run.arrays]
        if not found:
            continue
        rates = [float(hits.mean()) for hits in found]
        middle = median(rates)
        low, high = (min(rates), max(rates)) if len(found) > 1 else wilson(int(found[0].sum()), found[0].size)
        axes.errorbar(
            length, middle, yerr=[[middle - low], [high - middle]], fmt="o", color=colour, ecolor="k", capsize=2.5,
            elinewidth=0.9, markersize=5, markeredgecolor="k", markeredgewidth=0.5, zorder=5,
        )  # fmt: skip
