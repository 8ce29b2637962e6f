"""Run a setting by the procedure of its paper, or as one training. Does not import torch before it runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lengen.results.progress import Report
from lengen.settings.spec import Spec, declared

if TYPE_CHECKING:
    from lightning.pytorch.loggers.logger import Logger


def run_setting(spec: Spec, seed: int, folder: Path, report: Report, loggers: "Sequence[Logger]" = ()) -> Any:
    """Train and measure in a folder and return the `Outcome`.

    Called again after a kill it goes on from the last checkpoint. ``loggers`` of Lightning get what metrics.csv gets.
    """
    procedure = declared(spec, "procedures")
    if procedure is not None:
        return procedure(spec, seed, folder, report, loggers)
    from lengen.training.run import execute

    return execute(spec, seed, folder, report, loggers=loggers)
