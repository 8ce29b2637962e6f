"""Slurm: what is submitted, and what is refused."""

import os
import shlex
import subprocess

import pytest

from reproduce import cli
from reproduce.catalogue import USUAL
from reproduce.cli import parser
from reproduce.commands import run
from reproduce.runs import slurm
from reproduce.runs.plan import Job, Order, PlanError
from reproduce.runs.worker import JobQueue
from tests.fixtures.refusals import refused
from tests.fixtures.toy_paper import SPEC

pytestmark = pytest.mark.slow

RUN = "coupling/fig3/nope-plain"


def submission(tmp_path, *arguments, loggers=()):
    """As the command hands it on: with the profile that it takes where none is named."""
    words = ["run", RUN, "--profile", USUAL, "--executor", "slurm", *arguments]
    return run.slurm(parser().parse_args(words), Order(tmp_path, {}, loggers=loggers))


def jobs(count=3, profile="cpu"):
    return [Job("toy/fig1/alpha", profile, seed, SPEC) for seed in range(count)]


def test_workers_are_one_array_of_one_command_that_shares(tmp_path):
    made = submission(
        tmp_path, "--seeds", "0..2", "--set", "test.counts=[2, 3]", "--workers", "2", "--missing", loggers=("wandb",)
    )
    script = made.script(jobs(), tmp_path / "log")
    assert "#SBATCH --array=0-1\n" in script and "#SBATCH --requeue\n" in script and "--gres" not in script
    assert 'scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"\n' in script, "one worker, not the array"
    assert (
        f"#SBATCH --output={tmp_path}/log-%A_%a.log" in script and f"#SBATCH --signal=B:USR1@{slurm.NOTICE}" in script
    )
    words = ["run", RUN, "--profile", "cpu", "--share", "--jobs", "1", "--seeds", "0,1,2"]
    words += ["--set", "test.counts=[2, 3]", "--logger", "wandb", "--missing"]
    assert f"-m reproduce {shlex.join(words)} &" in script and f"export LENGEN_RESULTS={tmp_path}" in script
    again = parser().parse_args(words)
    assert again.share and again.missing and again.seeds == (0, 1, 2) and again.overrides == ["test.counts=[2, 3]"]
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_a_gpu_is_asked_for_and_the_script_is_submitted_with_further_arguments(tmp_path, monkeypatch):
    made = submission(tmp_path, "--profile", "paper", "--jobs", "4", "--cpus-per-run", "2")
    script = made.script(jobs(20, "paper"), tmp_path / "log")
    assert "#SBATCH --gres=gpu:1" in script and "#SBATCH --cpus-per-task=8" in script
    assert f"--array=0-{slurm.WORKERS - 1}" in script and "--jobs 4" in script
    assert "--gres" not in submission(tmp_path, "--profile", "paper", "--without-gpu").script(jobs(), tmp_path / "log")
    sbatch_that(monkeypatch, tmp_path, f'printf "%s\\n" "$@" > {tmp_path}/arguments; echo "17;cluster"')
    said = submission(tmp_path, "--sbatch-args=--partition=gpu --time=0:30:00").submit(jobs())
    script = tmp_path / "local/slurm/toy-cpu.sbatch"
    given = ["--parsable", "--partition=gpu", "--time=0:30:00", str(script)]
    assert (tmp_path / "arguments").read_text().split() == given
    assert "job 17: 3 workers for 3 runs" in said and "--array=0-2" in script.read_text()


def sbatch_that(monkeypatch, folder, text):
    (folder / "bin").mkdir()
    (folder / "bin/sbatch").write_text(f"#!/bin/sh\n{text}\n")
    (folder / "bin/sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}/bin:{os.environ['PATH']}")


def test_a_missing_sbatch_and_one_that_refuses_are_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(slurm.shutil, "which", lambda name: None)
    refused(PlanError, "there is no sbatch here", slurm.submitted, [str(tmp_path / "a.sbatch")])
    monkeypatch.undo()
    sbatch_that(monkeypatch, tmp_path, "echo 'sbatch: error: Invalid partition' >&2; exit 1")
    with pytest.raises(PlanError, match=r"refused \(sbatch: error: Invalid partition\).*--sbatch-args"):
        slurm.submitted([str(tmp_path / "a.sbatch")])


@pytest.mark.parametrize(("arguments", "said"), [
    (["--workers", "2"], "--workers goes with --executor slurm, not with local"),
    (["--executor", "ray", "--sbatch-args=-x"], "--sbatch-args goes with --executor slurm, not with ray"),
    (["--executor", "slurm", "--gpus-per-run", "0.5"], "--gpus-per-run goes with --executor ray, not with slurm"),
    (["--gpus-per-run", "0"], "--gpus-per-run goes with --executor ray"),
    (["--executor", "slurm", "--dry-run", '--sbatch-args="unbalanced'], "No closing quotation; expected what"),
    (["--executor", "slurm", "--share"], "--share goes with --executor local"),
    (["--executor", "slurm", "--fresh"], "--fresh would be done again by every worker"),
    (["--executor", "ray", "--cpus-per-run", "0"], "expected a whole number from 1, or a part of one"),
    (["--executor", "ray", "--gpus-per-run", "1.5"], "expected a whole number from 0, or a part of one"),
])  # fmt: skip
def test_options_that_say_nothing_together_are_refused(arguments, said, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path))
    assert cli.main(["run", RUN, *arguments]) == 2
    shown = capsys.readouterr()
    assert said in shown.err and shown.err.count("\n") == 1 and shown.out == "" and not list(tmp_path.iterdir())


def test_who_shares_ends_where_the_others_make_what_is_left():
    clock = [0.0]
    turns = JobQueue("ab", now=lambda: clock[0], patience=10)
    assert turns.next() == "a"
    turns.postpone("a")
    assert turns.next() == "b"
    clock[0] = 500.0  # a run of its own takes long, and is no vain look
    turns.done()
    assert turns and turns.next() == "a"
    turns.postpone("a")
    clock[0] = 505.0
    assert turns and turns.next() == "a"
    turns.postpone("a")
    clock[0] = 511.0
    assert not turns and list(turns) == []
