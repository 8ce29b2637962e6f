"""Roles of lengths in a run, and Table 4.3 as numbers: runs of every width, data size and mixture. No torch.

A cell of the table is the mean and the sample deviation of the accuracies of all its runs (widths x seeds), with
their number: the published grid is not balanced, so neither says much without it.
"""

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


def groups(run: Run) -> list[tuple[int, ...]]:
    """Return the lengths that are shown together: all trained ones, then every other one by itself."""
    inside = tuple(length for length in tested(run) if role(run, length) == "trained")
    return [group for group in (inside, *((length,) for length in tested(run) if length not in inside)) if group]


MODES = {"teacher_forced": "greedy", "sampled": "sampled"}
"""Modes of writing a response: the most probable token each time, or drawn at temperature 1, as published."""
KINDS = ("add", "mix")
"""Training sets: additions only, or a fifth of each sub-task."""
RUN = ["experiment", "profile", "seed", "version"]
"""Columns that identify a run."""
CELL = ["examples", "training", "lengths", "role", "mode"]
"""Columns that identify a cell of the table: size and kind of the training set, tested lengths, their role, mode."""
HEADER = (*CELL, "mean_percent", "deviation_percent", "runs", "widths")


def kind(run: Run) -> str:
    """Return the kind of training set of a run: additions only, or the mixture of sub-tasks."""
    return KINDS[len(getattr(run.spec.data.format, "names", ())) > 1]


def width(run: Run) -> int:
    """Return the width of a run's model."""
    return run.spec.model.width


def distinct(runs: Runs) -> list[Run]:
    """Return every run once: experiments with equal specifications share theirs."""
    by_key = {(run.experiment, run.seed, run.version, run.store): run for group in runs.values() for run in group}
    return list(by_key.values())


def table(runs: Runs) -> pd.DataFrame:
    """Return every cell with a run, by data size, add before mix, trained lengths together, greedy before sampled.

    Columns are those of `HEADER`: mean and sample deviation (n - 1; nan for one run) of the accuracies, the number of
    runs and of distinct widths among them.
    """
    if not (every := distinct(runs)):
        return pd.DataFrame(columns=HEADER)
    frame = pd.concat(map(_tested, every))
    sums = frame.groupby([*CELL, *RUN, "width"], observed=True)[["correct", "n"]].sum()
    accuracy = (100 * sums["correct"] / sums["n"]).dropna().reset_index(name="accuracy")
    cells = accuracy.groupby(CELL, observed=True).agg(
        mean_percent=("accuracy", "mean"), deviation_percent=("accuracy", "std"), runs=("accuracy", "size"),
        widths=("width", "nunique"),
    )  # fmt: skip
    cells = cells.reset_index().assign(other=lambda table: table["role"] != "trained")
    return cells.sort_values(["examples", "training", "other", "lengths", "mode"]).drop(columns="other")


def _tested(run: Run) -> pd.DataFrame:
    """Return the counts of one run with the columns of `CELL`.

    They say whose lengths are shown together, and how they were written.
    """
    group = {length: lengths for lengths in groups(run) for length in lengths}
    scored = [(cell[0], mode, counts) for cell, mode, counts in run.grid.entries() if mode in MODES]
    cells = [(group[n], role(run, n), MODES[mode], k["correct"], k["n"]) for n, mode, k in scored if n in group]
    frame = pd.DataFrame(cells, columns=["lengths", "role", "mode", "correct", "n"])
    frame = frame.assign(
        **{name: getattr(run, name) for name in RUN}, examples=run.spec.data.examples, width=width(run)
    )
    kinds, modes = pd.Categorical([kind(run)] * len(frame), KINDS), pd.Categorical(frame["mode"], MODES.values())
    return frame.assign(training=kinds, mode=modes)


def to_csv(runs: Runs) -> str:
    """Return the table under `HEADER`, as CSV text.

    Per cent with three decimals, lengths separated by spaces, no deviation for one run.
    """
    cells = table(runs)
    cells["lengths"] = [" ".join(map(str, lengths)) for lengths in cells["lengths"]]
    return str(cells.to_csv(index=False, float_format="%.3f", lineterminator="\n"))
