"""Accuracy as colour: grids over two axes with their trained range outlined, and annotated tables.

From pale yellow (0) to dark blue (1): the lightness falls steadily, so maps survive grey print and colour-blind eyes.
Models that have not learned what they were trained on have no colour: they are drawn in grey. Unmeasured cells are
hatched. Several grids are one setting with several seeds: cells show the median over them.
"""

import itertools
from collections.abc import Collection, Mapping, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize
from matplotlib.patches import Rectangle

from lengen.plotting.frames import scores
from lengen.plotting.labels import AXES, sampled, seeds
from lengen.plotting.published import Value, on_map
from lengen.plotting.style import RED
from lengen.records import Grid

Range = tuple[int, int]
"""Smallest and largest trained value of an axis, both included."""
HEAT = mpl.colormaps["YlGnBu"]
"""Accuracy, 0 to 1."""
GREY = LinearSegmentedColormap.from_list("grey", ["0.95", "0.5"])
"""The same of models that have not learned their trained range."""
APART = mpl.colormaps["PuOr"]
"""Differences of accuracies, -1 (orange) to 1 (purple)."""


def heat_map(
    axes: Axes,
    grids: Sequence[Grid],
    *,
    title: str,
    trained: Mapping[str, Range],
    mode: str = "teacher_forced",
    metric: str = "correct",
    labels: Mapping[str, str] = AXES,
    unlearned: str = "",
    less: str = "",
    published: Sequence[Value] = (),
) -> Axes:
    """Accuracy over a grid's two axes: the second to the right, the first downwards, as published.

    Cell k of an axis lies at k - 0.5 to k + 0.5 and is labelled with its tested value, so sparse tests leave no
    gaps; the label says so. Cells of small grids carry their accuracy in per cent. The title gets the number of seeds.

    Args:
        unlearned: what the title says of models that have not learned their trained range, which are drawn in grey.
        less: a mode whose accuracy is taken off, cell by cell; then colours are of differences.
        published: values whose cells are marked, at the same multiples of the trained range.
    """
    vertical, horizontal = grids[0].axes
    rows, columns = tested(grids)
    values = table(grids, mode, metric)
    if less:
        values = values - table(grids, less, metric)
    words = [[_per_cent(value, signed=bool(less)) for value in row] for row in values]
    size = 5.2 if max(values.shape) <= 10 else 4.6
    look = (APART, -1.0) if less else (GREY if unlearned else HEAT, 0.0)
    _cells(axes, values, words if max(values.shape) <= 12 else None, size, hatched=True, look=look)
    ys, xs = (
        [place for place, value in enumerate(tested) if trained[axis][0] <= value <= trained[axis][1]]
        for axis, tested in ((vertical, rows), (horizontal, columns))
    )
    if xs and ys:
        outline(axes, xs[0], ys[0], len(xs), len(ys))
    _ticks(axes, rows, columns)
    made = any(high for _, high in trained.values())  # weights set by hand have neither a trained range nor seeds
    said = on_map(axes, published, rows, columns, (trained[vertical][1], trained[horizontal][1]))
    axes.set(
        xlabel=labels[horizontal] + sampled(columns),
        ylabel=labels[vertical] + sampled(rows),
        title="\n".join(filter(None, [f"{title}, {seeds(len(grids))}" if made else title, unlearned, *said])),
    )
    return axes


def tested(grids: Sequence[Grid]) -> tuple[list[int], list[int]]:
    """The tested values of both axes, ascending."""
    cells = {cell for grid in grids for cell in grid.scores}
    rows, columns = (sorted({cell[axis] for cell in cells}) for axis in (0, 1))
    return rows, columns


def table(grids: Sequence[Grid], mode: str, metric: str) -> np.ndarray:
    """Medians over seeds (rows, columns), nan where nothing was scored."""
    rows, columns = tested(grids)
    found = scores(grids, mode, metric).groupby(list(grids[0].axes))["value"].median().unstack()
    return np.asarray(found.reindex(index=rows, columns=columns).to_numpy())


def _per_cent(value: float, signed: bool) -> str:
    """A cell's number; a difference of zero says nothing."""
    if signed:
        return f"{100 * value:+.0f}" if abs(value) >= 0.005 else ""
    return f"{100 * value:.0f}"


def heat_table(
    axes: Axes,
    values: np.ndarray,
    words: Sequence[Sequence[str]],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    size: float = 8,
    hatched: bool = False,
    unlearned: Collection[int] = (),
) -> Axes:
    """A table whose cells are coloured by ``values`` (rows, columns), 0 to 1 or nan, and carry their ``words``.

    ``size``: of the words, in points; empty ones are not written. ``hatched``: cells without a value are hatched and
    without words. ``unlearned``: rows of models that have not learned their trained range, which are drawn in grey.
    """
    _cells(axes, values, words, size, hatched=hatched)
    if unlearned:
        others = np.isin(np.arange(len(values)), list(unlearned), invert=True)
        masked = np.where(others[:, None], np.nan, values)
        axes.imshow(np.ma.masked_invalid(masked), cmap=GREY, vmin=0, vmax=1, aspect="auto", interpolation="nearest")
        for text in axes.texts:
            if round(text.get_position()[1]) in unlearned:
                text.set_color("black")
    axes.set_xticks(range(len(columns)), labels=columns)
    axes.set_yticks(range(len(rows)), labels=rows)
    axes.tick_params(length=0)
    return axes


def outline(axes: Axes, left: int, top: int, width: int, height: int) -> Axes:
    """Box cells of a map, the trained ones: white under red, to stand out on both ends of the scale."""
    for colour, line in (("white", 2.6), (RED, 1.5)):
        corner = (left - 0.5, top - 0.5)
        box = Rectangle(corner, width, height, fill=False, ec=colour, lw=line, zorder=3, clip_on=False)
        axes.add_patch(box)
    return axes


def heat_scale() -> ScalarMappable:
    """The scale of heat maps, for a colour bar."""
    return ScalarMappable(norm=Normalize(0, 1), cmap=HEAT)


def apart_scale() -> ScalarMappable:
    """The scale of differences of accuracies, for a colour bar."""
    return ScalarMappable(norm=Normalize(-1, 1), cmap=APART)


def _cells(
    axes: Axes,
    values: np.ndarray,
    words: Sequence[Sequence[str]] | None,
    size: float,
    hatched: bool,
    look: tuple[Colormap, float] = (HEAT, 0.0),
) -> None:
    colours, least = look
    if hatched:
        axes.patch.set(facecolor="0.94", edgecolor="0.6", hatch="/////")
    # "none" would keep one pixel per cell in an SVG, which viewers other than browsers enlarge to blurred cells
    axes.imshow(values, cmap=colours, vmin=least, vmax=1, aspect="auto", interpolation="nearest")
    for (row, column), value in np.ndenumerate(values):
        if words is not None and words[row][column] and not (hatched and np.isnan(value)):
            dark = abs(value) > 0.55 and colours is not GREY
            ink = "white" if dark else "black"  # nan too: black
            axes.text(column, row, words[row][column], ha="center", va="center", size=size, color=ink)


def _ticks(axes: Axes, rows: Sequence[int], columns: Sequence[int]) -> None:
    for values, place in ((columns, axes.set_xticks), (rows, axes.set_yticks)):
        shown = [(k, v) for k, v in enumerate(values) if len(values) <= 12 or v % 5 == 0 or k == 0]
        if len(values) > 12:  # a far value after a row of near ones: the label before it makes room
            shown = [one for one, next in itertools.pairwise([*shown, (len(values) + 2, 0)]) if next[0] - one[0] > 2]
        place([k for k, _ in shown], labels=[str(v) for _, v in shown])
