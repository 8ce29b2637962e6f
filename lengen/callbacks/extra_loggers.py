"""Loggers of other packages beside metrics.csv: TensorBoard, Weights & Biases."""

import importlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import lightning.pytorch.loggers
from lightning.pytorch.loggers.logger import Logger

EXTRAS = {"tensorboard": ("tensorboard", "TensorBoardLogger"), "wandb": ("wandb", "WandbLogger")}
"""Name, which is also the extra of this project that installs it -> package, and Lightning's logger that needs it."""


class LoggerError(ValueError):
    """A logger that does not exist, or whose package is not installed."""


def require(names: Sequence[str]) -> None:
    """Raise `LoggerError` for an unknown name or a package that is not installed."""
    for name in names:
        if name not in EXTRAS:
            raise LoggerError(f"logger {name}: expected one of {', '.join(EXTRAS)}")
        try:
            importlib.import_module(EXTRAS[name][0])
        except ImportError:
            raise LoggerError(f"logger {name}: the package is not installed; pip install '.[{name}]' adds it") from None


def extra_loggers(names: Sequence[str], folder: Path) -> list[Logger]:
    """Return loggers by name (tensorboard, wandb); what they write lies in ``folder``.

    Raises `LoggerError` for an unknown name or a package that is not installed.
    """
    require(names)
    if names:
        Path(folder).mkdir(parents=True, exist_ok=True)
    return [getattr(lightning.pytorch.loggers, EXTRAS[name][1])(save_dir=str(folder), name=name) for name in names]


def close() -> None:
    """End what outlives a training: the next run of this process is a run of its own in Weights & Biases, too."""
    if "wandb" in sys.modules:
        sys.modules["wandb"].finish()


class Prefixed(Logger):
    """Passes on what is logged, with a prefix to its names: for one training of several in a run."""

    def __init__(self, logger: Logger, prefix: str) -> None:
        super().__init__()
        self.logger = logger
        self.prefix = prefix

    @property
    def name(self) -> str | None:
        return self.logger.name

    @property
    def version(self) -> int | str | None:
        return self.logger.version

    def log_hyperparams(self, params: Any, *args: Any, **kwargs: Any) -> None:
        """Do nothing: they are those of another training."""

    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        """Pass the values on under their longer names."""
        self.logger.log_metrics({self.prefix + name: value for name, value in metrics.items()}, step)

    def save(self) -> None:
        """Have the other write what it holds."""
        self.logger.save()
