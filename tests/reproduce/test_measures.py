"""What is measured of runs, over which cells, what they cost and will cost."""

import dataclasses
import hashlib
import math
from statistics import fmean
from types import SimpleNamespace

import hypothesis
import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengen import DataSpec, Linear, TwoOperandAddition
from lengen.data.task_data import TaskData
from lengen.formats.base import PAD
from lengen.metrics import METRICS
from lengen.metrics.response_metrics import Metric
from lengen.metrics.run_measures import LEARNED, Measure, Missing, OfRun, Scored
from lengen.results.records import Counts, Grid, KeyCount
from lengen.settings.changes import overlay
from lengen.settings.sections import Trained
from lengen.settings.spec import Spec, replace
from lengen.tasks.running_reductions import ListOpsMax, ListOpsMin, RunningXor
from lengen.tasks.successor_and_pair_tasks import NByOne, PairAddition, Successor
from lengen.training import operation_counts as operations
from papers.bias_calibration.profiles import profile
from papers.bias_calibration.settings import calibrated, plain, relative, scaffolded, with_code_masks
from papers.coupling.measures import keys_growth
from papers.random_spaces.experiments import KINDS, swept, written
from reproduce.catalogue import CATALOGUE
from reproduce.comparison.region_measures import FAMILIES, REGIONS, inside, measure_of, pooled
from reproduce.pages import crate
from reproduce.pages import site_data as records
from reproduce.runs import costs
from reproduce.store.checkout import results_root
from reproduce.store.reference import Reference
from tests.fixtures.refusals import refused
from tests.fixtures.runs import MODES, N, every, experiment, keys, run, scalars, spec
from tests.fixtures.toy_paper import spec_with

A = experiment("p/f/a")
CELLS = [(2, 2), (3, 2)]
cell_counts = st.fixed_dictionaries(
    {"n": st.integers(1, 50), "reference_tokens": st.integers(1, 90), "hops": st.integers(0, 9)}
)
ACCURACIES = {
    (2, 2): 1.0, (2, 3): 1.0, (2, 6): 0.5, (2, 12): 0.0,
    (4, 2): 0.8, (4, 3): 1.0, (4, 6): 0.0, (4, 12): 0.0,
    (8, 2): 0.0, (8, 3): 0.0, (8, 6): 0.0, (8, 12): 1.0,
}  # fmt: skip
"""By length and count, of a training on up to three operands of two digits."""
SOME = {1, 2, 3, 4, 5, 6, 7, 9}
PLANE = [(n, m) for n in range(1, 41) for m in range(1, 9)]
SPANS = (Trained(6, 1), Trained(6, 3), Trained(9, 2, frozenset(SOME)))
MEANT = {
    "all": "ffc264a3", "in_range": "61909199", "outside": "c501911c", "gap": "d13ccf90", "longer": "003d2186",
    "more": "c3d59b14", "both": "e86e8fc1", "far": "a63a69cc", "trained_length": "82f807e7", "next": "725552e0",
    "longest": "e302599b", "twice": "35e155f4",
}  # fmt: skip
"""Digest of the cells of each region, for the three ranges."""
MADE = run(A, 1.0)
RESUMED = {"seconds": 433.1, "seconds_training": 1479.0, "seconds_measuring": 1.0, "tokens_per_second": 40_000}
BEFORE_CLOCKS = {"seconds": 60.0, "seconds_training": 50.0, "seconds_per_step": 0.5, "scalars": {"steps": 1000}}
LONGER = {"seconds": 610.4, "seconds_training": 299.6, "seconds_measuring": 0.3}


def take(runs, measure, mode, cells):
    """The value of every run over these cells, their mean, and the problems of one run."""
    values, n = pooled(measure_of(every(), measure), runs, mode, sorted(cells))
    return SimpleNamespace(seeds=tuple(values), value=fmean(values), n=n)


def test_samples_pool_examples_and_only_ratios_of_counted_successes_are_proportions():
    made = run(A, 0.25, answer={"teacher_forced": 0.75, "free_running": 0.5})
    cells = {(2, 2), (2, 3), (3, 2), (3, 3)}
    values = {(name, mode): take([made], name, mode, cells).value for name in ("exact", "answer") for mode in MODES}
    assert values[("exact", "teacher_forced")] == values[("exact", "free_running")] == 0.25
    assert values[("answer", "teacher_forced")] == 0.75
    assert values[("answer", "free_running")] == 0.5
    assert take([made], "edit", "free_running", cells).value == pytest.approx(0.75 / 10)
    sample = take([run(A, 0.5), run(A, 1.0, seed=1)], "exact", "teacher_forced", [(2, 2)])
    assert (sample.seeds, sample.value, sample.n) == ((0.5, 1.0), 0.75, N), "problems are the same for every seed"
    made = run(A, 1.0, modes=("teacher_forced",))
    refused(Missing, "not scored free-running", take, [made], "answer", "free_running", [(2, 2)])
    families = {*FAMILIES, *(name for name, own in every().items() if not isinstance(own, Measure))}
    named = [name for name in every() if name not in families]
    assert {name for name in named if measure_of(every(), name).proportion} == {"exact", "answer", "answer_token"}
    assert math.isnan(take([run(A, 1.0)], "exact", "teacher_forced", [(2, 2)]).value) is False


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
def test_keys_growth_is_the_exponent(exponent):
    found, steps = keys_growth(keys(exponent))
    assert found == pytest.approx(exponent, abs=1e-3)
    assert steps == 2 * 4 * 1000


def test_keys_growth_has_the_widest_span_and_hits_and_values_are_over_the_cells():
    narrow = [KeyCount(2, m, 0, 0, 10, 10 * m) for m in (2, 3)]
    assert keys_growth([*narrow, *keys(0.0, length=5)])[0] == pytest.approx(0.0)
    apart = [KeyCount(2, m, 0, 0, 10, 10 * m) for m in (10, 20)]
    assert keys_growth([*apart, *keys(0.0, length=5)])[0] == pytest.approx(0.0), "8 of 2 is wider than 20 of 10"
    made = run(A, 1.0, keys=keys(1.0))
    assert take([made], "keys_growth", "teacher_forced", []).value == pytest.approx(1.0, abs=1e-3)
    made = arrays(**{"hits.early_end.2": np.array([0, 1, 1], np.uint8), "hits.early_end.3": np.array([1], np.uint8)})
    sample = value(made, "hits.early_end")
    assert (sample.value, sample.n) == (0.75, 4)
    assert measure_of(every(), "hits.part.answer_of_partials").words == "part, answer of partials"
    made = arrays(**{"values.entropy.2": np.array([1, 2, math.nan], np.float32), "values.entropy.3": np.array([6.0])})
    sample = value(made, "values.entropy")
    assert (sample.value, sample.n) == (3.0, 3)


@pytest.mark.parametrize("rows", [[], [KeyCount(3, 2, 0, 0, 10, 20)], [KeyCount(n, n, 0, 0, 10, 20) for n in (2, 3)]])
def test_keys_at_one_operand_count_have_no_growth(rows):
    refused(Missing, "two operand counts of one length", keys_growth, rows)


def test_what_was_not_tested_counted_or_written_is_missing_not_zero():
    made = dataclasses.replace(run(A, 1.0), arrays={"values.entropy.2": np.array([math.nan])})
    refused(Missing, "no problem", take, [made], "values.entropy", "teacher_forced", [(2, 2)])
    refused(Missing, "no problem", take, [made], "exact", "teacher_forced", [])
    grid = Grid(("length", "count"))
    grid.add((2, 2), "teacher_forced", Counts(n=4, hops=2))
    made = dataclasses.replace(run(A, 1.0), grid=grid)
    refused(Missing, "f/a was not scored teacher-forced at 2 x 2", take, [made], "exact", "teacher_forced", [(2, 2)])
    runs = [scalars(run(A, 1.0, seed=seed), steps_ratio=ratio) for seed, ratio in enumerate((0.02, 0.06))]
    sample = take(runs, "scalar.steps_ratio", "teacher_forced", [])
    assert (sample.seeds, sample.value) == ((0.02, 0.06), pytest.approx(0.04))
    kind = measure_of(every(), "scalar.steps_ratio")
    assert (kind.words, kind.proportion, type(kind)) == ("steps ratio", False, OfRun)
    assert measure_of(every(), "exact") == Scored("whole response right", "correct")
    runs = [scalars(run(A, 1.0), steps_ratio=0.02), scalars(run(A, 1.0, seed=1))]
    with pytest.raises(Missing, match=r"run\.json of f/a, seed 1, holds no scalar steps_ratio"):
        take(runs, "scalar.steps_ratio", "teacher_forced", [])


def arrays(**values):
    named = {name.replace("_at_", "."): np.array(value) for name, value in values.items()}
    return dataclasses.replace(run(A, 1.0), arrays=named)


def value(made, measure, cells=CELLS):
    return take([made], measure, "teacher_forced", cells)


@pytest.mark.parametrize("name", ["hits.early_end", "values.entropy"])
def test_an_array_that_a_run_lacks_is_missing_by_name(name):
    refused(Missing, r"f/a holds no array [a-z_]+(\.[a-z_]+)?\.2", value, run(A, 1.0), name)


@pytest.mark.parametrize("name", ["exakt", "hit.early_end", "values"])
def test_an_unknown_measure_is_a_key_error(name):
    with pytest.raises(KeyError):
        measure_of(every(), name)


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
        measure_of(every(), "hops")


def small(lengths, counts):
    return overlay(spec(length=2, count=3), {"test.lengths": lengths, "test.counts": counts})


@pytest.mark.parametrize(("name", "expected"),
    [("reach.length", 2.0), ("reach.count", 1.0), ("area.length", 0.7), ("area.count", 0.5)])  # fmt: skip
def test_reach_and_area_are_measured_from_the_trained_length_or_count(name, expected):
    """Four digits are right in 90 % of the problems with two and three operands together."""
    made = run(A, lambda n, m: ACCURACIES[n, m], made=small((2, 4, 8), (2, 3, 6, 12)))
    assert value(made, name).seeds == (pytest.approx(expected),)
    assert measure_of(every(), name).proportion == name.startswith("area")


def test_reach_below_the_trained_size_is_less_than_one_and_none_where_nothing_was_tested():
    made = run(A, lambda n, m: 1.0 if m < 3 else 0.5, made=small((2, 4, 8), (2, 3, 6, 12)))
    assert value(made, "reach.count").value == pytest.approx(2 / 3)
    one = run(A, 1.0, made=small((2,), (3,)))
    for axis in ("length", "count"):
        assert value(one, f"reach.{axis}").value == 1.0
        refused(Missing, rf"^f/a was tested on one {axis} beyond the trained ones$", value, one, f"area.{axis}")
    long = run(A, 1.0, made=small((2, 4), (6,)))
    refused(Missing, r"^f/a was tested on one length$", value, long, "reach.length")
    curve = Grid(("length",))
    for length in (2, 4):
        curve.add((length,), "teacher_forced", Counts(n=4, correct=4))
    made = dataclasses.replace(one, grid=curve)
    assert value(made, "reach.length").value == 2.0 and value(made, "area.length").value == 1.0
    refused(Missing, r"^f/a was tested on one count$", value, made, "reach.count")


def gapped(lengths, pad_to=0) -> DataSpec:
    """Sums of two numbers of these lengths, in as many digits at least."""
    return DataSpec(task=TwoOperandAddition(tuple(sorted(lengths))), format=Linear(pad_to=pad_to))


def holds(region, span, cell):
    return REGIONS[region].holds(span, cell[0], (*cell, 1)[1])


def found(runs, region, lengths=None, counts=None):
    tested = set.intersection(*({*one.grid.scores} for one in runs))
    return {*inside(sorted(tested), runs[0].trained, REGIONS[region], lengths, counts)}


@pytest.mark.parametrize(("region", "inside", "not_inside"), [
    ("all", [(1, 2), (9, 9)], []), ("in_range", [(3, 4), (1, 2)], [(4, 4), (3, 5)]),
    ("outside", [(4, 2), (1, 5), (4, 5)], [(3, 4)]), ("longer", [(4, 4)], [(4, 5), (3, 4)]),
    ("more", [(3, 5)], [(4, 5), (3, 4)]), ("both", [(4, 5)], [(4, 4), (3, 5)]),
    ("far", [(6, 2), (1, 8)], [(5, 7), (3, 4)]), ("twice", [(6, 8)], [(6, 4), (3, 8), (6, 7), (7, 8)]),
    ("trained_length", [(3, 4), (3, 1)], [(2, 4), (4, 4), (3, 5)]),
])  # fmt: skip
def test_regions_of_a_model_trained_to_three_by_four(region, inside, not_inside):
    assert all(holds(region, Trained(3, 4), cell) for cell in inside)
    assert not any(holds(region, Trained(3, 4), cell) for cell in not_inside)


@settings(deadline=None)
@given(st.integers(1, 12), st.integers(1, 4), st.tuples(st.integers(1, 30), st.integers(1, 8)))
def test_a_range_that_names_all_its_lengths_is_the_one_that_names_none(length, second, cell):
    named = Trained(length, second, frozenset(range(1, length + 1)))
    for name in REGIONS:
        assert holds(name, named, cell) == holds(name, Trained(length, second), cell)


@settings(deadline=None)
@given(st.frozensets(st.integers(1, 9), min_size=1), st.integers(1, 30))
def test_a_length_is_trained_or_in_the_gap_or_longer(lengths, length):
    span, cell = Trained(max(lengths), 1, lengths), (length,)
    assert sum(holds(name, span, cell) for name in ("in_range", "gap", "longer")) == 1
    assert holds("outside", span, cell) is not holds("in_range", span, cell)


def test_regions_mean_what_they_meant_and_keep_tested_cells_of_the_trained_range():
    """Statements name them, and runs record what was said: who changes a region makes it another one, with another
    name."""
    for name, region in REGIONS.items():
        cells = [inside(PLANE, span, region, None, None) for span in SPANS]
        assert any(cells) and hashlib.sha256(repr(cells).encode()).hexdigest()[:8] == MEANT[name], name
    assert REGIONS.keys() == MEANT.keys()
    assert LEARNED == 0.95
    parity = Trained(10, 1)
    assert holds("in_range", parity, (10,)) and holds("outside", parity, (11,))
    assert holds("far", parity, (20,)) and not holds("far", parity, (19,))
    assert holds("longer", parity, (11,)) and not holds("more", parity, (11,))
    made = run(A, 1.0)
    assert found([made], "longest") == {(6, m) for m in (2, 3, 4, 6)}
    assert found([made], "longest", (1, 5)) == {(4, m) for m in (2, 3, 4, 6)}
    assert found([made], "longest", (1, 3)) == set()
    assert found([made], "all", (6, 6), (2, 3)) == {(6, 2), (6, 3)}
    made = msgspec.structs.replace(spec(), data=gapped({1, 2, 6}, 9))
    span = run(A, 1.0, made=made).trained
    assert span == Trained(6, 2, frozenset({1, 2, 6}))
    assert run(A, 1.0, made=spec(length=5, count=2)).trained == Trained(5, 2)
    assert DataSpec(task=TwoOperandAddition(lengths=(1, 2)), format=Linear()).trained.lengths == {1, 2}
    assert found([run(A, 1.0)], "next") == {(4, 2), (4, 3)}
    made = msgspec.structs.replace(spec(), data=gapped({2, 4}))
    assert found([run(A, 1.0, made=made)], "next") == {(6, 2)}
    assert found([run(A, 1.0, made=made)], "gap") == {(3, 2)}
    assert found([run(A, 1.0)], "next", (1, 3)) == set()


def made(**info):
    return dataclasses.replace(MADE, info={**MADE.info, **info})


@pytest.mark.parametrize(("info", "seconds"), [(RESUMED, 1480.0), (BEFORE_CLOCKS, 500.0), (LONGER, 610.4), ({}, 0.0)])
def test_the_whole_is_no_less_than_its_parts(info, seconds):
    assert costs.whole(made(**info)) == seconds


def test_a_row_has_parameters_millions_of_tokens_and_seconds():
    (row,) = records.experiments([A], {A.name: [made(**RESUMED)]})
    assert row[6:9] == ("1,000", "59.2", "1,480")


def test_runs_took_no_less_than_their_trainings_and_the_crate_has_when_they_began():
    runs = [run for paper in CATALOGUE.papers() for run in Reference(results_root()).headers(paper)]
    for one in runs:
        assert costs.whole(one) >= costs.training(one) >= one.info.get("seconds_training", 0), one.experiment
    done = made(**RESUMED, finished="2026-11-22T17:32:39.000+00:00")
    assert crate._started(done) == "2026-11-22T17:07:59.000+00:00"
    noted = made(**done.info | {"started": "2026-11-20T08:00:00.000+00:00"})
    assert crate._started(noted) == "2026-11-20T08:00:00.000+00:00"
    whole, stops = spec_with(steps=100), spec_with(steps=100, stop_at=1.0)
    runs = [made(scalars={"steps": steps}) for steps in (40, 100, 60)]
    assert costs.updates_made(whole, runs) == 1.0
    assert costs.updates_made(stops, runs) == 0.6
    assert costs.updates_made(stops, [made(scalars={"steps": 120})]) == 1.0, "it had more to make"
    waits = spec_with(steps=100, stop_at=1.0, evaluations=20, patience=9)
    assert costs.updates_made(waits, [made(scalars={"steps": 40})]) == 0.45, "nine evaluations of twenty"
    assert costs.updates_made(stops, []) is None, "nothing tells when it stops"


def single(spec: Spec, width: int, batch: int) -> Spec:
    """In single precision, with numbers of so many digits and batches of that size: as it was when it was measured."""
    return overlay(spec, {"data.format.width": width, "train": {"precision": "32-true", "batch": batch}})


SUCCESSOR = single(plain(profile("cpu", Successor)), 23, 64)
MEASURED = {
    "addition": (single(plain(profile("cpu", PairAddition)), 13, 128), 0.073),
    "successor": (SUCCESSOR, 0.057),
    "n by one": (single(plain(profile("cpu", NByOne)), 13, 128), 0.132),
    "ListOps in a window": (single(scaffolded(profile("cpu", ListOpsMax), "cyclic"), 17, 64), 0.101),
    "addition in a window": (single(scaffolded(profile("cpu", PairAddition), "cyclic"), 13, 64), 0.078),
    "relative keys, shared layers": (single(relative(profile("cpu", PairAddition)), 13, 128), 0.323),
    "one encoder layer": (overlay(SUCCESSOR, {"model.architecture.encoder_layers": 1}), 0.087),
}
"""Specification, seconds of a training step on one core (``seconds_per_step`` of stored runs)."""


@pytest.mark.parametrize("name", MEASURED)
def test_a_step_takes_what_was_measured_within_thirty_percent(name):
    spec, seconds = MEASURED[name]
    spec = replace(spec, train={"steps": 1000, "evaluations": 0})
    estimated = (costs.cost(spec, "cpu").train - costs.START["core"]) / 1000
    assert estimated == pytest.approx(seconds, rel=0.3)


def test_samples_loops_trainings_and_responses_seen_whole_cost_what_they_take():
    spec = plain(profile("cpu", PairAddition))
    assert costs.cost(replace(spec, test={"sampled": 1000}), "cpu").measure > costs.cost(spec, "cpu").measure
    assert costs.cost(replace(spec, model={"loops": 4}), "cpu").train > 2 * costs.cost(spec, "cpu").train
    spec = with_code_masks(calibrated(profile("cpu", Successor), positions=True))
    pair = spec.data.tokens(1, 1)
    ratio = operations.verify(spec.model, *pair) / operations.forward(spec.model, *pair)
    assert ratio == pytest.approx(14, rel=0.3)
    spec = calibrated(profile("cpu", PairAddition))
    first, second = (costs.cost(part, "cpu") for part in spec.trainings())
    assert costs.cost(spec, "cpu") == (first.train + second.train, second.measure)


@pytest.mark.parametrize("task", [Successor, PairAddition, NByOne, RunningXor, ListOpsMin])
@pytest.mark.parametrize("configuration", ["vanilla", "cyclic"])
def test_tokens_of_a_fixed_length_are_those_written(task, configuration):
    spec = scaffolded(profile("cpu", task), configuration)
    data = TaskData(spec, 0)
    batch = data.writer.write(data.test(2, spec.data.task.most, 1))
    prompt, response = spec.data.tokens(2, spec.data.task.most)
    assert abs(prompt - batch.source.tokens.shape[1]) <= 1
    assert response == batch.tokens.shape[1] - 1  # the last token predicts nothing


@pytest.mark.parametrize(
    "spec", [*(written(kind)["cpu"] for kind in KINDS), swept("10k", "mix", 64)["cpu"]], ids=[*KINDS, "sub-tasks"]
)
def test_tokens_of_two_operands_are_those_trained_on_within_a_tenth(spec):
    """Spaces are random, so the mean over a window is compared."""
    length = spec.data.task.longest
    alone = {"data": {"task": TwoOperandAddition((length,)), "examples": 0}, "train.batch": 64}
    data = TaskData(overlay(spec, alone), 0)
    written = sum(float((data.batch(step).tokens != PAD).sum()) for step in range(8)) / (8 * 64)
    assert sum(spec.data.tokens(length, 2)) == pytest.approx(written, rel=0.1)


def test_rounded_products_halve_the_training_of_a_core_that_has_them_and_nothing_else(monkeypatch):
    monkeypatch.setattr(costs, "rounds_natively", lambda: True)
    float32 = plain(profile("cpu", PairAddition)).override("train.precision=32-true")
    rounded = float32.override("train.precision=bf16-products")
    slow, fast = costs.cost(float32, "cpu"), costs.cost(rounded, "cpu")
    assert fast.measure == slow.measure and 0.5 < fast.train / slow.train < 0.6
    assert costs.cost(float32, "paper") == costs.cost(rounded, "paper")
    monkeypatch.setattr(costs, "rounds_natively", lambda: False)
    assert costs.cost(rounded, "cpu") == slow
