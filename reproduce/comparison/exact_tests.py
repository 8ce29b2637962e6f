"""Exact permutation tests over seeds; no assumption about how accuracies are distributed.

One number per seed enters, a probability leaves. scipy, which takes seconds to import, gives the same ones.
"""

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np  # a tenth of a second, loaded by the first test

SIGNIFICANT = 0.025
"""Largest probability, each way, of a difference that counts."""
FEWEST = 4
"""Seeds on a side with which four against four can reach it: 1 of 70 arrangements."""
BAND = 5.0
"""Points within which two accuracies are practically equal."""
MANY = 2_000_000
"""Arrangements beyond which none is counted."""


def above(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the share of ways to deal out the seeds in which the left mean exceeds the right by as much.

    >>> above([4.9, 15.4, 0.3, 2.1, 5.8], [0.0] * 5)
    0.003968253968253968
    """
    import numpy as np

    pool, n = np.array([*left, *right]), len(left)
    sums = _choices(len(pool), n) @ pool
    gaps = sums / n - (pool.sum() - sums) / (len(pool) - n)
    return float(np.mean(gaps >= np.mean(left) - np.mean(right) - 1e-9))


def equal(left: Sequence[float], right: Sequence[float], band: float = BAND) -> float:
    """Return the larger probability of two tests: that the sides lie at least ``band`` apart, either way."""
    return max(above([value + band for value in left], right), above([value + band for value in right], left))


def trend(groups: Sequence[Sequence[float]]) -> float:
    """Return the share of ways to deal out the seeds in which values rise from group to group by as much.

    Jonckheere's statistic: over all pairs of groups, how often the later value is larger; ties count half.

    Raises:
        ValueError: more than `MANY` arrangements.

    >>> trend([[1.0, 2.0], [3.0, 4.0]])
    0.16666666666666666
    """
    import numpy as np

    pool = np.array([value for group in groups for value in group])
    later = (pool[None] > pool[:, None]) + 0.5 * (pool[None] == pool[:, None])
    sizes = [len(group) for group in groups]
    found = np.concatenate(list(_statistics(later, np.arange(len(pool)), sizes)))
    ends = itertools.accumulate(sizes)
    seen = sum(later[end - size : end, end:].sum() for end, size in zip(ends, sizes, strict=True))
    return float(np.mean(found >= seen - 1e-12))


def _statistics(later: "np.ndarray", rest: "np.ndarray", sizes: Sequence[int]) -> "Iterator[np.ndarray]":
    """Yield the statistic of every arrangement of the seeds ``rest`` in groups of these sizes."""
    import numpy as np

    if arrangements(sizes) > MANY:
        raise ValueError(f"{len(rest)} seeds in {len(sizes)} groups have more than {MANY} arrangements")
    picked = _choices(len(rest), sizes[0])
    first = (picked @ later[np.ix_(rest, rest)] * (1 - picked)).sum(axis=1)
    if len(sizes) == 2:
        yield first
        return
    for own, mask in zip(first, picked, strict=True):
        for below in _statistics(later, rest[mask == 0], sizes[1:]):
            yield own + below


@functools.cache
def _choices(n: int, k: int) -> "np.ndarray":
    """Return every choice of k of n as a row of zeros and ones."""
    import numpy as np

    chosen = np.array(list(itertools.combinations(range(n), k)))
    picked = np.zeros((len(chosen), n))
    np.put_along_axis(picked, chosen, 1.0, axis=1)
    return picked


def arrangements(sizes: Sequence[int]) -> int:
    """Return the number of ways to deal out seeds to groups of these sizes.

    >>> arrangements((4, 4)), arrangements((5, 5, 5))
    (70, 756756)
    """
    return math.prod(math.comb(sum(sizes[place:]), size) for place, size in enumerate(sizes))
