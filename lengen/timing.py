"""Processor time of things that are compared, taken in turns.

What enters are functions; what leaves are seconds, and entries that say what was measured. Whatever is compared runs in
turns in one process, and a ratio is the median over the turns: so a busy machine slows both sides alike.
"""

from collections.abc import Callable, Sequence
from time import process_time as clock
from typing import NamedTuple

import numpy as np


class Entry(NamedTuple):
    """One measurement."""

    name: str
    what: str
    value: float
    unit: str
    against: str
    """What it is measured against, with the aim where there is one."""


Benchmark = Callable[[bool], list[Entry]]
"""``benchmark(tiny)`` measures, or where ``tiny`` only shows that it can, and returns its entries."""


def turns(actions: Sequence[Callable[[], object]], repeats: int) -> np.ndarray:
    """Seconds (repeats, actions), the actions taken in turns after one unmeasured round."""
    seconds = np.empty((repeats + 1, len(actions)))
    for row in seconds:
        for i, action in enumerate(actions):
            start = clock()
            action()
            row[i] = clock() - start
    return seconds[1:]
