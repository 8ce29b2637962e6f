"""Sums by start id: the committed table, Figure 1's own counts in it, and the stored model."""

import csv
from pathlib import Path

from papers.coupling import start_ids

SCORES = Path(__file__).parents[2] / "results/reference/coupling/fig1/scores.csv"
ROWS = start_ids.FINDING.counts()


def test_the_trained_range_is_right_at_every_start_id_and_no_length_beyond_it_is():
    for length in start_ids.LENGTHS:
        rates = [row["correct"] / row["n"] for row in ROWS if row["length"] == length]
        assert (min(rates) == 1) if length <= 3 else (min(rates) < 0.75)
    assert min(row["correct"] / row["n"] for row in ROWS) < 0.01


def test_start_id_1_has_the_counts_of_figure_1():
    with SCORES.open(encoding="utf-8") as file:
        wanted = {"variant": "coupling-scratchpad", "profile": "night", "seed": "0", "count": str(start_ids.COUNT)}
        stored = {
            int(row["length"]): (int(row["n"]), int(row["correct"]))
            for row in csv.DictReader(file)
            if wanted.items() <= row.items()
        }
    ours = {row["length"]: (row["n"], row["correct"]) for row in ROWS if row["start"] == 1}
    assert len(stored) == 8
    assert all(ours[length] == counts for length, counts in stored.items())


def test_the_stored_model_gives_the_same_differences():
    few = {(row["length"], row["start"]): row["correct"] / row["n"] for row in start_ids.measure(examples=20)}
    assert len(few) == len(ROWS)
    assert few[3, 1] == few[3, 9] == 1
    assert few[7, 4] < 0.1 and few[7, 2] > 0.4
