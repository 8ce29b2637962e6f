"""Planning, running side by side, failures, workers that die, and the forecast of time."""

import dataclasses
import io
import itertools
import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from lengen import SettingError
from lengen.experiment import Experiment
from lengen.results.progress import Progress
from lengen.settings.spec import replace
from reproduce.catalogue import CATALOGUE, usual_profile
from reproduce.cli import main
from reproduce.commands import run as run_module
from reproduce.runs import costs as estimate
from reproduce.runs import local, worker
from reproduce.runs import plan as runner
from reproduce.runs.display import Display, Forecast
from reproduce.runs.local import Local
from reproduce.runs.plan import FatalError, Job, Order, PlanError, plan
from reproduce.runs.plan import tested_at as overrides_at
from reproduce.runs.worker import begin, throttled
from reproduce.store.files import StoreError
from reproduce.store.lease import LostError
from reproduce.store.store import BEGINNING, LocalStore
from tests.fixtures import toy_paper as toys
from tests.fixtures.program import started
from tests.fixtures.refusals import refused

pytestmark = pytest.mark.usefixtures("results")

JOB = Job("toy/fig1/alpha", "cpu", 0, toys.SPEC)
KEY = JOB.key
FIRST = {"commit": "a" * 40, "dirty": False, "command": "run toy", "platform": "Linux"}


def jobs(seeds=(0,), overrides=(), selector="toy", kind=toys.Instant):
    made = plan(CATALOGUE.select(selector), "cpu", seeds, overrides).jobs
    return tuple(dataclasses.replace(job, spec=toys.behaving(kind, job.spec)) for job in made)


def make(results, todo, workers=1, fresh=False):
    order = Order(results, {"commit": "none", "command": "test"}, fresh)
    stream = io.StringIO()
    with Display({job: estimate.cost(job.spec, job.profile) for job in todo}, workers, stream=stream) as display:
        done = {} if fresh else runner.finished(todo, LocalStore(results))
        return runner.run(todo, done, order, Local(workers), display), stream.getvalue()


def test_a_plan_runs_shared_specifications_once_and_names_what_is_absent_or_wrong():
    made = plan(CATALOGUE.select("toy"), "cpu", (0, 2), ())
    assert [job.name for job in made.jobs] == [
        f"toy/fig1/{variant} seed {seed}" for variant, seed in itertools.product(("alpha", "beta"), (0, 2))
    ]
    assert made.absent == {"toy/fig3/huge": "needs a GPU"}
    assert [job.seed for job in plan(CATALOGUE.select("toy/fig2"), "paper").jobs] == [0, 1]  # the published seeds
    assert [job.experiment for job in plan(CATALOGUE.select("toy/fig2"), "cpu").jobs] == ["toy/fig1/alpha"]
    refused(PlanError, "toy/fig3/huge has no cpu profile \\(needs a GPU\\)", plan, CATALOGUE.select("toy/fig3"), "cpu")
    refused(PlanError, "all experiments are extra ones at --profile cpu", plan, [], "cpu")
    refused(SettingError, r"nearest: steps", jobs, overrides=["train.step=3"])
    assert jobs(overrides=["train.steps=3"])[0].spec.train.steps == 3


@pytest.mark.parametrize(("sizes", "profile"), [
    ([("smoke", "night")], "night"), ([("smoke", "night"), (), ("smoke",)], "night"),
    ([("smoke", "night"), ("smoke", "cpu", "night")], "cpu"), ([("smoke", "cpu")], "cpu"),
    ([("night", "paper")], "cpu"), ([("smoke", "paper")], "cpu"), ([()], "cpu"),
])  # fmt: skip
def test_the_only_size_for_a_core_is_taken_where_none_is_named(sizes, profile):
    """A published size is never taken unasked."""
    settings = {"claim": "c", "place": "p", "seeds": 1}
    made = [Experiment(name=f"p/f/{'-'.join(names)}", specs=dict.fromkeys(names), **settings) for names in sizes]
    assert usual_profile(made) == profile


def test_finished_runs_are_skipped_and_fresh_ones_are_new_versions(results):
    todo = jobs()
    report, shown = make(results, todo)
    assert [run.version for run in report.runs] == [1, 1] and not report.failures
    assert "2 of 2 runs done" in shown
    report, shown = make(results, jobs(kind=toys.Dies))  # nothing is executed
    assert [run.version for run in report.runs] == [1, 1] and shown == ""
    report, _ = make(results, todo, fresh=True)
    assert [run.version for run in report.runs] == [2, 2]
    checkpoint = LocalStore(results).folder(report.runs[0]) / "last.ckpt"
    assert checkpoint.read_text() == "step\n"  # fresh work did not resume
    info = report.runs[0].info
    assert info["overrides"] == [] and info["spec"]["train"]["steps"] == 4 and info["commit"] == "none"
    assert info["files"].keys() == {"scores.csv", "metrics.csv", "last.ckpt", "model.safetensors"}


def test_a_failure_is_collected_and_the_others_go_on(results):
    report, shown = make(results, jobs(seeds=(0, 1, 2), kind=toys.FailsForSeedOne))
    assert sorted(report.failures) == ["toy/fig1/alpha seed 1", "toy/fig1/beta seed 1"]
    sentence = report.failures["toy/fig1/alpha seed 1"]
    assert sentence.startswith("RuntimeError: seed one is unlucky (traceback in ")
    assert len(report.runs) == 4 and "1 failed" in shown
    trace = results / "local/toy/fig1/alpha/cpu/seed-1/.work/error.txt"
    assert "Traceback" in trace.read_text()
    report, _ = make(results, jobs(seeds=(1,)))
    assert [path.name for path in LocalStore(results).folder(report.runs[0]).glob("error*")] == []


def test_a_run_that_diverged_fails_alone_with_its_step_and_checkpoint(results):
    report, _ = make(results, jobs(seeds=(0, 1, 2), kind=toys.Diverges))
    assert sorted(report.failures) == ["toy/fig1/alpha seed 1", "toy/fig1/beta seed 1"] and len(report.runs) == 4
    sentence = report.failures["toy/fig1/alpha seed 1"]
    assert "the loss at step 3 is nan" in sentence and "seed-1/.work/last.ckpt" in sentence


def test_workers_are_kept_alive_and_one_job_or_one_worker_stays_in_this_process(results):
    report, _ = make(results, jobs(seeds=range(4), kind=toys.TellsItsProcess), workers=2)
    assert len(report.runs) == 8
    pids = {run.info["pid"] for run in report.runs}
    assert os.getpid() not in pids and len(pids) <= 2
    assert {run.info["threads"] for run in report.runs} == {1}
    told = jobs(seeds=(4,), kind=toys.TellsItsProcess)[:1], jobs(seeds=(5,), kind=toys.TellsItsProcess)
    for number, (todo, workers) in enumerate(zip(told, (4, 1), strict=True)):
        report, _ = make(results, todo, workers=workers)
        assert {run.info["pid"] for run in report.runs} == {os.getpid()}, number


def test_a_worker_that_died_before_it_took_a_run_costs_none(results):
    (job, *_) = jobs()
    watch = Display({job: estimate.cost(job.spec, job.profile)}, 1, stream=io.StringIO())
    failed, finished = [], []
    watch.failed, watch.finished = (lambda *values: failed.append(values)), (lambda *values: finished.append(values))
    workers = local._Workers([job], Order(results, {"commit": "none"}), watch, 0.0)
    with LocalStore(results).workspace(*job.key):  # so that it waits
        workers._start(0)
        (process,) = workers._processes.values()
        process.kill()
        process.join()
    workers.run(0)
    assert not failed and [values[0] for values in finished] == [job]


def ends(*_):
    os._exit(3)


def test_workers_that_die_before_they_take_a_run_end_the_command(results, monkeypatch):
    monkeypatch.setattr(local, "MOMENT", 0.0)
    monkeypatch.setattr(local, "_worker", ends)
    (job, *_) = jobs()
    with pytest.raises(FatalError, match=r"a worker ended with code .* 5 times before it began a run"):
        local._Workers([job], Order(results, {}), Display({}, 1, stream=io.StringIO()), 0.0).run(1)


def test_who_shares_leaves_a_run_that_another_makes(results, monkeypatch):
    monkeypatch.setattr(local, "PATIENCE", 0.0)
    monkeypatch.setattr("reproduce.runs.worker.AGAIN", 0.05)
    todo, order = jobs(seeds=(0, 1)), Order(results, {}, False)
    costs = {job: estimate.cost(job.spec, job.profile) for job in todo}
    with LocalStore(results).workspace(*todo[0].key), Display(costs, 1, stream=io.StringIO()) as display:
        report = runner.run(todo, {}, order, Local(1, share=True), display)
    assert len(report.runs) == 3 and not report.failures
    assert all((run.experiment, run.seed) != ("toy/fig1/alpha", 0) for run in report.runs)


def test_workers_end_by_themselves_when_there_is_nothing_left(results, monkeypatch):
    monkeypatch.setenv("LENGEN_RESULTS", str(results))
    report, _ = make(results, jobs(kind=toys.CleansUp), workers=2)
    processes = {f"ended-{run.info['pid']}" for run in report.runs}
    assert {path.name for path in results.glob("ended-*")} == processes and f"ended-{os.getpid()}" not in processes


def test_a_worker_that_dies_over_and_over_fails_its_job_only(results, monkeypatch):
    monkeypatch.setattr(worker, "DEATHS", 2)
    monkeypatch.setattr(local, "MOMENT", 0.0)
    report, shown = make(results, jobs(seeds=(0, 1, 2), kind=toys.Dies), workers=2)
    assert sorted(report.failures) == ["toy/fig1/alpha seed 0", "toy/fig1/beta seed 0"]
    sentence = "its process ended with code 7 (out of memory, or killed)"
    assert report.failures["toy/fig1/alpha seed 0"] == f"{sentence}, 2 times in a row without a checkpoint in between"
    assert f"toy/fig1/alpha seed 0: {sentence}: it goes on from its beginning\n" in shown
    assert len(report.runs) == 4


@pytest.mark.parametrize("fresh", [False, True])
def test_the_run_of_a_worker_that_died_goes_on_from_its_checkpoint(results, fresh):
    """Even where it was to begin anew: that was done when it was begun first."""
    make(results, jobs(seeds=(0,)))
    report, shown = make(results, jobs(seeds=(0, 1), kind=toys.DiesOnce), workers=2, fresh=fresh)
    store, runs = LocalStore(results), report.runs[0 if fresh else 2 :]
    assert not report.failures and [run.version for run in report.runs] == ([2, 1, 2, 1] if fresh else [1, 1, 1, 1])
    assert shown.count("it goes on from its newest checkpoint") == (4 if fresh else 2)
    for run in report.runs:
        if fresh or run.seed == 1:
            assert (store.folder(run) / "last.ckpt").read_text() == "first\nstep\n"
    assert runs


def test_a_run_that_was_taken_over_from_a_worker_is_looked_at_again(results, monkeypatch):
    monkeypatch.setattr(worker, "AGAIN", 0.05)
    (job, *_) = jobs()
    display, calls = Display({job: estimate.cost(job.spec, job.profile)}, 1, stream=io.StringIO()), []

    def lost(*values):
        calls.append(values)
        if len(calls) == 1:
            raise LostError("it was taken over by process 7")
        return train(*values)

    train = worker.train
    monkeypatch.setattr(worker, "train", lost)
    report = runner.run([job], {}, Order(results, {}), Local(1), display)
    assert len(report.runs) == 1 and len(calls) == 2


@pytest.mark.parametrize("workers", [1, 2])
def test_what_concerns_all_runs_stops_the_command(results, workers):
    refused(FatalError, "unknown task", make, results, jobs(seeds=(0, 1), kind=toys.BadField), workers=workers)
    (results / "local").mkdir(parents=True, exist_ok=True)
    (results / "local/toy").rename(results / "moved")
    (results / "local/toy").write_text("a file where a folder should be")
    refused(FatalError, "cannot be written", make, results, jobs(seeds=(0, 1)), workers=workers)


def test_a_full_disk_is_recognised_whatever_the_error(results, monkeypatch):
    monkeypatch.setattr(worker, "FULL", 10**18)
    with pytest.raises(FatalError, match="is full: make room and run the same command; without --fresh it resumes"):
        make(results, jobs(seeds=(1,), kind=toys.FailsForSeedOne))


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"


def wait_until(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


@pytest.mark.slow
def test_workers_die_with_a_parent_that_was_killed(results):
    parent = started(results, "run", "toy/fig1/alpha", "--seeds", "0..1", "--jobs", "2", kind="WaitsForever")
    files = [results / f"local/toy/fig1/alpha/cpu/seed-{seed}/.work/pid" for seed in (0, 1)]
    try:
        wait_until(lambda: all(path.exists() and path.read_text() for path in files))
        pids = [int(path.read_text()) for path in files]
        assert all(map(alive, pids)) and parent.pid not in pids
    finally:
        parent.kill()
        parent.communicate()
    wait_until(lambda: not any(map(alive, pids)), 5.0)


def test_reports_are_throttled_but_for_ends_and_stages(monkeypatch):
    now = itertools.count(0.0, 0.01)
    monkeypatch.setattr(worker.time, "monotonic", lambda: next(now))
    seen = []
    report = throttled(seen.append)
    for step in range(1, 101):
        report(Progress("train", step, 100, None, None))
    report(Progress("measure", 1, 9, None, None))
    assert [item.step for item in seen] == [1, 26, 51, 76, 100, 1]


def test_time_left_is_learnt_from_what_has_been_seen():
    todo = [Job("toy/fig1/alpha", "cpu", seed, toys.SPEC) for seed in range(4)]
    now = [0.0]
    forecast = Forecast({job: estimate.Cost(90.0, 10.0) for job in todo}, 2, lambda: now[0])
    assert forecast.left() == 200.0
    for job in todo[:2]:
        forecast.see(job, Progress("train", 0, 100, None, None))
    now[0] = 90.0  # twice as slow as estimated
    for job in todo[:2]:
        forecast.see(job, Progress("train", 50, 100, None, None))
    assert forecast.left() == pytest.approx(2 * (55 + 100), rel=0.05)
    assert forecast.share() == pytest.approx(2 * 0.45 / 4)
    for job in todo[:2]:
        forecast.close(job)
    now[0] = 200.0
    assert 0 < forecast.left() < 250 and forecast.share() == 0.5
    assert Forecast({}, 2).share() == 1.0, "nothing was to be done"


@pytest.mark.parametrize("slower", [0.2, 1.0, 3.0, 10.0, 40.0])
@pytest.mark.parametrize("compiling", [0.0, 50.0])
def test_after_a_minute_of_steps_the_time_left_is_what_the_steps_take(slower, compiling):
    """However wrong the estimate is, and however long the compiler takes before the first step."""
    job, now = Job("toy/fig1/alpha", "cpu", 0, toys.SPEC), [0.0]
    forecast = Forecast({job: estimate.Cost(1800.0, 200.0)}, 1, lambda: now[0])
    forecast.see(job, Progress("compiling", 0, 1000, None, None))
    now[0] = compiling
    second = 0.0
    for step in range(1000):
        forecast.see(job, Progress("train", step, 1000, None, None))
        second = step * 1.8 * slower
        now[0] = compiling + second
        if second > 62:
            break
    forecast.see(job, Progress("train", step, 1000, None, None))
    assert forecast.left() == pytest.approx(2000 * slower - second, rel=0.2)


def job_steps(forecast, now, job, seconds, slower, step=0):
    """Report a step of 1.8 estimated seconds of a thousand, ``slower`` times as long, for so many seconds."""
    end = now[0] + seconds
    while now[0] < end:
        now[0] += 1.8 * slower
        step += 1
        forecast.see(job, Progress("train", step, 1000, None, None))
    return step


def test_a_machine_that_becomes_slow_is_noticed_within_minutes_and_silence_is_time_too():
    first, second = (Job("toy/fig1/alpha", "cpu", seed, toys.SPEC) for seed in range(2))
    now = [0.0]
    forecast = Forecast({job: estimate.Cost(1800.0, 200.0) for job in (first, second)}, 1, lambda: now[0])
    forecast.begin(first)
    now[0] = 30.0
    forecast.see(first, Progress("train", 0, 1000, None, None))
    step = job_steps(forecast, now, first, 600, 1.0)
    assert forecast.left() == pytest.approx(1400 + 2000 + 30, rel=0.1), "the second one will load for 30 s, too"
    step = job_steps(forecast, now, first, 600, 4.0, step)
    assert forecast.left() == pytest.approx(4 * (2000 - 1.8 * step + 2000), rel=0.25)
    before = forecast.left()
    now[0] += 600
    assert forecast.left() > 1.3 * before, "no report for ten minutes"


def test_runs_that_were_finished_here_tell_the_pace(results, monkeypatch, capsys, reproduce):
    job = Job("toy/fig1/alpha", "cpu", 0, toys.SPEC)
    forecast = Forecast({job: estimate.Cost(90.0, 10.0)}, 1, lambda: 0.0, pace=3.0)
    assert forecast.left() == pytest.approx(300.0)
    assert main(["run", "toy/fig1/alpha", "--seeds", "0"]) == 0
    monkeypatch.setattr(run_module, "cost_on", lambda spec, **kind: estimate.Cost(90.0, 10.0))
    monkeypatch.setattr(run_module, "whole", lambda made: 300.0)
    capsys.readouterr()
    assert main(["run", "toy/fig1/alpha", "--seeds", "0,1", "--dry-run"]) == 0
    assert "about 5 min on one core, at 3.0 times the estimated time" in " ".join(capsys.readouterr().out.split())
    monkeypatch.setattr(run_module, "machine", lambda: SimpleNamespace(model="another"))
    assert "2 min on one core" in " ".join(reproduce("run toy/fig1/alpha --seeds 0,1 --dry-run").out.split())


def test_a_run_that_goes_on_says_at_what_step(monkeypatch):
    job, stream = Job("toy/fig1/alpha", "cpu", 0, toys.SPEC), io.StringIO()
    with Display({job: estimate.cost(toys.SPEC, "cpu")}, 1, stream=stream) as display:
        display.started(job)
        for stage, step in (("resuming", 0), ("compiling", 1600), ("train", 1601), ("train", 1700)):
            display.progressed(job, Progress(stage, step, 8000, None, None))
    said = [line.partition(": ")[2] for line in stream.getvalue().splitlines()]
    assert said == ["started", "resuming at step 1,600 of 8,000", "compiling"]


def test_a_run_says_that_it_resumes_only_where_a_checkpoint_lies(results):
    for job, lines in zip(jobs(), (0, 1), strict=True):
        if lines:
            with LocalStore(results).workspace(*job.key) as space:
                (space.folder / "last.ckpt").write_text("step")
        _, shown = make(results, [job])
        assert shown.count("resuming at step") == lines


@pytest.mark.parametrize("error",
    [OSError(28, "No space left on device"), RuntimeError("write: No space left on device")])  # fmt: skip
def test_a_full_folder_of_temporary_files_is_named(monkeypatch, tmp_path, error):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "small"))
    monkeypatch.setattr(worker, "_disk_full", lambda path: path == tmp_path / "small")
    told = refused(FatalError, "set TMPDIR", worker.explained, error, None, tmp_path)
    assert f"{tmp_path / 'small'}, is full" in told


def test_estimates_grow_with_the_work_and_a_further_stage_does_not_set_a_job_back():
    job = Job("toy/fig1/alpha", "cpu", 0, toys.SPEC)
    forecast = Forecast({job: estimate.Cost(90.0, 10.0)}, 1, iter([0.0, 100.0, 110.0, 120.0, 130.0]).__next__)
    shares = []
    for progress in (("train", 0, 9), ("train", 9, 9), ("measure", 2, 2), ("attention", 1, 2), ("train", 1, 9)):
        forecast.see(job, Progress(*progress, None, None))
        shares.append(forecast.share())
    assert shares == sorted(shares) and shares[-1] == 1.0
    base = estimate.cost(toys.SPEC, "cpu")
    assert estimate.cost(toys.spec_with(steps=4000), "cpu").train > 100 * (base.train - 1)
    assert estimate.cost(toys.spec_with(batch=4000), "cpu").train > base.train
    assert estimate.makespan([3.0, 2.0, 2.0, 1.0], 2) == 4.0
    assert estimate.makespan([], 2) == 0.0


def test_plain_lines_speak_every_ten_seconds(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("reproduce.runs.display.time.monotonic", lambda: clock[0])
    job, stream = Job("toy/fig1/alpha", "cpu", 0, toys.SPEC), io.StringIO()
    with Display({job: estimate.cost(toys.SPEC, "cpu")}, 1, before=2, stream=stream) as display:
        display.started(job)
        for second in range(25):
            clock[0] = second
            display.progressed(job, Progress("train", second, 25, 0.5, 0.25))
        display.finished(job, 1)
    _, first, _, finished = stream.getvalue().splitlines()
    assert "10/25, loss 0.5000, accuracy 25.0 %; 2 of 3 runs" in first and "v1 in 24 s; 3 of 3 runs" in finished


def test_the_live_table_shows_each_running_job():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    job, stream = Job("toy/fig1/alpha", "cpu", 0, toys.SPEC), Terminal()
    with Display({job: estimate.cost(toys.SPEC, "cpu")}, 1, stream=stream) as display:
        display.started(job)
        display.progressed(job, Progress("train", 5, 25, 0.5, None))
        console = Console(width=80, file=io.StringIO())
        console.print(display._bars.shown)
        whole, run = console.file.getvalue().splitlines()
        assert whole.startswith("0 of 1 runs") and "━" in whole
        assert (
            run.startswith("toy/fig1/alpha seed 0 ")
            and run.rstrip().endswith(" train 5/25, loss 0.5000")
            and "━" in run
        )
        display.failed(job, "it diverged [at] step 3")
    assert "failed: it diverged [at] step 3" in stream.getvalue()


@pytest.mark.parametrize(("name", "raised"), [
    ("coupling/fig3/coupling-scratchpad", {"data.position_ids.max_position": "[151]"}),
    ("random_spaces/fig4.5/abacus", {"data.position_ids.max_position": "151"}),
    ("bias_calibration/table1/addition-abc", {"data.format.width": "151"}),
    ("coupling/fig3/nope-plain", {}),
])  # fmt: skip
def test_another_length_raises_ids_and_padding_with_it(name, raised):
    CATALOGUE.fill()
    spec = CATALOGUE.select_one(name).specs["cpu"]
    found = dict(override.split("=") for override in overrides_at(spec, "20,40,150"))
    assert found.pop("test.lengths") == "[20, 40, 150]"
    assert found.keys() == raised.keys() and all(int(found[key].strip("[]")) >= 150 for key in raised)
    changed = spec.override(*overrides_at(spec, "1..3"))
    assert changed == replace(spec, test={"lengths": (1, 2, 3)}), "what has room is not raised"


def test_a_run_at_other_lengths_is_made_and_kept_apart(results, capsys, reproduce):
    assert main(["run", "toy/fig1/alpha", "--seeds", "0", "--lengths", "2,30"]) == 0
    (made,) = LocalStore(results).of("toy/fig1/alpha", "cpu")
    assert made.info["overrides"] == ["test.lengths=[2, 30]", "data.position_ids.max_position=[32, 9]"]
    assert made.info["spec"]["test"]["lengths"] == [2, 30]
    assert "1 to run" in reproduce("run toy/fig1/alpha --seeds 0 --lengths 2,30 --set train.steps=5 -n").out
    for bad in ("", "0", "x", "4..1", "2,,-1", "5000"):
        assert main(["run", "toy/fig1/alpha", f"--lengths={bad}"]) == 2, bad
    assert "Traceback" not in capsys.readouterr().err


def order(folder, provenance, claims):
    return Order(folder, provenance, claims={JOB.experiment: claims})


def test_the_oldest_process_is_kept_and_other_code_is_noted_once(tmp_path):
    first = begin(tmp_path, order(tmp_path, FIRST, {"adds": "old"}), JOB)
    assert first.pop("started")[:2] == "20"
    assert first == {"commit": "a" * 40, "dirty": False, "command": "run toy", "claims": {"adds": "old"}}
    again = begin(tmp_path, order(tmp_path, FIRST | {"command": "run toy --share"}, {"adds": "new"}), JOB)
    assert {name: again[name] for name in first} == first and "resumed" not in again
    others = {"commit": "b" * 40, "dirty": False}, {"commit": "b" * 40, "dirty": True}
    for other in (*others, FIRST, others[1]):
        later = begin(tmp_path, order(tmp_path, FIRST | other, {"adds": "new"}), JOB)
    assert {name: later[name] for name in first} == first and later["resumed"] == list(others)


def test_a_folder_that_an_earlier_program_left_is_begun_by_who_goes_on(tmp_path):
    store = LocalStore(tmp_path)
    with store.workspace(*KEY) as space:
        (space.folder / "last.ckpt").write_text("half")
    with store.workspace(*KEY) as space:
        assert (space.folder / "last.ckpt").read_text() == "half"
        began = begin(space.folder, order(tmp_path, FIRST, {"adds": "now"}), JOB)
        assert began["claims"] == {"adds": "now"} and began["commit"] == FIRST["commit"]
    with store.workspace(*KEY) as space:
        assert begin(space.folder, order(tmp_path, {}, {}), JOB) | {"resumed": 0} == began | {"resumed": 0}
        run = space.publish({"spec": toys.SPEC.to_dict(), **began}, toys.outcome())
    assert run.info["started"] == began["started"] and not (store.folder(run) / BEGINNING).exists()
    with store.workspace(*KEY) as space:
        assert not (space.folder / BEGINNING).exists(), "another version is another run"


@pytest.mark.parametrize("content", ["{", "3", "[1]", "\xff"])
def test_a_damaged_file_is_named_in_one_sentence(tmp_path, content):
    (tmp_path / BEGINNING).write_bytes(content.encode("latin-1"))
    refused(StoreError, r"\.beginning: expected JSON .*begins anew", begin, tmp_path, order(tmp_path, FIRST, {}), JOB)
