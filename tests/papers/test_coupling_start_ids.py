"""What a stored model of coupling depends on: start ids and the number of ones."""

import csv
from math import comb
from pathlib import Path

import pytest

from papers.coupling import ones, start_ids
from papers.coupling.start_ids import PUBLISHED, SHORTER

SCORES = Path(__file__).parents[2] / "results/reference"
BOTH = pytest.mark.parametrize("model", [PUBLISHED, SHORTER], ids=lambda model: model.table.name)
ROWS = ones.FINDING.counts()


@BOTH
def test_the_trained_range_is_right_at_every_start_id_and_no_length_beyond_it_is(model):
    rows = model.table.counts()
    for length in model.lengths:
        rates = [row["correct"] / row["n"] for row in rows if row["length"] == length]
        assert (min(rates) >= 0.98) if length <= model.trained else (max(rates) - min(rates) > 0.3)
    assert {row["length"] for row in rows} == set(model.lengths)


def test_lengths_beyond_the_range_are_lost_or_solved_by_the_start_id_in_the_stored_model_too():
    for length in (length for length in PUBLISHED.lengths if length > PUBLISHED.trained):
        rates = [row["correct"] / row["n"] for row in PUBLISHED.table.counts() if row["length"] == length]
        assert min(rates) < 0.1 and max(rates) > 0.7
    rows = start_ids.measure(PUBLISHED._replace(examples=4))
    few = {(row["length"], row["start"]): row["correct"] / row["n"] for row in rows}
    assert len(few) == len(PUBLISHED.table.counts())
    assert few[10, 1] == few[10, 17] == 1
    assert few[12, 1] == 0 and few[12, 14] == 1


@BOTH
def test_start_id_1_has_the_counts_of_the_figure(model):
    paper, figure, variant = model.experiment.split("/")
    with (SCORES / paper / figure / "scores.csv").open(encoding="utf-8") as file:
        wanted = {"variant": variant, "profile": "night", "seed": "0", "count": str(model.operands)}
        stored = {
            int(row["length"]): (int(row["n"]), int(row["correct"]))
            for row in csv.DictReader(file)
            if wanted.items() <= row.items() and row["mode"] == "teacher_forced"
        }
    ours = {row["length"]: (row["n"], row["correct"]) for row in model.table.counts() if row["start"] == 1}
    assert set(ours) - set(stored) == ({8} if model is SHORTER else set()), "the figure does not test eight digits"
    assert all(stored[length] == counts for length, counts in ours.items() if length in stored)


@pytest.mark.parametrize(("length", "number"), [(5, 0), (5, 2), (20, 10), (50, 50)])
def test_strings_have_so_many_ones_and_differ(length, number):
    found = ones.strings(length, number)
    assert len(set(found)) == len(found) == min(ones.EXAMPLES, comb(length, number))
    assert all(len(one) == length and one.count("1") == number for one in found)


def test_the_number_of_ones_tells_which_long_strings_are_right():
    assert [(row["length"], row["ones"]) for row in ROWS] == [(n, k) for n in ones.LENGTHS for k in range(n + 1)]
    assert all(row["n"] == min(ones.EXAMPLES, comb(row["length"], row["ones"])) for row in ROWS)
    few = [row for row in ROWS if row["ones"] <= 14]
    assert len(few) == 116 and sum(row["correct"] == row["n"] for row in few) == 112
    assert not any(row["correct"] for row in ROWS if row["ones"] == 16)
    for length, least in {25: 0.99, 30: 0.97, 40: 0.79, 60: 0.6, 80: 0.6, 100: 0.6}.items():
        right, decided = ones.told(ROWS, length)
        assert decided > least and (length < 40 or 0.45 < right < 0.55)
    assert ones.told(ROWS, 20).right > 0.99
    rows = [{"length": 2, "ones": k, "n": 4, "correct": right} for k, right in enumerate((4, 0, 2))]
    assert ones.told(rows, 2) == (0.375, 0.875)
    found = {
        (row["experiment"].split("/")[-1], int(row["seed"]), int(row["length"])): row for row in ones.MODELS.read()
    }
    assert {length for *_, length in found} == {*ones.LENGTHS} and len(found) == 6 * len(ones.LENGTHS)
    for model in (("nope-plain", 1), ("nope-plain", 2), ("fire-plain", 0)):
        assert all(float(found[(*model, length)]["decided"]) == 100 for length in (40, 60, 80, 100))
    for length in ones.LENGTHS:
        assert abs(float(found["nope-plain", 0, length]["right"]) - 100 * ones.told(ROWS, length).right) < 4


@pytest.mark.slow
def test_the_stored_model_tells_the_same_numbers_of_ones_apart():
    few = {(row["length"], row["ones"]): row["correct"] / row["n"] for row in ones.measure(examples=4)}
    assert few[20, 5] == few[60, 7] == few[100, 10] == 1
    assert few[20, 16] == few[40, 16] == few[100, 16] == 0
