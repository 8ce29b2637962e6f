"""A cell with a calibrated bias: train to interpolate, calibrate attention, train another model with the bias.

A `CalibratedSpec` enters; the scores of the second model leave, with what is known of the first and of the bias.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from lightning.pytorch.loggers.logger import Logger

from lengen.callbacks import VALIDATION
from lengen.data.task_data import TaskData
from lengen.decoding.mean_attention import longest_problems, mean_attention, of_response
from lengen.models import Decoder, Transformer
from lengen.models.line_bias import LineBias
from lengen.results.progress import Progress
from lengen.training import calibration
from lengen.training.run import Outcome
from papers.matrix.spec import CalibratedSpec

Lines = tuple[torch.Tensor, dict[str, torch.Tensor]]
"""(H,) bool, True if a head has a line, and the tables of `lengen.models.line_bias.LineBias`."""


def execute(
    spec: CalibratedSpec,
    seed: int,
    folder: Path,
    report: Callable[[Progress], None],
    loggers: Sequence[Logger] = (),
) -> Outcome:
    """Make both trainings; called again after a kill it goes on in whichever it was."""

    def lines(model: Transformer, data: TaskData) -> Lines:
        heads = calibrate(model, data, spec, seed)
        return heads, lines_of(model).state_dict()

    def give(model: Transformer, lines: Lines) -> None:
        lines_of(model).load_state_dict(lines[1])

    return calibration.execute(spec.trainings(), seed, folder, report, loggers, lines, give, _records)


def _records(lines: Lines, began: dict[str, Any], info: dict[str, Any]) -> calibration.Records:
    """Return the lines, how many are open, and how far the first model came."""
    heads, tables = lines
    scalars = {
        f"{calibration.FIRST}_{VALIDATION}": began["scalars"][VALIDATION],
        "transparent_heads": float((~heads).sum()),
        "lines_own": float((tables["own.table"][:, heads] > -torch.inf).sum()),
        "lines_cross": float((tables["cross.table"][:, heads] > -torch.inf).sum()),
    }
    notes = [] if heads.any() else ["no line passed the threshold in any head: the second model has no bias"]
    return calibration.Records(
        scalars, notes, {f"lines.{name.removesuffix('.table')}": table for name, table in tables.items()}
    )


def calibrate(model: Transformer, data: TaskData, spec: CalibratedSpec, seed: int) -> torch.Tensor:
    """Set the lines of a model by its own attention; (H,) bool, True if a head has one.

    Probabilities of the last layer, averaged over problems of the trained length.
    """
    problems = longest_problems(data, spec.calibration.examples, seed)
    mean = mean_attention(model, data, problems, sides=of_response(spec.lines.rows))
    sigmas = spec.calibration.sigma_own, spec.calibration.sigma_cross
    return lines_of(model).calibrate(mean["self"], mean["cross"], *sigmas)


def lines_of(model: Transformer) -> LineBias:
    """Return the lines of a decoder that has some."""
    assert isinstance(model, Decoder) and model.lines is not None
    return model.lines
