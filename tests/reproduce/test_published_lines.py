"""Published values beside ours: one line each, at the distance that two specifications decide."""

import csv
import dataclasses
import io
import re
from pathlib import Path

import pytest

from lengen import Consecutive, Counting, NextLarger, RandomSpaces
from lengen.settings.changes import overlay
from reproduce.catalogue import CATALOGUE
from reproduce.comparison import values
from reproduce.comparison.distance import LENGTHS, NEAR, OWN, PROOF, SETTING, SHORTER, distance, farthest
from reproduce.comparison.measures import reader
from reproduce.pages import comparison as pages
from reproduce.store.reference import Reference

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = Reference(ROOT / "results")


@pytest.fixture(scope="module")
def found() -> list[values.Line]:
    return [line for paper in CATALOGUE.papers() for line in values.lines(paper, reader(paper, [REFERENCE]))]


def test_a_measurement_stands_once(found):
    keys = [
        (*line.value.experiments, line.value.lengths, line.value.counts, line.value.measure, line.value.across)
        for line in found
    ]
    assert len(keys) == len(set(keys))
    assert len({(line.value.paper, line.value.id) for line in found}) == len(found)


def test_ours_stands_only_beside_what_was_trained_on_the_published_problem(found):
    for line in found:
        assert (line.ours is None) == (line.distance not in NEAR)
        assert (line.ours is None) == (not line.seeds)
    assert sum(line.compared for line in found) >= 116


def test_points_are_ours_less_published(found):
    for row in csv.DictReader(io.StringIO(values.to_csv(found))):
        if row["ours"]:
            assert float(row["points"]) == pytest.approx(float(row["ours"]) - float(row["published"]), abs=0.011)
            assert int(row["seeds"]) == len(row["each_seed"].split())


def test_a_score_counts_both_edges():
    value = dataclasses.replace(values.values("bias_calibration")[0], published=50.0)
    made = [values.Line(value, LENGTHS, "night", (ours,), ours, 1) for ours in (45.0, 45.0 - 1e-6, 52.0, 55.0)]
    assert values.score([*made, values.Line(value)]) == values.Score(5, 4, 3, 1)


def test_a_printed_bound_is_met_on_its_side():
    value = dataclasses.replace(values.values("bias_calibration")[0], published=90.0, relation=">=")
    made = [values.Line(value, LENGTHS, "night", (ours,), ours, 1) for ours in (100.0, 89.0, 80.0)]
    assert values.score(made) == values.Score(3, 3, 2, 2) and made[0].points == 10


def run_of(spec, **changed):
    info: dict = {"spec": spec.to_dict(), "spec_hash": spec.hash()} | changed
    return type("Run", (), {"info": info, "constructed": not spec.train.steps})()


def test_the_specification_decides_the_distance():
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


ADDS, SPACED = "bias_calibration/table1/addition-abc", "random_spaces/fig4.9/add"
HINTED = "task_hinting/fig3.6/successor"
HINT = NextLarger(longest=20, short=5, skew=0.8, alphabet=100, repeats=0.1)


@pytest.mark.parametrize(
    ("name", "changed", "expected"),
    [
        (ADDS, {"data.format.width": 62}, LENGTHS),
        (ADDS, {"data.task.limit": 7}, LENGTHS),
        (ADDS, {"data.position_ids": Consecutive(max_position=200)}, LENGTHS),
        (ADDS, {"data.examples": 5}, LENGTHS),
        (ADDS, {"data.vocabulary": "printable"}, LENGTHS),
        (ADDS, {"data.spaces": RandomSpaces(ratio=0.5)}, SHORTER),
        (SPACED, {"data.examples": 5}, LENGTHS),
        (SPACED, {"data.spaces": RandomSpaces(ratio=0.25)}, SHORTER),
        (SPACED, {"data.spaces": None}, SHORTER),
        (HINTED, {"data.hints": (HINT,), "train.steps": 1}, LENGTHS),
        (HINTED, {"data.hints": (overlay(HINT, {"short": 4, "skew": 0.5}),)}, LENGTHS),
        (HINTED, {"data.task.short": 4, "data.task.skew": 0.5}, LENGTHS),
        (HINTED, {"data.hints": (overlay(HINT, {"longest": 19}),)}, SHORTER),
        (HINTED, {"data.hints": (HINT, Counting(longest=20, alphabet=100))}, SHORTER),
        (HINTED, {"data.hints": ()}, SHORTER),
    ],
)
def test_spaces_and_hints_belong_to_the_problem_and_how_it_is_drawn_or_padded_does_not(name, changed, expected):
    paper = CATALOGUE.select_one(name).specs["paper"]
    assert distance(run_of(overlay(paper, changed)), paper) == expected


def test_the_farthest_distance_is_that_of_other_problems():
    assert farthest([SETTING, SHORTER]) == farthest([SHORTER, SETTING]) == SHORTER
    assert farthest([SETTING, LENGTHS]) == LENGTHS and farthest([SETTING, ""]) == farthest([]) == ""
    assert farthest([PROOF, SHORTER]) == SHORTER and farthest([PROOF, LENGTHS]) == PROOF


def test_a_field_that_is_younger_than_a_run_does_not_change_its_distance():
    experiment = CATALOGUE.select_one("bias_calibration/table1/successor-abc")
    older = run_of(experiment.specs["night"], spec_hash="older")
    assert older.info["spec"]["data"]["format"].pop("index_hints") == 0
    assert distance(older, experiment.specs["paper"]) == LENGTHS


def test_what_lacks_a_value_of_ours_is_counted_with_the_time_of_its_published_setting(found):
    for paper in CATALOGUE.papers():
        lacking = [line for line in found if line.value.paper == paper and line.ours is None]
        text = pages.lacking_table(lacking)
        assert text.startswith("<details>") == bool(lacking)
        rows = [row.split(" | ") for row in text.splitlines() if row.startswith("| ") and "place" not in row]
        assert sum(int(row[2]) for row in rows) == len(lacking)
        assert all(re.search(r"\d (s|min|h) \|$", row[-1]) for row in rows)


def test_trained_as_published_and_not_tested_there_is_not_shorter_problems(found):
    at_50 = next(line for line in found if line.value.id == "table3-addition-cyclic-50")
    assert (at_50.ours, at_50.distance, at_50.trained) == (None, "", 5)
    (row,) = csv.DictReader(io.StringIO(values.to_csv([at_50])))
    assert row["ours"] == row["points"] == row["seeds"] == "", "no seed was tested there"
    assert "| its lengths, not this one |" in pages.lacking_table([at_50])
