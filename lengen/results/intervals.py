"""Intervals for counts and for medians; pure functions on plain numbers, no torch.

Counts or per-seed values enter, numbers and intervals leave. Two sources of variance are kept apart here: which
examples were tested (binomial: Wilson), and which seed was trained (order statistics).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

Z95 = 1.96
"""Standard normal quantile of a two-sided 95 % interval, rounded as every textbook rounds it."""


class Interval(NamedTuple):
    """A closed interval."""

    low: float
    high: float


def wilson(correct: float, n: float, z: float = Z95) -> Interval:
    """Wilson score interval of a proportion (Wilson 1927), in closed form.

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


def seed_interval(values: Sequence[float]) -> Interval:
    """Interval for the median over seeds from order statistics: no distribution is assumed.

    The k-th smallest and k-th largest of n values enclose the median with probability
    1 - 2 P(Binomial(n, 1/2) < k). The largest k that keeps 95 % is taken. Below six seeds no k reaches
    that: then the smallest and largest value are given, which enclose it less often (of two seeds 0.5, of three 0.75).

    >>> seed_interval([0.2, 0.9, 0.5])
    Interval(low=0.2, high=0.9)

    Raises:
        ValueError: when there is no value.
    """
    if not values:
        raise ValueError("seed_interval: expected at least one value, got none")
    ordered = sorted(float(value) for value in values)
    n = len(ordered)
    best, tail = 1, 1  # tail = number of coin sequences of length n with fewer than k = 1 heads
    for k in range(2, n // 2 + 1):
        longer = tail + math.comb(n, k - 1)
        if 1 - 2 * longer / 2**n < 0.95:
            break
        best, tail = k, longer
    return Interval(ordered[best - 1], ordered[n - best])
