"""Files of strangers: whatever bytes they hold, one sentence comes out, and nothing in them is executed.

The same inputs as in `make soak`, 2,000 of them.
"""

import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from lengen.callbacks.checkpoint import CHECKPOINT, CheckpointError, checked
from lengen.results.records import RecordError
from reproduce.store import run_folder
from reproduce.store.run_folder import arrays_from_bytes, arrays_to_bytes
from stress.strangers import MARK, Page, _bomb, attack, readers, shared
from stress.watched import watched
from tests.lengen.test_execute import SPEC as TRAINED
from tests.lengen.test_execute import run

pytestmark = pytest.mark.slow

NUMBER = 2000
READERS = {reader.name: reader for reader in readers()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("strangers")


@pytest.mark.parametrize("name", READERS)
def test_whatever_the_bytes_a_record_or_a_sentence_comes_out(name, folder):
    wanted = shared(list(READERS.values()), NUMBER)[name]
    found = attack(READERS[name], wanted, folder / name.replace(" ", "-"))
    assert found.inputs >= wanted > 0


def test_what_a_reader_must_not_do_is_seen(tmp_path):
    for wrong in (
        lambda: (tmp_path / "outside").write_text("x"),
        lambda: (tmp_path / "folder").mkdir(),
        lambda: pickle.loads(pickle.dumps(Hostile(tmp_path / "trace"))),
        lambda: torch.load(io.BytesIO(_saved(Hostile(tmp_path / "torch"))), weights_only=False),
    ):
        with watched(tmp_path / "home") as seen:
            wrong()
        assert seen
    (tmp_path / "home").mkdir()
    with watched(tmp_path / "home") as seen:
        (tmp_path / "home" / "file").write_text("x")
        assert (tmp_path / "home" / "file").read_text() == "x"
    assert not seen


def test_markup_that_a_page_must_not_have_is_seen():
    for wrong in (f"<{MARK}>", '<p onclick="x">', '<a href=" JavaScript:x">'):
        with pytest.raises(AssertionError):
            Page(f"<p>{wrong}</p>")
    Page(f"<p>&lt;{MARK}&gt;</p>")


def _saved(content: object) -> bytes:
    out = io.BytesIO()
    torch.save(content, out)
    return out.getvalue()


def test_an_archive_that_unpacks_to_more_than_the_bound_is_not_unpacked(monkeypatch):
    monkeypatch.setattr(run_folder, "LARGEST_ARRAYS", 1000)
    with pytest.raises(RecordError):
        arrays_from_bytes(arrays_to_bytes({"zeros": np.zeros(10_000)}))


def test_a_checkpoint_that_unpacks_to_more_than_it_holds_is_not_unpacked(tmp_path):
    (tmp_path / CHECKPOINT).write_bytes(_bomb())
    with pytest.raises(CheckpointError, match="it is compressed"):
        checked(tmp_path / CHECKPOINT)


def test_a_flipped_bit_in_a_checkpoint_is_no_weight(tmp_path):
    whole = _saved({"state_dict": {"a": torch.full((1000,), 0.3)}, "global_step": 1, "loops": {}})
    at = whole.index(torch.full((8,), 0.3).numpy().tobytes())
    (tmp_path / CHECKPOINT).write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    with pytest.raises(CheckpointError, match="has changed"):
        checked(tmp_path / CHECKPOINT)


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
        assert "\n" not in str(caught.value)
        assert not trace.exists()
    torch.load(tmp_path / "torch" / CHECKPOINT, weights_only=False)
    assert trace.exists(), "the file is as hostile as it says"
