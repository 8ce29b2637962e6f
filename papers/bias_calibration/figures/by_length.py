"""Exact match and edit distance by length: Figure 1, Tables 1 to 3, ListOps, other bases, choices of calibration."""

import textwrap
from collections.abc import Mapping, Sequence
from statistics import median

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengen import plotting
from lengen.plotting import NONE, Look, Published, Runs
from lengen.records import Run
from papers.bias_calibration.figures import words

THRESHOLD = 0.99
"""Exact match from which a model is said to interpolate, or to extrapolate: the paper's "near-perfect"."""
COLUMNS = ("At the trained lengths", "At longer ones", "At the longest tested")
CROSSED = {"parity": ("\npublished: does not", "", "")}
"""What Table 2 says with a cross of a task that no table has numbers of."""


def fig1(runs: Runs, published: Published = NONE) -> Figure:
    """Figure 1 and Table 1: exact match and edit distance by length, one column a task, one curve a model."""
    return _curves(runs, published)


def table3(runs: Runs, published: Published = NONE) -> Figure:
    """Table 3: the same for windowed biases, cyclic positions and none."""
    return _curves(runs, published)


def listops(runs: Runs) -> Figure:
    """Appendix C: single-operator, single-depth ListOps."""
    return _curves(runs, NONE)


def negative(runs: Runs) -> Figure:
    """Sections 3.1 and 8: products of two numbers, by the digits of the first one, and nested ListOps."""
    return _curves(runs, NONE)


def bases(runs: Runs) -> Figure:
    """Footnote 4: addition in other bases."""
    return _curves(runs, NONE)


def varied(runs: Runs, published: Published = NONE) -> Figure:
    """Appendix A.5: addition with other windows and periods."""
    return _curves(runs, published)


def calibration(runs: Runs, published: Published = NONE) -> Figure:
    """What the choices within calibration and retraining change."""
    return _curves(runs, published)


Kinds = Mapping[str, Sequence[Run]]
"""Kind of a model -> its runs on one task."""


def _curves(runs: Runs, published: Published) -> Figure:
    """Exact match above, edit distance of the text the model writes below; side by side for a single task.

    The second is left out where no run let its model write on its own.
    """
    tasks: dict[str, dict[str, Sequence[Run]]] = {}
    beside: dict[str, dict[str, Sequence[plotting.Value]]] = {}
    for name, some in runs.items():
        if some:
            task, kind = words.named(name)
            tasks.setdefault(task, {})[kind] = some
            beside.setdefault(task, {})[kind] = published.get(name, ())
    if not tasks:
        return plotting.empty(runs, words=words.SLUGS)
    looks = _looks(list(dict.fromkeys(words.named(name).kind for name in runs)))
    single, panes = len(tasks) == 1, 1 + _written(runs)
    size = (4.0 + 2.3 * panes, 3.3) if single else (2.6 * len(tasks) + 2.0, 1.3 + 2.0 * panes)
    figure = Figure(figsize=size, layout="constrained")
    shape, share = ((1, panes), ("none", "none")) if single else ((panes, len(tasks)), ("col", "row"))
    grid = figure.subplots(*shape, squeeze=False, sharex=share[0], sharey=share[1])  # type: ignore[call-overload]
    drawn, beyond = 0, 0.0
    for panels, (task, kinds) in zip(grid if single else grid.T, tasks.items(), strict=True):
        marks = _task(panels, kinds, looks, beside[task])
        drawn, beyond = drawn + marks[0], max(beyond, marks[1])
        panels[0].set_title("\n".join(_title(task, kinds)), pad=14 if marks[0] else None)
    plotting.percent(grid[0, 0])
    if panes == 2:
        heights = [float(max(line.get_ydata())) for axes in grid.flat[len(tasks) :] for line in axes.lines]
        highest = max([0.1, *heights])
        grid[-1, -1].set_ylim(-0.03 * highest, 1.05 * highest)
        if single:
            grid[0, 1].set_title("Written output")
    if not single:
        plotting.outer_labels(grid)
    lines = {line.get_label(): line for axes in grid.flat for line in axes.get_legend_handles_labels()[0]}
    plotting.legend(figure, [*lines.values(), *([plotting.published.key()] if drawn else [])])
    plotting.found(figure, _found(tasks))
    notes = [
        f"Grey: trained lengths. {plotting.seeds_note(runs, interval=True)} {plotting.BESIDE_NOTE}",
        plotting.published.note(drawn, beyond),
        plotting.RULE * any(plotting.unlearned(some) for some in runs.values() if some),
    ]
    plotting.footnote(figure, " ".join(notes), *plotting.absent(runs, words.SLUGS))
    return figure


def _title(task: str, kinds: Kinds) -> list[str]:
    """Lines above a panel: task, sizes, and who has not learned them."""
    lacking = [kind for kind, some in kinds.items() if plotting.unlearned(some)]
    names = [words.spoken(kind, kinds[kind][0]) for kind in lacking]
    first = words.task_title(task, next(iter(kinds.values()))[0])
    reached = [plotting.share(plotting.edge(kinds[kind])) for kind in lacking]
    told = ", ".join(f"{name} ({share})" for name, share in zip(names, reached, strict=True))
    return [first, *textwrap.wrap(f"not learned: {told}", 44)] if lacking else [first]


def _found(tasks: Mapping[str, Kinds]) -> str:
    """Who is right at the longest tested length of each task, of those that have learned the trained ones."""
    told: list[str] = []
    several = False
    for task, kinds in tasks.items():
        learned = {
            words.spoken(kind, some[0]): plotting.scores([run.grid for run in some]).groupby("length")["value"].median()
            for kind, some in kinds.items()
            if plotting.has_learned(some)
        }
        common = set.intersection(*(set(values.index) for values in learned.values())) if learned else set()
        if common:
            longest = max(common)
            times = longest / words.trained(next(iter(kinds.values()))[0])
            best = plotting.ranked({name: float(values[longest]) for name, values in learned.items()})
            multiple = "×" if told else "times the trained length"
            told.append(f"{words.TASKS.get(task, 'ListOps')} at {times:.2g} {multiple}: {best}")
            several = several or any(len(some) > 1 for some in kinds.values())
    if several:
        told.append("medians over seeds")
    return "; ".join(told) or "No model has learned its trained lengths"


def _written(runs: Runs) -> bool:
    """Whether a model wrote its own text in any run."""
    return any("free_running" in modes for some in runs.values() for run in some for modes in run.grid.scores.values())


def _looks(kinds: Sequence[str]) -> dict[str, Look]:
    """The look of each kind's method; settings of one method keep its colour, and are told apart by markers and
    dashes: the method itself is as everywhere."""
    methods = {kind: words.METHOD.get(kind, kind) for kind in kinds}
    return plotting.looks({kind: methods[kind] for kind in sorted(kinds, key=lambda kind: kind != methods[kind])})


def _task(panels: Sequence[Axes], kinds: Kinds, looks: Mapping[str, Look], beside: Published) -> tuple[int, float]:
    """The panels of a task: exact match, then edit distance where there is a second one; what `on_curves` returns."""
    first = next(iter(kinds.values()))[0]
    labels = {kind: words.kind_label(kind, some[0], words.padded(first)) for kind, some in kinds.items()}
    tested = sorted({cell[0] for some in kinds.values() for run in some for cell in run.grid.scores})
    longest = max(words.trained(run) for some in kinds.values() for run in some)
    marks = 0, 0.0
    for axes, mode, metric in zip(panels, ("teacher_forced", "free_running"), ("correct", "edit"), strict=False):
        points = {kind: plotting.scores([run.grid for run in some], mode, metric) for kind, some in kinds.items()}
        plotting.lines(axes, points, looks, labels, interval=metric == "correct")
        plotting.lengths_axis(axes, plotting.length_axis(first), tested)
        plotting.trained_band(axes, (1, longest))
        if metric == "correct":
            marks = plotting.published.on_curves(axes, beside, kinds, looks)
            if marks[0]:
                plotting.published.times_axis(axes, longest)
    panels[0].set_ylabel("Exact match")
    if len(panels) > 1:
        panels[1].set_ylabel("Edit distance per output token")
    return marks


# -- Table 2 -----------------------------------------------------------------------------------------------


def table2(runs: Runs, published: Published = NONE) -> Figure:
    """Table 2: whether the vanilla model interpolates and extrapolates, task by task, at a stated threshold; what is
    published of it in the same cells."""
    shown = {words.named(name).task: some for name, some in runs.items() if some}
    said = {words.named(name).task: _printed(published.get(name, ())) for name, some in runs.items() if some} | CROSSED
    if not shown:
        return plotting.empty(runs, words=words.SLUGS)
    figure = Figure(figsize=(6.4, 0.72 * max(len(shown), 2) + 1.2), layout="constrained")
    axes = figure.subplots()
    values = np.array([[median(column) for column in zip(*map(_ranges, some), strict=True)] for some in shown.values()])
    cells = [
        [_verdict(column, value) + said[task][column] for column, value in enumerate(row)]
        for task, row in zip(shown, values, strict=True)
    ]
    plotting.heat_table(axes, values, cells, rows=[_row(*item) for item in shown.items()], columns=COLUMNS, size=7.5)
    axes.tick_params(top=False, labeltop=True, labelbottom=False)
    for edge in range(1, len(shown)):
        axes.axhline(edge - 0.5, color="white", linewidth=2)
    for edge in range(1, len(COLUMNS)):
        axes.axvline(edge - 0.5, color="white", linewidth=2)
    inside = [words.IN_TEXT[task] for task, row in zip(shown, values, strict=True) if row[0] >= THRESHOLD]
    beyond = [words.IN_TEXT[task] for task, row in zip(shown, values, strict=True) if row[-1] >= THRESHOLD]
    plotting.found(
        figure,
        f"The vanilla model interpolates on {plotting.listed(inside) or 'no task'} and extrapolates on "
        f"{plotting.listed(beyond) or 'none'}",
    )
    note = (
        f"Exact match over all tested examples of the range. Interpolates, extrapolates: at least {THRESHOLD:.0%}. "
        "Published: at the trained length, the mean of those beyond it, and the longest printed"
        f"{'; of parity a cross for interpolation' if 'parity' in shown else ''}."
    )
    plotting.footnote(figure, note, *plotting.absent(runs, words.SLUGS))
    return figure


def _printed(values: Sequence[plotting.Value]) -> tuple[str, str, str]:
    """What a cell of each column says of the published table; nothing where it has no row."""
    exact = sorted((value.lengths[1], value) for value in values if value.measure == "exact")
    inside = [value.value for length, value in exact if length <= value.trained[0]]
    beyond = [value.value for length, value in exact if length > value.trained[0]]
    means = [sum(some) / len(some) if some else None for some in (inside, beyond, beyond[-1:])]
    first, second, last = ("" if mean is None else f"\npublished {plotting.share(mean)}" for mean in means)
    return first, second, last


def _ranges(run: Run) -> tuple[float, ...]:
    """Exact match within the trained lengths, beyond them, and at the longest tested."""
    lengths = sorted(cell[0] for cell in run.grid.scores)
    inside = [length for length in lengths if length <= words.trained(run)]
    beyond = [length for length in lengths if length > words.trained(run)]
    return tuple(plotting.total_rate(run.grid, some) for some in (inside, beyond, lengths[-1:]))


def _verdict(column: int, value: float) -> str:
    if np.isnan(value):
        return "not tested"
    word = ("interpolate", "", "extrapolate")[column]
    sentence = (f"{word}s" if value >= THRESHOLD else f"does not {word}") if word else ""
    return f"{plotting.share(value)}\n{sentence}".rstrip()


def _row(task: str, runs: Sequence[Run]) -> str:
    longest = max(cell[0] for cell in runs[0].grid.scores)
    trained = words.trained(runs[0])
    return f"{words.TASKS[task]}\ntrained to {trained}, tested to {longest}\n{plotting.seeds(len(runs))}"
