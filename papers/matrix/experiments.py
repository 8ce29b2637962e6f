"""Every cell of the matrix: each trick on each task, at each size, and its figures; plain data, no torch."""

import inspect

from lengen.experiment import PROFILES, TABLE, Experiment, Figure, figure_of
from lengen.part import SettingError
from lengen.settings.spec import validate
from papers.matrix.settings import TASKS, ChosenSpec, budgeted, plain
from papers.matrix.tricks import TRICKS

UNPUBLISHED = "no publication has this setting: one model and one budget for every trick are this suite's own"
HOURS = "minutes a cell, hours for the matrix: a night has it"
QUICK = ("copy", "successor")
"""Tasks that the cpu profile has."""
BRIEF = ("plain", "learned", "rope", "coupled")
"""Tricks that a cpu run of the whole matrix takes."""
SMOKE_TOKENS = 400
CLAIMS = {name: (inspect.getdoc(trick) or "").split("\n")[0] for name, trick in TRICKS.items()}
"""Description of each trick: the first line of its docstring."""


def cell(task: str, trick: str, profile: str) -> ChosenSpec:
    """Return a trick on a task at a size; raises `SettingError` if it makes no sense."""
    row = TASKS[task]
    spec = TRICKS[trick](plain(row, profile))
    spec = budgeted(spec, SMOKE_TOKENS if profile == "smoke" else row.tokens)
    if profile == PROFILES[0]:  # what makes no sense makes none at any size; `list` builds hundreds of cells
        validate(spec)
    return spec


def entry(task: str, trick: str) -> Experiment:
    """Return the experiment of a cell; a refused one has no size, and says why."""
    specs: dict[str, ChosenSpec] = {}
    absent = {"paper": UNPUBLISHED}
    for profile in (name for name in PROFILES if name != "paper"):
        if profile == "cpu" and task not in QUICK:
            absent[profile] = HOURS
            continue
        try:
            specs[profile] = cell(task, trick, profile)
        except SettingError as error:
            reason, *_ = str(error).split("; ")  # what to set instead is no advice if nobody sets anything
            absent = dict.fromkeys(PROFILES, f"refused: {reason}")
            specs = {}
            break
    return Experiment(
        name=f"matrix/{task}/{trick}",
        claim=CLAIMS[trick],
        place=f"papers/matrix/tricks: {trick}",
        specs=specs,
        skip={**({} if trick in BRIEF or "cpu" not in specs else {"cpu": HOURS}), **absent},
        seeds=3,
        at={"trick": trick},
    )


EXPERIMENTS: tuple[Experiment, ...] = tuple(entry(task, trick) for task in TASKS for trick in TRICKS)

REFUSED = tuple(item.name for item in EXPERIMENTS if not item.specs)
"""Cells that make no sense: they have no size at all."""

OWN = "papers.matrix.figures"
SHORT = "First column: the trained lengths that were tested, together; learned is judged at the longest."
ZEROS = " The answer 0 is right in a tenth of the problems."
FIGURES: tuple[Figure, ...] = (
    figure_of(
        "reach", "How far each trick carries each task", f"{OWN}:matrix", EXPERIMENTS, csv="papers.matrix.scores:csv",
        caption="Solved multiple of the trained length, or of the most trained operands: exact match of at least 0.9 "
        "there and at all shorter lengths. 1: no longer one. Medians are over all seeds. Grey: fewer than half "
        "of the seeds have learned. White: the trick makes no sense for the task, or is not built for it.",
    ),
    figure_of(
        "aggregates", "Tricks over tasks, beyond the trained range", f"{OWN}:aggregates", EXPERIMENTS,
        csv="papers.matrix.scores:aggregate_table",
        caption="Left: interquartile mean over tasks and seeds of accuracy beyond the range, above guessing. Right: "
        "probability to beat the plain decoder on the tasks that both learned. In brackets: tasks learned, of those "
        "that ran; rows compare only if they rest on the same ones. Bars: 95 % stratified bootstrap over seeds, too "
        "narrow with three; of seeds as many as every cell has. Of parity an answer bit counts above guessing and a "
        "whole scratchpad as it is.",
        seeds="each",
    ),
    *(
        figure_of(task, f"{row.name[0].upper()}{row.name[1:]}, every trick by length", TABLE,
                  tuple(item for item in EXPERIMENTS if item.figure == task),
                  caption=SHORT + ZEROS * (task == "n-by-one"))
        for task, row in TASKS.items()
    ),
)  # fmt: skip
