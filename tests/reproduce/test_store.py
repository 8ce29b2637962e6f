"""Local runs, committed runs as tables, and their files."""

import dataclasses
import errno
import json
import multiprocessing
import os
import shutil
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lengen.results.records import METRIC_COLUMNS, AttentionMap, ExampleMap, Grid, KeyCount, RecordError, to_table
from reproduce.store import run_folder as run_files
from reproduce.store.files import StoreError, write_text
from reproduce.store.lease import leased
from reproduce.store.reference import Reference
from reproduce.store.run_folder import WEIGHTS, arrays_from_bytes, arrays_to_bytes
from reproduce.store.store import WEIGHTS_SUM, LocalStore
from tests.fixtures.refusals import refused
from tests.fixtures.runs import counted
from tests.fixtures.toy_paper import SPEC, outcome

KEY = ("toy/fig1/alpha", "cpu", 0)
HASH = SPEC.hash()
INFO = {"spec": SPEC.to_dict(), "overrides": []}
scores = st.integers(0, 10**12).flatmap(
    lambda n: st.builds(counted, st.just(n), st.integers(0, n), st.integers(0, n), st.integers(0), st.integers(0))
)
modes = st.dictionaries(st.sampled_from(["teacher_forced", "free_running"]), scores, min_size=1)
cells = {width: st.tuples(*[st.integers(0, 200)] * width) for width in (1, 2)}
grids = st.sampled_from([("length",), ("length", "count")]).flatmap(
    lambda axes: st.builds(Grid, st.just(axes), st.dictionaries(cells[len(axes)], modes, min_size=1))
)
counts = st.lists(st.builds(KeyCount, *[st.integers(0, 10**9)] * 6))
text = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=3)
maps = st.none() | st.tuples(
    st.integers(1, 3), st.lists(text, min_size=1, max_size=4), st.integers(1, 10**6), st.integers(0, 3)
)
numbers = st.lists(st.tuples(st.integers(0, 10**9), text, st.floats(allow_nan=False)), max_size=5)
kinds = hnp.floating_dtypes() | hnp.integer_dtypes() | hnp.unicode_string_dtypes(max_len=2) | hnp.boolean_dtypes()
named = st.dictionaries(
    st.from_regex(r"[a-z]{1,8}\d?(\.[a-z]{1,8})?", fullmatch=True), hnp.arrays(kinds, hnp.array_shapes(min_dims=0))
)
ROOT = Path(__file__).resolve().parents[2]
FIGURE = "toy/fig1"


def publish(store: LocalStore, key=KEY, spec_hash=HASH, what=None, **info):
    with store.workspace(*key, spec_hash) as space:
        (space.folder / "last.ckpt").write_text("checkpoint")
        (space.folder / "model.safetensors").write_text("weights")
        return space.publish({**INFO, **info}, what or outcome())


@pytest.fixture
def store(tmp_path):
    return LocalStore(tmp_path)


def test_a_published_run_reads_back_equal_and_alone(store):
    run = publish(store, command="python -m reproduce run toy")
    assert (run.version, run.seed, run.profile, run.store) == (1, 0, "cpu", "local")
    assert run.grid.scores == outcome().grid.scores
    folder = store.folder(run)
    assert sorted(path.name for path in folder.iterdir()) == [
        "last.ckpt", "metrics.csv", "model.safetensors", "run.json", "scores.csv",
    ]  # fmt: skip
    info = json.loads((folder / "run.json").read_text())
    assert info["status"] == "finished" and info["schema_version"] == 2 and info["spec_hash"] == HASH
    assert set(info["files"]) == {"scores.csv", "last.ckpt", "metrics.csv", "model.safetensors"}
    assert not (folder.parent / ".work").exists()


@pytest.mark.parametrize(("devices", "kept"), [({"cpu, A": 4}, False), ({"cuda, B": 3, "cpu, A": 1}, True)])
def test_the_steps_on_each_device_are_kept_if_there_were_several(store, devices, kept):
    run = publish(store, steps_on=devices)
    assert run.info.get("steps_on") == (devices if kept else None)
    assert LocalStore(store.root).find(*KEY, HASH).info == run.info


def test_a_version_is_never_written_again(store):
    first = publish(store)
    before = {path: path.read_bytes() for path in store.folder(first).iterdir()}
    second = publish(store, what=outcome(3))
    other = publish(store, spec_hash="0" * 16)
    assert (second.version, other.version) == (2, 3)
    assert {path: path.read_bytes() for path in before} == before
    fresh = LocalStore(store.root)
    assert fresh.find(*KEY, HASH).version == 2
    assert [run.version for run in fresh.runs()] == [2, 3]
    assert fresh.find(*KEY, "1" * 16) is None


@pytest.mark.parametrize("moment", ["replace", "rename", "fsync"])
@pytest.mark.parametrize("call", range(4))
def test_killed_at_any_write_leaves_nothing_readable(store, monkeypatch, moment, call):
    real, calls = getattr(os, moment), []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) > call:
            raise SystemExit("killed")
        return real(*arguments)

    with store.workspace(*KEY, HASH) as space:
        (space.folder / "metrics.csv").write_text("step,name,value\n")
        monkeypatch.setattr(os, moment, interrupted)
        published = False
        try:
            space.publish(INFO, outcome())
            published = True
        except SystemExit:
            pass
        monkeypatch.undo()
    again = LocalStore(store.root)
    assert len(again.runs()) == published
    assert publish(again).version == 1 + published  # what was left behind does not get in the way


def test_work_survives_for_the_same_specification_only(store):
    with store.workspace(*KEY, HASH) as space:
        (space.folder / "last.ckpt").write_text("half")
    with store.workspace(*KEY, HASH) as space:
        assert (space.folder / "last.ckpt").read_text() == "half"
    with store.workspace(*KEY, HASH, fresh=True) as space:
        assert not (space.folder / "last.ckpt").exists()
        (space.folder / "last.ckpt").write_text("half")
    with store.workspace(*KEY, "0" * 16) as space:
        assert not (space.folder / "last.ckpt").exists()


def _hold(root, ready, leave):
    with LocalStore(root).workspace(*KEY, HASH):
        ready.set()
        leave.wait(20)


def test_a_second_process_is_told_and_waits(tmp_path, store):
    context = multiprocessing.get_context("fork")
    ready, leave = context.Event(), context.Event()
    holder = context.Process(target=_hold, args=(tmp_path, ready, leave))
    holder.start()
    try:
        assert ready.wait(20)
        sentence = f"seed-0 is being written by process {holder.pid}"
        with pytest.raises(StoreError, match=sentence), store.workspace(*KEY, HASH):
            pass
        told = []
        threading.Timer(0.2, leave.set).start()
        with store.workspace(*KEY, HASH, tell=told.append):
            assert leave.is_set()
        assert "waiting for it to finish" in told[0]
    finally:
        leave.set()
        holder.join()


@pytest.mark.parametrize(("name", "content", "expected"), [
    ("run.json", "{", "expected JSON"), ("run.json", "[]", "expected schema_version 2"),
    ("run.json", '{"schema_version": 2, "status": "finished", "spec": {}}', "spec_hash"),
    ("run.json", '{"schema_version": 3, "status": "finished"}', "version 2, and a newer program wrote 3"),
    ("run.json", '{"schema_version": 1, "status": "finished"}', "version 2, and an older program wrote 1"),
    ("scores.csv", "length,count\n", "expected the sha256"), ("metrics.csv", "", "expected the sha256"),
])  # fmt: skip
def test_a_damaged_file_is_named_in_one_sentence(store, name, content, expected):
    run = publish(store)
    (store.folder(run) / name).write_text(content)
    error = refused(StoreError, expected, LocalStore(store.root).runs)
    assert name in error and "delete" in error


@pytest.mark.parametrize(("name", "content", "expected"), [
    ("scores.csv", "length,mode,n\n", "line 1: expected columns"),
    ("metrics.csv", "step,name,value\n1,loss\n", "line 2: expected a step"),
    ("metrics.csv", "a,b,c\n", "line 1: expected columns step,name,value"),
    ("keys.csv", "a\n", "expected columns length"),
    ("attention.npz", "no archive", "expected a NumPy archive"),
    ("arrays.npz", "no archive", "expected a NumPy archive of arrays"),
])  # fmt: skip
def test_a_file_that_is_wrong_from_the_start_is_named_too(store, name, content, expected):
    """The sum matches, the content does not: somebody edited both, or an older program wrote it."""
    run = publish(store)
    folder = store.folder(run)
    (folder / name).write_text(content)
    info = json.loads((folder / "run.json").read_text())
    info["files"][name] = run_files.hashlib.sha256(content.encode()).hexdigest()
    (folder / "run.json").write_text(json.dumps(run_files.sealed(info)))
    error = refused(StoreError, expected, LocalStore(store.root).runs)
    assert name in error


@pytest.mark.parametrize("name", ["run.json", "scores.csv"])
def test_a_file_beyond_all_measure_is_not_read(store, name):
    run = publish(store)
    os.truncate(store.folder(run) / name, 2**33)
    refused(StoreError, rf"{name} has 8192 MB, more than the 16 MB", LocalStore(store.root).runs)


def test_a_run_json_that_was_changed_is_named_and_one_without_a_sum_is_read(store):
    run = publish(store)
    path = store.folder(run) / "run.json"
    info = json.loads(path.read_text())
    path.write_text(json.dumps({**info, "seed": 7}))
    with pytest.raises(StoreError, match=r"run\.json has changed since its run wrote it.*restore it, or delete"):
        LocalStore(store.root).runs()
    path.write_text(json.dumps({name: value for name, value in info.items() if name != run_files.SUM}))
    assert len(LocalStore(store.root).runs()) == 1


def test_a_missing_record_is_named(store):
    run = publish(store)
    (store.folder(run) / "scores.csv").unlink()
    refused(StoreError, r"scores\.csv cannot be read", LocalStore(store.root).runs)


def test_a_folder_that_is_no_seed_is_named(store):
    run = publish(store)
    folder = store.folder(run).parent
    folder.rename(folder.with_name("seed-x"))
    refused(StoreError, "expected a folder name such as seed-0", LocalStore(store.root).runs)


@pytest.mark.parametrize(("place", "said"), [
    ("toy/fig1/alpha/cpu/seed-1", "seed 0"),
    ("toy/fig1/alpha/night/seed-0", "cpu profile"),
    ("toy/fig1/beta/cpu/seed-0", "toy/fig1/alpha"),
])  # fmt: skip
def test_a_copied_run_is_no_further_one(store, place, said):
    run = publish(store)
    shutil.copytree(store.folder(run).parent, store.path / place)
    other = LocalStore(store.root)
    experiment, profile, seed = place.rsplit("/", 2)
    error = refused(StoreError, rf"run\.json is that of .*{said}.*expected.*move it back", other.headers)
    assert place in error
    for look in (lambda: other.of(experiment, profile), lambda: other.at(store.path / place / "v1")):
        refused(StoreError, "expected the run of its folder", look)
    refused(StoreError, "expected the run of its folder", other.find, experiment, profile, int(seed[-1]), HASH)


def test_folders_without_run_json_are_no_runs(store):
    (store.path / "toy/fig1/alpha/cpu/seed-0/v1").mkdir(parents=True)
    (store.path / "toy/fig1/alpha/cpu/seed-0/vnext").mkdir()
    assert store.runs() == [] and publish(store).version == 2


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_full_or_read_only_disk_says_so(store, monkeypatch, number):
    def full(*_):
        raise OSError(number, os.strerror(number))

    with store.workspace(*KEY, HASH) as space:
        monkeypatch.setattr(os, "fsync", full)
        refused(StoreError, os.strerror(number), space.publish, INFO, outcome())
    monkeypatch.undo()
    assert store.runs() == []


def test_write_text_leaves_the_old_file_when_it_fails(tmp_path, monkeypatch):
    path = tmp_path / "folder" / "file.txt"
    write_text(path, "old")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
    with pytest.raises(StoreError):
        write_text(path, "new")
    assert path.read_text() == "old" and list(path.parent.iterdir()) == [path]


def test_line_ends_that_git_changed_are_told_from_damage(store):
    run = publish(store)
    for name in ("scores.csv", "metrics.csv"):
        path = store.folder(run) / name
        content = path.read_bytes()
        path.write_bytes(content.replace(b"\n", b"\r\n"))
        with pytest.raises(StoreError, match=rf"git changed the line ends of .*{name}.*core\.autocrlf false"):
            LocalStore(store.root).runs()
        path.write_bytes(content)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(grid=grids, keys=counts, drawn=maps, metrics=numbers, seed=st.integers(0, 2**31), arrays=named)
def test_records_survive_the_store(tmp_path_factory, grid, keys, drawn, metrics, seed, arrays):
    attention = None
    if drawn is not None:
        heads, tokens, n, kept = drawn
        weights = np.linspace(0, 1, heads * len(tokens) ** 2, dtype=np.float16).astype(np.float32)
        weights = weights.reshape(1, heads, len(tokens), len(tokens))
        steps = np.rint(255 * weights).astype(np.uint8)
        examples = tuple(ExampleMap((*tokens[:-1], str(number)), steps - number) for number in range(kept))
        attention = AttentionMap(tuple(tokens), weights, n, examples)
    store = LocalStore(tmp_path_factory.mktemp("results"))
    with store.workspace("toy/fig1/alpha", "cpu", seed, HASH) as space:
        write_text(space.folder / "metrics.csv", to_table(METRIC_COLUMNS, metrics))
        space.publish(INFO, SimpleNamespace(grid=grid, key_counts=keys, attention=attention, arrays=arrays, info={}))
    run = LocalStore(store.root).find("toy/fig1/alpha", "cpu", seed, HASH)
    assert run.grid == grid and list(run.key_counts) == sorted(keys) and list(run.metrics) == metrics
    assert_equal(run.arrays, arrays)
    if attention is None:
        assert run.attention is None
    else:
        assert run.attention.tokens == attention.tokens and run.attention.n == attention.n
        np.testing.assert_array_equal(run.attention.weights, attention.weights)
        for found, stored in zip(run.attention.examples, attention.examples, strict=True):
            assert found.tokens == stored.tokens
            np.testing.assert_array_equal(found.weights, stored.weights, strict=True)


def assert_equal(one, two):
    assert {name: array.dtype for name, array in one.items()} == {name: array.dtype for name, array in two.items()}
    for name in one:
        np.testing.assert_array_equal(one[name], two[name], strict=True)


@settings(max_examples=20, deadline=None)
@given(arrays=named)
def test_arrays_survive_and_equal_ones_give_equal_bytes(arrays):
    content = arrays_to_bytes(arrays)
    assert_equal(arrays_from_bytes(content), arrays)
    other = {name: np.asfortranarray(arrays[name]) if arrays[name].ndim else arrays[name] for name in reversed(arrays)}
    assert arrays_to_bytes(other) == content


def test_arrays_of_objects_are_refused():
    refused(RecordError, "array 'a': expected numbers or text", arrays_to_bytes, {"a": np.array([{}])})


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
    ("runs.jsonl", '"profile": "cpu"', '"profile": 3', "line 1"), ("runs.jsonl", "{", "", "line 1"),
    ("runs.jsonl", "toy/fig1", "toy/fig2", "belongs to another figure"),
    ("settings.json", HASH, "f" * 16, "has no specification"), ("settings.json", "{", "", "settings.json"),
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
