"""A model that gets a bias calibrated from another one: two trainings that are reported as one run.

The first one is made once, in a folder of its own. A killed run goes on in whichever training it was.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from torch import Tensor

from lengen.callbacks.loggers import METRICS, VALIDATION, Loggers, Prefixed, read_metrics, write_metrics
from lengen.callbacks.monitoring import added
from lengen.data.task_data import TaskData
from lengen.models import Transformer
from lengen.results.progress import Progress, Report, write_whole
from lengen.settings.spec import Spec
from lengen.training import run
from lengen.training.compilation import of_parts
from lengen.training.model_building import load

FIRST = "interpolation"
"""Folder of the first of two trainings, and prefix of its rows in metrics.csv: its model does not extrapolate yet."""
INFO = "info.json"
"""Result of a finished training, in its folder."""
Bias = TypeVar("Bias")


def as_one(report: Report, steps: int, before: int = 0) -> Report:
    """Return a receiver that passes progress on as of one training of all trainings' ``steps``.

    Those ``before`` this one are over; only the last one's measurements are reported.
    """

    def receive(progress: Progress) -> None:
        if progress.stage in ("train", "compiling"):
            report(progress._replace(step=progress.step + before, steps=steps))
        elif before:
            report(progress)

    return receive


class Records(NamedTuple):
    """Records of a calibration, beside the scores of the second model."""

    scalars: dict[str, float]
    notes: list[str]
    arrays: dict[str, Tensor]


def execute(
    trainings: Sequence[Spec], seed: int, folder: Path, report: Report, loggers: Loggers,
    calibrate: Callable[[Transformer, TaskData], Bias], give: Callable[[Transformer, Bias], None],
    record: Callable[[Bias, dict[str, Any], dict[str, Any]], Records],
) -> run.Outcome:  # fmt: skip
    """Make both trainings as one run, whose seconds of training are those of both.

    Called again after a kill it goes on.

    Args:
        trainings: The specifications of the first and of the second.
        calibrate: Of the first model and its problems, the bias.
        give: Gives the bias to the second model before it is trained.
        record: Of the bias, and of what is known of the first and of the second training, the records.
    """
    first, second = trainings
    steps = first.train.steps + second.train.steps
    began = train_before(first, seed, folder / FIRST, as_one(report, steps), loggers)
    bias = calibrate(load(first, folder / FIRST / run.WEIGHTS), TaskData(first, seed))
    progress = as_one(report, steps, first.train.steps)
    outcome = run.execute(second, seed, folder, progress, lambda model: give(model, bias), loggers)
    append_metrics(folder, FIRST)
    records = record(bias, began, outcome.info)
    info = outcome.info | {
        "seconds_training": round(began["seconds_training"] + outcome.info["seconds_training"], 1),
        "steps_on": added(began.get("steps_on", {}), outcome.info["steps_on"]),
        "kernels_of": of_parts(folder),
        "scalars": outcome.info["scalars"] | records.scalars,
        "notes": [*outcome.info.get("notes", []), *records.notes],
    }
    arrays = {name: array.float().numpy() for name, array in records.arrays.items()}
    return replace(outcome, info=info, arrays=outcome.arrays | arrays)


def train_before(spec: Spec, seed: int, folder: Path, report: Report, loggers: Loggers = ()) -> dict[str, Any]:
    """Train in ``folder`` if that has not been done; returns the `lengen.training.run.Outcome`.

    ``loggers`` get its values under their names, with that of the folder before them.
    """
    done = folder / INFO
    try:
        info = json.loads(done.read_text())
        if isinstance(info, dict) and isinstance(info["scalars"][VALIDATION], float):
            return info
    except (OSError, ValueError, KeyError, TypeError):  # not there, or damaged: what is kept of the training goes on
        pass
    folder.mkdir(exist_ok=True)
    named = [Prefixed(logger, f"{folder.name}_") for logger in loggers]
    outcome = run.execute(spec, seed, folder, report, _open, named)
    write_whole(done, json.dumps(outcome.info))
    return outcome.info


def _open(model: Transformer) -> None:
    """Leave a bias open that the second model is given: it is made of what the first one, without it, attends to."""


def append_metrics(folder: Path, name: str) -> None:
    """Put metrics of an earlier training in ``folder / name`` behind those of ``folder``, its name before theirs."""
    rows = [row for row in read_metrics(folder / METRICS) if not row[1].startswith(name)]
    rows += [(step, f"{name}_{of}", value) for step, of, value in read_metrics(folder / name / METRICS)]
    write_metrics(folder / METRICS, rows)
