"""Table 4.3 as numbers: runs of every width, data size and mixture go in; rows and CSV leave. No torch.

A cell of the table is the mean and the sample deviation of the accuracies of all its runs (widths x seeds), with
their number: the published grid is not balanced, so neither says much without it.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from lengen import plotting
from lengen.paper.experiment import Runs
from lengen.results.records import Run
from papers.random_spaces import lengths as by_length

MODES = {"teacher_forced": "greedy", "sampled": "sampled"}
"""Modes of writing a response: the most probable token each time, or drawn at temperature 1, as published."""
KINDS = ("add", "mix")
IDENTITY = ("experiment", "profile", "seed", "version")
"""Columns that identify a run."""
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
    """Role of the lengths for the models: trained, gap or longer."""
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
    """Return the kind of training set of a run: additions only, or the mixture of sub-tasks."""
    return KINDS[len(getattr(plotting.spec_of(run).data.format, "names", ())) > 1]


def examples(run: Run) -> int:
    """Size of a run's training set."""
    return plotting.spec_of(run).data.examples


def width(run: Run) -> int:
    """Width of a run's model."""
    return plotting.spec_of(run).model.width


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


def distinct(runs: Runs) -> list[Run]:
    """Return every run once: experiments with equal specifications share theirs."""
    found = {(run.experiment, run.seed, run.version, run.store): run for some in runs.values() for run in some}
    return list(found.values())


def rows(runs: Runs) -> list[Row]:
    """Every cell that has a run, by data size, add before mix, trained lengths together, greedy before sampled."""
    if not (every := distinct(runs)):
        return []
    frame = pd.concat(map(_tested, every))
    sums = frame.groupby([*CELL, *IDENTITY, "width"], observed=True)[["correct", "n"]].sum()
    accuracy = (sums["correct"] / sums["n"]).dropna().reset_index(name="accuracy")
    cells = accuracy.groupby(CELL, observed=True)["accuracy"].agg(["mean", "std", "size"])
    cells["widths"] = accuracy.groupby(CELL, observed=True)["width"].nunique()
    cells = cells.reset_index().assign(other=lambda found: found["role"] != "trained")
    cells = cells.sort_values(["examples", "training", "other", "lengths", "mode"]).drop(columns="other")
    return [Row(*cell) for cell in cells.itertuples(index=False)]


CELL = ["examples", "training", "lengths", "role", "mode"]
"""Columns that identify a cell of the table."""


def _tested(run: Run) -> pd.DataFrame:
    """The counts of one run with the columns of `CELL`: whose lengths are shown together, and how they were written."""
    group = {length: lengths for lengths in by_length.groups(run) for length in lengths}
    cells = [
        (group[length], by_length.role(run, length), MODES[mode], counts["correct"], counts["n"])
        for (length, *_), modes in run.grid.scores.items()
        for mode, counts in modes.items()
        if mode in MODES and length in group
    ]
    frame = pd.DataFrame(cells, columns=["lengths", "role", "mode", "correct", "n"])
    return frame.assign(
        **{name: getattr(run, name) for name in IDENTITY},
        examples=examples(run),
        training=pd.Categorical([kind(run)] * len(frame), KINDS),
        width=width(run),
        mode=pd.Categorical(frame["mode"], MODES.values()),
    )


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
    frame = pd.DataFrame(found, columns=HEADER)
    frame["lengths"] = [" ".join(map(str, row.lengths)) for row in found]
    frame[["mean_percent", "deviation_percent"]] *= 100
    return frame.to_csv(index=False, float_format="%.3f", lineterminator="\n")
