"""A training whose model a later one of the same run reads: made once, in a folder of its own, reported as one run.

A killed run goes on in whichever training it was.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from lightning.pytorch.loggers.logger import Logger

from lengen.callbacks import METRICS, VALIDATION, read_metrics
from lengen.callbacks.clock import added
from lengen.callbacks.extra_loggers import Prefixed
from lengen.callbacks.metrics_logger import write_metrics
from lengen.models import Transformer
from lengen.results.progress import Progress
from lengen.results.whole_files import write_whole
from lengen.settings.spec import Spec
from lengen.training import run
from lengen.training.build import load
from lengen.training.kernels import of_parts

FIRST = "interpolation"
"""Folder of the first of two trainings, and prefix of its rows in metrics.csv: its model does not extrapolate yet."""
INFO = "info.json"
"""Result of a finished training, in its folder."""
Found = TypeVar("Found")


class OneRun:
    """Passes progress on, as of one training of all trainings' steps; only the last one's measurements are reported."""

    def __init__(self, report: Callable[[Progress], None], steps: int) -> None:
        self.report = report
        self.steps = steps
        self.before = 0
        """Steps of the trainings that are over."""

    def __call__(self, progress: Progress) -> None:
        training = progress.stage in ("train", "compiling")
        if training:
            progress = progress._replace(step=progress.step + self.before, steps=self.steps)
        if training or self.before:
            self.report(progress)


def execute_both(
    trainings: tuple[Spec, Spec],
    seed: int,
    folder: Path,
    report: Callable[[Progress], None],
    read: Callable[[Transformer], Found],
    give: Callable[[Transformer, Found], None],
    loggers: Sequence[Logger] = (),
) -> tuple[run.Outcome, dict[str, Any], Found]:
    """Make both trainings as one run: what is read off the first model is given to the second before it is trained.

    Returns the second one's outcome, whose seconds of training are those of both, what is known of the first, and what
    was read.
    """
    first, second = trainings
    told = OneRun(report, first.train.steps + second.train.steps)
    began = train_before(first, seed, folder / FIRST, told, loggers)
    found = read(load(first, folder / FIRST / run.WEIGHTS))
    told.before = first.train.steps
    outcome = run.execute(second, seed, folder, told, lambda model: give(model, found), loggers)
    append_metrics(folder, FIRST)
    both = round(began["seconds_training"] + outcome.info["seconds_training"], 1)
    devices = added(began.get("steps_on", {}), outcome.info["steps_on"])
    info = {"seconds_training": both, "steps_on": devices, "kernels_of": of_parts(folder)}
    return replace(outcome, info=outcome.info | info), began, found


def train_before(
    spec: Spec, seed: int, folder: Path, report: Callable[[Progress], None], loggers: Sequence[Logger] = ()
) -> dict[str, Any]:
    """Train in ``folder`` if that has not been done; what is known of the training (`lengen.training.run.Outcome`).

    ``loggers`` get its values under their names, with that of the folder before them.
    """
    done = folder / INFO
    try:
        kept = json.loads(done.read_text())
        if isinstance(kept, dict) and isinstance(kept["scalars"][VALIDATION], float):
            return kept
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
