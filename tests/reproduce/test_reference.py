"""Committed runs as tables: what was promoted is read back equal, once, and never when it is damaged."""

import dataclasses
import json
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from lengen.results.records import AttentionMap, KeyCount
from reproduce.store.files import leased
from reproduce.store.reference import Reference
from reproduce.store.store import WEIGHTS, WEIGHTS_SUM, LocalStore, StoreError
from tests.fixtures.refusals import refused
from tests.reproduce.test_store import HASH, INFO, KEY, outcome, publish

ROOT = Path(__file__).resolve().parents[2]
FIGURE = "toy/fig1"


@pytest.fixture
def store(tmp_path):
    return LocalStore(tmp_path)


@pytest.fixture
def reference(tmp_path):
    return Reference(tmp_path)


def at(store, seed=0, variant="alpha", what=None):
    key = (f"{FIGURE}/{variant}", "cpu", seed)
    with store.workspace(*key, HASH) as space:
        (space.folder / "metrics.csv").write_text("step,name,value\n5,train_loss,0.1\n5,val_exact_match,nan\n")
        (space.folder / WEIGHTS).write_text("weights")
        return space.publish(INFO, what or outcome())


def rich():
    what = outcome()
    what.key_counts = [KeyCount(2, 2, 1, 0, 7, 11), KeyCount(2, 2, 0, 0, 7, 9)]
    what.attention = AttentionMap(("1", "+"), np.full((1, 2, 2, 2), 0.5, np.float32), 3)
    what.arrays = {"bias.self": np.array([[0.0, -np.inf]], np.float32), "probe0.source": np.array(list("$5$"))}
    return what


def test_a_promoted_run_is_read_back_equal(store, reference):
    run = at(store, what=rich())
    (copy,) = reference.adopt([run], store)
    assert (copy.experiment, copy.profile, copy.seed, copy.store) == (run.experiment, "cpu", 0, "reference")
    for found in (copy, *reference.runs(), *Reference(store.root).of(run.experiment, "cpu")):
        assert found.grid == run.grid and repr(tuple(found.metrics)) == repr(tuple(run.metrics))
        assert sorted(found.key_counts) == sorted(run.key_counts)
        np.testing.assert_array_equal(found.attention.weights, run.attention.weights)
        assert found.attention.tokens == run.attention.tokens and set(found.arrays) == set(run.arrays)
        np.testing.assert_array_equal(found.arrays["bias.self"], run.arrays["bias.self"])
        left = {"files", "rows", "sum", "status", "schema_version", WEIGHTS_SUM}
        assert {k: v for k, v in found.info.items() if k not in left} == {
            k: v for k, v in run.info.items() if k not in left
        }
        assert found.info[WEIGHTS_SUM] == run.info["files"][WEIGHTS], "what stays behind can be compared"
    assert reference.of(*KEY[:2]) == [copy]
    names = sorted(path.name for path in (store.root / "reference" / FIGURE).iterdir() if path.is_file())
    assert names == ["keys.csv", "metrics.csv", "runs.jsonl", "scores.csv", "settings.json"]


def test_a_further_seed_adds_rows_and_moves_no_other(store, reference):
    reference.adopt([at(store, 0), at(store, 2), at(store, 1, "beta")], store)
    folder = store.root / "reference" / FIGURE
    before = {path.name: path.read_text().splitlines() for path in folder.glob("*.*")}
    reference.adopt([at(store, 1)], store)
    for name, lines in before.items():
        rest = [line for line in (folder / name).read_text().splitlines() if line in lines]
        assert rest == lines, name
    assert [(run.experiment[-4:], run.seed) for run in reference.headers()] == [
        ("lpha", 0), ("lpha", 1), ("lpha", 2), ("beta", 1),
    ]  # fmt: skip
    assert len(json.loads((folder / "settings.json").read_text())) == 1, "one specification stands once"


def test_promotion_copies_a_run_once_and_weights_on_request(store, reference):
    run = publish(store)
    assert len(reference.adopt([run], store)) == 1 and reference.adopt([run], store) == []
    assert reference.headers(holding=WEIGHTS) == []
    (with_weights,) = reference.adopt([run], store, weights=True)
    assert reference.whole(with_weights, WEIGHTS).read_text() == "weights"
    assert reference.adopt([run], store, weights=True) == reference.adopt([run], store) == []
    assert [found.seed for found in reference.headers(holding=WEIGHTS)] == [run.seed]


def test_of_two_machines_that_promote_in_turn_the_later_run_is_kept(tmp_path, store, reference):
    one, other = publish(store), LocalStore(tmp_path / "other")
    two = publish(other, what=outcome(3))
    made = [len(reference.adopt([run], source)) for run, source in ((one, store), (two, other)) * 2]
    assert made == [1, 1, 0, 0]
    assert [run.grid.scores for run in reference.of(*KEY[:2])] == [two.grid.scores]


def test_two_promotions_at_once_wait_for_each_other(store, reference):
    run, second, told = publish(store), [], []
    with leased(store.root / "reference" / FIGURE):
        other = Reference(store.root)
        thread = threading.Thread(target=lambda: second.append(other.adopt([run], store, tell=told.append)))
        thread.start()
        time.sleep(0.2)
        assert second == [] and reference.headers() == []
    thread.join(20)
    assert len(second) == len(reference.headers()) == len(told) == 1


def test_runs_made_with_set_big_weights_and_damaged_files_are_refused(store, reference, monkeypatch):
    run = publish(store)
    changed = dataclasses.replace(run, info={**run.info, "overrides": ["train.lr=1"]})
    monkeypatch.setattr("reproduce.store.reference.LARGEST_WEIGHTS", 3)
    for bad, weights, said in ((run, True, "promote without --weights"), (changed, False, "made with --set")):
        refused(StoreError, said, reference.adopt, [bad], store, weights)
    rich_run = at(store, 4, what=rich())
    (store.folder(rich_run) / "arrays.npz").write_text("x")
    refused(StoreError, r"arrays\.npz is not the file its run wrote", reference.adopt, [rich_run], store)
    assert reference.runs() == []


@pytest.mark.parametrize(("name", "old", "new", "said"), [
    ("scores.csv", ",10,7,", ",10,8,", "the rows of alpha cpu 0 are not those"),
    ("scores.csv", "variant", "option", "expected columns variant,profile,seed"),
    ("scores.csv", "alpha,cpu,0,2", "alpha,cpu,x,2", "line 2"),
    ("metrics.csv", "0.1", "0.2", "the rows of alpha cpu 0 are not those"),
    ("runs.jsonl", '"profile": "cpu"', '"profile": 3', "line 1"),
    ("runs.jsonl", "{", "", "line 1"),
    ("runs.jsonl", "toy/fig1", "toy/fig2", "belongs to another figure"),
    ("settings.json", HASH, "f" * 16, "has no specification"),
    ("settings.json", "{", "", "settings.json"),
])  # fmt: skip
def test_damaged_tables_are_refused_with_one_sentence(store, reference, name, old, new, said):
    reference.adopt([at(store)], store)
    path = store.root / "reference" / FIGURE / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(StoreError, match=said) as told:
        [tuple(run.metrics) for run in Reference(store.root).runs()]
    assert "git checkout --" in str(told.value) and "\n" not in str(told.value)


def test_rows_that_a_killed_promotion_left_are_no_run(store, reference):
    reference.adopt([at(store)], store)
    folder = store.root / "reference" / FIGURE
    before = (folder / "runs.jsonl").read_text()
    reference.adopt([at(store, 1)], store)
    (folder / "runs.jsonl").write_text(before)  # the last file that is written
    again = Reference(store.root)
    assert [run.seed for run in again.runs()] == [0]
    assert [run.seed for run in again.adopt([at(store, 1)], store)] == [1]
    assert [run.seed for run in again.runs()] == [0, 1]


def test_each_figure_keeps_the_runs_of_one_profile():
    profiles: dict[str, set[str]] = {}
    for run in Reference(ROOT / "results").headers():
        profiles.setdefault(run.experiment.rpartition("/")[0], set()).add(run.profile)
    assert len(profiles) > 40 and [figure for figure, some in profiles.items() if len(some) > 1] == []
