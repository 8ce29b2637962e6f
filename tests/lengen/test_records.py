"""Counts, their CSV text, and what is refused when read back."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengen.results.records import (
    METRIC_COLUMNS,
    MODES,
    Counts,
    Grid,
    KeyCount,
    RecordError,
    key_counts_from_csv,
    key_counts_to_csv,
    metrics_from_csv,
    to_table,
)
from tests.fixtures.runs import counted

whole = st.integers(0, 10**12)
five = st.tuples(whole, whole, whole, whole, whole).map(
    lambda v: counted(v[0], min(v[0], v[1]), min(v[0], v[2]), v[3], v[4])
)
names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
any_counts = st.dictionaries(names, whole | st.floats(allow_nan=False, allow_infinity=False), min_size=1).map(Counts)


@st.composite
def grids(draw, axes=None, score=any_counts):
    axes = axes or draw(st.sampled_from([("length",), ("length", "count")]))
    grid = Grid(axes)
    cells = draw(st.lists(st.tuples(*[st.integers(1, 40)] * len(axes)), min_size=1, max_size=6, unique=True))
    for cell in cells:
        for mode in draw(st.sets(st.sampled_from(MODES), min_size=1)):
            grid.add(cell, mode, draw(score))
    return grid


@given(grids())
def test_a_grid_survives_its_csv(grid):
    text = grid.to_csv()
    assert Grid.from_csv(text) == grid and Grid.from_csv(text).to_csv() == text
    assert "\r" not in text


@given(*[grids(("length",), five)] * 3)
def test_adding_up_has_no_order_and_totals_are_sums(a, b, c):
    def added(*some):
        grid = Grid(("length",))
        for part in some:
            for cell, modes in part.scores.items():
                for mode, counts in modes.items():
                    grid.add(cell, mode, counts)
        return grid

    assert added(a) == a and added(a, b) == added(b, a)
    assert added(added(a, b), c) == added(a, added(b, c))
    cells = set(a.scores) | set(b.scores)
    for mode in MODES:
        parts = [total for grid in (a, b) if (total := grid.total(cells, mode))]
        assert added(a, b).total(cells, mode) == (sum(parts[1:], parts[0]) if parts else {})


def test_rows_are_sorted_and_named():
    grid = Grid(("length", "count"))
    for cell in [(10, 2), (2, 10), (2, 3)]:
        for mode in MODES:
            grid.add(cell, mode, Counts(n=5, correct=1, hops=2.5))
    lines = grid.to_csv().splitlines()
    assert lines[:3] == ["length,count,mode,name,value", "2,3,free_running,correct,1", "2,3,free_running,hops,2.5"]
    assert lines[3] == "2,3,free_running,n,5" and lines[-1] == "10,2,teacher_forced,n,5"
    curve = Grid(("length",))
    curve.add((7,), "sampled", Counts(n=5))
    assert curve.to_csv() == "length,count,mode,name,value\n7,,sampled,n,5\n"


def test_a_total_leaves_out_what_was_not_measured():
    grid = Grid(("length",))
    grid.add((3,), "teacher_forced", counted(5, 1, 2, 3, 4))
    assert grid.total([(3,), (4,)], "teacher_forced") == counted(5, 1, 2, 3, 4)
    assert grid.total([(3,)], "free_running") == {}


def test_rates_and_sums_are_of_what_was_counted():
    assert Counts(n=4, correct=1).rate("correct") == 0.25
    assert math.isnan(Counts(n=4).rate("correct")) and math.isnan(Counts(n=0, correct=0).rate("correct"))
    assert math.isnan(Counts().rate("correct"))
    assert Counts(n=5, correct=1) + Counts(n=3, hops=2) == Counts(n=8), "what both counted"


LONG = "length,count,mode,name,value\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected columns"),
        ("a,b\n", "line 1: expected columns"),
        (LONG.replace("mode", "made"), "line 1: expected columns"),
        (LONG + "\n", "line 2"),
        (LONG + '3,"' + "x" * 200_000, "expected"),
        (LONG + "x,4,teacher_forced,n,5\n", "line 2"),
        (LONG + "3,4,teacher_forced,n\n", "line 2: expected a length, a count, a mode, a new name and a number"),
        (LONG + "3,,teacher_forced,n,x\n", "line 2: expected a length, a mode, a new name and a number"),
        (LONG + "3,4,teacher_forced,n,5\n3,,teacher_forced,n,5\n", "line 3"),
        (LONG + "3,4,teacher_forced,n,5\n3,4,teacher_forced,n,5\n", "line 3"),
        (LONG + "3,4,guessed,n,5\n", "line 2"),
        (LONG + "3,4,teacher_forced,n,nan\n", "line 2"),
        (LONG + "3,4,teacher_forced,,5\n", "line 2"),
    ],
    ids=range(13),
)
def test_a_corrupted_grid_gets_one_sentence(text, message):
    with pytest.raises(RecordError) as caught:
        Grid.from_csv(text)
    assert message in str(caught.value) and "\n" not in str(caught.value) and isinstance(caught.value, ValueError)


@given(st.lists(st.tuples(whole, names, st.floats(allow_nan=False)), max_size=4))
def test_metrics_survive_and_a_file_cut_short_keeps_its_whole_lines(rows):
    text = to_table(METRIC_COLUMNS, rows)
    assert list(metrics_from_csv(text)) == rows
    cut = text + "12,train_lo"
    assert list(metrics_from_csv(cut, cut_short=True)) == rows
    with pytest.raises(RecordError, match=f"line {len(rows) + 2}: expected a step, a name and a number"):
        metrics_from_csv(cut)
    with pytest.raises(RecordError, match="line 1: expected columns step,name,value"):
        metrics_from_csv("")


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
