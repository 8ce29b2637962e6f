"""Table 4.3 as numbers, against pandas and against what the made runs hold."""

import csv
import io
import math
from statistics import fmean

import pandas as pd
import pytest

from lengen import SUBTASKS
from papers.random_spaces import sweep
from papers.random_spaces.figures import table4_3_csv
from tests.papers import runs_random_spaces as stored

ROLES = {1: "trained", 5: "gap", 7: "longer", 8: "longer"}


def frame(runs) -> pd.DataFrame:
    """One line per run, group of lengths and mode, straight from the counts."""
    lines = []
    for run in sweep.distinct(runs):
        spec = run.info["spec"]
        for group in (stored.TRAINED, (5,), (7,), (8,)):
            for mode, written in (("teacher_forced", "greedy"), ("sampled", "sampled")):
                scores = [run.grid.scores[(length,)][mode] for length in group]
                lines.append(
                    {
                        "examples": spec["data"]["examples"],
                        "training": "mix" if spec["data"]["format"]["kind"] == "subtasks" else "add",
                        "lengths": group,
                        "mode": written,
                        "accuracy": sum(s["correct"] for s in scores) / sum(s["n"] for s in scores),
                        "width": spec["model"]["width"],
                    }
                )
    return pd.DataFrame(lines)


def test_rows_equal_what_pandas_finds():
    runs = stored.sweep(seeds=3)
    runs[f"{stored.PAPER}/table4.3/10k-add-w128"].pop()  # an unbalanced cell
    found = {(row.examples, row.training, row.lengths, row.mode): row for row in sweep.rows(runs)}
    grouped = frame(runs).groupby(["examples", "training", "lengths", "mode"])
    expected = grouped.agg(
        mean=("accuracy", "mean"), deviation=("accuracy", "std"), runs=("accuracy", "size"), widths=("width", "nunique")
    )
    assert set(found) == set(expected.index) and len(found) == 2 * 2 * 4 * 2
    for key, row in expected.iterrows():
        assert found[key].mean == pytest.approx(row["mean"])
        assert found[key].deviation == pytest.approx(row["deviation"], abs=1e-12)
        assert (found[key].runs, found[key].widths) == (row["runs"], row["widths"])
        assert found[key].role == ROLES[key[2][0]]
    assert found[10_000, "add", (5,), "greedy"].runs == 5 and found[10_000, "mix", (5,), "greedy"].runs == 6


def test_one_run_has_no_deviation_and_no_run_no_row():
    runs = stored.sweep(sizes=(10_000,), widths=(64,), seeds=1) | {f"{stored.PAPER}/table4.3/1m-add-w64": []}
    found = sweep.rows(runs)
    assert {row.examples for row in found} == {10_000} and all(math.isnan(row.deviation) for row in found)
    assert ",,1,1\n" in sweep.to_csv(found)
    assert sweep.rows({name: [] for name in runs}) == []


def test_a_run_that_two_experiments_share_counts_once():
    runs = stored.sweep(seeds=1)
    mix = runs[f"{stored.PAPER}/table4.3/10k-mix-w64"]
    assert sweep.rows(runs | {f"{stored.PAPER}/fig4.9/{task}": mix for task in SUBTASKS}) == sweep.rows(runs)


def test_a_mode_that_was_not_measured_has_no_rows():
    runs = stored.sweep(seeds=1)
    for run in sweep.distinct(runs):
        for modes in run.grid.scores.values():
            del modes["sampled"]
    found = sweep.rows(runs)
    assert {row.mode for row in found} == {"greedy"}


def test_the_published_improvement_follows_from_the_published_cells():
    add, mix = (7.0, 21.5, 16.1, 18.6), (35.4, 41.8, 39.5, 37.3)  # Table 4.3, 8 digits, a value a size
    assert round(fmean(mix) - fmean(add), 1) == 22.7


def test_csv_holds_every_row_in_per_cent_and_does_not_depend_on_the_order_of_runs():
    runs = stored.sweep()
    lines = list(csv.DictReader(io.StringIO(table4_3_csv(runs))))
    found = sweep.rows(runs)
    assert tuple(lines[0]) == sweep.HEADER and len(lines) == len(found)
    for line, row in zip(lines, found, strict=True):
        assert float(line["mean_percent"]) == pytest.approx(100 * row.mean, abs=5e-4)
        assert float(line["deviation_percent"]) == pytest.approx(100 * row.deviation, abs=5e-4)
        assert [int(length) for length in line["lengths"].split()] == list(row.lengths)
        assert (int(line["runs"]), int(line["widths"])) == (row.runs, row.widths)
    assert lines[0]["lengths"] == "1 2 3 4 6" and lines[0]["role"] == "trained"
    assert table4_3_csv(dict(reversed(runs.items()))) == table4_3_csv(runs)
