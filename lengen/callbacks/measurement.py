"""Base of all callbacks that measure a trained model."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import cast

import numpy as np
from lightning import Callback, LightningModule, Trainer
from torch import nn

from lengen.callbacks.metrics_logger import MetricsLogger
from lengen.callbacks.training_loss import TrainingLoss, silent
from lengen.data.datamodule import data_of
from lengen.data.task_data import TaskData
from lengen.models import Transformer
from lengen.models.answering import answering
from lengen.models.foreign import Foreign, Predicting
from lengen.results.progress import Progress

Report = Callable[[Progress], None]


class Measurement(Callback, ABC):
    """Asks the model something once training has ended, and in `Trainer.test`; what it answers are attributes.

    A run stores the ``arrays`` and ``scalars`` of all its measurements. It measures here and not in a test step because
    test steps run in the precision of the training: hooks of callbacks run in that of the weights.

    Example:
        >>> import lengen
        >>> class Parameters(lengen.Measurement):
        ...     def measure(self, model, data, report):
        ...         self.scalars["parameters"] = sum(each.numel() for each in model.parameters())
        >>> measured = Parameters()
        >>> module = lengen.train("copy", digits=2, steps=2, batch=4, callbacks=measured)
        >>> sorted(measured.scalars)
        ['parameters']
    """

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        """Named arrays, for figures."""
        self.scalars: dict[str, float] = {}
        """Named numbers."""
        self.writes_files = True
        """Of several processes the first one writes."""

    @property
    def reads_attention(self) -> bool:
        """The model has to show its attention."""
        return False

    def logged(self) -> dict[str, float]:
        """Return numbers for the Trainer's loggers, under names that say of which cell they are."""
        return {}

    @abstractmethod
    def measure(self, model: Transformer, data: TaskData, report: Report) -> None:
        """Ask the model, which neither drops nor learns anything, about problems of the data."""

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Refuse a module or data that cannot be measured, before anything is trained."""
        model = model_of(pl_module)
        data_of(trainer)
        if self.reads_attention and not hasattr(model, "attention"):
            raise TypeError(
                f"{type(pl_module).__name__}: {type(self).__name__} needs a method attention(batch) that returns a "
                'list of {"self": weights (B, heads, T - 1, T - 1)}, one for each layer'
            )
        self.writes_files = trainer.is_global_zero

    def on_fit_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Measure on the device that trained: before this hook, Lightning moves the model to the CPU."""
        pl_module.to(trainer.strategy.root_device)
        self._measure(trainer, pl_module)
        pl_module.cpu()

    def on_test_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._measure(trainer, pl_module)

    def _check_kept(self) -> None:
        """Raise `TypeError` for anything but named arrays and named numbers, which no run could store."""
        name = type(self).__name__
        for place, array in self.arrays.items():
            if not isinstance(array, np.ndarray) or array.dtype == object:
                raise TypeError(f"{name}.arrays[{place!r}]: found {type(array).__name__}; expected an array of numbers")
        for where, numbers in (("scalars", self.scalars), ("logged()", self.logged())):
            for place, number in numbers.items():
                if not isinstance(number, int | float | np.number):
                    raise TypeError(f"{name}.{where}[{place!r}]: found {type(number).__name__}; expected a number")

    def _measure(self, trainer: Trainer, pl_module: LightningModule) -> None:
        watched = [callback.report for callback in trainer.callbacks if isinstance(callback, TrainingLoss)]  # type: ignore[attr-defined]
        with answering(pl_module):
            self.measure(model_of(pl_module), data_of(trainer), watched[0] if watched else silent)
        self._check_kept()
        for logger in trainer.loggers:
            if not isinstance(logger, MetricsLogger) and (numbers := self.logged()):  # its folder has the counts
                logger.log_metrics(numbers, step=trainer.global_step)


def model_of(module: LightningModule) -> Transformer:
    """Return the network that a module trains, or the module itself if it has `predict`.

    Raises `TypeError` otherwise.
    """
    model = getattr(module, "model", None)
    if isinstance(model, Transformer):
        return model
    for one in (model, module):
        if isinstance(one, Predicting):
            return cast(Transformer, Foreign(cast(nn.Module, one)))
    raise TypeError(
        f"{type(module).__name__}: expected a module whose `model` is a lengen Transformer, or one with a method "
        "predict(batch) that returns logits (B, T - 1, V)"
    )
