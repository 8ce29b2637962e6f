"""How far a run reaches has an interval: what the ends of every length's exact match leave of it, and the seeds."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengen.intervals import Interval, wilson
from papers.matrix.measures import RIGHT, reach_between, reach_of
from papers.matrix.tasks import FACTORS
from reproduce.comparison.checks import Level
from reproduce.comparison.evidence import Evidence, Side, pooled
from reproduce.comparison.measures import paper_measures
from tests.papers.made_matrix import DECLARED, run
from tests.reproduce.made import evidence as evidence_of
from tests.reproduce.made import judge

NAMES = ("matrix/copy/abc", "matrix/copy/rope")


def evidence(runs) -> Evidence:
    return evidence_of([DECLARED[name] for name in NAMES], runs, "night", paper_measures("matrix"))


def reaches(name, *multiples):
    return [run(name.split("/", 1)[1], seed, multiple) for seed, multiple in enumerate(multiples)]


def level(relation, threshold, measure="reach", left=NAMES[:1]) -> Level:
    words = {"id": "c", "place": "p", "statement": "s"}
    return Level(**words, relation=relation, threshold=threshold, measure=measure, left=left)


counts = st.dictionaries(st.integers(1, 40), st.integers(0, 60).map(lambda right: (float(right), 60.0)), min_size=1)


@given(counts)
def test_reach_lies_between_what_the_ends_of_every_length_reach(made):
    found = reach_between(made)
    assert found.low <= reach_of({length: right / n for length, (right, n) in made.items()}) <= found.high
    for end, side in zip(found, (0, 1), strict=True):
        assert all(wilson(*made[length])[side] >= RIGHT for length in made if length <= end)
        beyond = [length for length in sorted(made) if length > end]
        assert not beyond or wilson(*made[beyond[0]])[side] < RIGHT


def test_a_length_just_above_the_line_may_not_be_solved():
    assert reach_between({4: (200, 200), 8: (186, 200), 12: (0, 200)}) == (4, 8)
    assert reach_between({4: (200, 200), 8: (174, 200), 12: (0, 200)}) == (4, 8)
    assert reach_between({4: (0, 200)}) == (0, 0)


def test_three_seeds_at_the_longest_tested_length_decide_that_it_is_reached():
    """What others spread does not count, as it does not for a share of right answers."""
    at = evidence([*reaches(NAMES[0], 5, 5, 5), *reaches(NAMES[1], 1, 3, 5)])
    found = judge(level(">=", FACTORS[-1]), at)
    assert (found.verdict, found.interval, found.seeds) == ("reproduced", Interval(5, 5), 3)
    assert judge(level("<", 1.5), at).verdict == "differs"


def test_seeds_apart_leave_it_undecided_within_what_can_be_reached():
    at = evidence(reaches(NAMES[0], 5, 5, 1))
    found = judge(level(">=", FACTORS[-1]), at)
    assert found.verdict == "undecided" and found.ours == pytest.approx(11 / 3)
    assert found.interval == Interval(0, 5), "nothing below zero, nothing beyond what is tested"


def test_experiments_together_have_the_mean_of_their_intervals():
    at = evidence([*reaches(NAMES[0], 5, 5), *reaches(NAMES[1], 1, 1)])
    both = pooled([tested.sample(Side("reach", "teacher_forced", "all")) for tested in at.tested(NAMES)])
    assert (both.value, both.examples) == (3, Interval(3, 3)) and both.alone
    without = dataclasses.replace(both, between=None)
    assert not without.alone and without.examples == Interval(3, 3)
