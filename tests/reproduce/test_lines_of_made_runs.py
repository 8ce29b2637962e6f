"""Published values beside ours."""

import csv
import dataclasses
import io
import re
import subprocess
from pathlib import Path

import pytest

from lengen import Consecutive, Counting, NextLarger, RandomSpaces
from lengen.metrics.run_measures import Missing
from lengen.settings.changes import overlay
from reproduce.catalogue import CATALOGUE
from reproduce.comparison import published_values
from reproduce.comparison.compare import compare
from reproduce.comparison.last_comparison import UNDECIDED
from reproduce.comparison.published_values import Value, over_cells
from reproduce.comparison.region_measures import reader
from reproduce.comparison.run_priority import telling_first
from reproduce.comparison.setting_distance import LENGTHS, NEAR, OWN, PROOF, SETTING, SHORTER, distance, farthest
from reproduce.pages import comparison as pages
from reproduce.runs.plan import plan
from reproduce.store.reference import Reference
from tests.fixtures.refusals import refused
from tests.fixtures.runs import MODES, counted, experiment, run, scalars, spec, stored

LEFT, RIGHT = (experiment(f"coupling/fig1/{name}", ("cpu", "night", "paper")) for name in ("left", "right"))
BOTH = (LEFT.name, RIGHT.name)
TRAINED = ("coupling/fig1/coupling-scratchpad",)
"""Published with 2 to 10 numbers of 1 to 10 digits."""
ROOT = Path(__file__).resolve().parents[2]
REFERENCE = Reference(ROOT / "results")
ADDS, SPACED = "bias_calibration/table1/addition-abc", "random_spaces/fig4.9/add"
HINTED = "task_hinting/fig3.6/successor"
HINT = NextLarger(longest=20, short=5, skew=0.8, alphabet=100, repeats=0.1)


def value(**changed) -> Value:
    known = {"id": "v", "paper": "coupling", "place": "p", "words": "w", "published": 50.0, "experiments": BOTH}
    return Value(**{**known, "lengths": (4, 6), "counts": (2,), **changed})


def seeds(of, *rates, **more):
    return [run(of, rate, seed=seed, **more) for seed, rate in enumerate(rates)]


def at(four, six):
    """Accuracy with two operands of four and of six digits; shorter ones all wrong, more operands all right."""
    return lambda n, m: 1.0 if m > 2 else {4: four, 6: six}.get(n, 0.0)


THREE = seeds(LEFT, at(0.6, 0.45), at(0.1, 0.4), at(0.5, 0.6))
"""Of four digits the median is higher and the mean lower."""


@pytest.mark.parametrize(("statistic", "expected"), [
    ("minimum", (0.45, [0.45, 0.1, 0.5])),
    ("maximum", (0.5, [0.6, 0.4, 0.6])),
    ("mean", (0.525, [0.525, 0.25, 0.55])),
])  # fmt: skip
def test_an_end_is_that_of_the_medians_of_cells_and_each_seed_has_its_own(statistic, expected):
    ours, each = over_cells(value(statistic=statistic), THREE)
    assert (ours, each) == (pytest.approx(expected[0], abs=1e-12), pytest.approx(expected[1], abs=1e-12))


def test_what_was_not_tested_is_missing_and_a_value_is_of_its_cells_measure_and_mode():
    refused(Missing, r"^not tested at 9 x 2$", over_cells, value(lengths=(4, 9)), THREE)
    refused(Missing, r"^not tested at 6 x 9$", over_cells, value(counts=(2, 9)), THREE)
    less = run(LEFT, 0.5, seed=3)
    del less.grid.scores[(6, 2)]
    refused(Missing, r"^not tested at 6 x 2$", over_cells, value(), [*THREE, less])
    assert over_cells(value(lengths=(4,)), [*THREE, less])[1] == [0.6, 0.1, 0.5, 0.5]
    empty = run(LEFT, 0.5, seed=3)
    empty.grid.scores[(4, 2)] = {"teacher_forced": counted(0, 0, 0, 0, 0)}
    refused(Missing, r"^no problem at 4 x 2$", over_cells, value(), [*THREE, empty])
    one = [run(LEFT, lambda n, m: {(2, 3): 0.2, (3, 2): 0.4, (3, 3): 0.6}.get((n, m), 1.0))]
    assert over_cells(value(lengths=(2, 3), counts=(2, 3)), one) == (0.2, [0.2])
    assert over_cells(value(lengths=(2, 3), counts=(2, 3), statistic="mean"), one)[1] == pytest.approx([0.55])
    assert over_cells(value(lengths=(2, 3), counts=(2,)), one) == (0.4, [0.4])
    assert over_cells(value(lengths=(3, 5, 6), counts=(2,)), one)[1] == [0.4], "no five digits, but six, were tested"
    one = [run(LEFT, 0.25, answer={"teacher_forced": 0.75, "free_running": 0.5})]
    assert over_cells(value(), one) == (0.25, [0.25])
    assert [over_cells(value(measure="answer", mode=mode), one)[0] for mode in MODES] == [0.75, 0.5]
    ratios = [scalars(run(LEFT, 0.25, seed=seed), steps_ratio=ratio) for seed, ratio in enumerate((0.5, 0.75))]
    assert over_cells(value(measure="scalar.steps_ratio", lengths=(), counts=(1,)), ratios) == (0.625, [0.5, 0.75])
    one = run(LEFT, 0.0)
    one.grid.axes, one.grid.scores = ("length",), {}
    for length, right in ((4, 70), (6, 20), (7, 0)):
        one.grid.add((length,), "teacher_forced", counted(100, right))
    assert over_cells(value(), [one]) == over_cells(value(counts=(1,)), [one]) == (0.2, [0.2])


@pytest.fixture
def line(monkeypatch):
    def found(*runs, **changed) -> published_values.Line:
        monkeypatch.setattr(published_values, "values", lambda paper: (value(**changed),))
        monkeypatch.setattr(published_values.CATALOGUE, "experiments", lambda paper: [LEFT, RIGHT])
        (one,) = published_values.lines("coupling", stored(*runs))
        return one

    return found


LOW, HIGH = (30.0, 40.0, 95.0), (10.0, 70.0, 75.0)
"""Percent of three seeds; the one with the lower median has the higher mean."""
TWO = [*seeds(LEFT, 0.3, 0.4, 0.95), *seeds(RIGHT, 0.1, 0.7, 0.75)]


@pytest.mark.parametrize(("relation", "published", "expected", "each"), [
    (">=", 50, 40, LOW), (">", 50, 40, LOW), ("<=", 60, 70, HIGH), ("<", 60, 70, HIGH), ("=", 50, 70, HIGH),
    ("=", 60, 40, LOW),
])  # fmt: skip
def test_the_least_favourable_experiment_stands_beside_a_value(line, relation, published, expected, each):
    for names in (BOTH, BOTH[::-1]):
        one = line(*TWO, relation=relation, published=published, experiments=names)
        assert (one.ours, one.points, one.trained) == (expected, expected - published, 3)
        assert one.seeds == pytest.approx(each) and one.compared
        assert one.of == (LEFT if each is LOW else RIGHT).name and one.name.endswith(" (furthest of 2)")


@pytest.mark.parametrize(("relation", "published", "gap"),
    [(">=", 35, 0), (">=", 50, -10), ("<", 70, -0.0), ("<", 60, 10), ("=", 60, -20)])  # fmt: skip
def test_no_points_lie_between_a_value_and_a_bound_that_it_meets(line, relation, published, gap):
    one = line(*TWO, relation=relation, published=published)
    assert one.gap == gap and (one.apart == 0) == (gap == 0)


@pytest.mark.parametrize(("lengths", "beyond"), [((11,), True), ((9, 11), True), ((10,), False), ((), False)])
def test_a_value_beyond_the_trained_range_has_a_cell_outside_it(lengths, beyond):
    assert published_values.Line(value(lengths=lengths, experiments=TRAINED)).beyond is beyond


@pytest.mark.parametrize("relation", [">=", "<=", "="])
def test_of_equals_the_one_with_the_fewest_seeds_stands_there(line, relation):
    for names in (BOTH, BOTH[::-1]):
        one = line(*seeds(LEFT, 0.4, 0.4, 0.4), *seeds(RIGHT, 0.3, 0.5), relation=relation, experiments=names)
        assert (one.ours, one.seeds, one.trained) == (40, (30, 50), 2)


@pytest.mark.parametrize(("across", "expected"), [("mean", 30), ("deviation", 40)])
def test_a_value_across_seeds_pools_those_of_all_experiments(line, across, expected):
    one = line(*seeds(LEFT, 0.1, 0.1, 0.1), *seeds(RIGHT, 0.9), across=across)
    assert one.ours == pytest.approx(expected)
    assert (one.seeds, one.trained) == (pytest.approx((10, 10, 10, 90)), 4)


def shown(one: published_values.Line):
    return one.ours, one.seeds, one.distance, one.profile, one.trained


def test_nothing_stands_beside_a_value_that_was_not_trained_or_tested_so(line):
    assert shown(line()) == (None, (), "", "", 0)
    assert shown(line(*TWO[:3])) == (None, (), "", "", 0)
    assert line(*TWO[:3]).points is None and not line(*TWO[:3]).compared
    assert shown(line(*TWO[:-1], lengths=(9,))) == (None, (), "", "cpu", 2)
    shorter = spec(length=2)
    assert shown(line(*seeds(LEFT, 0.5, made=shorter), *seeds(RIGHT, 0.5))) == (None, (), SHORTER, "cpu", 1)
    one_seed = [*TWO, run(RIGHT, 0.5, seed=3, made=shorter)]
    assert shown(line(*one_seed)) == (None, (), SHORTER, "cpu", 3)


def test_the_largest_profile_that_was_tested_stands_beside_a_value_and_shares_in_percent(line):
    of = {"experiments": (LEFT.name,)}
    small, night, paper = (
        seeds(LEFT, rate, rate, profile=profile, made=spec(width=width))
        for rate, profile, width in ((0.2, "cpu", 32), (0.4, "night", 48), (0.6, "paper", 64))
    )
    assert shown(line(*small, *night, *paper, **of)) == (60, (60, 60), SETTING, "paper", 2)
    assert shown(line(*small, *night, **of)) == (40, (40, 40), LENGTHS, "night", 2)
    for one in paper:
        one.grid.scores.clear()
    assert shown(line(*small, *night, *paper, **of)) == (40, (40, 40), LENGTHS, "night", 2)
    shorter = seeds(LEFT, 0.9, profile="night", made=spec(length=2))
    assert shown(line(*small, *shorter, **of)) == (20, (20, 20), LENGTHS, "cpu", 2)
    assert shown(line(*small, *shorter, **of, lengths=(9,))) == (None, (), SHORTER, "night", 1), "the first one is kept"
    ratios = [scalars(run(LEFT, 0.5, seed=seed), steps_ratio=ratio) for seed, ratio in enumerate((0.02, 0.06, 0.25))]
    of = {"experiments": (LEFT.name,), "measure": "scalar.steps_ratio", "lengths": (), "counts": (1,)}
    assert line(*ratios, **of, unit="%").ours == 6.0
    bare = line(*ratios, **of, unit="")
    assert (bare.ours, bare.seeds, bare.compared) == (0.06, (0.02, 0.06, 0.25), False)


@pytest.fixture(scope="module")
def found() -> list[published_values.Line]:
    return [line for paper in CATALOGUE.papers() for line in published_values.lines(paper, reader(paper, [REFERENCE]))]


def test_a_measurement_stands_once_beside_what_was_trained_on_the_published_problem(found):
    keys = [
        (*line.value.experiments, line.value.lengths, line.value.counts, line.value.measure, line.value.across)
        for line in found
    ]
    assert len(keys) == len(set(keys))
    assert len({(line.value.paper, line.value.id) for line in found}) == len(found)
    for line in found:
        assert (line.ours is None) == (line.distance not in NEAR)
        assert (line.ours is None) == (not line.seeds)
    assert sum(line.compared for line in found) >= 116
    for row in csv.DictReader(io.StringIO(published_values.to_csv(found))):
        if row["ours"]:
            assert float(row["points"]) == pytest.approx(float(row["ours"]) - float(row["published"]), abs=0.011)
            assert int(row["seeds"]) == len(row["each_seed"].split())


def test_a_score_counts_both_edges_and_a_bound_on_its_side():
    value = dataclasses.replace(published_values.values("bias_calibration")[0], published=50.0)
    made = [
        published_values.Line(value, LENGTHS, "night", (ours,), ours, 1) for ours in (45.0, 45.0 - 1e-6, 52.0, 55.0)
    ]
    assert published_values.score([*made, published_values.Line(value)]) == published_values.Score(5, 4, 3, 1)
    value = dataclasses.replace(published_values.values("bias_calibration")[0], published=90.0, relation=">=")
    made = [published_values.Line(value, LENGTHS, "night", (ours,), ours, 1) for ours in (100.0, 89.0, 80.0)]
    assert published_values.score(made) == published_values.Score(3, 3, 2, 2) and made[0].points == 10


def run_of(spec, **changed):
    info: dict = {"spec": spec.to_dict(), "spec_hash": spec.hash()} | changed
    return type("Run", (), {"info": info, "spec": spec, "constructed": not spec.train.steps})()


def test_the_specification_decides_the_distance_and_the_farthest_counts():
    experiment = CATALOGUE.select_one("bias_calibration/table1/successor-abc")
    paper, night = experiment.specs["paper"], experiment.specs["night"]
    assert distance(run_of(paper), paper) == SETTING
    assert distance(run_of(night), paper) == LENGTHS
    assert distance(run_of(overlay(night, {"model.width": 32, "train.steps": 1})), paper) == LENGTHS
    assert distance(run_of(overlay(night, {"data.task.digits": 5})), paper) == SHORTER
    assert distance(run_of(overlay(night, {"data.format.reverse_response": False})), paper) == SHORTER
    assert distance(run_of(night), None) == OWN
    proof = CATALOGUE.select_one("coupling/thm4.1/construction").specs["cpu"]
    assert distance(run_of(proof), proof) == PROOF
    assert farthest([SETTING, SHORTER]) == farthest([SHORTER, SETTING]) == SHORTER
    assert farthest([SETTING, LENGTHS]) == LENGTHS and farthest([SETTING, ""]) == farthest([]) == ""
    assert farthest([PROOF, SHORTER]) == SHORTER and farthest([PROOF, LENGTHS]) == PROOF
    older = run_of(experiment.specs["night"], spec_hash="older")
    assert older.info["spec"]["data"]["format"].pop("index_hints") == 0
    assert distance(older, experiment.specs["paper"]) == LENGTHS


@pytest.mark.parametrize(("name", "changed", "expected"), [
    (ADDS, {"data.format.width": 62}, LENGTHS), (ADDS, {"data.task.limit": 7}, LENGTHS),
    (ADDS, {"data.position_ids": Consecutive(max_position=200)}, LENGTHS), (ADDS, {"data.examples": 5}, LENGTHS),
    (ADDS, {"data.vocabulary": "printable"}, LENGTHS), (ADDS, {"data.spaces": RandomSpaces(ratio=0.5)}, SHORTER),
    (SPACED, {"data.examples": 5}, LENGTHS), (SPACED, {"data.spaces": RandomSpaces(ratio=0.25)}, SHORTER),
    (SPACED, {"data.spaces": None}, SHORTER), (HINTED, {"data.hints": (HINT,), "train.steps": 1}, LENGTHS),
    (HINTED, {"data.hints": (overlay(HINT, {"short": 4, "skew": 0.5}),)}, LENGTHS),
    (HINTED, {"data.task.short": 4, "data.task.skew": 0.5}, LENGTHS),
    (HINTED, {"data.hints": (overlay(HINT, {"longest": 19}),)}, SHORTER),
    (HINTED, {"data.hints": (HINT, Counting(longest=20, alphabet=100))}, SHORTER),
    (HINTED, {"data.hints": ()}, SHORTER),
])  # fmt: skip
def test_spaces_and_hints_belong_to_the_problem_and_how_it_is_drawn_or_padded_does_not(name, changed, expected):
    paper = CATALOGUE.select_one(name).specs["paper"]
    assert distance(run_of(overlay(paper, changed)), paper) == expected


def test_what_lacks_a_value_of_ours_is_counted_with_the_time_of_its_published_setting(found):
    for paper in CATALOGUE.papers():
        lacking = [line for line in found if line.value.paper == paper and line.ours is None]
        text = pages.lacking_table(lacking)
        assert text.startswith("<details>") == bool(lacking)
        rows = [row.split(" | ") for row in text.splitlines() if row.startswith("| ") and "place" not in row]
        assert sum(int(row[2]) for row in rows) == len(lacking)
        assert all(re.search(r"\d (s|min|h) \|$", row[-1]) for row in rows)
    at_50 = next(line for line in found if line.value.id == "table3-addition-nope-50")
    assert (at_50.ours, at_50.distance, at_50.trained) == (None, "", 3)
    (row,) = csv.DictReader(io.StringIO(published_values.to_csv([at_50])))
    assert row["ours"] == row["points"] == row["seeds"] == "", "no seed was tested there"
    assert "| its lengths, not this one |" in pages.lacking_table([at_50])


def test_runs_behind_undecided_statements_come_first_each_once():
    jobs = plan(CATALOGUE.select("bias_calibration"), "paper").jobs
    ordered = telling_first(jobs, REFERENCE)
    assert sorted(job.name for job in ordered) == sorted(job.name for job in jobs)
    undecided = {
        CATALOGUE.home(CATALOGUE.select_one(name), "paper").name
        for answer in compare("bias_calibration", [REFERENCE]).answers
        for finding in answer.findings
        if finding.word in UNDECIDED
        for name in finding.part.names
    }
    assert undecided and {job.experiment for job in ordered[: len(undecided)]} == undecided


def test_a_gpu_is_told_the_hours_and_how_to_send_the_results(reproduce):
    done = subprocess.run(["make", "-n", "published-paper2", "DRY=1"], cwd=ROOT, capture_output=True, text=True)
    assert "run paper2 --profile paper --missing --telling-first --dry-run" in done.stdout
    shown = reproduce("run bias_calibration/table3 -p paper --missing --telling-first --dry-run").out
    assert "on one GPU" in shown and "reproduce promote" in shown
