"""Figure 4.5, settings side by side, and the looped decoder of Section 2.1.3: exact match by length."""

from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from lengen import plotting
from lengen.plotting import METHODS, NONE, Published, Runs, first, setting
from lengen.records import Run
from papers.random_spaces import lengths
from papers.random_spaces.figures import beside, words

TRAINED = 0.0
"""The column of all trained lengths together; the others are lengths here, whole or not."""


class Line(NamedTuple):
    """A row of Figure 4.5: a setting and how its responses are scored."""

    runs: Sequence[Run]
    label: str
    mode: str = "teacher_forced"
    metric: str = "correct"


def fig4_5(runs: Runs, published: Published = NONE) -> Figure:
    """Figure 4.5: exact match of every setting, all trained lengths together, then every other length by itself; ours
    and, beside it, what is published. A column is one multiple of the longest trained length.

    A scratchpad has two rows: the whole response, and its final answer as the model writes it.
    """
    held = {name: _lines(some) for name, some in runs.items() if some}
    lines = [line for some in held.values() for line in some]
    if not lines:
        return plotting.empty(runs, words=words.SLUGS)
    run = first(runs)
    known = {_column(run, group): group for line in lines for group in lengths.groups(line.runs[0])}
    printed = [
        _printed(plotting.published.of(published, name), run) if line.metric == "correct" else {}
        for name, some in held.items()
        for line in some
    ]
    named = {column: value for row in printed for column, value in row.items()}
    columns = sorted({*known, *named})
    found = [[_rates(line, known[column]) if column in known else [] for column in columns] for line in lines]
    wide = [len(columns), *([columns.index(max(named)) + 1] if named else [])]
    size = 0.78 * sum(wide) + 0.2 * len(columns) + 3.0, 0.46 * len(lines) + 1.9
    figure = Figure(figsize=size, layout="constrained")
    ours, *theirs = figure.subplots(1, len(wide), sharey=True, squeeze=False, width_ratios=wide)[0]
    medians = np.array([[median(rates) if rates else np.nan for rates in row] for row in found])
    cells = [[_cell(rates) for rates in row] for row in found]
    labels = [_label(run, known.get(column, ()), column, times=bool(named)) for column in columns]
    names = [line.label for line in lines]
    grey = [k for k, line in enumerate(lines) if plotting.unlearned(line.runs)]
    plotting.heat_table(ours, medians, cells, rows=names, columns=labels, size=7.5, hatched=True, unlearned=grey)
    ours.set_title("Ours")
    for axes in theirs:
        shown = columns[: wide[1]]
        values = np.array([[row[column].value if column in row else np.nan for column in shown] for row in printed])
        cells = [["" if np.isnan(value) else f"{100 * value:g}" for value in row] for row in values]
        labels = [_published_label(run, named.get(column), column) for column in shown]
        plotting.heat_table(axes, values, cells, rows=names, columns=labels, size=7.5, hatched=True)
        axes.set_title("Published")
    for axes in (ours, *theirs):
        if TRAINED in columns:
            plotting.outline(axes, columns.index(TRAINED), 0, 1, len(lines))
        axes.tick_params(axis="x", labelsize=6.5)
    scale = figure.colorbar(plotting.heat_scale(), ax=[ours, *theirs], shrink=0.9, aspect=25)
    scale.set_label("Exact match")
    roles = [lengths.role(run, known[column][0]) if column in known else "" for column in columns]
    plotting.found(figure, plotting.over_seeds(_found(lines, roles, medians), runs.values()))
    sizes = dict.fromkeys(plotting.size(line.runs[0]) for line in lines)
    note = (
        "Per cent of all problems of a cell: the median over seeds and, below where they differ, their range. Red: "
        f"trained lengths, together. {'; '.join(sizes)}. {plotting.seeds_note(runs, lines=False)} "
        f"{_beside(run, named.values())}"
        f"{plotting.RULE if any(plotting.unlearned(line.runs) for line in lines) else ''}"
    )
    plotting.footnote(figure, note, *plotting.absent(runs, words.SLUGS))
    return figure


def _column(run: Run, group: Sequence[int]) -> float:
    """What columns are ordered by: `TRAINED`, or the one length."""
    return TRAINED if lengths.role(run, group[0]) == "trained" else float(group[0])


def _printed(values: Sequence[plotting.Value], run: Run) -> dict[float, plotting.Value]:
    """Column -> what is published of it: the trained lengths together, and others alone."""
    found: dict[float, plotting.Value] = {}
    for value in values:
        outside = value.left_out or value.lengths[0] > value.trained[0]
        column = TRAINED if value.region == "in_range" else beside.place(run, value) if outside else None
        if column is not None:
            found.setdefault(column, value)
    return found


def _label(run: Run, group: Sequence[int], column: float, *, times: bool) -> str:
    """A column of ours: its lengths and what they are to the model; with ``times`` also the multiple, which stands
    alone where no length is that."""
    multiple = "to 1×" if column == TRAINED else beside.times(column, lengths.trained(run)[-1])
    said = lengths.group_label(run, group) if group else "\n"
    return f"{said}\n{multiple}" if times else said


def _published_label(run: Run, value: plotting.Value | None, column: float) -> str:
    """The same of a column of published values, in their lengths."""
    if value is None:
        return _label(run, (), column, times=True)
    longest, role = value.trained[0], "left out" if value.left_out else "longer"
    if column == TRAINED:
        return f"to {longest} digits\n(trained)\nto 1×"
    return f"{value.lengths[1]} digits\n({role})\n{beside.times(value.lengths[1], longest)}"


def _beside(run: Run, values: Iterable[plotting.Value]) -> str:
    """What the footnote says of published values."""
    pairs = [(run, value) for value in values]
    return f"Published: {beside.sizes(pairs)}. Hatched: no value. " if pairs else ""


def _found(lines: Sequence["Line"], roles: Sequence[str], medians: np.ndarray) -> str:
    """Who is right at the length that was left out, and at the next longer one; of those that have learned."""
    told = []
    for role, place in (("gap", "At the length that was left out"), ("longer", "one digit longer than trained")):
        if role in roles:
            reached = {
                words.label(line.runs[0]).removeprefix("Absolute positions, "): float(row[roles.index(role)])
                for line, row in zip(lines, medians, strict=True)
                if plotting.has_learned(line.runs) and line.metric == "correct"
            }
            if best := plotting.ranked(reached, 1):
                told.append(f"{place}: {best}")
    return "; ".join(told)


def _lines(runs: Sequence[Run]) -> list[Line]:
    label = words.label(runs[0]).replace(", ", ",\n", 1)
    lacking = f"\n({plotting.unlearned(runs)})" if plotting.unlearned(runs) else ""
    if not setting(runs[0], "scratchpad"):
        return [Line(runs, label + lacking)]
    return [
        Line(runs, f"{label} (whole){lacking}"),
        Line(runs, f"{label} (final answer)", "free_running", "answer_correct"),
    ]


def _rates(line: Line, group: Sequence[int]) -> list[float]:
    """One rate per seed that scored the lengths."""
    rates = [plotting.total_rate(run.grid, group, line.mode, line.metric) for run in line.runs]
    return [rate for rate in rates if not np.isnan(rate)]


def _cell(rates: Sequence[float]) -> str:
    """The median in per cent, with the range below where the seeds differ."""
    if not rates:
        return ""
    middle = f"{100 * median(rates):.1f}"
    return f"{middle}\n({100 * min(rates):.1f}–{100 * max(rates):.1f})" if min(rates) < max(rates) else middle


def looped(runs: Runs) -> Figure:
    """Section 2.1.3: exact match by length of the looped decoder, with and without input injection."""
    shown = {name: some for name, some in runs.items() if some}
    if not shown:
        return plotting.empty(runs, words=words.SLUGS)
    figure = Figure(figsize=(5.6, 3.2), layout="constrained")
    axes = figure.subplots()
    methods = {name: "uninjected" if setting(some[0], "inject") == "none" else "input" for name, some in shown.items()}
    labels = {
        name: "\n".join(filter(None, [METHODS[method].name, plotting.unlearned(shown[name])]))
        for name, method in methods.items()
    }
    points = {name: plotting.scores([run.grid for run in some]) for name, some in shown.items()}
    plotting.lines(axes, points, plotting.looks(methods), labels)
    run = first(shown)
    plotting.trained_lengths(axes, lengths.tested_trained(run))
    plotting.percent(axes)
    axes.set(xlabel=plotting.length_axis(run), ylabel="Exact match")
    axes.set_xticks(lengths.tested(run))
    plotting.legend(figure, [axes])
    learned = {METHODS[methods[name]].name: some for name, some in shown.items() if plotting.has_learned(some)}
    longest = lengths.tested(run)[-1]
    reached = {
        name: median([plotting.total_rate(one.grid, [longest]) for one in some]) for name, some in learned.items()
    }
    told = f"At {longest} digits the looped decoder is right {plotting.ranked(reached)}" if reached else ""
    told = plotting.over_seeds(told, learned.values())
    plotting.found(figure, told or "No looped decoder has learned its trained lengths")
    note = (
        f"{words.label(run)}, {plotting.size(run)}. Grey: trained lengths. "
        f"{plotting.seeds_note(shown, interval=True)} {plotting.BESIDE_NOTE}"
    )
    plotting.footnote(figure, note, *plotting.absent(runs, words.SLUGS))
    return figure
