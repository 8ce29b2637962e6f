"""What the figures of this thesis read from arrays, by hand: certainty of the next token, the largest attention."""

import numpy as np

from lengen.results.records import AttentionMap
from papers.random_spaces.figures import certainties, largest
from tests.papers.runs_random_spaces import run


def certain(seed: int, means: list[float], prompts: list[int]):
    """A run in which the entropy at each place has these means, the probability of the end ten times them and that of
    the correct token a hundred times, over so many prompts; other values where the end is suppressed."""
    allowed = np.array([1, 10, 100])[:, None, None] * np.stack([np.array(means), np.full(len(means), 77)])
    arrays = {
        "uncertainty.8": np.stack([allowed, 1000 * allowed]),
        "uncertainty_prompts.8": np.array([prompts, [20] * len(prompts)], np.int32),
    }
    return run("fig4.3/ape", seed, arrays=arrays)


RUNS = [certain(0, [1, 2, 9], [20, 20, 20]), certain(1, [2, 6, 5], [20, 1, 0]), certain(2, [9, 4], [20, 20])]


def test_certainty_is_the_median_over_the_seeds_that_wrote_at_a_place():
    """The second seed wrote nothing at the third place, the third run has only two."""
    assert certainties(RUNS, 8, 0).tolist() == [[2, 4, 9], [20, 40, 90], [200, 400, 900]]
    assert certainties(RUNS, 8, 1).tolist() == [[2000, 4000, 7000], [20000, 40000, 70000], [200000, 400000, 700000]]
    assert certainties([run("fig4.3/ape", 3), RUNS[0]], 8, 0)[0].tolist() == [1, 2, 9], "one that measured none"


def test_certainty_is_unknown_where_no_seed_wrote():
    found = certainties(RUNS[1:2], 8, 0)
    assert found[:, :2].tolist() == [[2, 6], [20, 60], [200, 600]] and np.isnan(found[:, 2]).all()


def test_the_largest_weight_of_any_head_is_shown_by_layer():
    weights = np.array([[[[0.1, 0.9], [0.2, 0.3]], [[0.5, 0.4], [0.1, 0.8]]]], np.float32)
    shown = largest(AttentionMap(("a", "b"), weights, 10))
    assert shown.weights.tolist() == np.array([[[[0.5, 0.9], [0.2, 0.8]]]], np.float32).tolist()
    assert (shown.tokens, shown.n) == (("a", "b"), 10)
