"""Exact match and edit distance by length: Figure 1, Tables 1 to 3, ListOps, other bases, choices of calibration."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengen import plotting
from lengen.intervals import median
from lengen.plotting import METHODS, Look, Runs
from lengen.records import Run
from papers.bias_calibration.figures import words

THRESHOLD = 0.99
"""Exact match from which a model is said to interpolate, or to extrapolate: the paper's "near-perfect"."""
COLUMNS = ("At the trained lengths", "At longer ones", "At the longest tested")


def fig1(runs: Runs) -> Figure:
    """Figure 1 and Table 1: exact match and edit distance by length, one column a task, one curve a model."""
    return _curves(runs)


def table3(runs: Runs) -> Figure:
    """Table 3: the same for windowed biases, cyclic positions and none."""
    return _curves(runs)


def listops(runs: Runs) -> Figure:
    """Appendix C: single-operator, single-depth ListOps."""
    return _curves(runs)


def bases(runs: Runs) -> Figure:
    """Footnote 4: addition in other bases."""
    return _curves(runs)


def varied(runs: Runs) -> Figure:
    """Appendix A.5: addition with other windows and periods."""
    return _curves(runs)


def calibration(runs: Runs) -> Figure:
    """What the choices within calibration and retraining change."""
    return _curves(runs)


def _curves(runs: Runs) -> Figure:
    """Exact match above, edit distance of the text the model writes below; side by side for a single task.

    The second is left out where no run let its model write on its own.
    """
    tasks: dict[str, dict[str, Sequence[Run]]] = {}
    for name, some in runs.items():
        if some:
            task, kind = words.named(name)
            tasks.setdefault(task, {})[kind] = some
    if not tasks:
        return plotting.empty(runs)
    looks = _looks(list(dict.fromkeys(words.named(name).kind for name in runs)))
    single, panes = len(tasks) == 1, 1 + _written(runs)
    size = (4.0 + 2.3 * panes, 2.9) if single else (2.6 * len(tasks) + 2.0, 0.9 + 2.0 * panes)
    figure = Figure(figsize=size, layout="constrained")
    shape, share = ((1, panes), ("none", "none")) if single else ((panes, len(tasks)), ("col", "row"))
    grid = figure.subplots(*shape, squeeze=False, sharex=share[0], sharey=share[1])  # type: ignore[call-overload]
    for panels, (task, kinds) in zip(grid if single else grid.T, tasks.items(), strict=True):
        _task(panels, kinds, looks)
        panels[0].set_title(words.task_title(task, next(iter(kinds.values()))[0]))
    plotting.percent(grid[0, 0])
    if panes == 2:
        heights = [float(max(line.get_ydata())) for axes in grid.flat[len(tasks) :] for line in axes.lines]
        highest = max([0.1, *heights])
        grid[-1, -1].set_ylim(-0.03 * highest, 1.05 * highest)
        if single:
            grid[0, 1].set_title("Written output")
    if not single:
        plotting.outer_labels(grid)
    plotting.legend(figure, grid.flat)
    note = f"Grey: trained lengths. {plotting.seeds_note(runs, interval=True)} {plotting.BESIDE_NOTE}"
    plotting.footnote(figure, note, *plotting.absent(runs))
    return figure


def _written(runs: Runs) -> bool:
    """Whether a model wrote its own text in any run."""
    return any("free_running" in modes for some in runs.values() for run in some for modes in run.grid.scores.values())


def _looks(kinds: Sequence[str]) -> dict[str, Look]:
    """The look of each kind's method; settings of one method are told apart in their order."""
    methods = {kind: words.METHOD.get(kind, kind) for kind in kinds}
    known = plotting.looks({kind: method for kind, method in methods.items() if method in METHODS})
    if len(known) == len(kinds) and "text" not in kinds:
        return known
    return plotting.in_order(kinds) | {kind: look for kind, look in known.items() if kind == "abc"}


def _task(panels: Sequence[Axes], kinds: Mapping[str, Sequence[Run]], looks: Mapping[str, Look]) -> None:
    """The panels of a task: exact match, then edit distance where there is a second one."""
    padded = words.padded(next(iter(kinds.values()))[0])
    labels = {kind: words.kind_label(kind, some[0], padded) for kind, some in kinds.items()}
    for axes, mode, metric in zip(panels, ("teacher_forced", "free_running"), ("correct", "edit"), strict=False):
        points = {kind: plotting.scores([run.grid for run in some], mode, metric) for kind, some in kinds.items()}
        plotting.lines(axes, points, looks, labels, interval=metric == "correct")
        axes.set_xlabel(plotting.length_axis(next(iter(kinds.values()))[0]))
        plotting.trained_band(axes, (1, max(words.trained(run) for some in kinds.values() for run in some)))
    panels[0].set_ylabel("Exact match")
    if len(panels) > 1:
        panels[1].set_ylabel("Edit distance per output token")


# -- Table 2 -----------------------------------------------------------------------------------------------


def table2(runs: Runs) -> Figure:
    """Table 2: whether the vanilla model interpolates and extrapolates, task by task, at a stated threshold."""
    shown = {words.named(name).task: some for name, some in runs.items() if some}
    if not shown:
        return plotting.empty(runs)
    figure = Figure(figsize=(6.4, 0.62 * max(len(shown), 2) + 0.9), layout="constrained")
    axes = figure.subplots()
    values = np.array([[median(column) for column in zip(*map(_ranges, some), strict=True)] for some in shown.values()])
    verdicts = [[_verdict(column, value) for column, value in enumerate(row)] for row in values]
    plotting.heat_table(axes, values, verdicts, rows=[_row(*item) for item in shown.items()], columns=COLUMNS)
    axes.tick_params(top=False, labeltop=True, labelbottom=False)
    for edge in range(1, len(shown)):
        axes.axhline(edge - 0.5, color="white", linewidth=2)
    for edge in range(1, len(COLUMNS)):
        axes.axvline(edge - 0.5, color="white", linewidth=2)
    note = f"Exact match over all tested examples of the range. Interpolates, extrapolates: at least {THRESHOLD:.0%}."
    plotting.footnote(figure, note, *plotting.absent(runs))
    return figure


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
    return f"{100 * value:.1f} %\n{sentence}".rstrip()


def _row(task: str, runs: Sequence[Run]) -> str:
    longest = max(cell[0] for cell in runs[0].grid.scores)
    trained = words.trained(runs[0])
    return f"{words.TASKS[task]}\ntrained to {trained}, tested to {longest}\n{plotting.seeds(len(runs))}"
