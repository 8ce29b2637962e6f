"""Ray as the engine, on a cluster of three nodes on this machine: what comes back, and what deaths of workers cost."""

import os
import signal
import threading
import time

import pytest

from reproduce import cli
from reproduce.cli import Interrupted
from reproduce.runs import on_ray
from reproduce.runs import perform as runner
from reproduce.runs.executors import Local
from reproduce.runs.on_ray import OnRay, connected, noted_signals
from reproduce.runs.perform import Job, Order, PlanError
from reproduce.store.store import Store
from stress.kills import compared, content
from tests.fixtures import ray_cluster as rays
from tests.fixtures.toy_paper import Dies, DiesOnce, FailsForSeedOne, Instant, WaitsForever, WaitsOnce, behaving

pytestmark = pytest.mark.slow

with_ray = pytest.mark.skipif(bool(rays.missing()), reason=rays.missing() or "ray is here")


@pytest.fixture(scope="module")
def cluster():
    with rays.cluster() as made, connected(made.address):  # one connection for all: workers load torch once
        yield made


def jobs(kind=Instant, seeds=(0,)):
    return [Job("toy/fig1/alpha", "cpu", seed, behaving(kind)) for seed in seeds]


def make(root, cluster, todo):
    heard = rays.Heard()
    with OnRay(Order(root, {"commit": "none"}), cluster.address) as engine:
        assert engine.workers == len(cluster.list_all_nodes())
        return runner.run(todo, {}, Order(root, {"commit": "none"}), engine, heard), heard


@with_ray
def test_a_worker_that_dies_costs_no_more_than_what_is_behind_the_checkpoint(cluster, tmp_path):
    report, heard = make(tmp_path / "ray", cluster, [*jobs(DiesOnce, (0,)), *jobs(Instant, (1,))])
    assert not report.failures and [run.seed for run in report.runs] == [0, 1] and set(heard.done.values()) == {1}
    store = Store(tmp_path / "ray", "local")
    kept = [(store.folder(run) / "last.ckpt").read_text() for run in report.runs]
    assert kept == ["first\nstep\n", "step\n"], "it goes on from the checkpoint of the dead worker"
    (told,) = heard.sentences
    assert "goes on elsewhere from its newest checkpoint" in told
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
    monkeypatch.setattr(on_ray, "DEATHS", 2)
    todo = [*jobs(FailsForSeedOne, (1,)), *jobs(Dies, (0,)), *jobs(Instant, (2,))]
    report, heard = make(tmp_path, cluster, todo)
    assert sorted(report.failures) == ["toy/fig1/alpha seed 0", "toy/fig1/alpha seed 1"]
    assert "died 2 times in a row" in report.failures["toy/fig1/alpha seed 0"]
    trace = tmp_path / "local/toy/fig1/alpha/cpu/seed-1/.work/error.txt"
    assert str(trace) in report.failures["toy/fig1/alpha seed 1"] and "Traceback" in trace.read_text()
    assert heard.done == {"toy/fig1/alpha seed 2": 1}


@with_ray
def test_an_interruption_ends_the_workers_and_frees_the_runs(cluster, tmp_path):
    place = tmp_path / "local/toy/fig1/alpha/cpu/seed-0/.work/pid"
    handler = signal.signal(signal.SIGINT, cli._interrupt)

    def interrupt() -> None:
        while not place.exists() or not place.read_text():
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    try:
        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(Interrupted):
            make(tmp_path, cluster, jobs(WaitsForever))
    finally:
        signal.signal(signal.SIGINT, handler)
    assert not list(tmp_path.rglob(".lease"))
    process, end = int(place.read_text()), time.monotonic() + 20
    while os.path.exists(f"/proc/{process}") and time.monotonic() < end:
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{process}")


@with_ray
def test_a_node_that_dies_costs_no_run(cluster, tmp_path):
    node = min(cluster.worker_nodes, key=lambda node: node.unique_id)
    places = [tmp_path / f"local/toy/fig1/alpha/cpu/seed-{seed}/.work/last.ckpt" for seed in range(3)]

    def kill_when_all_have_begun() -> None:
        while not all(place.exists() for place in places):
            time.sleep(0.02)
        cluster.remove_node(node, allow_graceful=False)
        for worker in rays.workers(cluster):  # those on the other nodes wait for ever
            rays.kill(worker)

    threading.Thread(target=kill_when_all_have_begun, daemon=True).start()
    report, heard = make(tmp_path, cluster, jobs(WaitsOnce, range(3)))
    assert len(report.runs) == 3 and len(heard.sentences) == 3
    kept = [(Store(tmp_path, "local").folder(run) / "last.ckpt").read_text() for run in report.runs]
    assert kept == ["first\nstep\n"] * 3


def test_a_machine_without_ray_says_how_to_install_it(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path))
    with pytest.raises(PlanError, match=r"pip install '\.\[cluster\]' adds it"), OnRay(Order(tmp_path, {})):
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
