"""A run that a worker of a cluster makes: who may write, what is said, and what ends it."""

import dataclasses
import os
import threading

import pytest

from lengen.results.progress import Progress
from reproduce.runs.perform import Job
from reproduce.runs.ray_task import TOKEN, Errand, Failed, Made, errand_for, letters
from reproduce.store import provenance
from tests.fixtures.toy_paper import BadField, Diverges, FailsForSeedOne, Instant, TellsItsProcess, behaving


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "results" / "seed-0" / ".work"
    folder.mkdir(parents=True)
    return folder


def errand(work, kind=Instant, seed=0) -> Errand:
    return errand_for(Job("toy/fig1/alpha", "cpu", seed, behaving(kind)), work, "token", ())


def done(errand):
    """All letters, and how it ended."""
    found = list(letters(errand))
    return found, found[-1].end


def test_the_folder_that_all_nodes_see_is_worked_in_from_what_an_earlier_try_left(work):
    (work / "last.ckpt").write_text("earlier\n")
    found, end = done(errand(work, TellsItsProcess))
    assert isinstance(end, Made) and end.outcome.info["pid"] == os.getpid() and end.seconds >= 0
    assert (work / "last.ckpt").read_text() == "earlier\nstep\n"
    assert found[0].progress is None
    assert end.machine == provenance.this_machine()


class GoesOnWhenHeard(Instant):
    """Reports a step and trains on once somebody has heard of it."""

    heard = threading.Event()

    def run(self, seed, folder, report, loggers=()):
        report(Progress("train", 1, 4, 1.0, None))
        assert self.heard.wait(60)
        return super().run(seed, folder, report, loggers)


def test_progress_is_told_while_it_trains(work):
    found = letters(errand(work, GoesOnWhenHeard))
    assert next(found).progress is None
    assert next(found).progress == Progress("train", 1, 4, 1.0, None)
    GoesOnWhenHeard.heard.set()
    assert isinstance([*found][-1].end, Made)


def test_a_node_that_does_not_see_the_folder_is_refused_before_it_trains(work):
    asked = errand(work)
    (work / TOKEN).write_text("of another errand")
    _, end = done(asked)
    assert isinstance(end, Failed) and end.fatal and str(work) in end.sentence and not (work / "last.ckpt").exists()


class IsForgotten(Instant):
    """While it trains, the machine that publishes asks somebody else."""

    def run(self, seed, folder, report, loggers=()):
        (folder / TOKEN).write_text("of the next errand")
        report(Progress("train", 1, 4, 1.0, None))
        (folder / "last.ckpt").write_text("too late")


def test_who_was_thought_dead_stops_writing(work):
    _, end = done(errand(work, IsForgotten))
    assert isinstance(end, Failed) and not (work / "last.ckpt").exists()


@pytest.mark.parametrize(
    ("kind", "said", "fatal"),
    [
        (FailsForSeedOne, "RuntimeError: seed one is unlucky (traceback in {work}/error.txt)", False),
        (Diverges, "the last good checkpoint is {work}/last.ckpt", False),
        (BadField, "data.task=knitting: unknown task", True),
    ],
)
def test_a_failure_is_a_sentence_about_the_files_in_the_folder(work, kind, said, fatal):
    _, end = done(errand(work, kind, seed=1))
    assert isinstance(end, Failed) and end.fatal is fatal and said.format(work=work) in end.sentence
    assert kind is not FailsForSeedOne or "Traceback" in (work / "error.txt").read_text()


def test_a_machine_with_other_code_is_refused_before_it_trains(work):
    _, end = done(dataclasses.replace(errand(work), code="older"))
    assert isinstance(end, Failed) and end.fatal and "has other code" in end.sentence
    assert not (work / "last.ckpt").exists()
