"""An exact permutation test of two trainings: one number per seed enters, a probability leaves.

scipy, which takes seconds to import, gives the same ones.
"""

import itertools
import math
from collections.abc import Sequence

import numpy as np

SIGNIFICANT = 0.025
"""Largest probability, each way, of a difference that counts."""


def above(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the share of ways to deal out the seeds in which the left mean exceeds the right by as much.

    >>> above([4.9, 15.4, 0.3, 2.1, 5.8], [0.0] * 5)
    0.003968253968253968
    """
    pool, n, ways = [*left, *right], len(left), 0
    first, second = _sums(pool[::2]), _sums(pool[1::2])  # half of the seeds each: 2^n sums in place of as many squared
    for picked, sums in enumerate(first):
        if 0 <= n - picked < len(second):
            others = np.sort(second[n - picked])
            ways += int(np.sum(len(others) - np.searchsorted(others, sum(left) - 1e-9 - sums)))
    return ways / math.comb(len(pool), n)


def _sums(values: Sequence[float]) -> list[np.ndarray]:
    """Return the sums of all choices of no value, of one, of two, and so on."""
    none, sums = np.zeros(0), [np.zeros(1)]
    for value in values:
        sums = [np.concatenate([same, fewer + value]) for fewer, same in itertools.pairwise([none, *sums, none])]
    return sums
