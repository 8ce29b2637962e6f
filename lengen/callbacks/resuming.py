"""The checkpoint a killed run goes on from, and signals held back until it is written."""

import signal
import threading
from collections.abc import Collection
from pathlib import Path
from types import FrameType
from typing import Any

from lightning import Callback, LightningModule, Trainer

from lengen.models.weight_files import torch_file
from lengen.results.progress import diverged, save_whole


class HeldSignals:
    """SIGINT and SIGTERM between `hold` and `release`: the first one is noted in ``came``, and has its effect after.

    A second SIGINT has it at once. Signals that the process ignores stay ignored; outside of the main thread, which
    alone may do this, nothing is held.
    """

    def __init__(self) -> None:
        self.came: int | None = None
        self._handlers: dict[int, Any] = {}

    def hold(self) -> None:
        """Note signals from now on."""
        if self._handlers or threading.current_thread() is not threading.main_thread():
            return
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                self._handlers[number] = signal.signal(number, self._note)

    def release(self) -> None:
        """Let signals have their effect again, first the one that came."""
        while self._handlers:
            signal.signal(*self._handlers.popitem())
        came, self.came = self.came, None
        if came is not None:
            signal.raise_signal(came)

    def _note(self, number: int, _: FrameType | None) -> None:
        if self.came is not None and number == signal.SIGINT:
            self.release()
        elif self.came is None:
            self.came = number


CHECKPOINT = "last.ckpt"


class CheckpointError(ValueError):
    """A checkpoint that cannot be gone on from; one sentence with its place and what to do."""


def checked(path: Path, names: Collection[str] = ("state_dict", "global_step", "loops")) -> dict[str, Any]:
    """Read the content of a checkpoint as weights and plain data.

    Nothing in it is executed, and it takes no more memory than the file is long.

    Raises `CheckpointError` if it is damaged, holds anything else, or lacks one of ``names``.
    """
    try:
        state = torch_file(path)
    except Exception as error:  # whatever bytes make the reader raise
        reason = f"{type(error).__name__}: {(str(error).splitlines() or ['no message'])[0][:80]}"
    else:
        if isinstance(state, dict) and set(names) <= state.keys():
            return state
        reason = "something is missing"
    raise CheckpointError(f"{path} is no checkpoint of this program ({reason}): delete it, and the run starts anew")


class ResumePoint(Callback):
    """Writes ``last.ckpt`` into a folder after every evaluation, atomically: a kill leaves the old one or the new one.

    Ctrl-C and SIGTERM end a training of one process after the step at hand, which is written first. Weights that are
    not finite are never written, so the checkpoint that is there is good. Lightning's `ModelCheckpoint` promises
    neither; it works beside this one where more than the last checkpoint is wanted.
    """

    def __init__(self, folder: Path) -> None:
        self.path = Path(folder) / CHECKPOINT
        self.signals = HeldSignals()

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if trainer.world_size == 1:  # several would write different steps
            self.signals.hold()

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        between = (batch_idx + 1) % trainer.accumulate_grad_batches
        if self.signals.came is None or between or trainer.is_last_batch:  # the last one is evaluated, and written then
            return
        try:
            if _finite(pl_module):
                save_whole(self.path, trainer.save_checkpoint)
        finally:
            self.signals.release()

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if not _finite(pl_module):
            raise diverged(f"weights at step {trainer.global_step} are not finite", self.path)
        save_whole(self.path, trainer.save_checkpoint)
        if self.signals.came is not None:
            self.signals.release()

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.signals.release()

    def on_exception(self, trainer: Trainer, pl_module: LightningModule, exception: BaseException) -> None:
        self.signals.release()


def _finite(module: LightningModule) -> bool:
    return all(bool(parameter.isfinite().all()) for parameter in module.parameters())
