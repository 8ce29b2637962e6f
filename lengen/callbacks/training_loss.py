"""The training loss, read rarely: for whoever watches, for every logger, and to stop if it is no number."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lightning import Callback, LightningModule, Trainer

from lengen.callbacks.metrics_logger import LEARNING_RATE, TRAIN_LOSS, VALIDATION
from lengen.digits.problems import whole
from lengen.results.divergence import diverged, usable
from lengen.results.progress import Progress


def loss_names(hints: Iterable[str]) -> list[str]:
    """Return names of the losses of the main task and of auxiliary ones, by their number in a batch.

    >>> loss_names(["fill"])
    ['train_loss', 'train_loss.fill']
    """
    return [TRAIN_LOSS, *(f"{TRAIN_LOSS}.{hint}" for hint in hints)]


def between_readings(steps: int) -> int:
    """Return steps from one reading of the loss to the next, in a training of so many."""
    return max(1, steps // 100)


def is_read(step: int, every: int, losses: int, last: int) -> bool:
    """Return True if the loss of a step, counted from 1, is read: at every ``every``-th and the last.

    Tasks take turns, so as many steps in a row are read as there are ``losses``.

    >>> [step for step in range(1, 12) if is_read(step, every=5, losses=2, last=9)]
    [1, 5, 6, 9, 10, 11]
    """
    return step % every < losses or step == last


def silent(progress: Progress) -> None:
    """Do nothing: nobody watches."""


class TrainingLoss(Callback):
    """Logs the loss at every ``every``-th step and the last, and reports progress.

    Raises `DivergedError` if it is no number or exploded.

    The loss is read from the device at these steps only, so nothing synchronises in between. That is also why it goes
    to the loggers from here, and not from the module: what `LightningModule.log` was given once, Lightning hands to
    them again with every later step of the epoch.

    Args:
        every: Steps from one reading to the next (`is_read`).
        report: Called with the progress of training, and by the measurements that follow it.
        hints: Names of the auxiliary tasks.
        checkpoint: The checkpoint that an error names as the last good one.
    """

    def __init__(
        self,
        every: int,
        report: Callable[[Progress], None] = silent,
        hints: Sequence[str] = (),
        checkpoint: Path | None = None,
    ) -> None:
        self.every = whole("every", every)
        self.report = report
        self.names = loss_names(hints)
        self.checkpoint = checkpoint
        self.accuracy: float | None = None
        """Validation exact match at the newest evaluation, also that of a process before this one."""
        self._rate = 0.0
        self._reported = 0.0

    def on_train_batch_start(self, trainer: Trainer, pl_module: LightningModule, batch: Any, batch_idx: int) -> None:
        self._rate = trainer.optimizers[0].param_groups[0]["lr"]  # the schedule has gone on when the batch ends

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        step = trainer.global_step
        if not is_read(step, self.every, len(self.names), trainer.max_steps):
            return
        loss = float(outputs["loss"] if isinstance(outputs, Mapping) else outputs)
        if not usable(loss):
            raise diverged(f"the loss at step {step} is {loss}", self.checkpoint)
        for logger in trainer.loggers:
            logger.log_metrics({self.names[batch.output]: loss, LEARNING_RATE: self._rate}, step=step - 1)
        now = time.monotonic()
        if now - self._reported > 0.25:  # a person reads no faster
            self._reported = now
            self.report(Progress("train", step, trainer.max_steps, loss, self.accuracy))

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        value = trainer.callback_metrics.get(VALIDATION)
        self.accuracy = self.accuracy if value is None else float(value)

    def state_dict(self) -> dict[str, Any]:
        return {"accuracy": self.accuracy}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.accuracy = state_dict["accuracy"]
