"""The paper's figures, one function each: finished runs go in, a matplotlib Figure leaves.

Every function takes a mapping from the name of an experiment to its runs, one per seed. Here are accuracies by
length; attention maps, bias matrices and windows have files of their own. Experiments without a run are named
below the figure.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lengen import plotting
from lengen.intervals import median
from lengen.records import Run
from papers.bias_calibration.figures import words as titles
from papers.bias_calibration.figures.attention import fig2, fig8, fig9
from papers.bias_calibration.figures.biases import bias_matrices, fig6
from papers.bias_calibration.figures.windows import windows

__all__ = [
    "bases",
    "bias_matrices",
    "calibration",
    "fig1",
    "fig2",
    "fig6",
    "fig8",
    "fig9",
    "listops",
    "table2",
    "table3",
    "windows",
]

Runs = Mapping[str, Sequence[Run]]
Task = Mapping[str, Sequence[Run]]
"""Runs of one task by kind of model."""

NUMBERS = {
    **dict.fromkeys(("abc", "cyclic", "sm", "4"), 0),
    **dict.fromkeys(("vanilla", "max", "8"), 1),
    **dict.fromkeys(("rope", "window", "min", "16", "sinusoidal"), 2),
    **dict.fromkeys(("alibi", "nope", "text"), 3),
    **dict.fromkeys(("rpe", "code"), 4),
}
"""Colour and marker of a kind, the same in every figure."""
THRESHOLD = 0.99
"""Exact match from which a model is said to interpolate, or to extrapolate: the paper's "near-perfect"."""
COLUMNS = ("At the trained lengths", "At longer ones", "At the longest tested")


# -- curves ------------------------------------------------------------------------------------------------


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


def calibration(runs: Runs) -> Figure:
    """What the choices within calibration and retraining change."""
    return _curves(runs)


def _curves(runs: Runs) -> Figure:
    """Exact match above, edit distance of the text the model writes below; side by side for a single task."""
    tasks: dict[str, dict[str, Sequence[Run]]] = {}
    for name, some in runs.items():
        if some:
            task, kind = titles.named(name)
            tasks.setdefault(task, {})[kind] = some
    single = len(tasks) <= 1
    size = (8.6, 2.9) if single else (2.6 * len(tasks) + 2.0, 4.9)
    figure = Figure(figsize=size, layout="constrained")
    if not tasks:
        plotting.missing(figure.subplots(), "\n".join(runs))
        return figure
    shape = (1, 2) if single else (2, len(tasks))
    grid = figure.subplots(
        *shape, squeeze=False, sharex="none" if single else "col", sharey="none" if single else "row"
    )
    for panels, (task, kinds) in zip(grid if single else grid.T, tasks.items(), strict=True):
        _task(panels, task, kinds)
        panels[0].set_title(titles.task_title(task, next(iter(kinds.values()))[0]))
        if single:
            panels[1].set_title("Written output")
        else:
            panels[0].set_xlabel("")
    for axes in grid[:, 1:].flat if not single else ():
        axes.set_ylabel("")
    lines = {label: line for axes in grid.flat for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(lines.values(), lines.keys(), loc="outside right center", frameon=False)
    seeds = sorted({len(some) for kinds in tasks.values() for some in kinds.values()})
    note = (
        f"Grey: trained lengths. Seeds of a curve: {' or '.join(map(str, seeds))}; its line is their median, its band "
        "their range, or the 95 % Wilson interval of one."
    )
    plotting.footnote(figure, note, titles.absent(runs))
    return figure


def _task(panels: Sequence[Axes], task: str, kinds: Task) -> None:
    """Two panels of a task: exact match, then edit distance."""
    for place, (kind, some) in enumerate(kinds.items()):
        number = NUMBERS.get(kind, 6)
        for axes, mode, metric in zip(panels, ("teacher_forced", "free_running"), ("correct", "edit"), strict=True):
            plotting.curve(
                axes,
                [run.grid for run in some],
                label=titles.kind_label(kind, some[0]),
                colour=plotting.COLOURS[number],
                marker=plotting.MARKERS[number],
                mode=mode,
                metric=metric,
            )
            # curves often coincide, at 0 or at 1: each is thinner than those below it
            thin = place / max(len(kinds) - 1, 1)
            axes.lines[-1].set(linewidth=3.0 - 1.8 * thin, markersize=7.0 - 4.0 * thin)
    panels[0].set_ylabel("Exact match")
    panels[1].set_ylabel("Edit distance per output token")
    highest = max(0.1, panels[1].get_ylim()[1])
    panels[1].set_ylim(-0.03 * highest, highest)
    for axes in panels:
        axes.set_xlabel(titles.LENGTHS.get(task, "Operand length (digits)"))
        plotting.trained_band(axes, (1, max(titles.trained(run) for some in kinds.values() for run in some)))


# -- Table 2 -----------------------------------------------------------------------------------------------


def table2(runs: Runs) -> Figure:
    """Table 2: whether the vanilla model interpolates and extrapolates, task by task, at a stated threshold."""
    shown = {titles.named(name).task: some for name, some in runs.items() if some}
    figure = Figure(figsize=(6.4, 0.62 * max(len(shown), 2) + 0.9), layout="constrained")
    axes = figure.subplots()
    if not shown:
        plotting.missing(axes, "\n".join(runs))
        return figure
    values = np.array([[median(column) for column in zip(*map(_ranges, some), strict=True)] for some in shown.values()])
    axes.imshow(values, cmap=plotting.HEAT, vmin=0, vmax=1, aspect="auto", interpolation="none")
    for (row, column), value in np.ndenumerate(values):
        axes.text(column, row, _verdict(column, value), ha="center", va="center", color="w" if value > 0.55 else "k")
    axes.set_xticks(range(len(COLUMNS)), labels=COLUMNS)
    axes.set_yticks(range(len(shown)), labels=[_row(task, some) for task, some in shown.items()])
    axes.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
    for edge in range(1, len(shown)):
        axes.axhline(edge - 0.5, color="white", linewidth=2)
    for edge in range(1, len(COLUMNS)):
        axes.axvline(edge - 0.5, color="white", linewidth=2)
    note = f"Exact match over all tested examples of the range. Interpolates, extrapolates: at least {THRESHOLD:.0%}."
    plotting.footnote(figure, note, titles.absent(runs))
    return figure


def _ranges(run: Run) -> tuple[float, float, float]:
    """Exact match within the trained lengths, beyond them, and at the longest tested."""
    lengths = sorted(cell[0] for cell in run.grid.scores)
    inside = [length for length in lengths if length <= titles.trained(run)]
    beyond = [length for length in lengths if length > titles.trained(run)]
    rates = (
        plotting.rate(run.grid.total([(length,) for length in some], "teacher_forced"), "correct")
        for some in (inside, beyond, lengths[-1:])
    )
    return next(rates), next(rates), next(rates)


def _verdict(column: int, value: float) -> str:
    if np.isnan(value):
        return "not tested"
    word = ("interpolate", "", "extrapolate")[column]
    sentence = (f"{word}s" if value >= THRESHOLD else f"does not {word}") if word else ""
    return f"{100 * value:.1f} %\n{sentence}".rstrip()


def _row(task: str, runs: Sequence[Run]) -> str:
    longest = max(cell[0] for cell in runs[0].grid.scores)
    return (
        f"{titles.TASKS[task]}\ntrained to {titles.trained(runs[0])}, tested to {longest}\n{plotting.seeds(len(runs))}"
    )
