"""Figures that no shared drawing makes: certainty by place, attention by layer, parts of a scratchpad, the sweep.

Arrays of a run: ``uncertainty.<length>`` (2 [end allowed, end suppressed], 3 [entropy, probability of the end, of the
correct token], 2 [mean, deviation], places) with ``uncertainty_prompts.<length>``; per example
``hits.part.<part>.<n>``, ``values.edits.<part>.<n>``,
``values.answer_loss.<n>``, ``values.loss.<task>.<n>``, ``hits.subtask.<task>.<n>``.
"""

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, PercentFormatter

from lengen import plotting
from lengen.experiment import Figure as Picture
from lengen.formats.base import PRINTABLE
from lengen.plotting import COLOURS, MARKERS, MapRow, Published, Runs
from lengen.results.records import AttentionMap, Run
from papers.random_spaces import table4_3 as swept
from papers.random_spaces.experiments import MIXTURES, SUBTASK

# ------------------------------------------------------------------ Figure 4.3: certainty of the next token

QUANTITIES = (("entropy", COLOURS[0]), ("probability of the end", COLOURS[3]), ("of the correct token", COLOURS[2]))


def certainty(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Draw entropy above, probabilities below.

    The longest trained length, then the longest tested one as the model ends its answer, and as it may not end it.
    """
    group = next((group for group in runs.values() if group), [])
    tested = swept.tested(group[0]) if group else ()
    measured = [length for length in tested if f"uncertainty.{length}" in group[0].arrays]
    if not measured:
        return plotting.empty()
    known = [length for length in measured if swept.role(group[0], length) == "trained"]
    places = [(length, 0, "trained") for length in known[-1:]]
    if measured[-1] not in known:
        places += [(measured[-1], 0, "longer"), (measured[-1], 1, "longer, end suppressed")]
    figure = plotting.sheet(plotting.PAGE, 3.7)
    grid = figure.subplots(2, len(places), squeeze=False, sharex=True, sharey="row")
    for column, (length, kind, role) in zip(grid.T, places, strict=True):
        values = certainties(group, length, kind)
        xs = np.arange(1, values.shape[1] + 1)
        for k, (label, colour) in enumerate(QUANTITIES):
            column[int(k > 0)].plot(xs, values[k], color=colour, marker=MARKERS[k], label=label)
        for axes in column:
            axes.axvspan(0.5, swept.trained(group[0])[-1] + 2.5, color="0.9", zorder=0, linewidth=0)
        column[0].set_title(f"{length} digits ({role})")
        column[1].set_xlabel("Place in the answer")
    grid[0, 0].set(ylabel="Entropy (nats)", ylim=(0, None))
    grid[1, 0].set_ylabel("Probability")
    plotting.percent(grid[1, 0])
    grid[0, 0].xaxis.set_major_locator(MaxNLocator(6, integer=True))
    plotting.legend(figure, [line for axes in grid[:, 0] for line in axes.lines])
    return figure


def certainties(runs: Sequence[Run], length: int, kind: int) -> np.ndarray:
    """Return means over prompts (quantities, places), medians over seeds; nan for places at which none wrote."""
    every = []
    for run in runs:
        if f"uncertainty.{length}" in run.arrays:
            wrote = run.arrays[f"uncertainty_prompts.{length}"][kind] > 0
            every.append(np.where(wrote, run.arrays[f"uncertainty.{length}"][kind][:, 0].astype(np.float64), np.nan))
    most = max(curve.shape[1] for curve in every)
    padded = np.stack([np.pad(curve, ((0, 0), (0, most - curve.shape[1])), constant_values=np.nan) for curve in every])
    return np.asarray(pd.DataFrame(padded.reshape(len(every), -1)).median().to_numpy().reshape(padded.shape[1:]))


# ------------------------------------------------------------------ Figure 4.4: attention by layer


def attention(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Draw a row for each setting and length, a column for each layer: the maximum over its heads."""
    rows = []
    for item, group in plotting.shown(picture, runs):
        run = next((run for run in plotting.learned(group) if run.attention is not None), None)
        if run is None:
            continue
        longest = max(swept.tested(run))
        assert run.attention is not None
        records = [(swept.trained(run)[-1], largest(run.attention))]
        records += [(longest, longer(run, longest))] if f"attention.{longest}" in run.arrays else []
        for length, record in records:
            heads = [(layer, 0) for layer in range(len(record.weights))]
            name = plotting.label(item, group).replace(" ", "\n", 1)
            rows.append(MapRow(f"{name}\n{length} digits", record, heads, [f"layer {layer + 1}" for layer, _ in heads]))
    return plotting.maps(rows)


def longer(run: Run, length: int) -> AttentionMap:
    """Return the stored map of one problem of another length, (layers, 1, queries, keys)."""
    tokens = run.arrays[f"attention_tokens.{length}"]
    texts = tuple(PRINTABLE.decode([int(token)]) for token in tokens[:-1])
    return AttentionMap(texts, run.arrays[f"attention.{length}"][:, None].astype(np.float32), 1)


def largest(record: AttentionMap) -> AttentionMap:
    """Return the same map with one head a layer: the largest weight of any head, (layers, 1, queries, keys)."""
    return dataclasses.replace(record, weights=record.weights.max(axis=1, keepdims=True))


# ------------------------------------------------------------------ Figure 4.6: a scratchpad in parts

PARTS = {
    "reversed": "reversed operands",
    "partials": "partial sums",
    "answer": "final answer",
    "answer_of_partials": "answer against own partial sums",
    "partials_imply_answer": "what the partial sums imply",
}
"""Parts of the scratchpad, then the two halves of what the thesis reads as one."""


def parts(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Draw edit distance and exact match of every part by length, a line for each part."""
    group = next((group for group in runs.values() if group), [])
    recorded = [(part, length) for part in PARTS for length in (swept.tested(group[0]) if group else ())
             if f"hits.part.{part}.{length}" in group[0].arrays]  # fmt: skip
    if not recorded:
        return plotting.empty()
    figure = plotting.sheet(plotting.PAGE, 2.8)
    handles: list[Artist] = []
    for axes, family, label in zip(
        figure.subplots(1, 2),
        ("values.edits", "hits.part"),
        ("Mean edit distance\n(characters)", "Exact match"),
        strict=True,
    ):
        for k, (part, name) in enumerate(PARTS.items()):
            rows = [(length, k, value) for named, length in recorded if named == part
                    for value in plotting.arrays(group, f"{family}.{part}", [length])]  # fmt: skip
            frame = pd.DataFrame(rows, columns=["length", "part", "value"]).dropna()
            middle = frame.groupby("length")["value"].median()
            look = {"color": COLOURS[k], "marker": MARKERS[k]}
            dashed = k == len(PARTS) - 1
            line = axes.plot(middle.index, middle.to_numpy(), **look, ls="--" if dashed else "-", label=name)
            axes.plot(frame["length"], frame["value"], ls="", markersize=2, alpha=0.5, **look)
            handles += line if family == "hits.part" else []
        plotting.lengths_axis(axes, swept.tested(group[0]), group)
        axes.set(xlabel="Digits", ylabel=label)
        if family == "hits.part":
            plotting.percent(axes)
        else:
            axes.set_ylim(bottom=0)
    plotting.legend(figure, handles)
    return figure


# ------------------------------------------------------------------ Table 4.3, Figures 4.7 and 4.8: the sweep


def sweep(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Write exact match by width, length and mixture in sentences: median, lowest and highest of the runs."""
    every = swept.distinct(runs)
    widths = sorted(set(map(swept.width, every)))
    lines = []
    for width, group in itertools.product(widths, swept.groups(every[0]) if every else ()):
        sentences = [f"{_role(every[0], group).replace(chr(10), ' ')}{f', width {width}' * (len(widths) > 1)}"]
        for name, mode in (("greedy", "teacher_forced"), ("sampled", "sampled")):
            rates = {
                label: [run.grid.total(zip(group), mode).rate("correct") for run in every
                        if (swept.kind(run), swept.width(run)) == (kind, width)] for kind, label in MIXTURES.items()
            }  # fmt: skip
            sentences.append("; ".join(f"{label}, {name}: {_spread(some)}" for label, some in rates.items() if some))
        lines.append("\n".join(sentences))
    figure = plotting.sheet(plotting.PAGE, 1.9 * max(1, len(lines) / 3))
    axes = figure.subplots()
    axes.set_axis_off()
    axes.text(0, 0.5, "\n\n".join(lines) or "no runs", va="center", linespacing=1.3)
    return figure


def _spread(rates: Sequence[float]) -> str:
    low, middle, high = (f"{100 * value:.0f}" for value in np.quantile(rates, (0, 0.5, 1)))
    return f"{middle} %{f' ({low} to {high} %)' * (low < high)}"


def losses(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Draw the answer loss by width and mixture, a column a length."""
    every = swept.distinct(runs)
    if not every:
        return plotting.empty()
    groups = swept.groups(every[0])
    rows = [
        (group, f"{swept.width(run)}", MIXTURES[swept.kind(run)], value)
        for run in every for group in groups if (value := _loss(run, group)) == value
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["group", "width", "training", "value"])
    figure = plotting.sheet(plotting.PAGE, 2.5)
    colours = {name: plotting.looks([name])[name].colour for name in MIXTURES.values()}
    for axes, group in zip(figure.subplots(1, len(groups), sharey="row", squeeze=False)[0], groups, strict=True):
        _dots(axes, frame[frame["group"] == group], "width", "training", list(MIXTURES.values()), colours)
        axes.set(title=_role(every[0], group), ylabel="", xlabel="Width")
    figure.axes[0].set_ylabel("Answer loss\n(nats per token)")
    figure.axes[0].set_ylim(bottom=0)
    handles = [Line2D([], [], marker="o", ls="", color=colours[name], label=name) for name in MIXTURES.values()]
    plotting.legend(figure, handles)
    return figure


def _loss(run: Run, group: Sequence[int]) -> float:
    return plotting.arrays([run], "values.answer_loss", group)[0]


def _role(run: Run, group: Sequence[int]) -> str:
    return f"{plotting.spans(group)} digits\n({swept.ROLES[swept.role(run, group[0])]})"


def _dots(axes: Axes, frame: pd.DataFrame, x: str, hue: str, order: Sequence[str], colours: Mapping[str, Any]) -> None:
    """Draw every run as a dot, side by side by ``hue``, with a bar at the median."""
    options: dict[str, Any] = {"data": frame, "x": x, "y": "value", "hue": hue, "hue_order": order}
    options |= {"palette": colours, "ax": axes}
    sns.stripplot(**options, dodge=True, jitter=False, size=3, alpha=0.6, legend=False, clip_on=False)
    sns.pointplot(
        **options, estimator="median", errorbar=None, dodge=0.4, linestyle="none", marker="_", markersize=9,
        legend=False,
    )  # fmt: skip


def fig4_8(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Draw loss beyond the trained range against loss inside it, a panel for each length, a point for each run."""
    every = [run for run in swept.distinct(runs) if any(name.startswith("values.answer_loss.") for name in run.arrays)]
    if not every:
        return plotting.empty()
    inside, *outside = swept.groups(every[0])
    rows = [
        (group, MIXTURES[swept.kind(run)], _loss(run, inside), _loss(run, group)) for run in every for group in outside
    ]
    frame = pd.DataFrame(rows, columns=["group", "training", "inside", "outside"])
    figure = plotting.sheet(plotting.PAGE, 2.7)
    looks = plotting.looks(MIXTURES.values())
    for axes, group in zip(figure.subplots(1, len(outside), squeeze=False)[0], outside, strict=True):
        for name, look in looks.items():
            points = frame[(frame["group"] == group) & (frame["training"] == name)]
            axes.plot(
                points["inside"], points["outside"], look.marker, ls="", color=look.colour, label=name, clip_on=False
            )
        axes.set(title=_role(every[0], group), xlabel="Loss inside (nats)", ylim=(0, None), xlim=(0, None))
    figure.axes[0].set_ylabel("Loss beyond (nats)")
    plotting.legend(figure, list(figure.axes[0].lines))
    return figure


# ------------------------------------------------------------------ Figure 4.9: sub-tasks by themselves


def fig4_9(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Draw loss (above) and exact match (below) of every sub-task, in the trained lengths and at every other one."""
    every = [run for run in swept.distinct(runs) if swept.kind(run) == "mix"]
    groups = swept.groups(every[0]) if every else []
    rows = [
        (family, name.replace(" ", "\n"), _role(every[0], group).replace("\n", " "), value)
        for family in ("values.loss", "hits.subtask") for task, name in SUBTASK.items() for group in groups
        for value in plotting.arrays(every, f"{family}.{task}", group) if value == value
    ]  # fmt: skip
    if not rows:
        return plotting.empty()
    frame = pd.DataFrame(rows, columns=["family", "task", "lengths", "value"])
    order = list(dict.fromkeys(frame["lengths"]))
    colours = dict(zip(order, sns.color_palette("viridis", len(order)), strict=True))
    figure = plotting.sheet(plotting.PAGE, 4.2)
    for axes, (family, label) in zip(
        figure.subplots(2, 1, sharex=True),
        (("values.loss", "Answer loss\n(nats per token)"), ("hits.subtask", "Exact match")), strict=True,
    ):  # fmt: skip
        points = frame[frame["family"] == family]
        sns.barplot(
            data=points, x="task", y="value", hue="lengths", hue_order=order, palette=colours, estimator="median",
            errorbar=None, ax=axes, legend=False,
        )  # fmt: skip
        sns.stripplot(
            data=points, x="task", y="value", hue="lengths", hue_order=order, palette=["0.2"] * len(order), dodge=True,
            jitter=False, size=2, ax=axes, legend=False,
        )  # fmt: skip
        axes.set(xlabel="", ylabel=label)
        if family == "hits.subtask":
            axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    handles = [Line2D([], [], marker="s", ls="", color=colour, label=name) for name, colour in colours.items()]
    plotting.legend(figure, handles)
    return figure
