"""Runs of the matrix: one training, or the two of a calibrated bias, then the frozen problems of the benchmark."""

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from lengen.benchmark.problems_and_answerers import evaluate
from lengen.callbacks.loggers import VALIDATION, Loggers
from lengen.data.task_data import TaskData
from lengen.model_probing import longest_problems, mean_attention, of_response
from lengen.models import Decoder, Transformer
from lengen.models.calibrated_bias import LineBias
from lengen.results.progress import Report
from lengen.results.records import Grid
from lengen.trained_model import Found, Model
from lengen.training import calibration, run
from papers.matrix.settings import CalibratedCell, CellSpec


def execute(spec: CellSpec, seed: int, folder: Path, report: Report, loggers: Loggers = ()) -> run.Outcome:
    """Train and put the frozen problems to the model; called again after a kill it goes on."""
    if isinstance(spec, CalibratedCell):
        outcome = calibrated(spec, seed, folder, report, loggers)
    else:
        outcome = run.execute(spec, seed, folder, report, loggers=loggers)
    began = time.monotonic()
    scores = evaluate(Model(Found(spec, folder / run.WEIGHTS, spec.benchmark)), spec.benchmark, spec.size)
    seconds = outcome.info["seconds_measuring"] + time.monotonic() - began
    scalars = outcome.info["scalars"] | {name: float(getattr(scores, name)) for name in ("in_range", "reach", "area")}
    info = {"seconds_measuring": round(seconds, 1), "scalars": scalars, "trained": spec.trained.size}
    return replace(outcome, grid=Grid(scores.axes, scores.scores), info=outcome.info | info)


Calibrated = tuple[torch.Tensor, dict[str, torch.Tensor]]
"""(H,) bool, True if a head has a line, and the tables of `lengen.models.calibrated_bias.LineBias`."""


def calibrated(spec: CalibratedCell, seed: int, folder: Path, report: Report, loggers: Loggers = ()) -> run.Outcome:
    """Make both trainings of a calibrated bias."""
    bias = partial(calibrate, spec, seed)
    return calibration.execute(spec.trainings(), seed, folder, report, loggers, bias, _give, _records)


def calibrate(spec: CalibratedCell, seed: int, model: Transformer, data: TaskData) -> Calibrated:
    """Set the lines of a model by its own attention, averaged over problems of the trained length, and return them."""
    chosen, lines = spec.calibration, lines_of(model)
    problems = longest_problems(data, chosen.examples, seed)
    mean = mean_attention(model, data, problems, sides=of_response(spec.data.task.longest))
    return lines.calibrate(mean["self"], mean["cross"], chosen.sigma_own, chosen.sigma_cross), lines.state_dict()


def lines_of(model: Transformer) -> LineBias:
    """Return the lines of a decoder that has some."""
    assert isinstance(model, Decoder) and model.lines is not None
    return model.lines


def _give(model: Transformer, lines: Calibrated) -> None:
    lines_of(model).load_state_dict(lines[1])


def _records(lines: Calibrated, began: dict[str, Any], info: dict[str, Any]) -> calibration.Records:
    """Return the lines, how many heads have one, and how far the first model came."""
    first = {f"{calibration.FIRST}_{VALIDATION}": began["scalars"][VALIDATION]}
    scalars = {**first, "transparent_heads": float((~lines[0]).sum())}
    return calibration.Records(scalars, [], {f"lines.{name}": table for name, table in lines[1].items()})
