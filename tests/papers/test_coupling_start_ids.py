"""Sums by start id: the committed table, Figure 10's own counts in it, and the stored model."""

import csv
from pathlib import Path

from papers.coupling import start_ids

SCORES = Path(__file__).parents[2] / "results/reference/coupling/fig10/scores.csv"
ROWS = start_ids.FINDING.counts()


def test_the_trained_range_is_right_at_every_start_id_and_no_length_beyond_it_is():
    for length in start_ids.LENGTHS:
        rates = [row["correct"] / row["n"] for row in ROWS if row["length"] == length]
        assert (min(rates) >= 0.98) if length <= start_ids.TRAINED else (min(rates) < 0.1)
        assert length <= start_ids.TRAINED or max(rates) > 0.7


def test_start_id_1_has_the_counts_of_figure_10():
    with SCORES.open(encoding="utf-8") as file:
        wanted = {"variant": "2L2H", "profile": "night", "seed": "0", "count": str(start_ids.COUNT)}
        stored = {
            int(row["length"]): (int(row["n"]), int(row["correct"]))
            for row in csv.DictReader(file)
            if wanted.items() <= row.items()
        }
    ours = {row["length"]: (row["n"], row["correct"]) for row in ROWS if row["start"] == 1}
    assert set(ours) <= set(stored)
    assert all(stored[length] == counts for length, counts in ours.items())


def test_the_stored_model_gives_the_same_differences():
    few = {(row["length"], row["start"]): row["correct"] / row["n"] for row in start_ids.measure(examples=4)}
    assert len(few) == len(ROWS)
    assert few[10, 1] == few[10, 17] == 1
    assert few[12, 1] == 0 and few[12, 14] == 1
