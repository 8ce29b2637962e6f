"""Files of strangers: whatever bytes they hold, one sentence comes out, and nothing in them is executed."""

import io
import json
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from safetensors.torch import save_model

from lengen.callbacks.checkpoint import CHECKPOINT, CheckpointError, checked
from lengen.config.spec import SpecError, from_dict
from lengen.records import Grid, RecordError, key_counts_from_csv, metrics_from_csv
from lengen.training.build import WeightsError, build_model, load
from reproduce.comparison import published
from reproduce.comparison.published import PublishedError
from reproduce.store import run_folder
from reproduce.store.atomic_files import StoreError
from reproduce.store.run_folder import arrays_from_bytes, arrays_to_bytes, attention_from_bytes, load_info
from tests.lengen.test_execute import SPEC as TRAINED
from tests.lengen.test_execute import run
from tests.reproduce.fakes import SPEC, outcome

MANY = settings(max_examples=200, deadline=None, derandomize=True)
FEW = settings(max_examples=60, deadline=None, derandomize=True)
GRID = outcome().grid.to_csv()
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def damage(content: bytes) -> st.SearchStrategy[bytes]:
    """The content cut short, with bytes changed, or something else altogether."""
    at = st.integers(0, len(content) - 1)
    cut = at.map(lambda index: content[:index])
    changed = st.builds(lambda i, byte: content[:i] + bytes([byte]) + content[i + 1 :], at, st.integers(0, 255))
    return cut | changed | st.binary(max_size=200)


def sentence(error: Exception) -> None:
    assert str(error) and "\n" not in str(error) and len(str(error)) < 600, str(error)


@MANY
@given(content=st.binary(max_size=100) | plain.map(lambda value: json.dumps(value).encode()))
@example(content=b"[" * 100_000)
@example(content=b"9" * 5000)
def test_run_json(tmp_path_factory, content):
    folder = tmp_path_factory.getbasetemp() / "stranger"
    folder.mkdir(exist_ok=True)
    (folder / "run.json").write_bytes(content)
    with pytest.raises(StoreError) as caught:
        load_info(folder)
    sentence(caught.value)


@MANY
@given(name=st.sampled_from(sorted(SPEC.to_dict())), value=plain)
def test_settings_of_a_run(name, value):
    try:
        from_dict({**SPEC.to_dict(), name: value})
    except SpecError as error:
        sentence(error)


@MANY
@given(content=damage(GRID.encode()).map(lambda content: content.decode(errors="replace")))
@example(content="step,name,value\n" + "9" * 5000 + ",loss,1\n")
def test_tables(content):
    for read in (Grid.from_csv, metrics_from_csv, key_counts_from_csv):
        try:
            read(content)
        except RecordError as error:
            sentence(error)


@MANY
@given(content=damage(b'[[claim]]\nid = "adds"\nthreshold = 0.5\nleft = ["a"]\n'))
@example(content=b"a = " + b"[" * 50_000)
def test_published_numbers(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "published.toml"
    path.write_bytes(content)
    try:
        published.load(path)
    except PublishedError as error:
        assert str(error)


ARRAYS = arrays_to_bytes({"weights": np.zeros((1, 1, 2, 2), np.float16), "tokens": np.array(["a", "b"])})


@MANY
@given(content=damage(ARRAYS))
def test_archives(content):
    for read in (arrays_from_bytes, attention_from_bytes):
        try:
            read(content)
        except RecordError as error:
            sentence(error)


def test_an_archive_that_unpacks_to_more_than_the_bound_is_not_unpacked(monkeypatch):
    monkeypatch.setattr(run_folder, "LARGEST_ARRAYS", 1000)
    with pytest.raises(RecordError):
        arrays_from_bytes(arrays_to_bytes({"zeros": np.zeros(10_000)}))


class Hostile:
    """Leaves a file when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self):
        return Path.touch, (self.trace,)


def test_a_pickle_in_an_archive_is_not_executed(tmp_path):
    out, trace = io.BytesIO(), tmp_path / "executed"
    entry = io.BytesIO()
    np.save(entry, np.array([Hostile(trace)], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.npy", entry.getvalue())
    with pytest.raises(RecordError):
        arrays_from_bytes(out.getvalue())
    assert not trace.exists()


def test_a_hostile_checkpoint_does_nothing_and_ends_its_run_in_one_sentence(tmp_path):
    trace = tmp_path / "executed"
    for name, content in (("pickle", pickle.dumps(Hostile(trace))), ("torch", None)):
        folder = tmp_path / name
        folder.mkdir()
        if content is None:
            torch.save({"state_dict": Hostile(trace), "global_step": 1, "loops": {}}, folder / CHECKPOINT)
        else:
            (folder / CHECKPOINT).write_bytes(content)
        with pytest.raises(CheckpointError, match="delete it, and the run starts anew") as caught:
            run(folder, TRAINED)
        sentence(caught.value)
        assert not trace.exists()
    torch.load(tmp_path / "torch" / CHECKPOINT, weights_only=False)
    assert trace.exists(), "the file is as hostile as it says"


@FEW
@given(data=st.data())
def test_checkpoints(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "stranger.ckpt"
    out = io.BytesIO()
    torch.save({"state_dict": {"a": torch.zeros(3)}, "global_step": 1, "loops": {}}, out)
    path.write_bytes(data.draw(damage(out.getvalue())))
    try:
        checked(path)
    except CheckpointError as error:
        assert "delete it" in str(error) and "\n" not in str(error)


@FEW
@given(data=st.data())
def test_weights(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "stranger.safetensors"
    save_model(build_model(TRAINED, 0), str(path))
    path.write_bytes(data.draw(damage(path.read_bytes())))
    try:
        load(TRAINED, path)
    except WeightsError as error:
        sentence(error)
