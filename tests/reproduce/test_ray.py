"""Ray as the engine, on a cluster of three nodes on this machine: what comes back, and what deaths of workers cost."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from lengen.results.progress import Progress
from reproduce import cli
from reproduce.cli import Interrupted
from reproduce.runs import plan as runner
from reproduce.runs import ray, worker
from reproduce.runs.local import Local
from reproduce.runs.plan import Job, Order, PlanError
from reproduce.runs.ray import OnRay, _run, command_file, connected, noted_signals
from reproduce.store import checkout, files
from reproduce.store.store import LocalStore
from stress.kills import compared, content
from tests.fixtures import ray_cluster as rays
from tests.fixtures import toy_paper as toys

with_ray = pytest.mark.skipif(bool(rays.missing()), reason=rays.missing() or "ray is here")
WORK = Path("local/toy/fig1/alpha/cpu/seed-0/.work")


@pytest.fixture(scope="module")
def cluster():
    with rays.cluster() as made, connected(made.address):  # one connection for all: workers load torch once
        yield made


def jobs(kind=toys.Instant, seeds=(0,)):
    return [Job("toy/fig1/alpha", "cpu", seed, toys.behaving(kind)) for seed in seeds]


def make(root, cluster, todo):
    heard = rays.Heard()
    with OnRay(cluster.address) as engine:
        assert engine.workers == len(cluster.list_all_nodes())
        return runner.run(todo, {}, Order(root, {"commit": "none"}), engine, heard), heard


@with_ray
def test_a_worker_that_dies_costs_no_more_than_what_is_behind_the_checkpoint(cluster, tmp_path):
    report, heard = make(tmp_path / "ray", cluster, [*jobs(toys.DiesOnce, (0,)), *jobs(toys.Instant, (1,))])
    assert not report.failures and [run.seed for run in report.runs] == [0, 1] and set(heard.done.values()) == {1}
    store = LocalStore(tmp_path / "ray")
    kept = [(store.folder(run) / "last.ckpt").read_text() for run in report.runs]
    assert kept == ["first\nstep\n", "step\n"], "it goes on from the checkpoint of the dead worker"
    (told,) = heard.sentences
    assert "it goes on from its newest checkpoint" in told
    assert report.runs[0].info["processor"] and report.runs[0].info["commit"] == "none"
    assert {path.name for path in store.folder(report.runs[1]).iterdir()} == {
        "run.json", "scores.csv", "metrics.csv", "last.ckpt", "model.safetensors",
    }  # fmt: skip


@with_ray
def test_finished_runs_are_those_that_this_machine_would_make(cluster, tmp_path):
    make(tmp_path / "ray", cluster, jobs(seeds=range(4)))
    runner.run(jobs(seeds=range(4)), {}, Order(tmp_path / "here", {}), Local(1), rays.Heard())
    assert compared(content(tmp_path / "here"), content(tmp_path / "ray")) == {}


@with_ray
def test_a_run_that_fails_and_one_that_kills_its_workers_end_alone(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "DEATHS", 2)
    todo = [*jobs(toys.FailsForSeedOne, (1,)), *jobs(toys.Dies, (0,)), *jobs(toys.Instant, (2,))]
    report, heard = make(tmp_path, cluster, todo)
    assert sorted(report.failures) == ["toy/fig1/alpha seed 0", "toy/fig1/alpha seed 1"]
    sentence = report.failures["toy/fig1/alpha seed 0"]
    assert " died (" in sentence and sentence.endswith("), 2 times in a row without a checkpoint in between")
    trace = tmp_path / "local/toy/fig1/alpha/cpu/seed-1/.work/error.txt"
    assert str(trace) in report.failures["toy/fig1/alpha seed 1"] and "Traceback" in trace.read_text()
    assert heard.done == {"toy/fig1/alpha seed 2": 1}


@with_ray
@pytest.mark.parametrize("kind", [toys.WaitsForever, toys.ReportsForever])
def test_an_interruption_ends_the_workers_and_frees_the_runs(cluster, tmp_path, monkeypatch, kind):
    """One that reports ends by itself, and gives its lease back; another is killed."""
    monkeypatch.setattr(ray, "ENDING", 3.0)
    place = tmp_path / "local/toy/fig1/alpha/cpu/seed-0/.work/pid"
    handler = signal.signal(signal.SIGINT, cli._interrupt)

    def interrupt() -> None:
        while not place.exists() or not place.read_text():
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    try:
        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(Interrupted):
            make(tmp_path, cluster, jobs(kind))
    finally:
        signal.signal(signal.SIGINT, handler)
    process, end = int(place.read_text()), time.monotonic() + 20
    if kind is toys.ReportsForever:
        assert not list(tmp_path.rglob(".lease"))
    else:
        while os.path.exists(f"/proc/{process}") and time.monotonic() < end:
            time.sleep(0.05)
        assert not os.path.exists(f"/proc/{process}")
    assert not list(tmp_path.rglob(".command-*"))
    make(tmp_path, cluster, jobs())


@with_ray
def test_a_node_that_dies_costs_no_run(cluster, tmp_path):
    node = min(cluster.worker_nodes, key=lambda node: node.unique_id)
    places = [tmp_path / f"local/toy/fig1/alpha/cpu/seed-{seed}/.work/last.ckpt" for seed in range(3)]

    def kill_when_all_have_begun() -> None:
        while not all(place.exists() for place in places):
            time.sleep(0.02)
        cluster.remove_node(node, allow_graceful=False)
        for pid in rays.workers(cluster):  # those on the other nodes wait for ever
            rays.kill(pid)

    threading.Thread(target=kill_when_all_have_begun, daemon=True).start()
    report, heard = make(tmp_path, cluster, jobs(toys.WaitsOnce, range(3)))
    assert len(report.runs) == 3 and len(heard.sentences) == 3
    kept = [(LocalStore(tmp_path).folder(run) / "last.ckpt").read_text() for run in report.runs]
    assert kept == ["first\nstep\n"] * 3


def test_a_machine_without_ray_says_how_to_install_it(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path))
    with pytest.raises(PlanError, match=r"pip install '\.\[cluster\]' adds it"), OnRay():
        pass
    assert cli.main(["run", "coupling/fig3/nope-plain", "--profile", "smoke", "--executor", "ray"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_signals_wait_until_they_are_asked_for():
    seen = []
    handler = signal.signal(signal.SIGTERM, lambda *_: seen.append("handled"))
    try:
        with noted_signals() as look:
            look()
            os.kill(os.getpid(), signal.SIGTERM)
            assert seen == []
            with pytest.raises(KeyboardInterrupt):
                look()
        assert seen == ["handled"]
    finally:
        signal.signal(signal.SIGTERM, handler)


def events(root, mark, kind=toys.Instant, seed=0, code=None):
    (job,) = jobs(kind, (seed,))
    return _run(job, Order(root, {"commit": "none"}), False, mark, checkout.code_digest() if code is None else code)


@pytest.fixture
def mark(tmp_path):
    with command_file(tmp_path) as path:
        yield path


def test_a_task_makes_its_run_from_what_an_earlier_try_left(mark, tmp_path):
    (job,) = jobs()
    with LocalStore(tmp_path).workspace(*job.key) as space:
        (space.folder / "last.ckpt").write_text("earlier\n")
    host, started, resuming, *_, finished = events(tmp_path, mark)
    assert host[0] == "host" and started == ("started",) and finished == ("finished", 1)
    assert resuming[1].stage == "resuming"
    (run,) = LocalStore(tmp_path).runs()
    assert (LocalStore(tmp_path).folder(run) / "last.ckpt").read_text() == "earlier\nstep\n"
    assert run.info["commit"] == "none" and {**run.info, **checkout.this_machine()} == run.info


class GoesOnWhenHeard(toys.Instant):
    heard = threading.Event()

    def run(self, seed, folder, report, loggers=()):
        report(Progress("train", 1, 4, 1.0, None))
        assert self.heard.wait(60)
        return super().run(seed, folder, report, loggers)


def test_progress_is_told_while_it_trains(mark, tmp_path):
    values = events(tmp_path, mark, GoesOnWhenHeard)
    assert [next(values)[0] for _ in range(2)] == ["host", "started"]
    assert next(values) == ("progressed", Progress("train", 1, 4, 1.0, None))
    GoesOnWhenHeard.heard.set()
    assert [*values][-1] == ("finished", 1)


def test_a_node_that_does_not_see_the_folder_or_has_other_code_is_refused_before_it_trains(mark, tmp_path):
    ((event, sentence),) = events(tmp_path, tmp_path / "elsewhere")
    assert event == "fatal" and f"does not see {tmp_path / 'elsewhere'}: set LENGEN_RESULTS" in sentence
    ((event, sentence),) = events(tmp_path, mark, code="older")
    assert event == "fatal" and "has other code" in sentence
    assert not (tmp_path / "local/toy").exists()


def test_a_task_ends_and_frees_its_run_when_its_command_has_ended(mark, tmp_path):
    values = events(tmp_path, mark, toys.ReportsForever)
    assert [next(values)[0] for _ in range(3)] == ["host", "started", "progressed"]
    mark.unlink()
    assert {event for event, *_ in values} <= {"progressed"}
    assert (tmp_path / WORK / "pid").exists() and not list(tmp_path.rglob(".lease"))


def test_a_run_that_another_process_makes_is_postponed(mark, tmp_path):
    (job,) = jobs()
    with LocalStore(tmp_path).workspace(*job.key):
        _, (event, sentence) = events(tmp_path, mark)
    assert event == "postponed" and "is being written by" in sentence


@pytest.mark.parametrize(("kind", "event", "sentence"), [
    (toys.FailsForSeedOne, "failed", "RuntimeError: seed one is unlucky (traceback in {work}/error.txt)"),
    (toys.Diverges, "failed", "the last good checkpoint is {work}/last.ckpt"),
    (toys.BadField, "fatal", "data.task=knitting: unknown task"),
])  # fmt: skip
def test_a_failure_is_a_sentence_about_the_files_in_the_folder(mark, tmp_path, kind, event, sentence):
    work = tmp_path / str(WORK).replace("seed-0", "seed-1")
    *_, (last, shown) = events(tmp_path, mark, kind, seed=1)
    assert last == event and sentence.format(work=work) in shown.replace(files.readable(work), str(work))
    assert kind is not toys.FailsForSeedOne or "Traceback" in (work / "error.txt").read_text()
