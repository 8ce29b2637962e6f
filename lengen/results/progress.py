"""Reports of a run in progress, the end of one whose loss is no number, and files that a kill leaves whole."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Progress(NamedTuple):
    """One report of a run in progress."""

    stage: str
    """``resuming``, ``compiling``, ``train``, ``measure`` or ``attention``."""
    step: int
    """Steps done in this stage: optimizer steps, or test cells."""
    steps: int
    """Steps of this stage."""
    loss: float | None
    """Training loss of the newest step (nats per target token)."""
    accuracy: float | None
    """In-distribution exact match at the newest validation."""


Report = Callable[[Progress], None]
"""Receiver of the progress of a run."""


def silent(progress: Progress) -> None:
    """Do nothing: nobody watches."""


EXPLODED = 1e6
"""Nats per token from which on a loss is none any more: no training that learned anything was near it."""


class DivergedError(ValueError):
    """The loss is not a number any more, or exploded; the message names the step and the last good checkpoint."""


def diverged(what: str, checkpoint: Path | None) -> DivergedError:
    """Return the error of a training that diverged: what was seen, what to change, where to go on from."""
    good = checkpoint is not None and checkpoint.exists()
    last = f"the last good checkpoint is {checkpoint}" if good else "there is no checkpoint yet"
    return DivergedError(f"training diverged: {what}; lower train.lr; {last}")


def write_whole(path: Path, text: str) -> None:
    """Write a small file.

    It is not forced onto the disk, which would take longer than the step before it, so readers must tolerate a file
    that a power failure cut short.
    """
    save_whole(path, lambda temporary: temporary.write_bytes(text.encode()), forced=False)


def save_whole(path: Path, save: Callable[[Path], object], *, forced: bool = True) -> None:
    """Let ``save`` write a temporary file, which takes the place of ``path`` once it is on the disk (if ``forced``)."""
    temporary = path.with_suffix(".tmp")
    save(temporary)
    if forced:
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
    temporary.replace(path)
