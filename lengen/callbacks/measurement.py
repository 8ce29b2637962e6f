"""Base of all callbacks that measure a trained model."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from types import SimpleNamespace
from typing import Protocol, cast

import numpy as np
import torch
from lightning import Callback, LightningModule, Trainer
from torch import Tensor

from lengen.callbacks.training_loss import TrainingLoss, silent
from lengen.data.batch import Batch
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

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Refuse a module or data that cannot be measured, before anything is trained."""
        model_of(pl_module)
        data_of(trainer)

    def on_fit_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._measure(trainer, pl_module)

    def on_test_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._measure(trainer, pl_module)

    @torch.no_grad()
    def _measure(self, trainer: Trainer, pl_module: LightningModule) -> None:
        watched = [callback.report for callback in trainer.callbacks if isinstance(callback, TrainingLoss)]  # type: ignore[attr-defined]
        self.measure(model_of(pl_module).eval(), data_of(trainer), watched[0] if watched else silent)


class Predicting(Protocol):
    """A module of anybody's that can be measured, teacher-forced."""

    def predict(self, batch: Batch) -> Tensor:
        """Return logits (B, T - 1, V) of every token of the batch but the first."""


class Foreign:
    """A `Predicting` module in the place of a transformer: it is read, and writes nothing of its own."""

    writes_in_order = False
    spec = SimpleNamespace(causal=True)

    def __init__(self, module: LightningModule) -> None:
        self.module = module
        self.predict = cast(Predicting, module).predict

    @property
    def device(self) -> torch.device:
        """Device of the module."""
        return self.module.device

    def eval(self) -> "Foreign":
        """Stop dropping anything."""
        self.module.eval()
        return self


def model_of(module: LightningModule) -> Transformer:
    """The transformer that a module trains, or the module itself if it has `predict`; raises `TypeError` otherwise."""
    model = getattr(module, "model", None)
    if isinstance(model, Transformer):
        return model
    if callable(getattr(module, "predict", None)):
        return cast(Transformer, Foreign(module))
    raise TypeError(
        f"{type(module).__name__}: expected a module whose `model` is a lengen Transformer, or one with a method "
        "predict(batch) that returns logits (B, T - 1, V)"
    )
