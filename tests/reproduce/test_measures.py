"""Measures are ratios of counts; samples pool them and keep seeds apart; each reads its own record and says what is not
there."""

import dataclasses
import math
from statistics import fmean
from types import SimpleNamespace

import hypothesis
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengen.metrics import METRICS
from lengen.metrics.measures import Measure, Missing, OfRun, Scored
from lengen.metrics.responses import Metric
from lengen.results.records import Counts, Grid, KeyCount
from lengen.settings.changes import overlay
from papers.coupling.measures import keys_growth
from reproduce.comparison.measures import FAMILIES, pooled
from tests.fixtures.runs import EVERY, MODES, N, experiment, keys, run, scalars, spec

A = experiment("p/f/a")


def take(runs, measure, mode, cells):
    """The value of every run over these cells, their mean, and the problems of one run."""
    values, n = pooled(EVERY.measure(measure), runs, mode, sorted(cells))
    return SimpleNamespace(seeds=tuple(values), value=fmean(values), n=n)


def test_ratios_are_those_of_the_counts():
    made = run(A, 0.25, answer={"teacher_forced": 0.75, "free_running": 0.5})
    cells = {(2, 2), (2, 3), (3, 2), (3, 3)}
    values = {(name, mode): take([made], name, mode, cells).value for name in ("exact", "answer") for mode in MODES}
    assert values[("exact", "teacher_forced")] == values[("exact", "free_running")] == 0.25
    assert values[("answer", "teacher_forced")] == 0.75
    assert values[("answer", "free_running")] == 0.5
    assert take([made], "edit", "free_running", cells).value == pytest.approx(0.75 / 10)


def test_a_sample_pools_examples_and_keeps_seeds_apart():
    sample = take([run(A, 0.5), run(A, 1.0, seed=1)], "exact", "teacher_forced", [(2, 2)])
    assert (sample.seeds, sample.value, sample.n) == ((0.5, 1.0), 0.75, N), "problems are the same for every seed"


def test_a_mode_that_was_not_scored_is_missing_and_never_replaced():
    made = run(A, 1.0, modes=("teacher_forced",))
    with pytest.raises(Missing, match="not scored free-running"):
        take([made], "answer", "free_running", [(2, 2)])


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
def test_keys_growth_is_the_exponent(exponent):
    found, steps = keys_growth(keys(exponent))
    assert found == pytest.approx(exponent, abs=1e-3)
    assert steps == 2 * 4 * 1000


def test_keys_growth_takes_the_length_with_the_widest_span():
    narrow = [KeyCount(2, m, 0, 0, 10, 10 * m) for m in (2, 3)]
    assert keys_growth([*narrow, *keys(0.0, length=5)])[0] == pytest.approx(0.0)
    apart = [KeyCount(2, m, 0, 0, 10, 10 * m) for m in (10, 20)]
    assert keys_growth([*apart, *keys(0.0, length=5)])[0] == pytest.approx(0.0), "8 of 2 is wider than 20 of 10"


@pytest.mark.parametrize("rows", [[], [KeyCount(3, 2, 0, 0, 10, 20)], [KeyCount(n, n, 0, 0, 10, 20) for n in (2, 3)]])
def test_keys_at_one_operand_count_have_no_growth(rows):
    with pytest.raises(Missing, match="two operand counts of one length"):
        keys_growth(rows)


def test_measures_of_the_whole_run_need_no_cell():
    made = run(A, 1.0, keys=keys(1.0))
    assert take([made], "keys_growth", "teacher_forced", []).value == pytest.approx(1.0, abs=1e-3)


def test_no_tested_example_is_missing_not_zero():
    made = dataclasses.replace(run(A, 1.0), arrays={"values.entropy.2": np.array([math.nan])})
    with pytest.raises(Missing, match="no problem"):
        take([made], "values.entropy", "teacher_forced", [(2, 2)])
    with pytest.raises(Missing, match="no problem"):
        take([made], "exact", "teacher_forced", [])


def test_only_ratios_of_counted_successes_are_proportions():
    families = {*FAMILIES, *(name for name, own in EVERY.own.items() if not isinstance(own, Measure))}
    named = [name for name in EVERY.names() if name not in families]
    assert {name for name in named if EVERY.measure(name).proportion} == {"exact", "answer", "answer_token"}
    assert math.isnan(take([run(A, 1.0)], "exact", "teacher_forced", [(2, 2)]).value) is False


CELLS = [(2, 2), (3, 2)]


def arrays(**values):
    named = {name.replace("_at_", "."): np.array(value) for name, value in values.items()}
    return dataclasses.replace(run(A, 1.0), arrays=named)


def value(made, measure, cells=CELLS):
    return take([made], measure, "teacher_forced", cells)


def test_a_scalar_is_what_the_run_wrote_under_that_name():
    runs = [scalars(run(A, 1.0, seed=seed), steps_ratio=ratio) for seed, ratio in enumerate((0.02, 0.06))]
    sample = take(runs, "scalar.steps_ratio", "teacher_forced", [])
    assert (sample.seeds, sample.value) == ((0.02, 0.06), pytest.approx(0.04))
    kind = EVERY.measure("scalar.steps_ratio")
    assert (kind.words, kind.proportion, type(kind)) == ("steps ratio", False, OfRun)
    assert EVERY.measure("exact") == Scored("whole response right", "correct")


def test_a_scalar_that_one_seed_left_out_is_missing_with_its_seed():
    runs = [scalars(run(A, 1.0), steps_ratio=0.02), scalars(run(A, 1.0, seed=1))]
    with pytest.raises(Missing, match=r"run\.json of f/a, seed 1, holds no scalar steps_ratio"):
        take(runs, "scalar.steps_ratio", "teacher_forced", [])


def test_hits_are_counted_over_the_cells():
    made = arrays(**{"hits.early_end.2": np.array([0, 1, 1], np.uint8), "hits.early_end.3": np.array([1], np.uint8)})
    sample = value(made, "hits.early_end")
    assert (sample.value, sample.n) == (0.75, 4)
    assert EVERY.measure("hits.part.answer_of_partials").words == "part, answer of partials"


def test_values_are_averaged_over_examples_and_those_that_are_not_numbers_belong_to_none():
    made = arrays(**{"values.entropy.2": np.array([1, 2, math.nan], np.float32), "values.entropy.3": np.array([6.0])})
    sample = value(made, "values.entropy")
    assert (sample.value, sample.n) == (3.0, 3)


@pytest.mark.parametrize("name", ["hits.early_end", "values.entropy"])
def test_an_array_that_a_run_lacks_is_missing_by_name(name):
    with pytest.raises(Missing, match=r"f/a holds no array [a-z_]+(\.[a-z_]+)?\.2"):
        value(run(A, 1.0), name)


@pytest.mark.parametrize("name", ["exakt", "hit.early_end", "values"])
def test_an_unknown_measure_is_a_key_error(name):
    with pytest.raises(KeyError):
        EVERY.measure(name)


cell_counts = st.fixed_dictionaries(
    {"n": st.integers(1, 50), "reference_tokens": st.integers(1, 90), "hops": st.integers(0, 9)}
)


@settings(deadline=None, max_examples=25)
@given(
    st.lists(
        st.dictionaries(st.tuples(st.integers(1, 6), st.integers(1, 4)), cell_counts, min_size=1),
        min_size=1,
        max_size=3,
    )
)
def test_a_metric_of_ones_own_is_a_measure_whose_samples_are_those_of_a_loop(seeds):
    """Registered nowhere but in the table of metrics: it is read from the stored file and summed as any other."""
    runs = []
    for seed, cells in enumerate(seeds):
        grid = Grid(("length", "count"))
        for cell, counts in cells.items():
            grid.add(cell, "free_running", Counts(counts))
        runs.append(dataclasses.replace(run(A, 1.0, seed=seed), grid=Grid.from_csv(grid.to_csv())))
    both = set(seeds[0]).intersection(*seeds)
    hops = Metric("hops", "hops per token", lambda responses: {"hops": 1}, "hops", "reference_tokens", proportion=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(METRICS, "hops", hops)
        hypothesis.assume(both)
        sample = take(runs, "hops", "free_running", both)
    tops = [sum(cells[cell]["hops"] for cell in both) for cells in seeds]
    bottoms = [sum(cells[cell]["reference_tokens"] for cell in both) for cells in seeds]
    assert sample.seeds == tuple(top / bottom for top, bottom in zip(tops, bottoms, strict=True))
    assert sample.n == bottoms[0]
    with pytest.raises(KeyError):
        EVERY.measure("hops")


def test_a_metric_that_some_runs_did_not_count_is_missing():
    grid = Grid(("length", "count"))
    grid.add((2, 2), "teacher_forced", Counts(n=4, hops=2))
    made = dataclasses.replace(run(A, 1.0), grid=grid)
    with pytest.raises(Missing, match="f/a was not scored teacher-forced at 2 x 2"):
        take([made], "exact", "teacher_forced", [(2, 2)])


ACCURACIES = {
    (2, 2): 1.0, (2, 3): 1.0, (2, 6): 0.5, (2, 12): 0.0,
    (4, 2): 0.8, (4, 3): 1.0, (4, 6): 0.0, (4, 12): 0.0,
    (8, 2): 0.0, (8, 3): 0.0, (8, 6): 0.0, (8, 12): 1.0,
}  # fmt: skip
"""By length and count, of a training on up to three operands of two digits."""


def small(lengths, counts):
    return overlay(spec(length=2, count=3), {"test.lengths": lengths, "test.counts": counts})


@pytest.mark.parametrize(
    ("name", "expected"), [("reach.length", 2.0), ("reach.count", 1.0), ("area.length", 0.7), ("area.count", 0.5)]
)
def test_reach_and_area_are_measured_from_the_trained_length_or_count(name, expected):
    """Four digits are right in 90 % of the problems with two and three operands together."""
    made = run(A, lambda n, m: ACCURACIES[n, m], made=small((2, 4, 8), (2, 3, 6, 12)))
    assert value(made, name).seeds == (pytest.approx(expected),)
    assert EVERY.measure(name).proportion == name.startswith("area")


def test_reach_below_the_trained_size_is_less_than_one():
    made = run(A, lambda n, m: 1.0 if m < 3 else 0.5, made=small((2, 4, 8), (2, 3, 6, 12)))
    assert value(made, "reach.count").value == pytest.approx(2 / 3)


def test_one_tested_length_or_count_has_no_area_and_an_axis_that_was_not_tested_no_reach():
    one = run(A, 1.0, made=small((2,), (3,)))
    for axis in ("length", "count"):
        assert value(one, f"reach.{axis}").value == 1.0
        with pytest.raises(Missing, match=rf"^f/a was tested on one {axis} beyond the trained ones$"):
            value(one, f"area.{axis}")
    long = run(A, 1.0, made=small((2, 4), (6,)))
    with pytest.raises(Missing, match=r"^f/a was tested on one length$"):
        value(long, "reach.length")
    curve = Grid(("length",))
    for length in (2, 4):
        curve.add((length,), "teacher_forced", Counts(n=4, correct=4))
    made = dataclasses.replace(one, grid=curve)
    assert value(made, "reach.length").value == 2.0 and value(made, "area.length").value == 1.0
    with pytest.raises(Missing, match=r"^f/a was tested on one count$"):
        value(made, "reach.count")
