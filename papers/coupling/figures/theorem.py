"""Attention of the construction of Theorem 4.1 beside that of trained models, and their overlap as numbers."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from lengen import plotting
from lengen.plotting import Runs
from lengen.records import AttentionMap, Run, to_table
from papers.coupling.figures import words
from papers.coupling.overlap import HEADS, nearest, of_map, uniform


class _Recorded(NamedTuple):
    """A run that recorded attention."""

    experiment: str
    run: Run
    map: AttentionMap


def _recorded(runs: Runs) -> list[_Recorded]:
    return [
        _Recorded(name, run, run.attention) for name, some in runs.items() for run in some if run.attention is not None
    ]


def overlap_csv(runs: Runs) -> str:
    """One row per trained head and head of the construction: their overlap, with and without the start token, and that
    of attention spread evenly over all visible keys."""
    columns = ("overlap", "overlap_without_start", "even_overlap", "even_overlap_without_start")
    rows = []
    for name, run, record in _recorded(runs):
        values = [function(record, start) for function in (of_map, uniform) for start in (True, False)]
        for layer, head, one in np.ndindex(*values[0].shape):
            found = (values[0][layer, head, one], values[1][layer, head, one], values[2][one], values[3][one])
            row = (name, run.profile, run.seed, layer + 1, head + 1, one + 1)
            rows.append((*row, *(f"{value:.4f}" for value in found)))
    return to_table(("experiment", "profile", "seed", "layer", "head", "constructed_head", *columns), rows)


def thm4_1_attention(runs: Runs) -> Figure:
    """The four heads of the construction above the trained head nearest to each, and all overlaps below."""
    figure = Figure(figsize=(10.0, 8.6), layout="constrained")
    above, between, below = figure.subfigures(3, 1, height_ratios=[2.75, 2.75, 2.9], squeeze=False)[:, 0]
    recorded = _recorded(runs)
    constructed = next((item for item in recorded if item.run.constructed), None)
    others = [item for item in recorded if not item.run.constructed]
    trained = next((item for item in others if plotting.has_learned([item.run])), others[0] if others else None)
    _maps(above, constructed, [(0, head) for head in range(4)], [f"head {i + 1}: {HEADS[i]}" for i in range(4)])
    if trained is not None:
        places = nearest(of_map(trained.map, start=False))
        with_start, without = of_map(trained.map), of_map(trained.map, start=False)
        heads = [
            f"layer {layer + 1}, head {head + 1}\noverlap {with_start[layer, head, one]:.2f}, "
            f"without $\\$$ {without[layer, head, one]:.2f}"
            for one, (layer, head) in enumerate(places)
        ]
        _maps(between, trained, places, heads)
    else:
        plotting.missing(between.subplots(1, 1), "trained model", "no attention recorded at this profile")
    _overlaps(below.subplots(1, 1), [item for item in recorded if not item.run.constructed])
    plotting.found(figure, _found(others))
    plotting.footnote(figure, *plotting.absent(runs, words.SLUGS))
    return figure


def _found(trained: Sequence[_Recorded]) -> str:
    """How near the nearest trained head of each setting comes to each head of the construction, beside attention spread
    evenly; of models that have learned."""
    found: dict[str, list[np.ndarray]] = {}
    for item in trained:
        if plotting.has_learned([item.run]):
            best = of_map(item.map, start=False).reshape(-1, 4).max(axis=0)
            found.setdefault(f"{words.setting_name(item.run)}, {words.size(item.run)}", []).append(best)
    if not found:
        return ""
    even = uniform(trained[0].map, start=False)
    rows = {**{name: np.median(best, axis=0) for name, best in found.items()}, "attention spread evenly": even}
    told = "; ".join(f"{name}: {', '.join(f'{value:.2f}' for value in row)}" for name, row in rows.items())
    said = f"Largest overlap of a trained head with heads 1 to 4 of the construction: {told}"
    return plotting.over_seeds(said, found.values())


def _maps(part: SubFigure, item: _Recorded | None, places: Sequence[tuple[int, int]], heads: Sequence[str]) -> None:
    """A row of attention maps under the name of their model."""
    if item is None:
        plotting.missing(part.subplots(1, 1), "construction")
        return
    grid = part.subplots(1, 4)
    for axes, (layer, head), title in zip(grid, places, heads, strict=True):
        plotting.attention_map(axes, item.map, layer, head, title=title)
    run = item.run
    what = f"Constructed, {words.size(run)}" if run.constructed else f"Trained: {words.model(run)}"
    said = "; ".join(filter(None, [f"{what}: mean over {item.map.n:,} examples", plotting.unlearned([run])]))
    part.suptitle(said, fontsize=8)
    part.colorbar(plotting.attention_scale(), ax=grid, aspect=30, label="Attention (< 0.01: black)")


def _overlaps(axes: Axes, trained: Sequence[_Recorded]) -> None:
    """Every trained head's overlap with each head of the construction; attention spread evenly as a line."""
    groups: dict[str, list[_Recorded]] = {}
    for item in trained:
        lacking = " (not learned)" if plotting.unlearned([item.run]) else ""
        groups.setdefault(f"{words.method(item.run)}, {words.size(item.run)}{lacking}", []).append(item)
    looks = plotting.looks({label: plotting.position_scheme(items[0].run) for label, items in groups.items()})
    for number, (label, items) in enumerate(groups.items()):
        found = np.concatenate([of_map(item.map, start=False).reshape(-1, 4) for item in items])
        shift = 0.14 * (number - (len(groups) - 1) / 2)
        look = looks[label]
        axes.plot(
            np.tile(np.arange(4) + shift, len(found)), found.ravel(), linestyle="", color=look.colour,
            marker=look.marker, markerfacecolor=None if look.line == "-" else "white", alpha=0.75, label=label,
        )  # fmt: skip
    if trained:
        even = uniform(trained[0].map, start=False)
        axes.hlines(even, np.arange(4) - 0.4, np.arange(4) + 0.4, color="0.4", linestyle="--", label="spread evenly")
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    axes.set_xticks(range(4), labels=[f"head {i + 1}: {name}" for i, name in enumerate(HEADS)])
    axes.set(
        ylim=(0, 1.02),
        xlabel="Head of the construction",
        ylabel="Overlap of attention",
        title="One marker per trained head and seed; the start token left out",
    )
