"""The end of a training that is good enough."""

from typing import Any

from lightning import Callback, LightningModule, Trainer
from lightning.pytorch.trainer.states import TrainerFn

from lengen.callbacks.metrics_logger import VALIDATION
from lengen.digits.problems import whole


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
