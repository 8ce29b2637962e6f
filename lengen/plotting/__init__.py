"""How records look: a record and axes go in, the same axes leave; nothing is read, written or trained.

One style for every paper. Grids are heat maps from pale yellow (0) to dark blue (1): the lightness falls
steadily, so they survive grey print and colour-blind eyes; the trained range is boxed in red, unmeasured
cells are hatched. Curves carry the palette of `COLOURS`, different markers, and a grey band over the trained
range. Several grids are one setting with several seeds: cells show the median over them.
"""

import contextlib
import itertools
import textwrap
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

import matplotlib as mpl
import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize, PowerNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator, PercentFormatter

from lengen.intervals import median, wilson
from lengen.records import AttentionMap, Grid, KeyCount, Score

Range = tuple[int, int]
"""Smallest and largest trained value of an axis, both included."""

COLOURS: tuple[tuple[float, float, float], ...] = tuple(sns.color_palette("colorblind"))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LABELS = {"length": "Operand length (digits)", "count": "Number of operands"}
"""Default axis labels by the name of a grid's axis."""
CLIP = 0.01
"""Attention below this is drawn black, as in the published maps."""
ALL_TOKENS = 34
"""Longest text whose every token still gets a readable label on a map of two inches."""
HEAT = mpl.colormaps["YlGnBu"]
"""Accuracy, 0 to 1."""
ATTENTION = mpl.colormaps["inferno"].resampled(64).with_extremes(under="black")
ATTENTION_SCALE = PowerNorm(0.5, vmin=CLIP, vmax=1.0)
"""A square root, so that an eleventh of the attention is still seen beside the whole."""


@contextlib.contextmanager
def style() -> Iterator[None]:
    """The settings of every figure, from the library's defaults: files in a home folder change nothing."""
    # setting a backend, even the default one, would load it
    defaults = {key: value for key, value in mpl.rcParamsDefault.items() if not key.startswith("backend")}
    with mpl.rc_context():
        mpl.rcParams.update(defaults)
        mpl.rcParams.update(sns.axes_style("ticks"))
        mpl.rcParams.update(
            {
                "font.family": ["DejaVu Sans"],  # shipped with matplotlib, so equal on every machine
                "font.size": 8,
                "axes.titlesize": 7.5,
                "axes.labelsize": 8,
                "xtick.labelsize": 7,
                "ytick.labelsize": 7,
                "legend.fontsize": 7,
                "figure.titlesize": 10,
                "axes.linewidth": 0.7,
                "xtick.major.size": 2.5,
                "ytick.major.size": 2.5,
                "lines.linewidth": 1.4,
                "lines.markersize": 3.5,
                "hatch.linewidth": 0.4,
                "svg.hashsalt": "lengen",  # ids in SVG files are random without a salt
                "svg.fonttype": "path",  # text as outlines: no font is looked up by the reader
            }
        )
        yield


def rate(score: Score, metric: str) -> float:
    """A score as a rate: ``correct`` and ``answer_correct`` per example, ``edit`` per reference token."""
    if metric == "edit":
        return score.edit_sum / score.reference_tokens if score.reference_tokens else float("nan")
    return float(getattr(score, metric)) / score.n if score.n else float("nan")


def rates(grids: Sequence[Grid], mode: str, metric: str) -> dict[tuple[int, ...], list[float]]:
    """Cell -> one rate per grid that measured the cell in that mode, in the order of the grids."""
    found: dict[tuple[int, ...], list[float]] = defaultdict(list)
    for grid in grids:
        for cell, modes in grid.scores.items():
            if mode in modes and modes[mode].n:
                found[cell].append(rate(modes[mode], metric))
    return dict(found)


def seeds(count: int) -> str:
    """How many seeds a panel shows, for its title."""
    return "1 seed" if count == 1 else f"median of {count} seeds"


def heat_map(
    axes: Axes,
    grids: Sequence[Grid],
    *,
    title: str,
    trained: Mapping[str, Range],
    mode: str = "teacher_forced",
    metric: str = "correct",
    labels: Mapping[str, str] = LABELS,
) -> Axes:
    """Accuracy over a grid's two axes: the second to the right, the first downwards, as published.

    Cell k of an axis lies at k - 0.5 to k + 0.5 and is labelled with its tested value, so sparse tests leave no
    gaps. Cells of small grids carry their accuracy in per cent. The title gets the number of seeds.
    """
    vertical, horizontal = grids[0].axes
    found = rates(grids, mode, metric)
    cells = {cell for grid in grids for cell in grid.scores}
    rows, columns = (sorted({cell[axis] for cell in cells}) for axis in (0, 1))
    values = np.full((len(rows), len(columns)), np.nan)
    for cell, measured in found.items():
        values[rows.index(cell[0]), columns.index(cell[1])] = median(measured)
    axes.patch.set(facecolor="0.94", edgecolor="0.6", hatch="/////")
    # "none" keeps one pixel per cell in an SVG instead of a picture of the screen's size
    axes.imshow(values, cmap=HEAT, vmin=0, vmax=1, aspect="auto", interpolation="none")
    if max(values.shape) <= 12:
        _annotate(axes, values)
    _box(axes, rows, columns, trained[vertical], trained[horizontal])
    _ticks(axes, rows, columns)
    axes.set(xlabel=labels[horizontal], ylabel=labels[vertical], title=f"{title}, {seeds(len(grids))}")
    return axes


def _annotate(axes: Axes, values: np.ndarray) -> None:
    size = 5.2 if max(values.shape) <= 10 else 4.6
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            colour = "white" if value > 0.55 else "black"
            axes.text(column, row, f"{100 * value:.0f}", ha="center", va="center", size=size, color=colour)


def _box(axes: Axes, rows: Sequence[int], columns: Sequence[int], high: Range, wide: Range) -> None:
    """Outline the trained cells, if any was tested."""
    ys = [index for index, value in enumerate(rows) if high[0] <= value <= high[1]]
    xs = [index for index, value in enumerate(columns) if wide[0] <= value <= wide[1]]
    if xs and ys:
        outline(axes, xs[0], ys[0], len(xs), len(ys))


def _ticks(axes: Axes, rows: Sequence[int], columns: Sequence[int]) -> None:
    for values, place in ((columns, axes.set_xticks), (rows, axes.set_yticks)):
        shown = [(k, v) for k, v in enumerate(values) if len(values) <= 12 or v % 5 == 0 or k == 0]
        if len(values) > 12:  # a far value after a row of near ones: the label before it makes room
            shown = [one for one, next in itertools.pairwise([*shown, (len(values) + 2, 0)]) if next[0] - one[0] > 2]
        place([k for k, _ in shown], labels=[str(v) for _, v in shown])


def curve(
    axes: Axes,
    grids: Sequence[Grid],
    *,
    label: str,
    colour: object,
    marker: str = "o",
    dashed: bool = False,
    mode: str = "teacher_forced",
    metric: str = "correct",
) -> Axes:
    """One setting against a grid's only axis, with a band; ``metric`` "edit" draws the edit distance per token.

    One grid: 95 % Wilson interval over its examples (none for edit distances). Several: median and range.
    """
    found = rates(grids, mode, metric)
    xs = sorted(cell[0] for cell in found)
    middle = [median(found[(x,)]) for x in xs]
    line = "--" if dashed else "-"
    axes.plot(xs, middle, line, color=colour, marker=marker, markerfacecolor="white" if dashed else None, label=label)
    if len(grids) > 1:
        low, high = [min(found[(x,)]) for x in xs], [max(found[(x,)]) for x in xs]
        axes.fill_between(xs, low, high, color=colour, alpha=0.15, linewidth=0)
    elif metric != "edit":
        scores = [grids[0].scores[(x,)][mode] for x in xs]
        bounds = [wilson(getattr(score, metric), score.n) for score in scores]
        axes.fill_between(
            xs, [low for low, _ in bounds], [high for _, high in bounds], color=colour, alpha=0.15, linewidth=0
        )
    name = "Accuracy" if metric != "edit" else "Edit distance per token"
    axes.set(xlabel=LABELS.get(grids[0].axes[0], grids[0].axes[0]), ylabel=name)
    if metric != "edit":
        axes.set_ylim(-0.03, 1.03)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    return axes


def trained_band(axes: Axes, trained: tuple[float, float]) -> Axes:
    """Shade the trained range of a curve's axis."""
    axes.axvspan(trained[0], trained[1], color="0.85", zorder=0, linewidth=0)
    return axes


def attention_map(
    axes: Axes, record: AttentionMap, layer: int, head: int, *, title: str, most: int = ALL_TOKENS
) -> Axes:
    """Averaged attention of one head: queries downwards, keys to the right, tokens on both axes.

    Values below `CLIP` are black. Rows below the horizontal line predict the response; keys to the left of the
    vertical one belong to the query (up to and with the first "="). Only separators are labelled beyond ``most``.
    """
    token_map(axes, record.weights[layer, head], record.tokens, record.tokens, title=title, most=most)
    if "=" in record.tokens:
        border = record.tokens.index("=")
        axes.axhline(border - 0.5, color="#40c4ff", linewidth=0.7, linestyle="--")
        axes.axvline(border + 0.5, color="#40c4ff", linewidth=0.7, linestyle="--")
    return axes


def token_map(
    axes: Axes, weights: np.ndarray, rows: Sequence[str], columns: Sequence[str], *, title: str, most: int = ALL_TOKENS
) -> Axes:
    """Attention weights (queries, keys), lighter where larger, with the query tokens downwards and the key tokens
    to the right; only separators are labelled on an axis with more than ``most`` tokens."""
    axes.imshow(weights.astype(np.float32), cmap=ATTENTION, norm=ATTENTION_SCALE, interpolation="none", aspect="equal")
    for tokens, place in ((columns, axes.set_xticks), (rows, axes.set_yticks)):
        shown = [k for k, token in enumerate(tokens) if len(tokens) <= most or not token.isdigit()]
        font = max(4.5, min(6.5, 150 / max(len(shown), 1)))
        place(shown, labels=[tokens[k] for k in shown], fontsize=font)
    axes.tick_params(length=1.2, pad=1, width=0.3)
    axes.set(xlabel="Key token", ylabel="Query token", title=title)
    return axes


def outline(axes: Axes, left: int, top: int, width: int, height: int) -> Axes:
    """Box cells of a map, the trained ones: white under red, to stand out on both ends of the scale."""
    for colour, line in (("white", 2.6), ("#d7191c", 1.5)):
        corner = (left - 0.5, top - 0.5)
        box = Rectangle(corner, width, height, fill=False, ec=colour, lw=line, zorder=3, clip_on=False)
        axes.add_patch(box)
    return axes


def keys_per_step(axes: Axes, runs: Sequence[Sequence[KeyCount]], *, label: str, colour: object, marker: str) -> Axes:
    """Keys that hold 90 % of a head's attention in one step, against the number of operands.

    One sequence of counts per seed. Solid: mean over heads and seeds; dashed: mean over the half of each seed's
    heads that need the fewest keys at the largest count; thin: each head. One operand length is drawn, because only
    the count should change along the axis: the one with the widest span of counts, then the shortest.
    """
    counts: dict[int, set[int]] = defaultdict(set)
    for row in (row for rows in runs for row in rows):
        counts[row.length].add(row.count)
    length = max(counts, key=lambda key: (max(counts[key]) / min(counts[key]), -key))
    xs = sorted(counts[length])
    every: list[np.ndarray] = []
    focused: list[np.ndarray] = []
    for rows in runs:
        heads: dict[tuple[int, int], np.ndarray] = defaultdict(lambda: np.full(len(xs), np.nan))
        for row in rows:
            if row.length == length and row.steps:
                heads[row.layer, row.head][xs.index(row.count)] = row.keys_sum / row.steps
        ordered = sorted(heads, key=lambda head: (heads[head][-1], head))
        every += [heads[head] for head in ordered]
        focused += [heads[head] for head in ordered[: (len(ordered) + 1) // 2]]
    for line in every:
        axes.plot(xs, line, color=colour, linewidth=0.4, alpha=0.4)
    axes.plot(xs, np.mean(focused, axis=0), "--", color=colour, linewidth=1.6)
    axes.plot(xs, np.mean(every, axis=0), color=colour, marker=marker, linewidth=2, label=f"{label}, {length} digits")
    axes.set(xlabel=LABELS["count"], ylabel="Keys holding 90 % of attention")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    tallest = max(float(np.nanmax(line.get_ydata())) for line in axes.lines)
    axes.set_ylim(0, 1.08 * tallest)
    return axes


def missing(axes: Axes, name: str, reason: str = "not run at this profile") -> Axes:
    """An empty panel that says whose place it is and why it is empty."""
    axes.set(xticks=[], yticks=[], facecolor="0.97")
    for spine in axes.spines.values():
        spine.set(linestyle=(0, (4, 4)), color="0.6")
    axes.text(0.5, 0.5, f"{name}\n{reason}", ha="center", va="center", color="0.4", size=7, transform=axes.transAxes)
    return axes


def empty(names: Collection[str], reason: str = "not run at this profile") -> Figure:
    """A figure without anything to draw: the experiments it wants, and why they are not here."""
    figure = Figure(figsize=(5.0, 0.16 * len(names) + 1.2), layout="constrained")
    missing(figure.subplots(), "\n".join(names), reason)
    return figure


def footnote(figure: Figure, *notes: str) -> None:
    """Write notes below a figure, wrapped to its width; empty ones are left out."""
    width = int(figure.get_figwidth() * 19)  # characters of 7 points that fit
    lines = [line for note in notes if note for line in textwrap.wrap(note, width)]
    if lines:
        figure.supxlabel("\n".join(lines), fontsize=7, color="0.3")


def not_run(names: Sequence[str]) -> str:
    """The note that names experiments without a run; empty where there are none."""
    return "Not run at this profile: " + ", ".join(names) if names else ""


def heat_scale() -> ScalarMappable:
    """The scale of heat maps, for a colour bar."""
    return ScalarMappable(norm=Normalize(0, 1), cmap=HEAT)


def attention_scale() -> ScalarMappable:
    """The scale of attention maps, for a colour bar."""
    return ScalarMappable(norm=ATTENTION_SCALE, cmap=ATTENTION)
