"""The paper's figures, one function each: finished runs go in, a matplotlib Figure leaves.

Every function takes a mapping from the name of an experiment to its runs, one per seed. Titles are read from
the specification of the runs, never from names, because smaller profiles train other sizes under the same
names. An experiment without a run leaves an empty panel that says so; where a whole row or column of panels is
empty, it is left out and named below the figure.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengen import plotting
from lengen.config.spec import Spec
from lengen.records import Run
from papers.coupling.figures import words as titles
from papers.coupling.figures.attention import fig7, fig16_21
from papers.coupling.figures.theorem import overlap_csv, thm4_1_attention

__all__ = [
    "fig1",
    "fig3",
    "fig5",
    "fig6",
    "fig7",
    "fig9",
    "fig10",
    "fig11",
    "fig12",
    "fig13",
    "fig14",
    "fig15",
    "fig16_21",
    "overlap_csv",
    "thm4_1",
    "thm4_1_attention",
    "thm4_1_formats",
]

Runs = Mapping[str, Sequence[Run]]
Title = Callable[[Spec], str]

PLAIN_OVER_SCRATCHPAD = [
    [f"{method}-{response}" for method in ("nope", "fire", "coupling")] for response in ("plain", "scratchpad")
]
"""Panels of Figures 1 and 9: without the scratchpad above, with it below."""
FORMATS = ("plain-reversed", "reversed-reversed", "plain-plain")
"""Columns of Figures 14 and 15: query and response."""
FACTORS = {"length": "Length of first factor (digits)", "count": "Length of second factor (digits)"}
MODES = {"teacher_forced": "teacher-forced", "free_running": "free-running"}


class Panel(NamedTuple):
    variant: str
    mode: str = "teacher_forced"
    metric: str = "correct"


# -- heat maps ---------------------------------------------------------------------------------------------


def _heat_maps(runs: Runs, layout: Sequence[Sequence[Panel]], describe: Title, note: str = "") -> Figure:
    """A figure of heat maps arranged as in ``layout``, titled by ``describe(spec)``."""
    found = {name.split("/")[-1]: list(some) for name, some in runs.items()}
    full = {name.split("/")[-1]: name for name in runs}
    layout, left_out = _without_empty(layout, {variant for variant, some in found.items() if some})
    rows, columns = len(layout), max(len(row) for row in layout)
    # a lone panel would otherwise be narrower than the title of the figure
    figure = Figure(figsize=(max(2.3 * columns + 0.9, 4.2), 2.55 * rows + 0.6), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for row, panels in zip(grid, layout, strict=True):
        for axes, panel in zip(row, panels, strict=True):
            some = found.get(panel.variant, [])
            if some:
                _heat_map(axes, some, panel, describe)
            else:
                plotting.missing(axes, "/\n".join(full.get(panel.variant, panel.variant).rsplit("/", 1)))
    for column in grid.T:
        for axes in [axes for axes in column if axes.images][:-1]:
            axes.set_xlabel("")
    for row in grid:
        for axes in [axes for axes in row if axes.images][1:]:
            axes.set_ylabel("")
    scale = figure.colorbar(plotting.heat_scale(), ax=grid, shrink=0.8, aspect=30, format="{x:.0%}")
    scale.set_label("Exact-match accuracy" if layout[0][0].metric == "correct" else "Accuracy of the final answer")
    names = [full.get(variant, variant) for variant in left_out]
    plotting.footnote(figure, note, plotting.not_run(names))
    return figure


def _heat_map(axes: Axes, runs: Sequence[Run], panel: Panel, describe: Title) -> None:
    spec = titles.of(runs[0])
    grids = [run.grid for run in runs]
    if not plotting.rates(grids, panel.mode, panel.metric):
        plotting.missing(axes, describe(spec), f"not scored {MODES[panel.mode]}")
        return
    trained = {"length": (1, spec.data.length), "count": (2 if spec.data.task == "addition" else 1, spec.data.count)}
    if runs[0].constructed:
        trained = dict.fromkeys(trained, (0, 0))
    labels = FACTORS if spec.data.task == "multiplication" else plotting.LABELS
    title = (f"{MODES[panel.mode].capitalize()}\n" if panel.metric != "correct" else "") + describe(spec)
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


def _panels(*rows: Sequence[str], mode: str = "teacher_forced", metric: str = "correct") -> list[list[Panel]]:
    return [[Panel(variant, mode, metric) for variant in row] for row in rows]


def fig1(runs: Runs) -> Figure:
    """Addition over operand length and count: three position schemes, without and with scratchpad."""
    return _heat_maps(runs, _panels(*PLAIN_OVER_SCRATCHPAD), titles.by_method)


def fig5(runs: Runs) -> Figure:
    """Addition by the trained range."""
    return _heat_maps(runs, _panels(["trained-7", "trained-10", "trained-13"]), titles.by_range)


def fig6(runs: Runs) -> Figure:
    """Addition without zero-padding."""
    return _heat_maps(runs, _panels(["no-padding"]), titles.by_format)


def fig9(runs: Runs) -> Figure:
    """Multiplication over the lengths of both factors, without and with scratchpad."""
    return _heat_maps(runs, _panels(*PLAIN_OVER_SCRATCHPAD), titles.by_method)


def fig10(runs: Runs) -> Figure:
    """Addition by architecture: layers downwards, heads to the right."""
    return _heat_maps(runs, _panels(*[[f"{n}L{h}H" for h in (2, 4, 8)] for n in (1, 2, 4, 6)]), titles.by_size)


def fig11(runs: Runs) -> Figure:
    """Addition by number of heads and dimensions per head."""
    return _heat_maps(runs, _panels(["1L4H-128", "1L4H-256"], ["1L8H-128", "1L8H-256"]), titles.by_head)


def fig12(runs: Runs) -> Figure:
    """Addition by embedding width."""
    return _heat_maps(runs, _panels(["d64", "d128"], ["d256", "d512"]), titles.by_width)


def fig13(runs: Runs) -> Figure:
    """Addition by size of the training set."""
    return _heat_maps(runs, _panels(["20k", "100k", "500k", "2M", "10M"]), titles.by_examples)


def fig14(runs: Runs) -> Figure:
    """Addition by input format, the whole response scored."""
    return _heat_maps(
        runs, _panels(*[[f"{pad}-{order}" for order in FORMATS] for pad in ("pad", "nopad")]), titles.by_format
    )


def fig15(runs: Runs) -> Figure:
    """Addition by input format, only the final answer scored: teacher-forced as published, then free-running."""
    rows = [[f"{pad}-{order}" for order in FORMATS] for pad in ("pad", "nopad")]
    layout = [row for mode in MODES for row in _panels(*rows, mode=mode, metric="answer_correct")]
    note = "Teacher-forced: the true scratchpad is in the context. Free-running: the model reads its own."
    return _heat_maps(runs, layout, titles.by_format, note)


def thm4_1(runs: Runs) -> Figure:
    """The construction of Theorem 4.1 beside trained models; the published grid, and 100 operands of 100 digits."""
    note = "Constructed: no training, so no trained range; the last row and column are 100 digits and 100 operands."
    return _heat_maps(runs, _panels(["construction", "1L4H", "nope-scratchpad"]), titles.by_construction, note)


def thm4_1_formats(runs: Runs) -> Figure:
    """The construction in three number formats."""
    return _heat_maps(runs, _panels(["float32", "float64", "bfloat16"]), titles.by_precision)


# -- curves ------------------------------------------------------------------------------------------------


def fig3(runs: Runs) -> Figure:
    """Parity by length: the answer teacher-forced (as published), free-running, and the distance of the text."""
    figure = Figure(figsize=(11.4, 3.7), layout="constrained")
    panels = figure.subplots(1, 3)
    methods = list(dict.fromkeys(titles.method(titles.of(some[0])) for some in runs.values() if some))
    for some in runs.values():
        if some:
            _parity_curves(panels, some, methods.index(titles.method(titles.of(some[0]))))
    heads = ("Answer, teacher-forced (as published)", "Answer, free-running", "Written response, free-running")
    for axes, title in zip(panels, heads, strict=True):
        axes.set(title=title, xlabel="Query length (bits)")
        ranges = {titles.of(run).data.length for some in runs.values() for run in some}
        if ranges:
            plotting.trained_band(axes, (1, max(ranges)))
    for axes in panels[:2]:
        axes.axhline(0.5, color="0.5", linewidth=0.7, linestyle=":")
        axes.set_ylabel("Accuracy of the answer")
    panels[2].set_ylim(bottom=0)
    if methods:
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    absent = [name for name, some in runs.items() if not some]
    note = "Grey: trained lengths. Dotted: guessing. Bands: 95 % Wilson interval of one seed, or range over seeds."
    plotting.footnote(figure, note, plotting.not_run(absent))
    return figure


def _parity_curves(panels: Sequence[Axes], runs: Sequence[Run], number: int) -> None:
    spec = titles.of(runs[0])
    grids = [run.grid for run in runs]
    seeds = plotting.seeds(len(runs))
    for axes, mode, metric in zip(panels, (*MODES, "free_running"), ("answer_correct",) * 2 + ("edit",), strict=True):
        plotting.curve(
            axes,
            grids,
            label=f"{titles.method(spec)}\n{titles.scratchpad(spec)}, {seeds}",
            colour=plotting.COLOURS[number],
            marker=plotting.MARKERS[number],
            dashed=not spec.data.scratchpad,
            mode=mode,
            metric=metric,
        )
