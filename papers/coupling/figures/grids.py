"""Accuracy over operand length and count: Figures 1, 5, 6, 9 to 15 and the construction of Theorem 4.1."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengen import plotting
from lengen.config.sections import NUMBER_FORMATS
from lengen.measures import trained
from lengen.plotting import NONE, Published, Runs, setting
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
"""Panels of Figure 14: padding downwards, query and response to the right."""
FACTORS = {"length": "Length of first factor\n(digits)", "count": "Length of second factor\n(digits)"}
MODES = {"teacher_forced": "teacher-forced", "free_running": "free-running"}
ZEROS = "Of factors of one digit every tenth is zero: 10 % in the first row and column take no multiplication."
FORCED = (
    "Teacher-forced: the true scratchpad is in the context. Free-running: the model reads its own. Difference: free-"
    "running minus teacher-forced, in points of per cent."
)


class Panel(NamedTuple):
    variant: str
    mode: str = "teacher_forced"
    metric: str = "correct"
    less: str = ""
    """Mode whose accuracy is taken off."""


def fig1(runs: Runs, published: Published = NONE) -> Figure:
    """Addition over operand length and count: three position schemes, without and with scratchpad."""
    return _heat_maps(runs, published, _panels(*PLAIN_OVER_SCRATCHPAD), words.by_method)


def fig5(runs: Runs, published: Published = NONE) -> Figure:
    """Addition by the trained range."""
    layout = _panels(["trained-7", "trained-10", "trained-13"])
    return _heat_maps(runs, published, layout, words.by_range, name=words.sizes)


def fig6(runs: Runs, published: Published = NONE) -> Figure:
    """Addition without zero-padding and with a scratchpad that starts with the first operand, beside the baseline."""
    layout = _panels(["padding", "no-padding", "first-operand"])
    return _heat_maps(runs, published, layout, words.by_scratchpad, name=_first_lines(words.by_scratchpad, 2))


def fig9(runs: Runs, published: Published = NONE) -> Figure:
    """Multiplication over the lengths of both factors, without and with scratchpad."""
    return _heat_maps(runs, published, _panels(*PLAIN_OVER_SCRATCHPAD), words.by_method, ZEROS)


def fig10(runs: Runs, published: Published = NONE) -> Figure:
    """Addition by architecture: layers downwards, heads to the right."""
    layout = _panels(*[[f"{n}L{h}H" for h in (2, 4, 8)] for n in (1, 2, 4, 6)])
    return _heat_maps(runs, published, layout, words.by_size, name=words.size)


def fig11(runs: Runs, published: Published = NONE) -> Figure:
    """Addition by number of heads and dimensions per head."""
    layout = _panels(["1L4H-128", "1L4H-256"], ["1L8H-128", "1L8H-256"])
    return _heat_maps(runs, published, layout, words.by_head, name=_first_lines(words.by_head, 1))


def fig12(runs: Runs, published: Published = NONE) -> Figure:
    """Addition by embedding width."""
    layout = _panels(["d64", "d128"], ["d256", "d512"])
    return _heat_maps(runs, published, layout, words.by_width, name=lambda run: f"width {setting(run, 'width')}")


def fig13(runs: Runs, published: Published = NONE) -> Figure:
    """Addition by size of the training set."""
    layout = _panels(["20k", "100k", "500k", "2M", "10M"])
    return _heat_maps(runs, published, layout, words.by_examples, name=_first_lines(words.by_examples, 1))


def fig14(runs: Runs, published: Published = NONE) -> Figure:
    """Addition by input format, the whole response scored."""
    return _heat_maps(runs, published, _panels(*FORMATS), words.by_format, name=words.by_inputs)


def fig15(runs: Runs, published: Published = NONE) -> Figure:
    """Addition by input format, only the final answer scored: teacher-forced as published, free-running below, and
    what the model loses by reading its own scratchpad."""
    variants = [variant for row in FORMATS for variant in row]
    layout = [[Panel(variant, mode, "answer_correct") for variant in variants] for mode in MODES]
    layout.append([Panel(variant, "free_running", "answer_correct", "teacher_forced") for variant in variants])
    return _heat_maps(runs, published, layout, words.by_format, FORCED, found=_lost)


def thm4_1(runs: Runs, published: Published = NONE) -> Figure:
    """The construction of Theorem 4.1 beside trained models; the published grid, and 100 operands of 100 digits."""
    note = "Constructed: no training, so no trained range; the last row and column are 100 digits and 100 operands."
    layout = _panels(["construction", "1L4H", "nope-scratchpad"])
    return _heat_maps(runs, published, layout, words.by_construction, note, found=_constructed)


def thm4_1_formats(runs: Runs) -> Figure:
    """The construction in three number formats: the smallest exact match of any cell, and how far it was tried."""
    shown = {name: some for name, some in runs.items() if some}
    if not shown:
        return plotting.empty(runs, words=words.SLUGS)
    figure = Figure(figsize=(5.6, 0.34 * len(shown) + 1.3), layout="constrained")
    least, rows, said = [], [], []
    for some in shown.values():
        cells = plotting.scores([run.grid for run in some])
        least.append(float(cells["value"].min()))
        rows.append(NUMBER_FORMATS[setting(some[0], "precision")].name)
        biggest = f"{cells['length'].max()} digits, {cells['count'].max()} operands"
        said.append([plotting.share(least[-1]), f"{len(cells)} cells up to\n{biggest}", f"{int(cells['n'].sum()):,}"])
    values = np.array([[value, np.nan, np.nan] for value in least])
    columns = ["Exact match in\nthe worst cell", "Tested", "Sums"]
    plotting.heat_table(figure.subplots(), values, said, rows=rows, columns=columns, size=7.5)
    exact = [row for row, value in zip(rows, least, strict=True) if value == 1]
    if exact:
        plotting.found(figure, f"The construction makes no mistake in {plotting.listed(exact)}")
    plotting.footnote(figure, *plotting.absent(runs, words.SLUGS))
    return figure


def _panels(*rows: Sequence[str]) -> list[list[Panel]]:
    return [[Panel(variant) for variant in row] for row in rows]


def _first_lines(title: Title, lines: int) -> Title:
    """The beginning of a panel's title, as a sentence names it."""

    def name(run: Run) -> str:
        told = " ".join(title(run).split("\n")[:lines])
        return told[0].lower() + told[1:]

    return name


# -- what was found ----------------------------------------------------------------------------------------

Kept = Mapping[str, Sequence[Run]]
"""Variant -> its runs, of those that are drawn and have any."""


def _outside(some: Sequence[Run], mode: str = "teacher_forced", metric: str = "correct") -> float:
    """The mean accuracy of the cells beyond the trained range; of each the median over seeds."""
    span = trained(some[0])
    cells = plotting.scores([run.grid for run in some], mode, metric)
    beyond = cells[(cells["length"] > span.length) | (cells["count"] > span.second)]
    return float(beyond.groupby(["length", "count"])["value"].median().mean())


def _beyond(shown: Kept, name: Title) -> str:
    """How far the settings get outside their trained range, those that have learned it."""
    learned = {variant: some for variant, some in shown.items() if plotting.has_learned(some)}
    told = plotting.ranked({name(some[0]): _outside(some) for some in learned.values()})
    sentence = f"Exact match beyond the trained range: {told}" if told else "No model has learned its trained range"
    if learned and len(learned) < len(shown):
        others = plotting.count(len(shown) - len(learned))
        sentence += f"; {others} of {plotting.count(len(shown))} never learned theirs (grey)"
    return sentence


def _lost(shown: Kept, name: Title) -> str:
    """What reading its own scratchpad costs a model, of the formats whose text was scored."""
    both = [some for some in shown.values() if not np.isnan(_outside(some, "free_running", "answer_correct"))]
    if not both:
        return ""
    forced, free = (
        [_outside(some, mode, "answer_correct") for some in both] for mode in ("teacher_forced", "free_running")
    )
    worst = int(np.argmin(np.array(free) - np.array(forced)))
    lost = f"{100 * (forced[worst] - free[worst]):.0f} points of final answers"
    both_ways = f"{plotting.share(forced[worst])} teacher-forced, {plotting.share(free[worst])} free-running"
    where = words.by_inputs(both[worst][0])
    return f"Reading its own scratchpad beyond the trained range costs a model up to {lost}: {both_ways} ({where})"


def _constructed(shown: Kept, name: Title) -> str:
    """Where the construction fails, beside the trained models."""
    made = [some for some in shown.values() if some[0].constructed]
    cells = plotting.scores([run.grid for some in made for run in some])
    if cells.empty:
        return ""
    furthest = f"{cells['length'].max()} digits and {cells['count'].max()} operands"
    least = float(cells["value"].min())
    told = f"The construction is right on {plotting.share(least)} or more of every cell up to {furthest}"
    if least == 1:
        told = f"The construction makes no mistake up to {furthest}"
    trained_ones = [some for some in shown.values() if not some[0].constructed and plotting.has_learned(some)]
    others = {words.setting_name(some[0]): _outside(some) for some in trained_ones}
    return f"{told}; beyond their range trained models reach {plotting.ranked(others)}" if others else told


# -- drawing -----------------------------------------------------------------------------------------------


def _heat_maps(
    runs: Runs,
    published: Published,
    layout: Sequence[Sequence[Panel]],
    describe: Title,
    note: str = "",
    *,
    name: Title = words.setting_name,
    found: Callable[[Kept, Title], str] = _beyond,
) -> Figure:
    """A figure of heat maps arranged as in ``layout``, titled by ``describe(run)``; ``name`` says in its title which
    setting did what."""
    full = {name.split("/")[-1]: name for name in runs}
    held = {variant: runs[name] for variant, name in full.items()}
    layout, left_out = _without_empty(layout, {variant for variant, some in held.items() if some})
    rows, columns = len(layout), max(len(row) for row in layout)
    # a lone panel would otherwise be narrower than the title of the figure
    figure = Figure(figsize=(max(2.3 * columns + 0.9, 4.2), 2.75 * rows + 0.7), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes, panel in zip(grid.flat, (panel for row in layout for panel in row), strict=True):
        some = held.get(panel.variant)
        if some:
            _heat_map(axes, some, panel, describe, published.get(full[panel.variant], ()))
        else:
            wanted = plotting.wanted_in_words([full[panel.variant]], words.SLUGS) if panel.variant in full else []
            plotting.missing(axes, "\n".join(textwrap.wrap(wanted[0], 28)) if wanted else panel.variant)
    plotting.outer_labels(grid)
    drawn = {panel.variant: held[panel.variant] for row in layout for panel in row if held.get(panel.variant)}
    _scales(figure, grid, layout)
    plotting.found(figure, plotting.over_seeds(found(drawn, name), drawn.values()))
    notes = [note, plotting.RULE if any(plotting.unlearned(some) for some in drawn.values()) else ""]
    if any(published.get(full[variant]) for variant in drawn):
        notes.append('Published values: at the same multiples of the trained range ("times it").')
    missing = plotting.not_run([full.get(variant, f"coupling//{variant}") for variant in left_out], words.SLUGS)
    plotting.footnote(figure, " ".join(filter(None, notes)), *missing)
    return figure


def _scales(figure: Figure, grid: np.ndarray, layout: Sequence[Sequence[Panel]]) -> None:
    """A colour bar at the right; one of its own for a row of differences."""
    apart = [any(panel.less for panel in row) for row in layout]
    metric = "Exact-match accuracy" if layout[0][0].metric == "correct" else "Accuracy of the final answer"
    for wanted, scale, label, form in (
        (False, plotting.heat_scale(), metric, "{x:.0%}"),
        (True, plotting.apart_scale(), "Difference", "{x:+.0%}"),
    ):
        lines = [list(row) for row, kind in zip(grid, apart, strict=True) if kind is wanted]
        if lines:
            bar = figure.colorbar(scale, ax=np.array(lines), shrink=0.8, aspect=15 * len(lines), format=form)
            bar.set_label(label)


def _heat_map(axes: Axes, runs: Sequence[Run], panel: Panel, describe: Title, values: Sequence[plotting.Value]) -> None:
    grids, task = [run.grid for run in runs], setting(runs[0], "task")
    lacking = [mode for mode in (panel.mode, panel.less) if mode and plotting.scores(grids, mode, panel.metric).empty]
    if lacking:
        plotting.missing(axes, describe(runs[0]), f"not scored {MODES[lacking[0]]}")
        return
    fewest = 2 if task == "addition" else 1
    span = {"length": (1, setting(runs[0], "length")), "count": (fewest, setting(runs[0], "count"))}
    if runs[0].constructed:
        span = dict.fromkeys(span, (0, 0))
    whole = panel.metric == "correct"
    kind = "difference" if panel.less else MODES[panel.mode]
    plotting.heat_map(
        axes,
        grids,
        title=(f"{kind.capitalize()}\n" if not whole else "") + describe(runs[0]),
        trained=span,
        mode=panel.mode,
        metric=panel.metric,
        labels=FACTORS if task == "multiplication" else plotting.AXES,
        unlearned="" if panel.less else plotting.unlearned(runs),
        less=panel.less,
        published=[value for value in values if whole and (value.measure, value.mode) == ("exact", panel.mode)],
    )


def _without_empty(layout: Sequence[Sequence[Panel]], present: set[str]) -> tuple[list[list[Panel]], list[str]]:
    """The layout without rows and columns that hold no run at all, and the variants that went with them."""
    rows = [row for row in layout if any(panel.variant in present for panel in row)] or list(layout)
    kept = [k for k in range(len(layout[0])) if any(row[k].variant in present for row in rows)]
    kept = kept or list(range(len(layout[0])))
    compact = [[row[k] for k in kept] for row in rows]
    shown = {panel.variant for row in compact for panel in row}
    left_out = dict.fromkeys(panel.variant for row in layout for panel in row if panel.variant not in shown)
    return compact, list(left_out)
