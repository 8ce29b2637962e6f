"""A cell with a calibrated bias: train to interpolate, calibrate attention, train another model with the bias.

A `CalibratedSpec` enters; the scores of the second model leave, with what is known of the first and of the bias.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from lightning.pytorch.loggers.logger import Logger

from lengen.callbacks import VALIDATION
from lengen.data.task_data import TaskData
from lengen.decoding.mean_attention import longest_problems, mean_attention, of_response
from lengen.models import Decoder, Transformer
from lengen.models.line_bias import LineBias
from lengen.results.progress import Progress
from lengen.training import run as lengen
from lengen.training.two_trainings import FIRST, execute_both
from papers.matrix.spec import CalibratedSpec


def execute(
    spec: CalibratedSpec,
    seed: int,
    folder: Path,
    report: Callable[[Progress], None],
    loggers: Sequence[Logger] = (),
) -> lengen.Outcome:
    """Make both trainings; called again after a kill it goes on in whichever it was."""
    first, second = spec.trainings()

    def read(model: Transformer) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        heads = calibrate(model, TaskData(first, seed), spec, seed)
        return heads, lines_of(model).state_dict()

    def give(model: Transformer, found: tuple[torch.Tensor, dict[str, torch.Tensor]]) -> None:
        lines_of(model).load_state_dict(found[1])

    outcome, began, (heads, tables) = execute_both((first, second), seed, folder, report, read, give, loggers)
    scalars = {
        f"{FIRST}_{VALIDATION}": began["scalars"][VALIDATION],
        "transparent_heads": float((~heads).sum()),
        "lines_own": float((tables["own.table"][:, heads] > -torch.inf).sum()),
        "lines_cross": float((tables["cross.table"][:, heads] > -torch.inf).sum()),
    }
    notes = [] if heads.any() else ["no line passed the threshold in any head: the second model has no bias"]
    info = outcome.info | {
        "scalars": outcome.info["scalars"] | scalars,
        "notes": [*outcome.info.get("notes", []), *notes],
    }
    arrays = {f"lines.{name.removesuffix('.table')}": table.numpy() for name, table in tables.items()}
    return replace(outcome, info=info, arrays=outcome.arrays | arrays)


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
