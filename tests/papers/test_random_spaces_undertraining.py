"""The derived table of Table 4.3: it contains the printed means, and its arithmetic is that of a literal loop."""

from statistics import fmean

import pytest

from papers.random_spaces import undertraining


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
