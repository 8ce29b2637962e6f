"""Sums by start id: the committed tables, the figures' own counts in them, and a stored model."""

import csv
from pathlib import Path

import pytest

from papers.coupling import start_ids
from papers.coupling.start_ids import PUBLISHED, SHORTER

SCORES = Path(__file__).parents[2] / "results/reference"
BOTH = pytest.mark.parametrize("model", [PUBLISHED, SHORTER], ids=lambda model: model.table.name)


@BOTH
def test_the_trained_range_is_right_at_every_start_id_and_no_length_beyond_it_is(model):
    rows = model.table.counts()
    for length in model.lengths:
        rates = [row["correct"] / row["n"] for row in rows if row["length"] == length]
        assert (min(rates) >= 0.98) if length <= model.trained else (max(rates) - min(rates) > 0.3)
    assert {row["length"] for row in rows} == set(model.lengths)


def test_beyond_the_range_a_length_of_the_published_sums_is_lost_at_one_start_id_and_solved_at_another():
    for length in (length for length in PUBLISHED.lengths if length > PUBLISHED.trained):
        rates = [row["correct"] / row["n"] for row in PUBLISHED.table.counts() if row["length"] == length]
        assert min(rates) < 0.1 and max(rates) > 0.7


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


def test_the_stored_model_gives_the_same_differences():
    rows = start_ids.measure(PUBLISHED._replace(examples=4))
    few = {(row["length"], row["start"]): row["correct"] / row["n"] for row in rows}
    assert len(few) == len(PUBLISHED.table.counts())
    assert few[10, 1] == few[10, 17] == 1
    assert few[12, 1] == 0 and few[12, 14] == 1
