"""Table 4.3 as numbers: runs of every width, data size and mixture go in; rows, CSV and Markdown leave. No torch.

A cell of the table is the mean and the sample deviation of the accuracies of all its runs (widths x seeds), with
their number: the published grid is not balanced, so neither says much without it.
"""

import csv
import io
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lengen import plotting
from lengen.records import Run
from papers.random_spaces import lengths as by_length

Runs = Mapping[str, Sequence[Run]]
MODES = {"teacher_forced": "greedy", "sampled": "sampled"}
"""How a response was written: the most probable token each time, or drawn at temperature 1, as published."""
KINDS = ("add", "mix")
HEADER = ("examples", "training", "lengths", "role", "mode", "mean_percent", "deviation_percent", "runs", "widths")


class Row(NamedTuple):
    """One cell of Table 4.3."""

    examples: int
    """Size of the training set."""
    training: str
    """add: additions only; mix: a fifth of each sub-task."""
    lengths: tuple[int, ...]
    """Digits of the tested operands; several where all trained lengths count together."""
    role: str
    """What they are to the models: trained, gap or longer."""
    mode: str
    """greedy or sampled."""
    mean: float
    """Mean accuracy over the runs, 0 to 1."""
    deviation: float
    """Their sample standard deviation (n - 1); nan for a single run."""
    runs: int
    widths: int
    """Distinct widths among the runs."""


def kind(run: Run) -> str:
    """Whether a run was trained on additions only or on the mixture of sub-tasks."""
    return KINDS[len(plotting.setting(run, "subtasks")) > 1]


def examples(run: Run) -> int:
    """Size of a run's training set."""
    return int(plotting.setting(run, "examples"))


def width(run: Run) -> int:
    """Width of a run's model."""
    return int(plotting.setting(run, "width"))


def accuracy(run: Run, lengths: Sequence[int], mode: str) -> float:
    """Exact match over all examples of these lengths, ``mode`` a key of `MODES`; nan where none was scored so."""
    return plotting.total_rate(run.grid, lengths, mode)


def spread(found: Sequence[float]) -> tuple[float, float]:
    """Mean and sample standard deviation; nan for what too few values leave open.

    >>> spread([0.0, 0.5, 1.0])
    (0.5, 0.5)
    """
    if not found:
        return float("nan"), float("nan")
    return float(np.mean(found)), float(np.std(found, ddof=1)) if len(found) > 1 else float("nan")


def rows(runs: Runs) -> list[Row]:
    """Every cell that has a run, by data size, add before mix, trained lengths together, greedy before sampled."""
    cells: dict[tuple[int, str, tuple[int, ...], str, str], list[tuple[float, int]]] = defaultdict(list)
    for run in plotting.distinct(runs):
        for group in by_length.groups(run):
            for mode in MODES:
                measured = accuracy(run, group, mode)
                if not math.isnan(measured):
                    key = (examples(run), kind(run), group, by_length.role(run, group[0]), mode)
                    cells[key].append((measured, width(run)))
    found = []
    for key in sorted(cells, key=_order):
        accuracies, widths = zip(*cells[key], strict=True)
        size, training, group, role, mode = key
        mean, deviation = spread(accuracies)
        found.append(Row(size, training, group, role, MODES[mode], mean, deviation, len(accuracies), len(set(widths))))
    return found


def _order(key: tuple[int, str, tuple[int, ...], str, str]) -> tuple[object, ...]:
    size, training, group, role, mode = key
    return size, KINDS.index(training), role != "trained", group, list(MODES).index(mode)


def columns(found: Sequence[Row]) -> list[tuple[int, ...]]:
    """The lengths of Table 4.3: the shortest gap and the shortest longer one (published: 8 and 10 digits)."""
    chosen = (sorted({row.lengths for row in found if row.role == role})[:1] for role in ("gap", "longer"))
    return [lengths for some in chosen for lengths in some]


def cell(found: Sequence[Row], size: int, training: str, lengths: Sequence[int], mode: str) -> Row | None:
    """One cell, if it has a run."""
    key = (size, training, tuple(lengths), mode)
    return next((row for row in found if (row.examples, row.training, row.lengths, row.mode) == key), None)


def improvement(found: Sequence[Row], lengths: Sequence[int], mode: str) -> float:
    """Mean over data sizes of mix minus add, over the sizes that have both; nan without any (the table's last row)."""
    pairs = [
        tuple(cell(found, size, training, lengths, mode) for training in KINDS)
        for size in sorted({row.examples for row in found})
    ]
    return spread([mix.mean - add.mean for add, mix in pairs if add is not None and mix is not None])[0]


def text(row: Row) -> str:
    """A cell in words, per cent.

    >>> text(Row(10_000, "mix", (8,), "gap", "greedy", 0.354, 0.396, 12, 7))
    '35.4 ± 39.6 (n = 12)'
    """
    deviation = "" if math.isnan(row.deviation) else f" ± {100 * row.deviation:.1f}"
    return f"{100 * row.mean:.1f}{deviation} (n = {row.runs})"


def to_csv(found: Sequence[Row]) -> str:
    """Rows under `HEADER`; per cent with three decimals, lengths separated by spaces, no deviation for one run."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    for row in found:
        deviation = "" if math.isnan(row.deviation) else f"{100 * row.deviation:.3f}"
        lengths = " ".join(map(str, row.lengths))
        start, end = (row.examples, row.training, lengths, row.role, row.mode), (row.runs, row.widths)
        writer.writerow([*start, f"{100 * row.mean:.3f}", deviation, *end])
    return out.getvalue()


def to_markdown(found: Sequence[Row]) -> str:
    """Table 4.3, once for each way of writing responses that was measured."""
    shown = columns(found)
    sizes = sorted({row.examples for row in found})
    titled = [f"{plotting.spans(lengths)} digits, {training}" for lengths in shown for training in KINDS]
    parts = []
    for mode in MODES.values():
        if not any(row.mode == mode for row in found):
            continue
        lines = [f"| {mode} | {' | '.join(titled)} |", "|---" * (len(titled) + 1) + "|"]
        for size in sizes:
            cells = [cell(found, size, training, lengths, mode) for lengths in shown for training in KINDS]
            lines.append(f"| {by_length.examples(size)} | {' | '.join(text(row) if row else '–' for row in cells)} |")
        gains = [improvement(found, lengths, mode) for lengths in shown]
        ends = " | ".join("| –" if math.isnan(gain) else f"| **{100 * gain:+.1f}**" for gain in gains)
        parts.append("\n".join([*lines, f"| Improvement | {ends} |"]))
    return "\n\n".join(parts) + "\n" if parts else ""
