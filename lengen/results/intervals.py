"""Intervals for counts: which examples were tested (binomial: Wilson); pure functions on plain numbers, no torch."""

import math
from typing import NamedTuple

Z95 = 1.96
"""Standard normal quantile of a two-sided 95 % interval, rounded as every textbook rounds it."""


class Interval(NamedTuple):
    """A closed interval."""

    low: float
    high: float


def wilson(correct: float, n: float, z: float = Z95) -> Interval:
    """Return Wilson score interval of a proportion (Wilson 1927), in closed form.

    Args:
        correct: successes, 0 to ``n``; as a mean over seeds they need not be whole.
        n: trials; without any, nothing is known and the interval is [0, 1].
        z: standard normal quantile; 1.96 gives 95 %.

    Raises:
        ValueError: when ``correct`` is not a count between 0 and ``n``.

    >>> tuple(round(edge, 4) for edge in wilson(50, 100))
    (0.4038, 0.5962)
    >>> wilson(0, 0)
    Interval(low=0.0, high=1.0)
    """
    if not 0 <= correct <= n:
        raise ValueError(f"wilson: expected a count between 0 and n = {n}, got {correct}")
    if n == 0:
        return Interval(0.0, 1.0)
    rate = correct / n
    scale = 1 + z * z / n
    centre = (rate + z * z / (2 * n)) / scale
    half = z / scale * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    # At the ends the closed form is exactly 0 or 1; rounding would leave 1e-17 and an interval without its own rate.
    low = 0.0 if correct == 0 else max(0.0, centre - half)
    high = 1.0 if correct == n else min(1.0, centre + half)
    return Interval(low, high)
