"""Roles of lengths in a run, and Table 4.3 as numbers: runs of every width, data size and mixture. No torch.

A cell of the table is the mean and the sample deviation of the accuracies of all its runs (widths x seeds), with
their number: the published grid is not balanced, so neither says much without it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from lengen.experiment import Runs
from lengen.results.records import Run

# Everything is read from the specification a run was made from, because smaller profiles train other sizes under the
# same names.


ROLES = {"trained": "trained", "gap": "left out", "longer": "longer"}
"""Roles of a tested length, and the word for each."""


def trained(run: Run) -> tuple[int, ...]:
    """Return the digits of the operands in training, ascending."""
    return run.trained.every


def tested(run: Run) -> tuple[int, ...]:
    """Return the digits of the operands in the tests, ascending."""
    return tuple(sorted(run.spec.test.lengths))


def role(run: Run, length: int) -> str:
    """Return the role, one of `ROLES`."""
    known = trained(run)
    return "trained" if length in known else "longer" if length > known[-1] else "gap"


def tested_trained(run: Run) -> tuple[int, ...]:
    """Return the tested lengths that were trained, ascending."""
    return tuple(length for length in tested(run) if role(run, length) == "trained")


def groups(run: Run) -> list[tuple[int, ...]]:
    """Return the lengths that are shown together: all trained ones, then every other one by itself."""
    inside = tested_trained(run)
    return [group for group in (inside, *((length,) for length in tested(run) if length not in inside)) if group]


MODES = {"teacher_forced": "greedy", "sampled": "sampled"}
"""Modes of writing a response: the most probable token each time, or drawn at temperature 1, as published."""
KINDS = ("add", "mix")
IDENTITY = ("experiment", "profile", "seed", "version")
"""Columns that identify a run."""
HEADER = ("examples", "training", "lengths", "role", "mode", "mean_percent", "deviation_percent", "runs", "widths")


class Row(NamedTuple):
    """One cell of Table 4.3."""

    examples: int
    """Return the size of the training set."""
    training: str
    """add: additions only; mix: a fifth of each sub-task."""
    lengths: tuple[int, ...]
    """Return the digits of the tested operands; several where all trained lengths count together."""
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
    return KINDS[len(getattr(run.spec.data.format, "names", ())) > 1]


def examples(run: Run) -> int:
    """Return the size of a run's training set."""
    return run.spec.data.examples


def width(run: Run) -> int:
    """Return the width of a run's model."""
    return run.spec.model.width


def distinct(runs: Runs) -> list[Run]:
    """Return every run once: experiments with equal specifications share theirs."""
    by_key = {(run.experiment, run.seed, run.version, run.store): run for group in runs.values() for run in group}
    return list(by_key.values())


def rows(runs: Runs) -> list[Row]:
    """Return every cell with a run, by data size, add before mix, trained lengths together, greedy before sampled."""
    if not (every := distinct(runs)):
        return []
    frame = pd.concat(map(_tested, every))
    sums = frame.groupby([*CELL, *IDENTITY, "width"], observed=True)[["correct", "n"]].sum()
    accuracy = (sums["correct"] / sums["n"]).dropna().reset_index(name="accuracy")
    cells = accuracy.groupby(CELL, observed=True)["accuracy"].agg(["mean", "std", "size"])
    cells["widths"] = accuracy.groupby(CELL, observed=True)["width"].nunique()
    cells = cells.reset_index().assign(other=lambda table: table["role"] != "trained")
    cells = cells.sort_values(["examples", "training", "other", "lengths", "mode"]).drop(columns="other")
    return [Row(*cell) for cell in cells.itertuples(index=False)]


CELL = ["examples", "training", "lengths", "role", "mode"]
"""Columns that identify a cell of the table."""


def _tested(run: Run) -> pd.DataFrame:
    """Return the counts of one run with the columns of `CELL`.

    They say whose lengths are shown together, and how they were written.
    """
    group = {length: lengths for lengths in groups(run) for length in lengths}
    scored = [(cell[0], mode, counts) for cell, mode, counts in run.grid.entries() if mode in MODES]
    cells = [(group[n], role(run, n), MODES[mode], k["correct"], k["n"]) for n, mode, k in scored if n in group]
    frame = pd.DataFrame(cells, columns=["lengths", "role", "mode", "correct", "n"])
    frame = frame.assign(**{name: getattr(run, name) for name in IDENTITY}, examples=examples(run), width=width(run))
    kinds, modes = pd.Categorical([kind(run)] * len(frame), KINDS), pd.Categorical(frame["mode"], MODES.values())
    return frame.assign(training=kinds, mode=modes)


def to_csv(table: Sequence[Row]) -> str:
    """Return the rows under `HEADER`, as CSV text.

    Per cent with three decimals, lengths separated by spaces, no deviation for one run.
    """
    frame = pd.DataFrame(table, columns=HEADER)
    frame["lengths"] = [" ".join(map(str, row.lengths)) for row in table]
    frame[["mean_percent", "deviation_percent"]] *= 100
    return str(frame.to_csv(index=False, float_format="%.3f", lineterminator="\n"))
