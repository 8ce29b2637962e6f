"""Tables and figures of random spaces."""

import csv
import io
import itertools
from statistics import fmean

import numpy as np
import pandas as pd
import pytest

from lengen import SUBTASKS
from lengen.results.records import AttentionMap
from papers.random_spaces import table4_3, unequal_lengths
from papers.random_spaces import table4_3_by_training_accuracy as undertraining
from papers.random_spaces.special_plots import certainties, largest
from tests.papers import runs_random_spaces as stored

MODES = {"teacher_forced": "greedy", "sampled": "sampled"}
ROLES = {1: "trained", 5: "gap", 7: "longer", 8: "longer"}


def test_rows_equal_what_pandas_finds():
    runs = stored.sweep(seeds=3)
    runs[f"{stored.PAPER}/table4.3/10k-add-w128"].pop()  # an unbalanced cell
    found = {(row.examples, row.training, row.lengths, row.mode): row for row in table4_3.table(runs).itertuples()}
    lines = []
    for made in table4_3.distinct(runs):
        spec = made.info["spec"]
        kind = "mix" if spec["data"]["format"]["kind"] == "subtasks" else "add"
        for group, (mode, written) in itertools.product((stored.TRAINED, (5,), (7,), (8,)), MODES.items()):
            scores = [made.grid.scores[(length,)][mode] for length in group]
            accuracy = sum(s["correct"] for s in scores) / sum(s["n"] for s in scores)
            lines.append((spec["data"]["examples"], kind, group, written, accuracy, spec["model"]["width"]))
    frame = pd.DataFrame(lines, columns=["examples", "training", "lengths", "mode", "accuracy", "width"])
    grouped = frame.groupby(["examples", "training", "lengths", "mode"])
    expected = grouped.agg(
        mean=("accuracy", "mean"), deviation=("accuracy", "std"), runs=("accuracy", "size"), widths=("width", "nunique")
    )
    assert set(found) == set(expected.index) and len(found) == 2 * 2 * 4 * 2
    for key, row in expected.iterrows():
        assert found[key].mean_percent == pytest.approx(100 * row["mean"])
        assert found[key].deviation_percent == pytest.approx(100 * row["deviation"], abs=1e-10)
        assert (found[key].runs, found[key].widths) == (row["runs"], row["widths"])
        assert found[key].role == ROLES[key[2][0]]
    assert found[10_000, "add", (5,), "greedy"].runs == 5 and found[10_000, "mix", (5,), "greedy"].runs == 6


def test_the_published_improvement_follows_from_the_published_cells():
    add, mix = (7.0, 21.5, 16.1, 18.6), (35.4, 41.8, 39.5, 37.3)  # Table 4.3, 8 digits, a value a size
    assert round(fmean(mix) - fmean(add), 1) == 22.7


def test_csv_holds_every_row_also_of_one_run_and_of_shared_ones():
    runs = stored.sweep()
    lines = list(csv.DictReader(io.StringIO(table4_3.to_csv(runs))))
    found = table4_3.table(runs)
    assert tuple(lines[0]) == table4_3.HEADER and len(lines) == len(found)
    for line, row in zip(lines, found.itertuples(), strict=True):
        assert float(line["mean_percent"]) == pytest.approx(row.mean_percent, abs=5e-4)
        assert float(line["deviation_percent"]) == pytest.approx(row.deviation_percent, abs=5e-4)
        assert [int(length) for length in line["lengths"].split()] == list(row.lengths)
        assert (int(line["runs"]), int(line["widths"])) == (row.runs, row.widths)
    assert lines[0]["lengths"] == "1 2 3 4 6" and lines[0]["role"] == "trained"
    assert table4_3.to_csv(dict(reversed(runs.items()))) == table4_3.to_csv(runs)
    runs = stored.sweep(sizes=(10_000,), widths=(64,), seeds=1) | {f"{stored.PAPER}/table4.3/1m-add-w64": []}
    found = table4_3.table(runs)
    assert set(found["examples"]) == {10_000} and found["deviation_percent"].isna().all()
    assert ",,1,1\n" in table4_3.to_csv(runs)
    assert table4_3.to_csv({name: [] for name in runs}) == ",".join(table4_3.HEADER) + "\n"
    runs = stored.sweep(seeds=1)
    mix = runs[f"{stored.PAPER}/table4.3/10k-mix-w64"]
    assert table4_3.to_csv(runs | {f"{stored.PAPER}/fig4.9/{task}": mix for task in SUBTASKS}) == table4_3.to_csv(runs)
    runs = stored.sweep(seeds=1)
    for run in table4_3.distinct(runs):
        for modes in run.grid.scores.values():
            del modes["sampled"]
    assert set(table4_3.table(runs)["mode"]) == {"greedy"}


def certain(seed: int, means: list[float], prompts: list[int]):
    """A run in which the entropy at each place has these means, the probability of the end ten times them and that of
    the correct token a hundred times, over so many prompts; other values where the end is suppressed."""
    allowed = np.array([1, 10, 100])[:, None, None] * np.stack([np.array(means), np.full(len(means), 77)])
    arrays = {
        "uncertainty.8": np.stack([allowed, 1000 * allowed]),
        "uncertainty_prompts.8": np.array([prompts, [20] * len(prompts)], np.int32),
    }
    return stored.run("fig4.3/ape", seed, arrays=arrays)


RUNS = [certain(0, [1, 2, 9], [20, 20, 20]), certain(1, [2, 6, 5], [20, 1, 0]), certain(2, [9, 4], [20, 20])]


@pytest.mark.slow
def test_certainty_and_counts_of_pairs_are_those_of_seeds_that_wrote_and_of_the_stored_model():
    """The second seed wrote nothing at the third place, the third run has only two."""
    assert certainties(RUNS, 8, 0).tolist() == [[2, 4, 9], [20, 40, 90], [200, 400, 900]]
    assert certainties(RUNS, 8, 1).tolist() == [[2000, 4000, 7000], [20000, 40000, 70000], [200000, 400000, 700000]]
    assert certainties([stored.run("fig4.3/ape", 3), RUNS[0]], 8, 0)[0].tolist() == [1, 2, 9], "one that measured none"
    found = certainties(RUNS[1:2], 8, 0)
    assert found[:, :2].tolist() == [[2, 6], [20, 60], [200, 600]] and np.isnan(found[:, 2]).all()
    weights = np.array([[[[0.1, 0.9], [0.2, 0.3]], [[0.5, 0.4], [0.1, 0.8]]]], np.float32)
    shown = largest(AttentionMap(("a", "b"), weights, 10))
    assert shown.weights.tolist() == np.array([[[[0.5, 0.9], [0.2, 0.8]]]], np.float32).tolist()
    assert (shown.tokens, shown.n) == (("a", "b"), 10)
    rows = unequal_lengths.FINDING.counts()
    assert {(row["first"], row["second"]) for row in rows} == {(a, b) for a in range(1, 13) for b in range(1, 13)}
    assert rate(rows, True) > 0.95 and rate(rows, False) < 0.01
    rows = unequal_lengths.measure(examples=2)
    assert rate(rows, True) > 0.9 and rate(rows, False) < 0.01


def rate(rows, equal):
    chosen = [row for row in rows if (row["first"] == row["second"]) is equal]
    return sum(row["correct"] for row in chosen) / sum(row["n"] for row in chosen)


def run(task: str, width: int, in_range: float, eight: float, size: int = 10_000) -> dict[str, str]:
    values = {"task": task, "n_embd": width, "train_size": size}
    values |= {"val_acc/add_in_dist": in_range, "val_acc/add_ood_8digit": eight}
    return {name: str(value) for name, value in values.items()}


def test_without_a_threshold_the_means_are_those_that_table_4_3_prints():
    rows = [row for row in undertraining.FINDING.read() if float(row["least"]) == 0 and row["train_size"] != "matched"]
    assert [float(row["add"]) for row in rows] == [7.0, 21.5, 16.1, 18.6]
    assert [float(row["mix"]) for row in rows] == [35.4, 41.8, 39.5, 37.3]
    assert fmean(float(row["gain"]) for row in rows) == pytest.approx(undertraining.PRINTED_GAIN, abs=0.06)


def test_among_runs_that_learned_their_range_the_gain_is_not_above_zero():
    matched = {float(row["least"]): row for row in undertraining.FINDING.read() if row["train_size"] == "matched"}
    assert float(matched[0]["low"]) > 0
    for least in (0.95, 0.99):
        assert float(matched[least]["low"]) < 0 < float(matched[least]["high"])


def test_runs_below_the_threshold_do_not_count_and_the_picture_has_one_interval_each():
    runs = [
        run("add", 64, 1.0, 0.2),
        run("add", 64, 0.5, 0.9),  # did not learn its range
        run("mix", 64, 1.0, 0.4),
        run("mix", 128, 1.0, 0.8),  # no addition-only run of this width
    ]
    rows = {(row["least"], row["train_size"]): row for row in undertraining.derive(runs)}
    assert rows[0.95, 10_000]["add"] == 20.0 and rows[0.95, 10_000]["mix"] == 60.0
    assert rows[0.95, "matched"]["cells"] == 1 and rows[0.95, "matched"]["gain"] == 20.0
    assert rows[0.0, 10_000]["add"] == 55.0 and rows[0.0, "matched"]["gain"] == -15.0
    assert rows[0.0, 100_000]["add"] == ""
    axes = undertraining.draw(undertraining.FINDING.read()).axes[0]
    assert len(axes.containers[0].lines[0].get_xdata()) == len(undertraining.LEAST)
