"""Exact permutation tests over seeds; no assumption about how accuracies are distributed.

One number per seed enters, a probability leaves. scipy, which takes seconds to import, gives the same ones.
"""

import itertools
import math
import operator
from collections import Counter, defaultdict
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


def above(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the share of ways to deal out the seeds in which the left mean exceeds the right by as much.

    >>> above([4.9, 15.4, 0.3, 2.1, 5.8], [0.0] * 5)
    0.003968253968253968
    """
    import numpy as np

    pool, n, ways = [*left, *right], len(left), 0
    first, second = _sums(pool[::2]), _sums(pool[1::2])  # half of the seeds each: 2^n sums in place of as many squared
    for picked, sums in enumerate(first):
        if 0 <= n - picked < len(second):
            others = np.sort(second[n - picked])
            ways += int(np.sum(len(others) - np.searchsorted(others, sum(left) - 1e-9 - sums)))
    return ways / math.comb(len(pool), n)


def _sums(values: Sequence[float]) -> "list[np.ndarray]":
    """Return the sums of all choices of no value, of one, of two, and so on."""
    import numpy as np

    none, sums = np.zeros(0), [np.zeros(1)]
    for value in values:
        sums = [np.concatenate([same, fewer + value]) for fewer, same in itertools.pairwise([none, *sums, none])]
    return sums


def equal(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the larger probability of two tests: that the sides lie at least `BAND` points apart, either way."""
    return max(above([value + BAND for value in left], right), above([value + BAND for value in right], left))


def trend(groups: Sequence[Sequence[float]]) -> float:
    """Return the share of ways to deal out the seeds in which values rise from group to group by as much.

    Jonckheere's statistic: over all pairs of groups, how often the later value is larger; ties count half.

    >>> trend([[1.0, 2.0], [3.0, 4.0]])
    0.16666666666666666
    """
    pool = Counter(value for group in groups for value in group)
    pairs = list(itertools.combinations(range(len(groups)), 2))
    # seeds of each group that are dealt out, from the smallest value up: ways to come to twice each statistic
    ways = {(0,) * len(groups): Counter([0])}
    for _, ties in sorted(pool.items()):
        before, ways = ways, defaultdict(Counter)
        for dealt, found in before.items():
            for more in _deals(ties, [len(group) - n for group, n in zip(groups, dealt, strict=True)]):
                gain = sum(2 * dealt[i] * more[j] + more[i] * more[j] for i, j in pairs)
                alike, after = _arrangements(more), tuple(map(operator.add, dealt, more))
                ways[after].update({twice + gain: number * alike for twice, number in found.items()})
    seen = sum((b > a) * 2 + (b == a) for i, j in pairs for a in groups[i] for b in groups[j])
    (found,) = ways.values()
    return sum(number for twice, number in found.items() if twice >= seen) / found.total()


def _deals(seeds: int, room: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Return the numbers of seeds that each group can get."""
    return (more for more in itertools.product(*(range(free + 1) for free in room)) if sum(more) == seeds)


def _arrangements(sizes: Sequence[int]) -> int:
    return math.factorial(sum(sizes)) // math.prod(map(math.factorial, sizes))
