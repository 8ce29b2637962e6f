"""Processor time of things that are compared, taken in turns.

What enters are functions; what leaves are seconds, and entries that say what was measured. Whatever is compared runs in
turns, and a ratio is the median over the turns: so a busy machine slows both sides alike. What a ratio varies by from
turn to turn is its noise, and stands beside it.
"""

from collections.abc import Callable, Sequence
from time import process_time as clock
from typing import NamedTuple

import numpy as np

SPREAD = (10, 90)
"""Percentiles of the turns between which eight of ten lie."""


class Entry(NamedTuple):
    """One measurement."""

    name: str
    what: str
    value: float
    unit: str
    against: str
    """Reference of the measurement, with its aim if there is one."""
    low: float
    """Tenth percentile over the turns; the value itself if nothing was repeated."""
    high: float
    """Ninetieth percentile."""
    command: str = ""
    """Command that measures it."""


def exponent(sizes: Sequence[float], costs: Sequence[float] | np.ndarray) -> float:
    """Return ``e`` of the power law ``cost = c * size ** e``, by least squares of the logarithms.

    >>> round(exponent([1, 2, 4], [3.0, 12.0, 48.0]), 6)
    2.0
    """
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def entry(name: str, what: str, values: Sequence[float] | np.ndarray, unit: str, against: str = "") -> Entry:
    """Return the entry of a value that was measured once per turn."""
    low, value, high = map(float, np.percentile(values, (SPREAD[0], 50, SPREAD[1])))
    return Entry(name, what, value, unit, against, low, high)


def fixed(name: str, what: str, value: float, unit: str, against: str = "") -> Entry:
    """Return the entry of a value that does not vary."""
    return Entry(name, what, value, unit, against, value, value)


def turns(actions: Sequence[Callable[[], object]], repeats: int) -> np.ndarray:
    """Return seconds (repeats, actions), the actions taken in turns after one unmeasured round."""
    seconds = np.empty((repeats + 1, len(actions)))
    for row in seconds:
        for i, action in enumerate(actions):
            start = clock()
            action()
            row[i] = clock() - start
    return seconds[1:]
