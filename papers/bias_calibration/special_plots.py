"""Figures that no shared drawing makes: attention of single heads, biases, windows; runs go in, a Figure leaves.

A run brings ``probe0.cross`` (heads, target, source) and ``probe0.self`` (heads, target, target), the softmax weights
of its last decoder layer, with their tokens; a run of ABC ``bias.cross`` (heads, M, N), -inf for closed, and
``attention.self``; a run of RPE ``relative.score`` (heads, distances) by ``relative.distance``.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure

from lengen import plotting
from lengen.experiment import Figure as Picture
from lengen.models.window_masks import window_cross, window_self
from lengen.plotting import Published, Runs
from lengen.results.records import Run
from papers.bias_calibration.measures import operands

# ------------------------------------------------------------------ Figures 2, 8 and 9: attention of single heads


class HeadLine(NamedTuple):
    """A head and the line of its attention that holds most weight over the trained rows."""

    head: int
    place: int
    """Column in row 0 of an anti-diagonal; distance of a diagonal below the main one."""
    weight: float
    """Mean attention along the line."""


def fig2(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Draw cross-attention of one head, each task beside the other."""
    return _maps([[(run, "cross", cross_lines(run)[0].head) for run in _recorded(runs)]])


def fig8(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Draw cross-attention and self-attention of the sharpest head of each."""
    first = _recorded(runs)[:1]
    return _maps([[(run, "cross", cross_lines(run)[0].head), (run, "self", self_lines(run)[0].head)] for run in first])


def fig9(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Draw cross-attention of two heads, the sharpest on either operand, and the two sharpest self-attentions."""
    return _maps(
        [
            [(run, "cross", cross.head), (run, "self", below.head)]
            for run in _recorded(runs)[:1]
            for cross, below in zip(by_operand(run), self_lines(run), strict=False)
        ]
    )


def trained(run: Run) -> int:
    """Return the longest operand in training, in digits."""
    return run.spec.data.task.longest


def _calibrated_rows(run: Run) -> int:
    return int(run.info["spec"]["calibration"]["rows"])


def cross_lines(run: Run) -> list[HeadLine]:
    """Return every head with its heaviest anti-diagonal over the trained rows, the sharpest head first."""
    weights = run.arrays["probe0.cross"].astype(np.float64)
    rows = min(trained(run), weights.shape[1])
    places = np.arange(rows - 1, weights.shape[2])
    along = weights[:, np.arange(rows)[:, None], places - np.arange(rows)[:, None]].mean(axis=1)  # heads, places
    return _sorted(along, places)


def self_lines(run: Run) -> list[HeadLine]:
    """Return every head with its heaviest diagonal over the trained rows, the sharpest head first.

    Row 0 is left out, because it has one key; so are diagonals that cross less than half of the trained rows.
    """
    weights = run.arrays["probe0.self"].astype(np.float64)
    rows = min(trained(run), weights.shape[1])
    places = np.arange(max(rows // 2, 1))
    along = [weights[:, max(d, 1) : max(rows, 2), :].diagonal(max(d, 1) - d, 1, 2).mean(axis=1) for d in places]
    return _sorted(np.stack(along, axis=1), places)


def _sorted(along: np.ndarray, places: np.ndarray) -> list[HeadLine]:
    best = along.argmax(axis=1)
    lines = [HeadLine(head, int(places[place]), float(along[head, place])) for head, place in enumerate(best)]
    return sorted(lines, key=lambda line: (-line.weight, line.head))


def by_operand(run: Run) -> list[HeadLine]:
    """Return the sharpest head of all, then the sharpest of those whose line lies on the other operand; by operand.

    If every head looks at the same operand, the two sharpest.
    """
    tokens = [str(token) for token in run.arrays["probe0.source"]]
    border = operands(tokens)[0][1]
    first, *others = cross_lines(run)
    other = [line for line in others if (line.place > border) != (first.place > border)]
    return sorted([first, *(other or others)[:1]], key=lambda line: (line.place, line.head))


def _recorded(runs: Runs) -> list[Run]:
    """Return the first run of each experiment that recorded attention."""
    recorded = (next((run for run in some if "probe0.cross" in run.arrays), None) for some in runs.values())
    return [run for run in recorded if run is not None]


def _maps(layout: Sequence[Sequence[tuple[Run, str, int]]]) -> Figure:
    if not layout or not layout[0]:
        return plotting.empty()
    shapes = [run.arrays[f"probe0.{kind}"].shape for run, kind, _ in layout[0]]
    cell = 5.1 / sum(wide for *_, wide in shapes)
    figure = plotting.sheet(plotting.PAGE, len(layout) * (cell * max(high for _, high, _ in shapes) + 0.6) + 0.5)
    grid = figure.subplots(len(layout), len(shapes), squeeze=False, width_ratios=[wide for *_, wide in shapes])
    for axes, (run, kind, head) in zip(grid.flat, itertools.chain(*layout), strict=True):
        source, target = ([str(token) for token in run.arrays[f"probe0.{name}"]] for name in ("source", "target"))
        columns = source if kind == "cross" else target
        inches = cell * max(len(columns), len(target))
        weights = run.arrays[f"probe0.{kind}"][head]
        title = f"{run.spec.data.task.name}: {kind}, head {head + 1}"
        plotting.token_map(axes, weights, target, columns, title=title, inches=inches)
        axes.set(xlabel={"cross": "Input", "self": "Output so far"}[kind])
        height = min(trained(run), len(target))
        for start, stop in operands(source) if kind == "cross" else [(0, height)]:
            left = max(start, stop - height)
            plotting.outline(axes, left - 0.5, -0.5, stop - left, height)
    for row in grid:
        row[0].set_ylabel("Output so far")
    figure.colorbar(plotting.attention_scale(), ax=grid, shrink=0.9, aspect=30, pad=0.01).set_label("Attention")
    return figure


# ------------------------------------------------------------------ Figures 4 to 6: biases

BIAS = ListedColormap(mpl.colormaps["viridis_r"](np.linspace(0.1, 1, 64)), name="bias").with_extremes(bad="0.88")
"""Bias of a head from its least to its greatest finite value: darker if greater; light grey is closed."""
TICKS = {"addition": ("first operand", "second operand"), "n-by-one": ("first operand", "× second")}


def biases(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Draw the cross-attention bias of every head, with the self-attention biases small below."""
    run = next((run for some in runs.values() for run in some if "bias.cross" in run.arrays), None)
    if run is None:
        return plotting.empty()
    cross, own = run.arrays["bias.cross"], run.arrays["bias.self"]
    heads, high, wide = cross.shape
    columns = min(4, heads)
    rows = -(-heads // columns)
    height = max(0.55, 1.35 * high / wide)
    figure = plotting.sheet(plotting.PAGE, rows * (height + 0.55 + 1.5))
    grid = figure.subplots(2 * rows, max(columns, 1), squeeze=False, height_ratios=[height] * rows + [1.1] * rows)
    for axes in grid.flat:
        axes.set_axis_off()
    size = own.shape[1]
    for head, (above, below) in enumerate(zip(grid[:rows].flat, grid[rows:].flat, strict=True)):
        if head == heads:
            break
        _bias(above, cross[head], f"cross, head {head + 1}")
        _operands(above, picture.experiments[0].variant, wide)
        _bias(below, np.where(np.tri(size, dtype=bool), own[head], -np.inf), f"self, head {head + 1}")
        for axes in (above, below):
            axes.set_axis_on()
            axes.set_ylabel("Output digit" if head % columns == 0 else "")
        below.set_xlabel("Output digit" if head >= heads - columns else "")
    scale = figure.colorbar(
        ScalarMappable(Normalize(0, 1), BIAS), ax=grid, aspect=30, shrink=0.6, ticks=[0, 1], pad=0.01
    )
    scale.ax.set_yticklabels(["least", "greatest"], rotation=90, va="center")
    scale.set_label("Bias")
    return figure


def _bias(axes: Axes, matrix: np.ndarray, title: str) -> None:
    finite = matrix[np.isfinite(matrix)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    axes.imshow(
        np.ma.masked_invalid(matrix), cmap=BIAS, vmin=low if low < high else low - 1, vmax=high,
        interpolation="nearest", aspect="auto",
    )  # fmt: skip
    axes.set(title=title, xticks=[], yticks=[])


def _operands(axes: Axes, task: str, columns: int) -> None:
    """Write the names of the operands below; sources are "$ a...a + b...b $" and "$ a...a * b $"."""
    operator = columns - 3 if task == "n-by-one" else (columns - 1) // 2
    for edge in (operator - 0.5, operator + 0.5):
        axes.axvline(edge, color="0.35", linewidth=0.35)
    first, second = TICKS.get(task, TICKS["addition"])
    at = operator - 0.5 if task == "n-by-one" else (operator + columns - 1) / 2
    axes.set_xticks([operator / 2, at], labels=[first.replace(" ", "\n"), second.replace(" ", "\n")])
    axes.tick_params(length=0, pad=2)


def fig6(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Draw the bias in RPE and in ABC over the distance, which decides each entry: a line a head."""
    relative = next((run for some in runs.values() for run in some if "relative.score" in run.arrays), None)
    averaged = next((run for some in runs.values() for run in some if "attention.self" in run.arrays), None)
    size = _calibrated_rows(averaged) if averaged else 12
    panels = []
    if relative is not None:
        panels.append(("RPE", "Mean contribution to the score", relative_lines(relative, size)))
    if averaged is not None:
        panels.append(("ABC", "Mean attention", averaged_lines(averaged, size)[:, :size]))
    if not panels:
        return plotting.empty()
    figure = plotting.sheet(plotting.PAGE if len(panels) > 1 else plotting.COLUMN, 2.7)
    for axes, (title, label, lines) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        for head, line in enumerate(lines, start=1):
            places = np.arange(1 - size, 1 - size + len(line))
            axes.plot(places, line, marker=plotting.MARKERS[head % 7], ms=3, lw=1, label=f"head {head}")
        axes.set(title=title, xlabel="Key place minus query place", ylabel=label)
    plotting.legend(figure, list(figure.axes[0].lines))
    return figure


def relative_lines(run: Run, size: int) -> np.ndarray:
    """Return scores (heads, 2 size - 1) by distance from 1 - size to size - 1, clipped as RPE clips distances."""
    distances, scores = run.arrays["relative.distance"], run.arrays["relative.score"]
    wanted = np.clip(np.arange(1 - size, size), distances.min(), distances.max())
    return np.asarray(scores[:, np.searchsorted(distances, wanted)])


def averaged_lines(run: Run, size: int) -> np.ndarray:
    """Return attention averaged along diagonals (heads, 2 size - 1), by distance from 1 - size to size - 1.

    Only the places that the bias was calibrated from: the others are those of leading zeros.
    """
    rows = _calibrated_rows(run)
    attention = run.arrays["attention.self"][:, :rows, :rows]
    return np.stack([attention.diagonal(d, 1, 2).mean(axis=1) for d in range(1 - size, size)], axis=1)


# ------------------------------------------------------------------ Figures 10 and 11: windows

DIGITS, WIDTH = 6, 1
COLOURS = ListedColormap(("0.88", "#0b4a8f"))
"""Closed, open."""


def windows(picture: Picture, runs: Runs, published: Published) -> Figure:
    """Return the bias matrices of unary and binary operations for w = 1; reads no run."""
    rows = DIGITS + 1
    output = [r"\$", *(f"y{k}" for k in range(1, rows))]
    down = range(DIGITS, 0, -1)
    unary = [r"\$", *(f"x{k}" for k in down), r"\$"]
    binary = [r"\$", "+", *(f"{name}{k}" for k in down for name in "ab"), r"\$"]
    kinds = [
        ("self-attention", window_self(rows, WIDTH), output),
        ("cross, unary", window_cross(rows, len(unary), WIDTH, 1), unary),
        ("cross, binary", window_cross(rows, len(binary), WIDTH, 2), binary),
    ]
    figure = plotting.sheet(plotting.PAGE, 2.2)
    panels = figure.subplots(1, 3, width_ratios=[len(columns) for *_, columns in kinds])
    for axes, (title, cells, columns) in zip(panels, kinds, strict=True):
        axes.pcolormesh(cells, cmap=COLOURS, vmin=0, vmax=1, edgecolors="white", linewidth=0.6)
        axes.invert_yaxis()
        axes.set_xticks(np.arange(len(columns)) + 0.5, labels=columns)
        axes.set_yticks(np.arange(rows) + 0.5, labels=output)
        axes.tick_params(length=0, pad=2)
        axes.set(title=title, xlabel="Output so far" if title.startswith("self") else "Input", aspect="equal")
    panels[0].set_ylabel("Output so far")
    return figure
