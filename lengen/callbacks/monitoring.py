"""Monitoring of a training: its loss, read rarely, its cost in seconds and tokens, its end once it is good."""

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from lightning import Callback, LightningModule, Trainer
from lightning.pytorch.trainer.states import TrainerFn

from lengen.callbacks.loggers import LEARNING_RATE, TRAIN_LOSS, VALIDATION
from lengen.digits import whole
from lengen.results.progress import EXPLODED, Progress, Report, diverged, silent
from lengen.this_machine import machine


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
        self, every: int, report: Report = silent, hints: Sequence[str] = (), checkpoint: Path | None = None
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
        if not loss < EXPLODED:  # nan is not
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


def device_name(device: torch.device) -> str:
    """Return the kind and model of what computes: ``cpu, AMD EPYC 7B13``."""
    model = torch.cuda.get_device_name(device) if device.type == "cuda" else machine().model
    return f"{device.type}, {model}"


def added(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    """Return steps of two trainings by device.

    >>> added({"cuda, H100": 3, "cpu, AMD": 0}, {"cpu, AMD": 2})
    {'cuda, H100': 3, 'cpu, AMD': 2}
    """
    return {name: first.get(name, 0) + second.get(name, 0) for name in (*first, *second)}


class Clock(Callback):
    """Seconds of training, the steps in them and the tokens they trained on.

    A checkpoint has them, so that a resumed run adds to what it took before. What was trained after that checkpoint and
    is trained again counts once.
    """

    def __init__(self) -> None:
        self.training = 0.0
        self.tokens = 0
        self.steps = 0
        self.steps_on: dict[str, int] = {}
        """Steps by device (`device_name`), in the order in which they were used."""
        self._device = ""
        self._since = time.monotonic()

    @property
    def measuring(self) -> float:
        """Seconds since training ended, or since this was made if nothing was left to train."""
        return time.monotonic() - self._since

    def start(self) -> None:
        """Begin training, go on with it, or begin to measure."""
        self._since = time.monotonic()

    def stop(self) -> None:
        """Add the seconds since it began or was last added to."""
        now = time.monotonic()
        self.training += now - self._since
        self._since = now

    def step(self, tokens: int) -> None:
        """Count a step on so many tokens."""
        self.steps += 1
        self.tokens += tokens
        self.steps_on[self._device] = self.steps_on.get(self._device, 0) + 1

    def state_dict(self) -> dict[str, Any]:
        """Return the state for a checkpoint: seconds up to their last update, steps, tokens, devices."""
        return {"seconds": self.training, "steps": self.steps, "tokens": self.tokens, "steps_on": dict(self.steps_on)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from there."""
        self.training, self.steps, self.tokens = (state_dict[name] for name in ("seconds", "steps", "tokens"))
        self.steps_on = dict(state_dict.get("steps_on", {}))  # none in a checkpoint of an earlier program

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._device = device_name(pl_module.device)
        self.start()

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        self.step(batch.tokens.numel())
        self.stop()

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.stop()

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.stop()


class StopWhenGood(Callback):
    """Ends training once a logged value was at least ``at`` at ``patience`` evaluations in a row; 0 never ends it.

    Lightning's `EarlyStopping` cannot say this: its ``stopping_threshold`` ends at the first evaluation that reaches
    it, and its ``patience`` counts evaluations without improvement. The count is part of every checkpoint, so a resumed
    run stops where an uninterrupted one does, and one that has stopped does not go on.

    Args:
        at: The value that is good enough; 0 never ends a training.
        patience: Evaluations in a row that have to be good.
        monitor: Name of the logged value.

    Example:
        >>> import lengen
        >>> module = lengen.train("copy", digits=2, steps=9, batch=4, callbacks=lengen.StopWhenGood(at=0.9, patience=2))
    """

    def __init__(self, at: float, patience: int, monitor: str = VALIDATION) -> None:
        self.at = at
        self.patience = whole("patience", patience)
        self.monitor = monitor
        self.in_a_row = 0
        """Newest evaluations that were good, without a break."""

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if trainer.ckpt_path is None:  # of another training
            self.in_a_row = 0
        self._stop(trainer)

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if trainer.state.fn != TrainerFn.FITTING or trainer.sanity_checking:
            return
        if self.monitor not in trainer.callback_metrics:
            known = ", ".join(sorted(trainer.callback_metrics)) or "nothing"
            raise ValueError(f"StopWhenGood(monitor={self.monitor!r}): no such value is logged; logged are {known}")
        value = float(f"{float(trainer.callback_metrics[self.monitor]):.6g}")  # as it is shown: 0.9 is 0.9 in float32
        self.in_a_row = self.in_a_row + 1 if value >= self.at else 0
        self._stop(trainer)

    def _stop(self, trainer: Trainer) -> None:
        if self.at > 0 and self.in_a_row >= self.patience:
            trainer.should_stop = True

    def state_dict(self) -> dict[str, Any]:
        return {"in_a_row": self.in_a_row}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.in_a_row = state_dict["in_a_row"]
