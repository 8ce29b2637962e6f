"""Every cell of the matrix, trick by task, and its figures; plain data, no torch."""

import inspect

from lengen.experiment import PROFILES, TABLE, Experiment, Figure, figure_of
from lengen.part import SettingError
from lengen.settings.spec import validate
from papers.matrix.settings import TASKS, CellSpec, plain
from papers.matrix.tricks import CONTROLS, LEFT_OUT, TRICKS

UNPUBLISHED = "no publication has this setting: one model and one budget for every trick are this suite's own"
HOURS = "a night has it"
QUICK = ("copy/plain", "copy/index_hints", "successor/plain", "successor/window")
"""Cells that the cpu profile has: two controls with their baselines, as a night trains them."""


def cell(task: str, trick: str, profile: str) -> CellSpec:
    """Return a trick on a task at a size; raises `SettingError` if it makes no sense."""
    if trick in LEFT_OUT and CONTROLS[trick].task != task:
        raise SettingError("the published effect of the trick does not show under this budget")
    spec = TRICKS[trick](plain(task, profile))
    if profile == PROFILES[0]:  # what makes no sense makes none at any size; `list` builds hundreds of cells
        validate(spec)
    return spec


def entry(task: str, trick: str) -> Experiment:
    """Return the experiment of a cell; a refused one has no size, and says why."""
    specs, skip = {}, {"paper": UNPUBLISHED}
    try:
        for profile in ("smoke", "cpu", "night"):
            if profile == "cpu" and f"{task}/{trick}" not in QUICK:
                skip[profile] = HOURS
            else:
                specs[profile] = cell(task, trick, profile)
    except SettingError as error:
        reason, *_ = str(error).split("; ")  # what to set instead is no advice if nobody sets anything
        specs, skip = {}, dict.fromkeys(PROFILES, f"refused: {reason}")
    return Experiment(
        name=f"matrix/{task}/{trick}", claim=(inspect.getdoc(TRICKS[trick]) or "").split("\n")[0],
        place=f"papers/matrix/tricks.py: {trick}", specs=specs, skip=skip, seeds=4, repeats={"night": 4},
        at={"trick": trick},
    )  # fmt: skip


EXPERIMENTS: tuple[Experiment, ...] = tuple(entry(task, trick) for task in TASKS for trick in TRICKS)

OWN = "papers.matrix.special_plots"
CONTROLLED = {f"matrix/{of.task}/{name}" for trick, of in CONTROLS.items() for name in (trick, of.against)}
FIGURES: tuple[Figure, ...] = (
    figure_of(
        "controls", "Each trick on its own task", f"{OWN}:controls",
        tuple(item for item in EXPERIMENTS if item.name in CONTROLLED), seeds="each",
        caption="Solved: exact match of at least 0.9 there and at all shorter lengths. Shown: beyond the trained "
        "length, to three times of it, four or more seeds have more right than those of the baseline (exact "
        "permutation test, p at most 0.025). "
        "Hollow: the longest length of the source, where one was at hand.",
    ),
    figure_of(
        "reach", "Which trick helps which task", f"{OWN}:reach", EXPERIMENTS,
        caption="Medians over seeds. C-RASP: whether theory expects a decoder to go further than it was trained. "
        "White: the trick makes no sense for the task, is not built for it, or does not show on its own task.",
    ),
    *(
        figure_of(task, f"{task}, every trick by length", TABLE,
                  tuple(item for item in EXPERIMENTS if item.figure == task), measure="final")
        for task in TASKS
    ),
)  # fmt: skip
