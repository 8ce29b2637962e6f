"""Figures 10 and 11: which keys a window leaves open for unary and binary operations; a Figure leaves."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from lengen import plotting
from lengen.plotting import Runs
from lengen.windows import window_cross, window_self

DIGITS = 6
WIDTH = 1
COLOURS = ("0.88", "#0b4a8f")
"""Closed, open."""


def windows(runs: Runs) -> Figure:
    """Figure 11: the bias matrices of unary and binary operations for w = 1; reads no run."""
    rows = DIGITS + 1
    output = [r"\$", *(f"$y_{{{k}}}$" for k in range(1, rows))]
    down = range(DIGITS, 0, -1)
    unary = [r"\$", *(f"$x_{{{k}}}$" for k in down), r"\$"]
    binary = [r"\$", "+", *(f"${name}_{{{k}}}$" for k in down for name in "ab"), r"\$"]
    widths = [len(output), len(unary), len(binary)]
    figure = Figure(figsize=(0.22 * sum(widths) + 1.9, 0.2 * rows + 1.4), layout="constrained")
    panels = figure.subplots(1, 3, width_ratios=widths)
    _window(panels[0], window_self(rows, WIDTH), output, output, "Self-attention,\nunary and binary operations")
    cross = window_cross(rows, len(unary), WIDTH, 1)
    _window(panels[1], cross, output, unary, "Cross-attention,\nunary operations")
    cross = window_cross(rows, len(binary), WIDTH, 2)
    _window(panels[2], cross, output, binary, "Cross-attention,\nbinary operations, digits interleaved")
    panels[0].set_ylabel("Output so far")
    patches = [Patch(facecolor=colour, edgecolor="0.4") for colour in COLOURS]
    figure.legend(patches, ["closed ($-\\infty$)", "open (0)"], loc="outside right center", frameon=False)
    note = f"w = {WIDTH}. A row reads the token at its left and predicts the next one, least significant digit first."
    plotting.footnote(figure, note)
    return figure


def _window(axes: Axes, cells: np.ndarray, rows: Sequence[str], columns: Sequence[str], title: str) -> None:
    axes.imshow(cells, cmap=ListedColormap(COLOURS), vmin=0, vmax=1, interpolation="none")
    for edge in range(1, len(columns)):
        axes.axvline(edge - 0.5, color="white", linewidth=0.6)
    for edge in range(1, len(rows)):
        axes.axhline(edge - 0.5, color="white", linewidth=0.6)
    axes.set_xticks(range(len(columns)), labels=columns)
    axes.set_yticks(range(len(rows)), labels=rows)
    axes.tick_params(length=0, pad=2)
    axes.set(title=title, xlabel="Output so far" if title.startswith("Self") else "Input")
