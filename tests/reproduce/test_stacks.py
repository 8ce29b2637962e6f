"""``run --stacked``: seeds of one setting as one program, stored as runs of their own."""

import io
import itertools
import json

import pytest

from lengen.training import stacked_run
from reproduce import cli
from reproduce.runs import perform as runner
from reproduce.runs.catalogue import CATALOGUE
from reproduce.runs.display import Display
from reproduce.runs.estimate import cost
from reproduce.runs.executors import Local
from reproduce.runs.perform import FatalError, Order, plan
from reproduce.runs.stacks import Stacked, stacks_of
from reproduce.store.store import BEGINNING, Store

NAME = "coupling/fig3/nope-plain"


def jobs(seeds, *overrides, name=NAME):
    return plan(CATALOGUE.select(name), "smoke", seeds, overrides).jobs


def make(root, todo, stacked=True, fresh=False):
    order = Order(root, {"commit": "none", "command": "test"}, fresh)
    stream = io.StringIO()
    with Display({job: cost(job.spec, "cpu") for job in todo}, 1, stream=stream) as display:
        executor = Stacked(order) if stacked else Local(1)
        done = {} if fresh else runner.finished(todo, Store(root, "local"))
        return runner.run(todo, done, order, executor, display), stream.getvalue()


def test_a_stack_leaves_ordinary_runs_that_say_so(tmp_path):
    """Scores of every seed are those of its own run, and the store needs no more to find them."""
    todo = jobs((0, 1, 2))
    report, shown = make(tmp_path / "stacked", todo)
    alone, _ = make(tmp_path / "alone", todo, stacked=False)
    assert not report.failures and "3 of 3 runs done" in shown
    for run, other in zip(report.runs, alone.runs, strict=True):
        assert (run.experiment, run.seed, run.version) == (other.experiment, other.seed, 1)
        assert run.grid == other.grid and run.info["spec_hash"] == other.info["spec_hash"]
        assert run.info.keys() - other.info.keys() == {"stacked"} and run.info["stacked"] == 3
        assert set(run.info["files"]) == set(other.info["files"]) - {"last.ckpt"}
        folder = Store(tmp_path / "stacked", "local").folder(run)
        assert sorted(path.name for path in folder.iterdir()) == sorted([*run.info["files"], "run.json"])
    again, shown = make(tmp_path / "stacked", jobs((0, 1, 2)))
    assert [run.version for run in again.runs] == [1, 1, 1] and shown == ""
    more, _ = make(tmp_path / "stacked", jobs((1, 3)))
    assert [(run.seed, run.version, run.info["stacked"]) for run in more.runs] == [(1, 1, 3), (3, 1, 1)]
    fresh, _ = make(tmp_path / "stacked", jobs((0, 1)), fresh=True)
    assert [(run.version, run.info["stacked"]) for run in fresh.runs] == [(2, 2), (2, 2)]


def test_a_stack_killed_while_it_is_published_goes_on(tmp_path, monkeypatch):
    published, publish = itertools.count(), runner.publish

    def killed(*arguments):
        if next(published) == 1:
            raise KeyboardInterrupt
        return publish(*arguments)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("reproduce.runs.stacks.publish", killed)
        make(tmp_path, jobs((0, 1, 2)))
    monkeypatch.setattr(stacked_run, "_train", None)  # nothing is left to train
    left = [json.loads(path.read_bytes())["started"] for path in sorted(tmp_path.rglob(BEGINNING))]
    report, _ = make(tmp_path, jobs((0, 1, 2)))
    assert [run.info["started"] for run in report.runs[1:]] == left
    assert [(run.seed, run.version, run.info["stacked"]) for run in report.runs] == [(0, 1, 3), (1, 1, 3), (2, 1, 3)]


def test_settings_are_stacked_one_by_one_seeds_rising():
    todo = jobs((2, 0), name="coupling/fig3/*-plain")
    names = list(dict.fromkeys(job.experiment for job in todo))
    assert [[(job.experiment, job.seed) for job in stack] for stack in stacks_of(todo)] == [
        [(name, 0), (name, 2)] for name in names
    ]


def test_one_failure_is_that_of_the_whole_stack_and_the_next_goes_on(tmp_path):
    todo = (*jobs((0, 1), "train.lr=1e9", "train.warmup=0"), *jobs((5,)))
    report, shown = make(tmp_path, todo)
    assert sorted(report.failures) == [f"{NAME} seed 0", f"{NAME} seed 1"]
    assert all("training diverged" in sentence for sentence in report.failures.values())
    assert [run.seed for run in report.runs] == [5] and "2 failed" in shown
    (tmp_path / "local").rename(tmp_path / "moved")
    (tmp_path / "local").write_text("a file where a folder should be")
    with pytest.raises(FatalError, match="cannot be"):
        make(tmp_path, jobs((0,)))


def test_a_setting_that_does_not_stack_runs_seed_by_seed_and_says_why(tmp_path):
    report, shown = make(tmp_path, (*jobs((0, 1), "model.dropout=0.1"), *jobs((0, 1))))
    assert f"{NAME} does not stack, because model.dropout=0.1 draws what is dropped" in shown
    assert [run.info.get("stacked") for run in report.runs] == [None, None, 2, 2]


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--jobs", "2"], "--stacked trains in one process: leave out --jobs"),
        (["--executor", "slurm"], "--stacked trains here: leave out --executor slurm"),
        (["--share"], "--stacked trains in one process: leave out --share"),
    ],
)
def test_options_that_do_not_go_with_stacks_are_refused_before_anything_is_trained(
    arguments, sentence, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path))
    assert cli.main(["run", NAME, "--profile", "smoke", "--stacked", *arguments]) == 2
    assert sentence in capsys.readouterr().err and not list(tmp_path.iterdir())


def test_the_command_stacks_what_is_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path))
    command = ["run", NAME, "--profile", "smoke", "--seeds", "0..1", "--stacked"]
    assert cli.main([*command, "--dry-run"]) == 0
    assert "2 to run, 0 finished" in capsys.readouterr().out
    assert cli.main(command) == 0
    out = capsys.readouterr().out
    assert out.count("exact match") == 2
    assert [run.info["stacked"] for run in Store(tmp_path, "local").runs()] == [2, 2]
