"""A run that is made away from the results folder: what travels, what is said, and who may write."""

import dataclasses
import os
from pathlib import Path

import pytest

from lengen.results.progress import Progress
from reproduce.runs.elsewhere import (
    LOGGERS,
    TOKEN,
    Changes,
    Errand,
    Failed,
    Made,
    errand_for,
    left_in,
    letters,
    write,
)
from reproduce.runs.perform import FatalError, Job
from reproduce.store import provenance
from tests.reproduce.fakes import BadField, Diverges, FailsForSeedOne, Instant, TellsItsProcess, behaving


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "results" / "seed-0" / ".work"
    folder.mkdir(parents=True)
    return folder


def errand(work, kind=Instant, seed=0, in_place=False) -> Errand:
    return errand_for(Job("toy/fig1/alpha", "cpu", seed, behaving(kind)), work, "token", (), in_place)


def done(errand, left=dict):
    """All letters, the files of all of them, and how it ended."""
    found = list(letters(errand, left))
    files = {name: content for letter in found for name, content in letter.files.items()}
    return found, files, found[-1].end


def test_what_an_earlier_try_left_is_gone_on_from_and_all_files_come_back(work):
    found, files, end = done(errand(work, TellsItsProcess), lambda: {"last.ckpt": b"earlier\n"})
    assert isinstance(end, Made) and end.outcome.info["pid"] == os.getpid() and end.seconds >= 0
    assert files["last.ckpt"] == b"earlier\nstep\n" and files["model.safetensors"] == b"weights"
    assert files.keys() == {"last.ckpt", "metrics.csv", "model.safetensors"}
    assert found[0].progress is None and any(letter.progress for letter in found)
    assert {path.name for path in work.iterdir()} == {TOKEN}, "nothing was written where it will be published"
    assert end.machine == provenance.this_machine()


def test_a_folder_that_can_be_seen_is_worked_in_and_nothing_travels(work):
    _, files, end = done(errand(work, in_place=True), lambda: pytest.fail("it asked for files"))
    assert isinstance(end, Made) and files == {} and (work / "last.ckpt").read_text() == "step\n"


def test_a_folder_of_the_same_name_elsewhere_is_left_alone(work):
    asked = errand(work, in_place=True)
    (work / TOKEN).write_text("of another errand")
    _, files, _ = done(asked)
    assert "last.ckpt" in files and not (work / "last.ckpt").exists()


class IsForgotten(Instant):
    """While it trains, the machine that publishes asks somebody else."""

    def run(self, seed, folder, report, loggers=()):
        (folder / TOKEN).write_text("of the next errand")
        report(Progress("train", 1, 4, 1.0, None))
        (folder / "last.ckpt").write_text("too late")


def test_who_was_thought_dead_stops_writing(work):
    _, _, end = done(errand(work, IsForgotten, in_place=True))
    assert isinstance(end, Failed) and not (work / "last.ckpt").exists()


@pytest.mark.parametrize(
    ("kind", "said", "fatal"),
    [
        (FailsForSeedOne, "RuntimeError: seed one is unlucky (traceback in {work}/error.txt)", False),
        (Diverges, "the last good checkpoint is {work}/last.ckpt", False),
        (BadField, "data.task=knitting: unknown task", True),
    ],
)
def test_a_failure_is_a_sentence_about_the_files_where_they_will_be(work, kind, said, fatal):
    _, files, end = done(errand(work, kind, seed=1))
    assert isinstance(end, Failed) and end.fatal is fatal and said.format(work=work) in end.sentence
    assert kind is not FailsForSeedOne or b"Traceback" in files["error.txt"]


def test_a_machine_with_other_code_is_refused_before_it_trains(work):
    _, files, end = done(dataclasses.replace(errand(work), code="older"))
    assert isinstance(end, Failed) and end.fatal and "has other code" in end.sentence and files == {}


def test_the_digest_of_the_code_is_of_its_files(tmp_path, monkeypatch):
    for name in ("lengen", "reproduce/store"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setattr(provenance, "__file__", str(tmp_path / "reproduce/store/provenance.py"))

    def digest() -> str:
        provenance.code_digest.cache_clear()
        return provenance.code_digest()

    (tmp_path / "lengen/a.py").write_text("1")
    first = digest()
    (tmp_path / "lengen/notes.md").write_text("any")
    assert digest() == first
    (tmp_path / "lengen/a.py").write_text("2")
    second = digest()
    (tmp_path / "lengen/a.py").rename(tmp_path / "lengen/b.py")
    assert len({first, second, digest()}) == 3
    monkeypatch.undo()
    provenance.code_digest.cache_clear()


def test_a_checkpoint_travels_with_what_accompanies_it_and_metrics_alone_do_not(tmp_path):
    changes = Changes(tmp_path)
    (tmp_path / "metrics.csv").write_text("1\n")
    assert changes.after_a_checkpoint() == {}
    (tmp_path / "trial-0").mkdir()
    (tmp_path / "trial-0/last.ckpt").write_bytes(b"a")
    (tmp_path / "last.tmp").write_bytes(b"half of a checkpoint")
    (tmp_path / LOGGERS).mkdir()
    (tmp_path / LOGGERS / "events").write_bytes(b"e")
    assert changes.after_a_checkpoint() == {"metrics.csv": b"1\n", "trial-0/last.ckpt": b"a"}
    assert changes.after_a_checkpoint() == {}
    assert changes.all() == {f"{LOGGERS}/events": b"e"} and changes.all() == {}


def test_files_are_put_into_the_folder_and_nowhere_else(tmp_path):
    write(tmp_path / "work", {"trial-0/last.ckpt": b"a", "metrics.csv": b"b"})
    assert left_in(tmp_path / "work") == {"trial-0/last.ckpt": b"a", "metrics.csv": b"b"}
    for name in ("../outside", str(tmp_path / "outside")):
        with pytest.raises(FatalError, match="outside of the folder of its run"):
            write(tmp_path / "work", {name: b"x"})
    assert not Path(tmp_path / "outside").exists()
