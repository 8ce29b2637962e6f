"""Callbacks of training: metrics on disk, progress for a person, checkpoints to resume from, NaN stops the run."""

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lightning import Callback, LightningModule, Trainer

from lengen.config.spec import TrainSpec
from lengen.progress import Progress
from lengen.records import metrics_from_csv

METRICS = "metrics.csv"
CHECKPOINT = "last.ckpt"
VALIDATION = "val_exact_match"
"""Name of the in-distribution exact match in metrics.csv."""


class DivergedError(ValueError):
    """The loss is not a number any more; the message names the step, the run and the last good checkpoint."""


class MetricsFile(Callback):
    """Appends (step, name, value) rows to metrics.csv; a resumed run drops the rows after its checkpoint.

    Training loss is read from the device every ``every`` steps only, so nothing synchronises in between.
    """

    def __init__(self, folder: Path, every: int, report: Callable[[Progress], None], hints: Sequence[str] = ()) -> None:
        self.path = folder / METRICS
        self.every = every
        self.names = ["train_loss", *(f"train_loss.{hint}" for hint in hints)]
        self.report = report
        self.accuracy: float | None = None
        self._reported = 0.0
        self._resumed = 0

    def on_load_checkpoint(self, trainer: Trainer, pl_module: LightningModule, checkpoint: dict[str, Any]) -> None:
        self._resumed = checkpoint["global_step"]

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        kept = [row for row in read_metrics(self.path) if row[0] <= self._resumed]
        for _, name, value in kept:
            if name == VALIDATION:
                self.accuracy = value
        rows = [("step", "name", "value"), *map(_row, kept)]
        write_whole(self.path, "".join(",".join(map(str, row)) + "\n" for row in rows))

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        step = trainer.global_step
        # Auxiliary tasks take turns with the main one: as many steps in a row are read as there are tasks.
        if step % self.every >= len(self.names) and step != trainer.max_steps:
            return
        loss = float(outputs["loss"] if isinstance(outputs, Mapping) else outputs)
        if not math.isfinite(loss):
            raise _diverged(f"the loss at step {step} is {loss}", self.path.with_name(CHECKPOINT))
        self._append(step, self.names[batch.head], loss)
        self._tell(trainer, loss)

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        metric = pl_module.exact_match
        value = float(metric.compute())  # type: ignore[union-attr, operator]
        metric.reset()  # type: ignore[union-attr, operator]
        self.accuracy = self._append(trainer.global_step, VALIDATION, value)

    def _append(self, step: int, name: str, value: float) -> float:
        return append_metric(self.path, step, name, value)

    def _tell(self, trainer: Trainer, loss: float) -> None:
        now = time.monotonic()
        if now - self._reported > 0.25:  # a person reads no faster
            self._reported = now
            self.report(Progress("train", trainer.global_step, trainer.max_steps, loss, self.accuracy))


class EarlyStop(Callback):
    """Ends training once validation exact match was at least ``stop_at`` at ``patience`` evaluations in a row.

    It reads metrics.csv, as `MetricsFile` before it left it, so a resumed run stops where an uninterrupted one does.
    """

    def __init__(self, train: TrainSpec, folder: Path) -> None:
        self.train = train
        self.path = folder / METRICS

    def _stop(self, trainer: Trainer) -> None:
        if self.train.stop_at > 0:
            values = [value for _, name, value in read_metrics(self.path) if name == VALIDATION]
            newest = values[-self.train.patience :]
            trainer.should_stop = len(newest) == self.train.patience and min(newest) >= self.train.stop_at

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._stop(trainer)

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._stop(trainer)


class ResumePoint(Callback):
    """Writes last.ckpt after every evaluation, atomically: a kill leaves the old one or the new one.

    Weights that are not finite are never written, so the checkpoint that is there is good.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / CHECKPOINT

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if not all(bool(parameter.isfinite().all()) for parameter in pl_module.parameters()):
            raise _diverged(f"weights at step {trainer.global_step} are not finite", self.path)
        temporary = self.path.with_suffix(".tmp")
        trainer.save_checkpoint(temporary)
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, self.path)


def _diverged(what: str, checkpoint: Path) -> DivergedError:
    last = f"the last good checkpoint is {checkpoint}" if checkpoint.exists() else "there is no checkpoint yet"
    return DivergedError(f"training diverged: {what}; lower train.lr; {last}")


def write_whole(path: Path, text: str) -> None:
    """Write a small file so that a kill leaves the old content or the new, never a part."""
    temporary = path.with_suffix(".tmp")
    temporary.write_text(text)
    temporary.replace(path)


def append_metric(path: Path, step: int, name: str, value: float) -> float:
    """Append a row to a metrics.csv; the value as it was written, which is what a resumed run reads."""
    row = _row((step, name, value))
    with path.open("a", newline="") as file:
        file.write(",".join(map(str, row)) + "\n")
    return float(row[2])


def read_metrics(path: Path) -> list[tuple[int, str, float]]:
    """Rows of a metrics.csv; a last line cut short by a kill is left out; no file, no rows."""
    if not path.exists():
        return []
    return list(metrics_from_csv(path.read_text(), cut_short=True))


def _row(row: tuple[int, str, float]) -> tuple[int, str, str]:
    return row[0], row[1], f"{row[2]:.6g}"
