"""Attention: maps of tokens over tokens, a row a setting, a column a head."""

from collections.abc import Sequence
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure

from lengen.experiment import Figure as Picture
from lengen.experiment import Runs
from lengen.metrics.run_measures import learned, most_have_learned
from lengen.plotting.frames import Published
from lengen.plotting.layout import LETTER, PAGE, empty, label, sheet, shown
from lengen.results.records import AttentionMap

CLIP = 0.01
"""Attention below this is drawn black, as in the published maps."""
COLOURS = mpl.colormaps["inferno"].resampled(64).with_extremes(under="black")
SCALE = PowerNorm(0.5, vmin=CLIP, vmax=1.0)
"""A square root, so that an eleventh of the attention is still seen beside the whole."""


TALLEST = 9.0
"""Inches of all rows together, so that they fit a page."""


class MapRow(NamedTuple):
    """Maps of one model."""

    label: str
    record: AttentionMap
    heads: Sequence[tuple[int, int]]
    """Layer and head of every map."""
    titles: Sequence[str] = ()


def attention(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Draw a row for each setting: the 3 heads with the most structure.

    They are of the first seed that learned and recorded attention.
    """
    rows = []
    for item, group in shown(picture, runs):
        record = next((run.attention for run in learned(group) if run.attention is not None), None)
        if record is not None:
            lacking = "" if most_have_learned(group) else "\n(not learned)"
            rows.append(MapRow(label(item, group).replace(", ", ",\n") + lacking, record, structured_heads(record, 3)))
    return maps(rows)


def maps(rows: Sequence[MapRow]) -> Figure:
    """Draw rows of maps with their labels at the left, and one scale."""
    if not rows:
        return empty()
    height = min(1.75, TALLEST / len(rows))
    wide = max(len(row.heads) for row in rows)
    figure = sheet(PAGE, height * len(rows) + 0.6)
    grid = figure.subplots(len(rows), wide, squeeze=False)
    draw_rows(grid, rows, inches=min(height - 0.35, 5.0 / wide))
    figure.colorbar(attention_scale(), ax=grid, aspect=30, shrink=0.6, pad=0.01).set_label("Attention")
    return figure


def draw_rows(grid: np.ndarray, rows: Sequence[MapRow], inches: float) -> None:
    """Draw rows of maps into a grid of axes."""
    for place, (line, row) in enumerate(zip(grid, rows, strict=True)):
        for k, axes in enumerate(line):
            if k >= len(row.heads):
                axes.set_axis_off()
                continue
            layer, head = row.heads[k]
            title = row.titles[k] if row.titles else f"layer {layer + 1}, head {head + 1}"
            attention_map(axes, row.record, layer, head, title=title, inches=inches)
            axes.set(xlabel="Key" if place == len(rows) - 1 else "", ylabel=f"{row.label}\nQuery" if k == 0 else "")


def structured_heads(record: AttentionMap, most: int) -> list[tuple[int, int]]:
    """Return the (layer, head) pairs, in order, whose response rows depart most from uniform attention.

    Scored by the attention above 1 / (number of visible keys), without the first token: heads that rest on the
    start token or spread evenly score zero, one sharp line and eleven fainter ones both score high.
    """
    border = record.tokens.index("=") if "=" in record.tokens else 0
    weights = record.weights[:, :, border:, 1:].astype(np.float32)
    visible = np.arange(border, border + weights.shape[2], dtype=np.float32)[:, None] + 1
    scores = np.clip(weights - 1 / visible, 0, None).sum(axis=(2, 3))
    order = sorted(np.ndindex(*scores.shape), key=lambda place: (-scores[place], place))
    return sorted((int(layer), int(head)) for layer, head in order[:most])


def attention_map(axes: Axes, record: AttentionMap, layer: int, head: int, *, title: str, inches: float = 1.5) -> None:
    """Draw averaged attention of one head: queries downwards, keys to the right, tokens on both axes.

    Values below `CLIP` are black. Rows below the horizontal line predict the response; keys to the left of the
    vertical one belong to the query (up to and with the first "=").
    """
    token_map(axes, record.weights[layer, head], record.tokens, record.tokens, title=title, inches=inches)
    if "=" in record.tokens:
        border = record.tokens.index("=")
        axes.axhline(border - 0.5, color="#40c4ff", linewidth=0.7, linestyle="--")
        axes.axvline(border + 0.5, color="#40c4ff", linewidth=0.7, linestyle="--")


def token_map(
    axes: Axes, weights: np.ndarray, rows: Sequence[str], columns: Sequence[str], *, title: str, inches: float = 1.5
) -> None:
    """Draw attention weights (queries, keys), lighter if larger.

    Query tokens go downwards and key tokens to the right; only separators are labelled if ``inches`` are too few for
    all tokens.
    """
    axes.imshow(weights.astype(np.float32), cmap=COLOURS, norm=SCALE, interpolation="nearest", aspect="equal")
    longest = max(len(rows), len(columns))
    every = 72 * inches / longest >= LETTER
    for tokens, place in ((columns, axes.set_xticks), (rows, axes.set_yticks)):
        wanted = [k for k, token in enumerate(tokens) if every or not token.isalnum()]
        apart = LETTER * longest / (72 * inches)
        labelled: list[int] = []
        for k in wanted:
            if not labelled or k - labelled[-1] >= apart:
                labelled.append(k)
        place(labelled, labels=[tokens[k].replace("$", "\\$") for k in labelled], fontsize=LETTER)
    axes.tick_params(length=1.2, pad=1, width=0.3)
    axes.set_title(title)


def attention_scale() -> ScalarMappable:
    """Return the scale of attention maps, for a colour bar."""
    return ScalarMappable(norm=SCALE, cmap=COLOURS)
