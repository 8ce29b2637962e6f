"""Progress of a run, which the conductor shows."""

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
