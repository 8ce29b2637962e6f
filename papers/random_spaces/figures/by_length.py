"""Figure 4.5, settings side by side, and the looped decoder of Section 2.1.3: exact match by length."""

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from lengen import plotting
from lengen.plotting import METHODS, NONE, Published, Runs, first, setting
from lengen.records import Run
from papers.random_spaces import lengths
from papers.random_spaces.figures import words


class Line(NamedTuple):
    """A row of Figure 4.5: a setting and how its responses are scored."""

    runs: Sequence[Run]
    label: str
    mode: str = "teacher_forced"
    metric: str = "correct"


def fig4_5(runs: Runs, published: Published = NONE) -> Figure:
    """Figure 4.5: exact match of every setting, all trained lengths together, then every other length by itself; ours
    and, beside it, what is published.

    A scratchpad has two rows: the whole response, and its final answer as the model writes it.
    """
    held = {name: _lines(some) for name, some in runs.items() if some}
    lines = [line for some in held.values() for line in some]
    if not lines:
        return plotting.empty(runs, words=words.SLUGS)
    run = first(runs)
    groups = list(dict.fromkeys(group for line in lines for group in lengths.groups(line.runs[0])))
    groups.sort(key=lambda group: (lengths.role(run, group[0]) != "trained", group))
    found = [[_rates(line, group) for group in groups] for line in lines]
    beside = [
        [
            _printed(plotting.published.of(published, name), run, group) if line.metric == "correct" else np.nan
            for group in groups
        ]
        for name, some in held.items()
        for line in some
    ]
    panels = 1 + (not np.isnan(beside).all())
    figure = Figure(figsize=((0.85 * panels + 0.2) * len(groups) + 3.0, 0.46 * len(lines) + 1.9), layout="constrained")
    ours, *theirs = figure.subplots(1, panels, sharey=True, squeeze=False)[0]
    medians = np.array([[median(rates) if rates else np.nan for rates in row] for row in found])
    cells = [[_cell(rates) for rates in row] for row in found]
    columns = [lengths.group_label(run, group) for group in groups]
    names = [line.label for line in lines]
    grey = [k for k, line in enumerate(lines) if plotting.unlearned(line.runs)]
    plotting.heat_table(ours, medians, cells, rows=names, columns=columns, size=7.5, hatched=True, unlearned=grey)
    ours.set_title("Ours")
    for axes in theirs:
        values = np.array(beside)
        printed = [["" if np.isnan(value) else f"{100 * value:g}" for value in row] for row in beside]
        plotting.heat_table(axes, values, printed, rows=names, columns=columns, size=7.5, hatched=True)
        axes.set_title("Published")
    inside = [k for k, group in enumerate(groups) if lengths.role(run, group[0]) == "trained"]
    for axes in (ours, *theirs):
        if inside:
            plotting.outline(axes, inside[0], 0, len(inside), len(lines))
        axes.tick_params(axis="x", labelsize=6.5)
    scale = figure.colorbar(plotting.heat_scale(), ax=[ours, *theirs], shrink=0.9, aspect=25)
    scale.set_label("Exact match")
    plotting.found(figure, plotting.over_seeds(_found(lines, groups, medians), runs.values()))
    sizes = dict.fromkeys(plotting.size(line.runs[0]) for line in lines)
    note = (
        "Per cent of all problems of a cell: the median over seeds and, below where they differ, their range. Red: "
        f"trained lengths, together. {'; '.join(sizes)}. {plotting.seeds_note(runs, lines=False)} "
        f"{'Published: at the same distance from the longest trained length; hatched: no value. ' if theirs else ''}"
        f"{plotting.RULE if any(plotting.unlearned(line.runs) for line in lines) else ''}"
    )
    plotting.footnote(figure, note, *plotting.absent(runs, words.SLUGS))
    return figure


def _printed(values: Sequence[plotting.Value], run: Run, group: Sequence[int]) -> float:
    """What is published of lengths that are to the published model what ``group`` is to ours; nan where nothing is."""
    longest = lengths.trained(run)[-1]
    for value in values:
        if value.region == "in_range" and lengths.role(run, group[0]) == "trained":
            return value.value
        alone = value.lengths[0] == value.lengths[1] and value.region != "in_range"
        if alone and len(group) == 1 and value.lengths[1] - value.trained[0] == group[0] - longest:
            return value.value
    return float("nan")


def _found(lines: Sequence["Line"], groups: Sequence[Sequence[int]], medians: np.ndarray) -> str:
    """Who is right at the length that was left out, and at the next longer one; of those that have learned."""
    told = []
    for role, place in (("gap", "At the length that was left out"), ("longer", "one digit longer than trained")):
        k = next((k for k, group in enumerate(groups) if lengths.role(lines[0].runs[0], group[0]) == role), None)
        if k is not None:
            reached = {
                words.label(line.runs[0]).removeprefix("Absolute positions, "): float(row[k])
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
