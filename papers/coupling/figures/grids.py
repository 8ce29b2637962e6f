"""Accuracy over operand length and count: Figures 1, 5, 6, 9 to 15 and the construction of Theorem 4.1."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengen import plotting
from lengen.plotting import Runs, setting
from lengen.records import Run
from papers.coupling.figures import words

Title = Callable[[Run], str]

PLAIN_OVER_SCRATCHPAD = [
    [f"{method}-{response}" for method in ("nope", "fire", "coupling")] for response in ("plain", "scratchpad")
]
"""Panels of Figures 1 and 9: without the scratchpad above, with it below."""
FORMATS = [
    [f"{pad}-{order}" for order in ("plain-reversed", "reversed-reversed", "plain-plain")] for pad in ("pad", "nopad")
]
"""Panels of Figures 14 and 15: padding downwards, query and response to the right."""
FACTORS = {"length": "Length of first factor (digits)", "count": "Length of second factor (digits)"}
MODES = {"teacher_forced": "teacher-forced", "free_running": "free-running"}


class Panel(NamedTuple):
    variant: str
    mode: str = "teacher_forced"
    metric: str = "correct"


def fig1(runs: Runs) -> Figure:
    """Addition over operand length and count: three position schemes, without and with scratchpad."""
    return _heat_maps(runs, _panels(*PLAIN_OVER_SCRATCHPAD), words.by_method)


def fig5(runs: Runs) -> Figure:
    """Addition by the trained range."""
    return _heat_maps(runs, _panels(["trained-7", "trained-10", "trained-13"]), words.by_range)


def fig6(runs: Runs) -> Figure:
    """Addition without zero-padding and with a scratchpad that starts with the first operand, beside the baseline."""
    return _heat_maps(runs, _panels(["trained-10", "no-padding", "first-operand"]), words.by_scratchpad)


def fig9(runs: Runs) -> Figure:
    """Multiplication over the lengths of both factors, without and with scratchpad."""
    note = "Of factors of one digit every tenth is zero: 10 % in the first row and column take no multiplication."
    return _heat_maps(runs, _panels(*PLAIN_OVER_SCRATCHPAD), words.by_method, note)


def fig10(runs: Runs) -> Figure:
    """Addition by architecture: layers downwards, heads to the right."""
    return _heat_maps(runs, _panels(*[[f"{n}L{h}H" for h in (2, 4, 8)] for n in (1, 2, 4, 6)]), words.by_size)


def fig11(runs: Runs) -> Figure:
    """Addition by number of heads and dimensions per head."""
    return _heat_maps(runs, _panels(["1L4H-128", "1L4H-256"], ["1L8H-128", "1L8H-256"]), words.by_head)


def fig12(runs: Runs) -> Figure:
    """Addition by embedding width."""
    return _heat_maps(runs, _panels(["d64", "d128"], ["d256", "d512"]), words.by_width)


def fig13(runs: Runs) -> Figure:
    """Addition by size of the training set."""
    return _heat_maps(runs, _panels(["20k", "100k", "500k", "2M", "10M"]), words.by_examples)


def fig14(runs: Runs) -> Figure:
    """Addition by input format, the whole response scored."""
    return _heat_maps(runs, _panels(*FORMATS), words.by_format)


def fig15(runs: Runs) -> Figure:
    """Addition by input format, only the final answer scored: teacher-forced as published, then free-running."""
    layout = [row for mode in MODES for row in _panels(*FORMATS, mode=mode, metric="answer_correct")]
    note = "Teacher-forced: the true scratchpad is in the context. Free-running: the model reads its own."
    return _heat_maps(runs, layout, words.by_format, note)


def thm4_1(runs: Runs) -> Figure:
    """The construction of Theorem 4.1 beside trained models; the published grid, and 100 operands of 100 digits."""
    note = "Constructed: no training, so no trained range; the last row and column are 100 digits and 100 operands."
    return _heat_maps(runs, _panels(["construction", "1L4H", "nope-scratchpad"]), words.by_construction, note)


def thm4_1_formats(runs: Runs) -> Figure:
    """The construction in three number formats."""
    return _heat_maps(runs, _panels(["float32", "float64", "bfloat16"]), words.by_precision)


def _panels(*rows: Sequence[str], mode: str = "teacher_forced", metric: str = "correct") -> list[list[Panel]]:
    return [[Panel(variant, mode, metric) for variant in row] for row in rows]


def _heat_maps(runs: Runs, layout: Sequence[Sequence[Panel]], describe: Title, note: str = "") -> Figure:
    """A figure of heat maps arranged as in ``layout``, titled by ``describe(run)``."""
    full = {name.split("/")[-1]: name for name in runs}
    found = {variant: runs[name] for variant, name in full.items()}
    layout, left_out = _without_empty(layout, {variant for variant, some in found.items() if some})
    rows, columns = len(layout), max(len(row) for row in layout)
    # a lone panel would otherwise be narrower than the title of the figure
    figure = Figure(figsize=(max(2.3 * columns + 0.9, 4.2), 2.55 * rows + 0.6), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes, panel in zip(grid.flat, (panel for row in layout for panel in row), strict=True):
        if some := found.get(panel.variant):
            _heat_map(axes, some, panel, describe)
        else:
            plotting.missing(axes, "/\n".join(full.get(panel.variant, panel.variant).rsplit("/", 1)))
    plotting.outer_labels(grid)
    scale = figure.colorbar(plotting.heat_scale(), ax=grid, shrink=0.8, aspect=30, format="{x:.0%}")
    scale.set_label("Exact-match accuracy" if layout[0][0].metric == "correct" else "Accuracy of the final answer")
    plotting.footnote(figure, note, plotting.not_run([full.get(variant, variant) for variant in left_out]))
    return figure


def _heat_map(axes: Axes, runs: Sequence[Run], panel: Panel, describe: Title) -> None:
    grids, task = [run.grid for run in runs], setting(runs[0], "task")
    if plotting.scores(grids, panel.mode, panel.metric).empty:
        plotting.missing(axes, describe(runs[0]), f"not scored {MODES[panel.mode]}")
        return
    fewest = 2 if task == "addition" else 1
    trained = {"length": (1, setting(runs[0], "length")), "count": (fewest, setting(runs[0], "count"))}
    if runs[0].constructed:
        trained = dict.fromkeys(trained, (0, 0))
    labels = FACTORS if task == "multiplication" else plotting.AXES
    title = (f"{MODES[panel.mode].capitalize()}\n" if panel.metric != "correct" else "") + describe(runs[0])
    plotting.heat_map(axes, grids, title=title, trained=trained, mode=panel.mode, metric=panel.metric, labels=labels)


def _without_empty(layout: Sequence[Sequence[Panel]], present: set[str]) -> tuple[list[list[Panel]], list[str]]:
    """The layout without rows and columns that hold no run at all, and the variants that went with them."""
    rows = [row for row in layout if any(panel.variant in present for panel in row)] or list(layout)
    kept = [k for k in range(len(layout[0])) if any(row[k].variant in present for row in rows)]
    kept = kept or list(range(len(layout[0])))
    compact = [[row[k] for k in kept] for row in rows]
    shown = {panel.variant for row in compact for panel in row}
    left_out = dict.fromkeys(panel.variant for row in layout for panel in row if panel.variant not in shown)
    return compact, list(left_out)
