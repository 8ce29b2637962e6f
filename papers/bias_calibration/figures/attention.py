"""Figures 2, 8 and 9: attention of the vanilla models on the printed examples; runs go in, a Figure leaves.

A run brings ``probe0.cross`` (heads, target, source) and ``probe0.self`` (heads, target, target), the softmax
weights of its last decoder layer, with their tokens. Row t reads target token t and predicts the next one. Shown
are the heads with the sharpest line over the trained outputs: whether the line goes on beyond them is the question.
"""

import contextlib
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengen import plotting
from lengen.measures import Missing
from lengen.plotting import Runs
from lengen.records import Run
from papers.bias_calibration.figures import words
from papers.bias_calibration.measures import followed

NOTE = (
    "Red: outputs and inputs of the trained length. A row reads the token at its left and predicts the next one, least "
    "significant digit first. Of all heads of the last decoder layer those with the sharpest anti-diagonal "
    "(cross-attention) or diagonal (self-attention) within the trained length are shown."
)

LEGIBLE = 0.08
"""Least inches of a cell whose token still gets a label."""


class Line(NamedTuple):
    """A head and the line of its attention that holds most weight over the trained rows."""

    head: int
    place: int
    """Column in row 0 of an anti-diagonal; how far a diagonal lies below the main one."""
    weight: float
    """Mean attention along the line."""


class Panel(NamedTuple):
    run: Run
    kind: str
    """cross or self."""
    head: int


def fig2(runs: Runs) -> Figure:
    """Figure 2: cross-attention of one head, each task beside the other."""
    panels = [Panel(run, "cross", cross_lines(run)[0].head) for run in _recorded(runs)]
    return _maps(runs, [panels])


def fig8(runs: Runs) -> Figure:
    """Figure 8: cross-attention and self-attention of the sharpest head of each."""
    panels = [
        [Panel(run, "cross", cross_lines(run)[0].head), Panel(run, "self", self_lines(run)[0].head)]
        for run in _recorded(runs)[:1]
    ]
    return _maps(runs, panels)


def fig9(runs: Runs) -> Figure:
    """Figure 9: cross-attention of two heads, the sharpest on either operand, and the two sharpest self-attentions."""
    layout = []
    for run in _recorded(runs)[:1]:
        for cross, below in zip(by_operand(run), self_lines(run), strict=False):
            layout.append([Panel(run, "cross", cross.head), Panel(run, "self", below.head)])
    return _maps(runs, layout)


def operands(tokens: Sequence[str]) -> list[tuple[int, int]]:
    """First place and one past the last of every operand: the runs of digits.

    >>> operands(list("$07+15$"))
    [(1, 3), (4, 6)]
    """
    return [match.span() for match in re.finditer(r"[^\W_]+", "".join(tokens))]


def cross_lines(run: Run) -> list[Line]:
    """Every head with its heaviest anti-diagonal over the trained rows, the sharpest head first."""
    weights = run.arrays["probe0.cross"].astype(np.float64)
    rows = min(words.trained(run), weights.shape[1])
    places = np.arange(rows - 1, weights.shape[2])
    along = weights[:, np.arange(rows)[:, None], places - np.arange(rows)[:, None]].mean(axis=1)  # heads, places
    return _sorted(along, places)


def self_lines(run: Run) -> list[Line]:
    """Every head with its heaviest diagonal over the trained rows, the sharpest head first.

    Row 0 is left out, because it has one key; so are diagonals that cross less than half of the trained rows.
    """
    weights = run.arrays["probe0.self"].astype(np.float64)
    rows = min(words.trained(run), weights.shape[1])
    places = np.arange(max(rows // 2, 1))
    along = [weights[:, max(d, 1) : max(rows, 2), :].diagonal(max(d, 1) - d, 1, 2).mean(axis=1) for d in places]
    return _sorted(np.stack(along, axis=1), places)


def _sorted(along: np.ndarray, places: np.ndarray) -> list[Line]:
    best = along.argmax(axis=1)
    lines = [Line(head, int(places[place]), float(along[head, place])) for head, place in enumerate(best)]
    return sorted(lines, key=lambda line: (-line.weight, line.head))


def by_operand(run: Run) -> list[Line]:
    """The sharpest head of all, then the sharpest of those whose line lies on the other operand; by operand.

    Where every head looks at the same operand, the two sharpest.
    """
    tokens = [str(token) for token in run.arrays["probe0.source"]]
    border = operands(tokens)[0][1]
    first, *others = cross_lines(run)
    other = [line for line in others if (line.place > border) != (first.place > border)]
    return sorted([first, *(other or others)[:1]], key=lambda line: (line.place, line.head))


def _recorded(runs: Runs) -> list[Run]:
    """The first run of each experiment that recorded attention."""
    found = (next((run for run in some if "probe0.cross" in run.arrays), None) for some in runs.values())
    return [run for run in found if run is not None]


def _maps(runs: Runs, layout: Sequence[Sequence[Panel]]) -> Figure:
    if not layout or not layout[0]:
        return plotting.empty(runs, "no attention recorded at this profile", words.SLUGS)
    widths = [panel.run.arrays[f"probe0.{panel.kind}"].shape[2] for panel in layout[0]]
    tallest = max(panel.run.arrays[f"probe0.{panel.kind}"].shape[1] for panel in layout[0])
    cell = min(0.17, 9.0 / sum(widths))  # inches
    size = (cell * sum(widths) + 0.7 * len(widths) + 1.0, len(layout) * (cell * tallest + 0.75) + 0.8)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(len(layout), len(widths), squeeze=False, width_ratios=widths)
    for axes, panel in zip(grid.flat, (panel for row in layout for panel in row), strict=True):
        _map(axes, panel, labelled=cell >= LEGIBLE)
    scale = figure.colorbar(plotting.attention_scale(), ax=grid, shrink=0.9, aspect=30)
    scale.set_label(f"Attention (< {plotting.CLIP}: black)")
    seeds = ", ".join(dict.fromkeys(str(panel.run.seed) for row in layout for panel in row))
    recorded = [name for name, some in runs.items() if any("probe0.cross" in run.arrays for run in some)]
    without = plotting.not_recorded(runs, recorded, "Attention not recorded", words.SLUGS)
    plotting.found(figure, _follows([panel.run for row in layout for panel in row]))
    plotting.footnote(figure, f"{NOTE} Seed {seeds}.", without, *plotting.absent(runs, words.SLUGS))
    return figure


def _follows(runs: Sequence[Run]) -> str:
    """How much of its attention the best cross-attention head has near the digit to be written, inside the trained
    length and beyond it."""
    told = []
    for task, run in {words.named(run.experiment).task: run for run in runs}.items():
        with contextlib.suppress(Missing):
            inside, beyond = (min(1.0, followed(run, stretch)) for stretch in ("trained", "beyond"))
            where = f"{plotting.share(inside)} up to the trained length, {plotting.share(beyond)} beyond"
            told.append(f"{where} ({words.IN_TEXT.get(task, task)})")
    return f"Attention within one place of the digit to be written: {'; '.join(told)}" if told else ""


def _map(axes: Axes, panel: Panel, labelled: bool) -> None:
    run, kind, head = panel
    source, target = ([str(token) for token in run.arrays[f"probe0.{name}"]] for name in ("source", "target"))
    task = words.TASKS.get(words.named(run.experiment).task, "")
    weights = run.arrays[f"probe0.{kind}"][head]
    columns = source if kind == "cross" else target
    title = f"{task}: {kind}-attention, head {head + 1}"
    most = len(columns) + len(target) if labelled else 0
    plotting.token_map(axes, weights, target, columns, title=title, most=most)
    axes.set(xlabel={"cross": "Input", "self": "Output so far"}[kind], ylabel="Output so far")
    height = min(words.trained(run), len(target))
    for start, stop in operands(source) if kind == "cross" else [(0, height)]:
        left = max(start, stop - height)
        plotting.outline(axes, left, 0, stop - left, height)
