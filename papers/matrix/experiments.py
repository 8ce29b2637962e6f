"""Every cell of the matrix, trick by task, and its figures; plain data, no torch."""

import inspect

from lengen.experiment import Experiment
from lengen.part import SettingError
from lengen.settings.spec import validate
from papers.matrix.settings import TASKS, CellSpec, plain
from papers.matrix.tricks import TRICKS

UNPUBLISHED = "no publication has this setting: one model and one budget for every trick are this suite's own"
CLAIMS = {name: (inspect.getdoc(trick) or "").split("\n")[0] for name, trick in TRICKS.items()}
"""Description of each trick: the first line of its docstring."""


def cell(task: str, trick: str, profile: str) -> CellSpec:
    """Return a trick on a task at a size; raises `SettingError` if it makes no sense."""
    spec = TRICKS[trick](plain(task, profile))
    validate(spec)
    return spec


def entry(task: str, trick: str) -> Experiment:
    """Return the experiment of a cell; a refused one has no size, and says why."""
    absent = {"paper": UNPUBLISHED, "cpu": UNPUBLISHED}
    try:
        specs = {profile: cell(task, trick, profile) for profile in ("smoke", "night")}
    except SettingError as error:
        specs, absent = {}, dict.fromkeys(("smoke", "cpu", "night", "paper"), f"refused: {error}")
    return Experiment(
        name=f"matrix/{task}/{trick}",
        claim=CLAIMS[trick],
        place=f"papers/matrix/tricks.py: {trick}",
        specs=specs,
        skip=absent,
        seeds=4,
        repeats={"night": 4},
        at={"trick": trick},
    )


EXPERIMENTS: tuple[Experiment, ...] = tuple(entry(task, trick) for task in TASKS for trick in TRICKS)
FIGURES = ()
