"""Cost of a training (seconds, steps, tokens), summed over all processes of an interrupted and resumed run."""

import time
from collections.abc import Mapping
from typing import Any

import torch
from lightning import Callback, LightningModule, Trainer

from lengen.results.machine import machine


def device_name(device: torch.device) -> str:
    """Return kind and model of what computes: ``cpu, AMD EPYC 7B13``."""
    model = torch.cuda.get_device_name(device) if device.type == "cuda" else machine().model
    return f"{device.type}, {model}"


def added(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """Return steps of two trainings by device.

    >>> added({"cuda, H100": 3, "cpu, AMD": 0}, {"cpu, AMD": 2})
    {'cuda, H100': 3, 'cpu, AMD': 2}
    """
    return {name: one.get(name, 0) + other.get(name, 0) for name in (*one, *other)}


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
        return {
            "seconds": self.training,
            "steps": self.steps,
            "tokens": self.tokens,
            "steps_on": dict(self.steps_on),
        }

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
