"""Exact tests over seeds give what scipy gives."""

import itertools

import numpy as np
import pytest
from scipy import stats

from reproduce.comparison.answers import above, equal, trend

SIDES = [
    ([4.9, 15.4, 0.3, 2.1, 5.8], [0.0] * 5), ([4.9, 15.4, 0.3, 2.1, 5.8], [0.0] * 10),
    ([55.0, 53.8, 83.6, 17.5], [0.1, 0.0, 5.0, 1.2]), ([96.8, 93.9, 100.0, 91.0], [93.0, 99.2, 98.0, 97.9, 95.5]),
    ([1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right"), SIDES)
def test_two_sides_are_scipys_permutation_test(left, right):
    found = stats.permutation_test(
        (left, right), lambda a, b: np.mean(a) - np.mean(b), alternative="greater", n_resamples=np.inf
    )
    assert above(left, right) == pytest.approx(found.pvalue, abs=1e-12)


@pytest.mark.parametrize("groups", [[[0.02, 0.09], [0.07, 0.39, 0.09], [0.43, 0.69]], [[1, 2], [2, 2, 3], [2, 2]]])
def test_a_trend_is_jonckheeres_over_all_arrangements(groups):
    pool = list(itertools.chain(*groups))

    def statistic(some):
        pairs = [(a, b) for one, other in itertools.combinations(some, 2) for a in one for b in other]
        return sum((b > a) + 0.5 * (a == b) for a, b in pairs)

    found = []
    for order in itertools.permutations(range(7)):
        values = [pool[place] for place in order]
        found.append(statistic([values[:2], values[2:5], values[5:]]))
    assert trend(groups) == pytest.approx(np.mean(np.array(found) >= statistic(groups) - 1e-12))


def test_trends_of_two_groups_and_of_many_seeds_and_equal_both_ways():
    left, right = [1.0, 4.0, 2.0, 7.0], [3.0, 8.0, 9.0, 6.5, 5.0]
    found = stats.mannwhitneyu(right, left, alternative="greater", method="exact")
    assert trend([left, right]) == pytest.approx(found.pvalue)
    groups = [[1, 2, 3, 4, 5], [4, 5, 6, 7, 8], [7, 8, 9, 10, 11]]
    assert trend(groups) == 35 / 756756
    assert trend([[0] * 5, [1] * 5, [2] * 6]) == 1 / 2018016
    assert above([1.0] * 15, [0.0] * 15) == 1 / 155117520
    near, far = [50.0, 51.0, 50.5, 49.5], [57.0, 58.0, 57.5, 56.5]
    assert equal(near, [50.2, 50.8, 49.9, 50.1]) == 1 / 70
    assert equal(near, far) > 0.5
    assert equal(near, [20.0, 80.0, 50.0, 51.0]) > 0.025
