"""Loggers: rows ``step,name,value`` in metrics.csv for every run, TensorBoard and Weights & Biases beside it."""

import importlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import lightning.pytorch.loggers
from lightning import LightningModule, Trainer
from lightning.fabric.utilities.rank_zero import rank_zero_only
from lightning.pytorch.loggers.logger import Logger
from lightning.pytorch.trainer.states import TrainerFn

from lengen.results.progress import write_whole
from lengen.results.records import METRIC_COLUMNS, metrics_from_csv

METRICS = "metrics.csv"
VALIDATION = "val_exact_match"
"""Name of the in-distribution exact match."""
TRAIN_LOSS = "train_loss"
"""Name of the training loss in nats per target token; an auxiliary task adds its own name behind a dot."""
LEARNING_RATE = "learning_rate"
LEFT_OUT = ("epoch", LEARNING_RATE)
"""Not in metrics.csv: Lightning's epoch, which is an evaluation here, and what is a formula of the step
(`lengen.training.module.learning_rate_factor`)."""
HEADER = ",".join(METRIC_COLUMNS) + "\n"


Loggers = Sequence[Logger]
"""Loggers of a Trainer, beside the one of a run folder."""


class MetricsLogger(Logger):
    """Appends what is logged to ``metrics.csv`` in a folder, one row a value; steps are those done, from 1.

    A training that starts anew starts the file anew. One that is resumed, by whatever checkpoint, drops the rows from
    the first step that it logs again, so a killed and resumed run ends with the bytes of an uninterrupted one. Rows are
    written when they are logged: a kill loses at most the line it hits, and `read_metrics` leaves that one out.

    Why not Lightning's CSVLogger: resumed into the same folder it deletes what was logged before (or begins
    ``version_1`` beside it), it has a column per name, so a name that comes late rewrites the file, which a kill then
    leaves in parts, and its rows would be wrong by one step after a resume (see `log_metrics`). Speed is no reason: a
    row takes 0.02 ms here, and no more there.

    Args:
        folder: Where the file is; it has to exist.
    """

    name = "metrics"
    version = ""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.path = Path(folder) / METRICS
        self._trainer: Trainer | None = None
        self._resumed = False

    @property
    def save_dir(self) -> str:
        return str(self.path.parent)

    def log_hyperparams(self, params: Any, *args: Any, **kwargs: Any) -> None:
        """Do nothing: the specification has a file of its own."""

    @rank_zero_only
    def log_graph(self, model: Any, input_array: Any = None) -> None:
        """Begin the file, or find out that it goes on.

        This is where Lightning shows a logger the module, before anything is logged: so no callback has to tell it.
        """
        assert isinstance(model, LightningModule)
        self._trainer = trainer = model.trainer
        fits = trainer.state.fn == TrainerFn.FITTING
        self._resumed = fits and trainer.ckpt_path is not None
        if not self.path.exists() or (fits and not self._resumed):
            write_whole(self.path, HEADER)

    @rank_zero_only
    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        """Append a row for each value, at the steps that the Trainer has done.

        ``step`` counts from 0 and matters without a Trainer only: Lightning 2.6 passes one that lags by one after a
        resume from a checkpoint that was written when an epoch ended.
        """
        done = (step or 0) + 1 if self._trainer is None else self._trainer.global_step
        if self._resumed:
            self._resumed = False
            write_metrics(self.path, [row for row in read_metrics(self.path) if row[0] < done])
        with self.path.open("a", newline="") as file:
            file.writelines(_row(done, name, value) for name, value in metrics.items() if name not in LEFT_OUT)


def write_metrics(path: Path, rows: Sequence[tuple[int, str, float]]) -> None:
    """Write a whole metrics.csv; a kill leaves the old one or the new."""
    write_whole(path, HEADER + "".join(_row(*row) for row in rows))


def read_metrics(path: Path) -> list[tuple[int, str, float]]:
    """Return rows of a metrics.csv; a last line cut short by a kill is left out; no file, no rows."""
    if not path.exists():
        return []
    return list(metrics_from_csv(path.read_text(errors="replace"), cut_short=True))


def _row(step: int, name: str, value: float) -> str:
    return f"{step},{name},{value:.6g}\n"


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
