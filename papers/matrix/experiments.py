"""Every cell of the matrix: each trick on each task, at each size; plain data, no torch."""

import inspect

from lengen.config.experiment import PROFILES, Experiment, Figure, figure_of
from lengen.config.part import SettingError
from lengen.config.spec import check
from lengen.paper import later
from papers.matrix.settings import budgeted, plain
from papers.matrix.spec import ChosenSpec
from papers.matrix.tasks import TASKS
from papers.matrix.tricks import TRICKS

UNPUBLISHED = "no publication has this setting: one model and one budget for every trick are this suite's own"
HOURS = "minutes a cell, hours for the matrix: a night has it"
QUICK = ("copy", "successor")
"""Tasks that the cpu profile has."""
BRIEF = ("plain", "learned", "rope", "coupled")
"""Tricks that a cpu run of the whole matrix takes."""
SMOKE_TOKENS = 400
CLAIMS = {name: (inspect.getdoc(trick) or "").split("\n")[0] for name, trick in TRICKS.items()}
"""What each trick is, by the first line of its docstring."""


def cell(task: str, trick: str, profile: str) -> ChosenSpec:
    """A trick on a task at a size; raises `SettingError` where it makes no sense."""
    row = TASKS[task]
    spec = TRICKS[trick](plain(row, profile))
    spec = budgeted(spec, SMOKE_TOKENS if profile == "smoke" else row.tokens)
    if profile == PROFILES[0]:  # what makes no sense makes none at any size; `list` builds hundreds of cells
        check(spec)
    return spec


def entry(task: str, trick: str) -> Experiment:
    """The experiment of a cell; a refused one has no size, and says why."""
    specs: dict[str, ChosenSpec] = {}
    absent = {"paper": UNPUBLISHED}
    for profile in (name for name in PROFILES if name != "paper"):
        if profile == "cpu" and task not in QUICK:
            absent[profile] = HOURS
            continue
        try:
            specs[profile] = cell(task, trick, profile)
        except SettingError as error:
            reason, *_ = str(error).split("; ")  # what to set instead is no advice where nobody sets anything
            absent = dict.fromkeys(PROFILES, f"refused: {reason}")
            specs = {}
            break
    return Experiment(
        name=f"matrix/{task}/{trick}",
        claim=CLAIMS[trick],
        place=f"papers/matrix/tricks: {trick}",
        specs=specs,
        absent=absent,
        extra={} if trick in BRIEF or "cpu" not in specs else {"cpu": HOURS},
        seeds=3,
    )


EXPERIMENTS: tuple[Experiment, ...] = tuple(entry(task, trick) for task in TASKS for trick in TRICKS)


def refused(experiment: Experiment) -> bool:
    """Whether a trick makes no sense for a task: it has no size at all."""
    return not experiment.specs


REFUSED = tuple(item.name for item in EXPERIMENTS if refused(item))


_figures = later("papers.matrix.figures")
"""The drawing functions, loaded when a figure is drawn: matplotlib takes longer than everything here."""
_scores = later("papers.matrix.scores")
"""What the cells say, loaded when it is asked for."""
_aggregates = later("papers.matrix.aggregates")
"""What the tricks come to over tasks, loaded when it is asked for."""
FIGURES: tuple[Figure, ...] = (
    figure_of(
        "reach",
        "How far each trick carries each task beyond its trained length",
        lambda runs: _figures().matrix(runs, REFUSED),
        EXPERIMENTS,
        table=lambda runs: _scores().table(runs, REFUSED),
    ),
    figure_of(
        "aggregates",
        "Tricks over tasks: interquartile mean, probability of improvement, performance profiles",
        lambda runs: _figures().aggregates(runs, REFUSED),
        EXPERIMENTS,
        table=lambda runs: _aggregates().table(runs),
    ),
    *(
        figure_of(
            task,
            f"Exact match by length: {row.name}",
            lambda runs: _figures().curves(runs, REFUSED),
            tuple(item for item in EXPERIMENTS if item.figure == task),
        )
        for task, row in TASKS.items()
    ),
)
