"""What is asked of a trained model: the base of all such callbacks."""

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
import torch
from lightning import Callback, LightningModule, Trainer

from lengen.callbacks.training_loss import TrainingLoss, silent
from lengen.data.datamodule import data_of
from lengen.data.task_data import TaskData
from lengen.models import Transformer
from lengen.results.progress import Progress

Report = Callable[[Progress], None]


class Measurement(Callback, ABC):
    """Asks the model something once training has ended, and in `Trainer.test`; what it answers are attributes.

    A run stores the ``arrays`` and ``scalars`` of all its measurements. It measures here and not in a test step because
    test steps run in the precision of the training: hooks of callbacks run in that of the weights.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        """Named arrays, for figures."""
        self.scalars: dict[str, float] = {}
        """Named numbers."""

    @abstractmethod
    def measure(self, model: Transformer, data: TaskData, report: Report) -> None:
        """Ask the model, which neither drops nor learns anything, about problems of the data."""

    def on_fit_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._measure(trainer, pl_module)

    def on_test_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._measure(trainer, pl_module)

    @torch.no_grad()
    def _measure(self, trainer: Trainer, pl_module: LightningModule) -> None:
        watched = [callback.report for callback in trainer.callbacks if isinstance(callback, TrainingLoss)]  # type: ignore[attr-defined]
        self.measure(model_of(pl_module).eval(), data_of(trainer), watched[0] if watched else silent)


def model_of(module: LightningModule) -> Transformer:
    """The transformer that a module trains; raises `TypeError` where there is none."""
    model = getattr(module, "model", None)
    if not isinstance(model, Transformer):
        raise TypeError(f"{type(module).__name__}: expected a module whose `model` is a lengen Transformer")
    return model
