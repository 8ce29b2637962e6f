"""What a training takes: seconds, steps and tokens of this process."""

import time
from typing import Any

from lightning import Callback, LightningModule, Trainer


class Clock(Callback):
    """Seconds of training in this process, the steps in them and the tokens they trained on."""

    def __init__(self) -> None:
        self.training = 0.0
        self.tokens = 0
        self.steps = 0
        self.trained_at = time.monotonic()

    @property
    def since_training(self) -> float:
        """Seconds since training ended, or since this was made where nothing was left to train."""
        return time.monotonic() - self.trained_at

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._started = time.monotonic()

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        self.tokens += batch.tokens.numel()
        self.steps += 1

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.trained_at = time.monotonic()
        self.training = self.trained_at - self._started
