"""Accuracy as colour: grids over two axes with their trained range outlined, and annotated tables.

From pale yellow (0) to dark blue (1): the lightness falls steadily, so maps survive grey print and colour-blind eyes.
Unmeasured cells are hatched. Several grids are one setting with several seeds: cells show the median over them.
"""

import itertools
from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.patches import Rectangle

from lengen.plotting.frames import scores
from lengen.plotting.labels import AXES, seeds
from lengen.plotting.style import RED
from lengen.records import Grid

Range = tuple[int, int]
"""Smallest and largest trained value of an axis, both included."""
HEAT = mpl.colormaps["YlGnBu"]
"""Accuracy, 0 to 1."""


def heat_map(
    axes: Axes,
    grids: Sequence[Grid],
    *,
    title: str,
    trained: Mapping[str, Range],
    mode: str = "teacher_forced",
    metric: str = "correct",
    labels: Mapping[str, str] = AXES,
) -> Axes:
    """Accuracy over a grid's two axes: the second to the right, the first downwards, as published.

    Cell k of an axis lies at k - 0.5 to k + 0.5 and is labelled with its tested value, so sparse tests leave no
    gaps. Cells of small grids carry their accuracy in per cent. The title gets the number of seeds.
    """
    vertical, horizontal = grids[0].axes
    cells = {cell for grid in grids for cell in grid.scores}
    rows, columns = (sorted({cell[axis] for cell in cells}) for axis in (0, 1))
    found = scores(grids, mode, metric).groupby([vertical, horizontal])["value"].median().unstack()
    values = found.reindex(index=rows, columns=columns).to_numpy()
    words = [[f"{100 * value:.0f}" for value in row] for row in values] if max(values.shape) <= 12 else None
    _cells(axes, values, words, 5.2 if max(values.shape) <= 10 else 4.6, hatched=True)
    ys, xs = (
        [place for place, value in enumerate(tested) if trained[axis][0] <= value <= trained[axis][1]]
        for axis, tested in ((vertical, rows), (horizontal, columns))
    )
    if xs and ys:
        outline(axes, xs[0], ys[0], len(xs), len(ys))
    _ticks(axes, rows, columns)
    axes.set(xlabel=labels[horizontal], ylabel=labels[vertical], title=f"{title}, {seeds(len(grids))}")
    return axes


def heat_table(
    axes: Axes,
    values: np.ndarray,
    words: Sequence[Sequence[str]],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    size: float = 8,
    hatched: bool = False,
) -> Axes:
    """A table whose cells are coloured by ``values`` (rows, columns), 0 to 1 or nan, and carry their ``words``.

    ``size``: of the words, in points; empty ones are not written. ``hatched``: cells without a value are hatched and
    without words.
    """
    _cells(axes, values, words, size, hatched=hatched)
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


def _cells(axes: Axes, values: np.ndarray, words: Sequence[Sequence[str]] | None, size: float, hatched: bool) -> None:
    if hatched:
        axes.patch.set(facecolor="0.94", edgecolor="0.6", hatch="/////")
    # "none" keeps one pixel per cell in an SVG instead of a picture of the screen's size
    axes.imshow(values, cmap=HEAT, vmin=0, vmax=1, aspect="auto", interpolation="none")
    for (row, column), value in np.ndenumerate(values):
        if words is not None and words[row][column] and not (hatched and np.isnan(value)):
            ink = "white" if value > 0.55 else "black"  # nan too: black
            axes.text(column, row, words[row][column], ha="center", va="center", size=size, color=ink)


def _ticks(axes: Axes, rows: Sequence[int], columns: Sequence[int]) -> None:
    for values, place in ((columns, axes.set_xticks), (rows, axes.set_yticks)):
        shown = [(k, v) for k, v in enumerate(values) if len(values) <= 12 or v % 5 == 0 or k == 0]
        if len(values) > 12:  # a far value after a row of near ones: the label before it makes room
            shown = [one for one, next in itertools.pairwise([*shown, (len(values) + 2, 0)]) if next[0] - one[0] > 2]
        place([k for k, _ in shown], labels=[str(v) for _, v in shown])
