"""The end of a training whose numbers are none any more."""

from pathlib import Path

EXPLODED = 1e6
"""Nats per token from which on a loss is none any more: no training that learned anything was near it."""


class DivergedError(ValueError):
    """The loss is not a number any more, or exploded; the message names the step and the last good checkpoint."""


def usable(loss: float) -> bool:
    """Return True if a loss is a number below `EXPLODED`.

    >>> usable(2.3), usable(float("nan")), usable(1e7)
    (True, False, False)
    """
    return loss < EXPLODED


def diverged(what: str, checkpoint: Path | None) -> DivergedError:
    """Return the error of a training that diverged: what was seen, what to change, where to go on from."""
    good = checkpoint is not None and checkpoint.exists()
    last = f"the last good checkpoint is {checkpoint}" if good else "there is no checkpoint yet"
    return DivergedError(f"training diverged: {what}; lower train.lr; {last}")
