"""Small doses of the stress programs."""

import io
import json
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from lengen.callbacks.resuming import CHECKPOINT, CheckpointError, checked
from lengen.results.records import RecordError
from reproduce.store import run_folder
from reproduce.store.run_folder import arrays_from_bytes, arrays_to_bytes
from stress.faults import CHAIN as COMMANDS
from stress.faults import DAMAGES, READING, damaged_files, damaged_leftovers, flipped, full_disk, truncated, why_no_disk
from stress.kills import CHAIN, Killed
from stress.repeats import differing, some
from stress.soak import PARTS, main
from stress.strangers import _bomb, attack, readers, shared
from tests.fixtures.refusals import refused
from tests.lengen.test_execute import SPEC as TRAINED
from tests.lengen.test_execute import run

pytestmark = pytest.mark.slow

NUMBER = 2000
READERS = {reader.name: reader for reader in readers()}
ROOT = Path(__file__).resolve().parents[2]
KILLING = """
import json, sys
from pathlib import Path
from stress.kills import Command, kill, load

load()
killed = kill(1, 3, Path(sys.argv[1]), [Command(sys.argv[2:], ["training", "writing"])])
print(json.dumps(killed._asdict()))
"""
"""Loads torch once: every command is a child of this process, as `make soak` has it."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("strangers")


@pytest.mark.parametrize("name", READERS)
def test_whatever_the_bytes_a_record_or_a_sentence_comes_out(name, folder):
    wanted = shared(list(READERS.values()), NUMBER)[name]
    found = attack(READERS[name], wanted, folder / name.replace(" ", "-"))
    assert found.inputs >= wanted > 0


def _saved(content: object) -> bytes:
    out = io.BytesIO()
    torch.save(content, out)
    return out.getvalue()


def test_archives_and_checkpoints_that_unpack_to_more_than_they_may_are_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(run_folder, "LARGEST_ARRAYS", 1000)
    with pytest.raises(RecordError):
        arrays_from_bytes(arrays_to_bytes({"zeros": np.zeros(10_000)}))
    (tmp_path / CHECKPOINT).write_bytes(_bomb())
    refused(CheckpointError, "it is compressed", checked, tmp_path / CHECKPOINT)
    whole = _saved({"state_dict": {"a": torch.full((1000,), 0.3)}, "global_step": 1, "loops": {}})
    at = whole.index(torch.full((8,), 0.3).numpy().tobytes())
    (tmp_path / CHECKPOINT).write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    refused(CheckpointError, "has changed", checked, tmp_path / CHECKPOINT)


class Hostile:
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
        refused(CheckpointError, "delete it, and the run starts anew", run, folder, TRAINED)
        assert not trace.exists()
    torch.load(tmp_path / "torch" / CHECKPOINT, weights_only=False)
    assert trace.exists(), "the file is as hostile as it says"


def test_a_run_that_is_killed_leaves_the_bytes_of_one_that_is_not(tmp_path):
    words = [word if word != "0..1" else "0" for word in CHAIN[0].words]
    call = [sys.executable, "-c", KILLING, str(tmp_path), *words]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    killed = Killed(**json.loads(done.stdout))
    assert killed.differing == {} and killed.kills >= 1 and killed.restarts >= 1 and killed.files >= 3


def test_a_report_says_what_was_measured_on_which_commit(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(PARTS, "races", (lambda number, seed, place: ("2 raced", {"wrong": ["x"]}, False), 1))
    nothing = [f"--{name}=0" for name in ("repeats", "inputs", "faults", "kills", "machines")]
    assert main([*nothing, "--out", str(tmp_path)]) == 1
    said = (tmp_path / "soak.json").read_text()
    assert '"commit"' in said and '"passed": false' in said and "2 raced" in capsys.readouterr().out
    assert main([*nothing, "--races=0"]) == 0


def test_a_disk_that_is_full_or_read_only_ends_every_command_in_one_sentence(tmp_path):
    if missing := why_no_disk():
        pytest.skip(missing)
    found = full_disk(tmp_path, 3)
    assert set(found.tried) == {words[0] for words in COMMANDS} and found.read_only == len(COMMANDS)
    assert all(found.refused[name] for name in found.tried)


@pytest.mark.parametrize("words", READING[:4], ids=lambda words: words[0])
def test_a_damaged_file_is_named_and_nothing_else_is_touched(words, tmp_path):
    damages = [truncated, flipped] if words[0] == "run" else DAMAGES
    counted = damaged_files(tmp_path, 0, [words], damages)
    assert {"run.json", "scores.csv", "arrays.npz", "model.safetensors"} <= set(counted)
    assert all(number >= len(damages) for number in counted.values())


def test_what_an_unfinished_run_left_may_be_damaged(tmp_path):
    counted = damaged_leftovers(tmp_path, 0, 5)
    assert sum(counted.values()) == 5
    assert {"last.ckpt", "kernels.json", "metrics.csv", "scores.csv", "scores.partial.csv"} == set(counted)


def test_two_workers_give_the_bits_that_one_process_gives(tmp_path):
    before = torch.get_num_threads()
    try:
        assert differing(dict(list(some().items())[:3]), tmp_path) == []
    finally:
        torch.set_num_threads(before)
