"""Figures 4, 5 and 6: the bias matrices of ABC, and what RPE and ABC have in common; runs go in, a Figure leaves.

A run of ABC brings ``bias.cross`` (heads, M, N) and ``bias.self`` (heads, M, M), -inf where closed, and
``attention.self``, the averaged attention it was calibrated from; a run of RPE brings ``relative.score`` (heads,
distances), the mean contribution of its relative keys, by ``relative.distance`` (key place minus query place).
"""

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, ListedColormap, Normalize
from matplotlib.figure import Figure, SubFigure

from lengen import plotting
from lengen.plotting import Runs, setting
from lengen.records import Run
from papers.bias_calibration.figures import words

CLOSED = "0.88"
"""Cells that are closed: a light grey, which the scale does not contain."""
BIAS = ListedColormap(mpl.colormaps["viridis_r"](np.linspace(0.2, 1, 64)), name="bias").with_extremes(bad=CLOSED)
"""Bias of a head from its least to its greatest finite value: darker where greater."""
TRANSPARENT = ListedColormap(["black"], name="transparent").with_extremes(bad=CLOSED)
SHOWN = 12
"""Places of a matrix of Figure 6: enough to see the lines, few enough to read them."""
OPERATORS = {"addition": "+", "n-by-one": "×"}


# -- Figures 4 and 5 ---------------------------------------------------------------------------------------


def bias_matrices(runs: Runs) -> Figure:
    """Figures 4 and 5: cross-attention bias of every head, with the self-attention biases small below."""
    run = next((run for some in runs.values() for run in some if "bias.cross" in run.arrays), None)
    if run is None:
        return plotting.empty(runs, "no bias recorded at this profile", words.SLUGS)
    cross, own = run.arrays["bias.cross"], run.arrays["bias.self"]
    heads, high, wide = cross.shape
    columns = min(4, heads)
    rows = -(-heads // columns)
    height = 2.2 * high / wide + 0.4
    width = 9.6
    small = 0.9 * width / max(heads, 4) + 0.5
    figure = Figure(figsize=(width + 0.6, rows * height + small + 0.7), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=(rows * height, small), squeeze=False)[:, 0]
    grid = above.subplots(rows, columns, squeeze=False)
    for head, axes in enumerate(grid.flat):
        if head < heads:
            _bias(axes, cross[head], np.ones(cross[head].shape, bool), head)
            _operands(axes, words.named(run.experiment).task, wide)
            _outputs(axes, high, head % columns == 0)
        else:
            axes.set_axis_off()
    above.suptitle(f"Cross-attention of {words.TASKS[words.named(run.experiment).task]}, seed {run.seed}", fontsize=8)
    spans = [bias[np.isfinite(bias)] for bias in cross]
    if any(span.size and span.min() < span.max() for span in spans):
        _scale(above, grid)
    _self(below, own)
    nothing = "Transparent: calibration picked nothing, the bias is 0 everywhere (black). "
    note = (
        "Each head has its own scale, from its least to its greatest open value; light grey is closed. "
        f"{nothing if any(not bias.any() for bias in (*cross, *own)) else ''}Output digits: least significant first."
    )
    transparent = sum(not bias.any() for bias in cross)
    shown = [float(np.isfinite(bias).mean()) for bias in cross if bias.any()]
    told = (
        f"{plotting.count(transparent)} of {plotting.count(heads)} cross-attention heads"
        if transparent
        else "no head's cross-attention"
    )
    told += f" is transparent{'; the others keep' if transparent else ': all keep'} "
    mean = plotting.share(sum(shown) / len(shown)) if shown else "none"
    plotting.found(figure, f"{told}{mean} of it open, on average")
    plotting.footnote(figure, note, *plotting.absent(runs, words.SLUGS))
    return figure


def _bias(axes: Axes, matrix: np.ndarray, visible: np.ndarray, head: int) -> None:
    """One matrix; ``visible`` are the cells that the causal mask leaves open."""
    finite = matrix[np.isfinite(matrix) & visible]
    axes.set_title(f"head {head + 1}", pad=2)
    shown = np.where(visible, matrix, -np.inf)
    if not matrix[visible].any():
        _image(axes, shown, TRANSPARENT, -1.0, 0.0)
        x, y, size = (0.5, 0.5, 6.5) if visible.all() else (0.34, 0.22, 5.0)
        axes.text(x, y, "transparent", size=size, color="w", ha="center", va="center", transform=axes.transAxes)
    elif not finite.size:
        _image(axes, shown, BIAS, 0.0, 1.0)
    else:
        low, high = float(finite.min()) + 0.0, float(finite.max()) + 0.0  # no "-0"
        axes.set_title(
            f"head {head + 1}: {low:.3g} to {high:.3g}" if low < high else f"head {head + 1}: {low:.3g}", pad=2
        )
        _image(axes, shown, BIAS, low if low < high else low - 1, high)


def _image(axes: Axes, matrix: np.ndarray, colours: Colormap, low: float, high: float) -> None:
    masked = np.ma.masked_invalid(matrix)
    axes.imshow(masked, cmap=colours, vmin=low, vmax=high, interpolation="none", aspect="equal")


def _operands(axes: Axes, task: str, columns: int) -> None:
    """Ticks that name the operands; sources are "$ a...a $", "$ a...a + b...b $" and "$ a...a * b $"."""
    axes.tick_params(length=0, pad=2, labelsize=6)
    if task not in OPERATORS:
        axes.set_xticks([(columns - 1) / 2], labels=["operand"])
        return
    operator = columns - 3 if task == "n-by-one" else (columns - 1) // 2
    for edge in (operator - 0.5, operator + 0.5):
        axes.axvline(edge, color="0.35", linewidth=0.35)
    first = operator / 2
    if task == "n-by-one":  # too narrow for two labels
        axes.set_xticks([first, operator + 0.5], labels=["first operand", f"{OPERATORS[task]} second"])
        axes.get_xticklabels()[1].set_horizontalalignment("center")
    else:
        middle = (operator + columns - 1) / 2
        axes.set_xticks([first, operator, middle], labels=["first operand", OPERATORS[task], "second operand"])


def _outputs(axes: Axes, rows: int, labelled: bool) -> None:
    step = next((step for step in (1, 2, 5, 10, 20, 50) if rows / step <= 7), 100)
    digits = sorted({1, *range(step, rows, step)} - ({2} if step == 2 else set()))
    axes.set_yticks([digit - 1 for digit in digits], labels=[str(digit) for digit in digits])
    axes.set_ylabel("Output digit" if labelled else "")


def _self(part: SubFigure, biases: np.ndarray) -> None:
    """The self-attention biases of all heads in one row; what the causal mask hides is closed."""
    heads, size, _ = biases.shape
    grid = part.subplots(1, max(heads, 4), squeeze=False)
    for head, axes in enumerate(grid.flat):
        if head < heads:
            _bias(axes, biases[head], np.tri(size, dtype=bool), head)
            axes.set(xticks=[], yticks=[])
            axes.title.set_size(6)
        else:
            axes.set_axis_off()
    part.suptitle("Self-attention: output digit to the right and downwards", fontsize=8)


def _scale(part: SubFigure, grid: np.ndarray) -> None:
    scale = part.colorbar(ScalarMappable(Normalize(0, 1), BIAS), ax=grid, aspect=30, shrink=0.9, ticks=[0, 1])
    scale.ax.set_yticklabels(["least", "greatest"])
    scale.set_label("Bias, scale of each head")


# -- Figure 6 ----------------------------------------------------------------------------------------------


def fig6(runs: Runs) -> Figure:
    """Figure 6: what decides an entry of the bias in RPE and in ABC is the distance alone."""
    relative = next((run for some in runs.values() for run in some if "relative.score" in run.arrays), None)
    averaged = next((run for some in runs.values() for run in some if "attention.self" in run.arrays), None)
    figure = Figure(figsize=(8.0, 4.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    told = []
    size = min(SHOWN, int(setting(averaged, "calibration.rows"))) if averaged else SHOWN
    if relative is None:
        plotting.missing(left, "RPE")
    else:
        lines = relative_lines(relative, size)
        told.append(_toeplitz(left, relative, lines, "RPE", "w", "Mean contribution to the score"))
    if averaged is None:
        plotting.missing(right, "ABC")
    else:
        lines = averaged_lines(averaged, size)
        told.append(_toeplitz(right, averaged, lines, "ABC", "d", "Mean attention along the line"))
    plotting.found(figure, "; ".join(told))
    note = (
        "Entries of one diagonal share one value: learned vectors in RPE, averages along lines in ABC, over the places "
        "that it is calibrated from. Shown is the self-attention head whose values spread most; light grey: hidden by "
        "the causal mask."
    )
    plotting.footnote(figure, note, *plotting.absent(runs, words.SLUGS))
    return figure


def relative_lines(run: Run, size: int) -> np.ndarray:
    """Scores (heads, 2 size - 1) by distance from 1 - size to size - 1, clipped as RPE clips distances."""
    distances, scores = run.arrays["relative.distance"], run.arrays["relative.score"]
    wanted = np.clip(np.arange(1 - size, size), distances.min(), distances.max())
    return np.asarray(scores[:, np.searchsorted(distances, wanted)])


def averaged_lines(run: Run, size: int) -> np.ndarray:
    """Attention averaged along diagonals (heads, 2 size - 1), by distance from 1 - size to size - 1.

    Only the places that the bias was calibrated from: the others are those of leading zeros.
    """
    rows = int(setting(run, "calibration.rows"))
    attention = run.arrays["attention.self"][:, :rows, :rows]
    return np.stack([attention.diagonal(d, 1, 2).mean(axis=1) for d in range(1 - size, size)], axis=1)


def _toeplitz(axes: Axes, run: Run, lines: np.ndarray, name: str, letter: str, unit: str) -> str:
    """The matrix of the line values of one head, those that spread most; its edges are labelled by distance.

    Returns what that head has least and most, and where most.
    """
    size = (lines.shape[1] + 1) // 2
    places = np.arange(size)
    distance = places - places[:, None]
    causal = setting(run, "architecture") != "encoder"
    used = lines[:, :size] if causal else lines
    head = int((used.max(axis=1) - used.min(axis=1)).argmax())
    matrix = np.where((distance <= 0) | (not causal), lines[head][distance + size - 1], np.nan)
    low, high = float(used[head].min()), float(used[head].max())
    masked = np.ma.masked_invalid(matrix)
    image = axes.imshow(masked, cmap=BIAS, vmin=low, vmax=high if high > low else low + 1, interpolation="none")
    for row, column in [(k, 0) for k in range(size)] + [(0, k) for k in range(1, size)]:
        dark = matrix[row, column] - low > 0.5 * (high - low)  # never where hidden: nan
        label = f"${letter}_{{{column - row}}}$"
        axes.text(column, row, label, size=6, ha="center", va="center", color="white" if dark else "black")
    axes.set(title=f"{name}, head {head + 1}", xlabel="Key place", ylabel="Query place", xticks=[], yticks=[])
    axes.figure.colorbar(image, ax=axes, shrink=0.85, label=unit)
    most = int(used[head].argmax()) + 1 - size
    return f"{name}, head {head + 1}: {low:.2g} to {high:.2g}, most at distance {most}"
