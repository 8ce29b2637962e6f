"""Figure 4.4: attention maps, a column a layer, the maximum over its heads; runs go in, a Figure leaves."""

import dataclasses

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengen import plotting
from lengen.records import AttentionMap, Run
from papers.random_spaces import panels, titles
from papers.random_spaces.panels import Runs

NOTE = (
    "Maximum over the heads of a layer, after softmax. A row reads the token at its left and predicts the next one; "
    "rows below the blue line predict the answer, columns left of it belong to the problem. Orderly lines are "
    "what a model can go on with beyond the lengths it knows."
)
CELL = 0.085
"""Inches of a token."""
LABELLED = 48
"""Longest text whose every token gets a label: at this size of a token they do not touch."""


def fig4_4(runs: Runs) -> Figure:
    """Figure 4.4: absolute positions above, with random spaces in the middle, Abacus below."""
    shown = [run for some in runs.values() for run in [r for r in some if r.attention is not None][:1]]
    if not shown:
        return panels.empty(runs, "no attention recorded at this profile")
    columns = max(_map(run).weights.shape[0] for run in shown)
    tallest = [len(_map(run).tokens) for run in shown]
    side = CELL * max(*tallest, 14)
    figure = Figure(figsize=(columns * (side + 0.55) + 0.8, len(shown) * (side + 0.65) + 0.8), layout="constrained")
    grid = figure.subplots(len(shown), columns, squeeze=False)
    for line, run in zip(grid, shown, strict=True):
        record = largest(_map(run))
        for layer, axes in enumerate(line):
            if layer >= record.weights.shape[0]:
                axes.set_axis_off()
                continue
            title = f"layer {layer + 1}"
            _draw(axes, record, layer, title=f"{titles.label(run)}\n{title}" if not layer else title)
            if layer:
                axes.set_ylabel("")
            if line is not grid[-1]:
                axes.set_xlabel("")
    scale = figure.colorbar(plotting.attention_scale(), ax=grid, shrink=0.6, aspect=30)
    scale.set_label(f"Largest attention of a head (< {plotting.CLIP}: black)")
    kinds = "; ".join(f"{titles.label(run)}: {titles.trained_on(run)}, seed {run.seed}" for run in shown)
    bare = [name for name, some in runs.items() if some and not any(run.attention is not None for run in some)]
    without = "Attention not recorded: " + ", ".join(bare) if bare else ""
    plotting.footnote(figure, NOTE, f"{kinds}.", without, titles.absent(runs))
    return figure


def _draw(axes: Axes, record: AttentionMap, layer: int, title: str) -> None:
    plotting.token_map(axes, record.weights[layer, 0], record.tokens, record.tokens, title=title, most=LABELLED)
    if "=" in record.tokens:
        border = record.tokens.index("=")
        axes.axhline(border - 0.5, color="#40c4ff", linewidth=0.7, linestyle="--")
        axes.axvline(border + 0.5, color="#40c4ff", linewidth=0.7, linestyle="--")


def largest(record: AttentionMap) -> AttentionMap:
    """The same map with one head a layer: the largest weight of any head, (layers, 1, queries, keys)."""
    return dataclasses.replace(record, weights=record.weights.max(axis=1, keepdims=True))


def _map(run: Run) -> AttentionMap:
    assert run.attention is not None
    return run.attention
