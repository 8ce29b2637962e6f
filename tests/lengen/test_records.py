"""Counts, their CSV text, and what is refused when read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengen.records import MODES, Grid, KeyCount, RecordError, Score, key_counts_from_csv, key_counts_to_csv

whole = st.integers(0, 10**12)
score = st.tuples(whole, whole, whole, whole, whole).map(
    lambda v: Score(v[0], min(v[0], v[1]), min(v[0], v[2]), v[3], v[4])
)


@st.composite
def grids(draw, axes=None):
    axes = axes or draw(st.sampled_from([("length",), ("length", "count")]))
    grid = Grid(axes)
    cells = draw(st.lists(st.tuples(*[st.integers(1, 40)] * len(axes)), max_size=6, unique=True))
    for cell in cells:
        for mode in draw(st.sets(st.sampled_from(MODES), min_size=1)):
            grid.add(cell, mode, draw(score))
    return grid


@given(grids())
def test_a_grid_survives_its_csv(grid):
    text = grid.to_csv()
    assert Grid.from_csv(text) == grid and Grid.from_csv(text).to_csv() == text
    assert "\r" not in text


@given(grids(("length",)), grids(("length",)), grids(("length",)))
def test_merging_is_addition(a, b, c):
    assert a.merge(b) == b.merge(a)
    assert a.merge(b).merge(c) == a.merge(b.merge(c))
    assert a.merge(Grid(("length",))) == a
    cells = set(a.scores) | set(b.scores)
    for mode in MODES:
        assert a.merge(b).total(cells, mode) == a.total(cells, mode) + b.total(cells, mode)


def test_rows_are_sorted_and_named():
    grid = Grid(("length", "count"))
    for cell in [(10, 2), (2, 10), (2, 3)]:
        for mode in MODES:
            grid.add(cell, mode, Score(5, 1, 2, 3, 4))
    lines = grid.to_csv().splitlines()
    assert lines[0] == "length,count,mode,n,correct,answer_correct,edit_sum,reference_tokens"
    assert lines[1] == "2,3,free_running,5,1,2,3,4" and lines[-1] == "10,2,teacher_forced,5,1,2,3,4"


def test_a_total_leaves_out_what_was_not_measured():
    grid = Grid(("length",))
    grid.add((3,), "teacher_forced", Score(5, 1, 2, 3, 4))
    assert grid.total([(3,), (4,)], "teacher_forced") == Score(5, 1, 2, 3, 4)
    assert grid.total([(3,)], "free_running") == Score(0, 0, 0, 0, 0)


HEAD = "length,mode,n,correct,answer_correct,edit_sum,reference_tokens\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected columns"),
        ("a,b\n", "line 1: expected columns"),
        (HEAD.replace("mode", "made"), "line 1: expected columns"),
        (HEAD + "3,teacher_forced,5,1,2,3\n", "line 2: expected 1 axis values, a mode and counts"),
        (HEAD + "3,teacher_forced,5,1,2,3,4\n3,guessed,5,1,2,3,4\n", "line 3"),
        (HEAD + "3,teacher_forced,5,6,2,3,4\n", "line 2"),
        (HEAD + "3,teacher_forced,5,1,-2,3,4\n", "line 2"),
        (HEAD + "x,teacher_forced,5,1,2,3,4\n", "line 2"),
        (HEAD + "3,teacher_forced,5,1,2,3,4.5\n", "line 2"),
        (HEAD + "\n", "line 2"),
        (HEAD + '3,"' + "x" * 200_000, "expected"),
    ],
    ids=range(11),
)
def test_a_corrupted_grid_gets_one_sentence(text, message):
    with pytest.raises(RecordError) as caught:
        Grid.from_csv(text)
    assert message in str(caught.value) and "\n" not in str(caught.value) and isinstance(caught.value, ValueError)


def test_grids_over_different_axes_do_not_merge():
    with pytest.raises(RecordError, match="cannot merge a grid over"):
        Grid(("length",)).merge(Grid(("length", "count")))


@given(st.lists(st.builds(KeyCount, *[st.integers(0, 10**9)] * 6)))
def test_key_counts_survive_their_csv(rows):
    assert key_counts_from_csv(key_counts_to_csv(rows)) == sorted(rows)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected columns length,count,layer,head,steps,keys_sum"),
        ("length,count\n", "line 1: expected columns"),
        ("length,count,layer,head,steps,keys_sum\n1,2,3\n", "expected 6 whole numbers"),
        ("length,count,layer,head,steps,keys_sum\n1,2,3,4,5,x\n", "expected 6 whole numbers"),
    ],
)
def test_corrupted_key_counts_get_one_sentence(text, message):
    with pytest.raises(RecordError, match=message):
        key_counts_from_csv(text)
