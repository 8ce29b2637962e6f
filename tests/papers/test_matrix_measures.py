"""How far a run reaches has an interval: what the ends of every length's exact match leave of it, and the seeds."""

from hypothesis import given
from hypothesis import strategies as st

from lengen.intervals import wilson
from papers.matrix.measures import RIGHT, reach_between, reach_of

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
