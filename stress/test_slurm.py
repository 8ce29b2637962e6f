"""Slurm on this machine: two workers share the runs, and one that is told to end goes on in another turn."""

import subprocess
import sys

import pytest

from reproduce.runs import slurm
from reproduce.store.store import LocalStore
from stress import slurm_node as slurms

RUN = "coupling/fig3/nope-plain"


@pytest.mark.skipif(bool(slurms.missing()), reason=slurms.missing() or "a cluster can be started")
def test_workers_of_a_cluster_share_the_runs_and_one_that_is_told_goes_on_in_another_turn(tmp_path):
    results = tmp_path / "results"
    with slurms.cluster(tmp_path / "slurm") as environment:
        environment |= {"LENGEN_RESULTS": str(results), "PYTHONPATH": str(slurm.checkout())}
        command = [sys.executable, "-m", "reproduce", "run", RUN, "--profile", "smoke", "--seeds", "0..3"]
        submitted = subprocess.run(
            [*command, "--executor", "slurm", "--workers", "2", "--sbatch-args=--time=10"],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        number = submitted.stderr.split("job ")[1].split(":")[0]
        assert "2 workers for 4 runs" in submitted.stderr
        seeds = results / "local" / RUN / "smoke"
        slurms.wait_for(lambda: list(seeds.glob("seed-*/.work")))
        slurms.told(environment, "scancel", "--batch", "--signal=USR1", f"{number}_0")

        def waits() -> bool:
            return "BeginTime" in slurms.told(environment, "squeue", "--noheader", "--format=%r", "--job", number)

        slurms.wait_for(waits)
        # Slurm waits two minutes; a start within the second of the end would be refused, its credential is revoked
        slurms.told(environment, "scontrol", "update", f"JobId={number}_0", "StartTime=now+3")
        slurms.wait_for(lambda: not slurms.told(environment, "squeue", "--noheader", "--job", number).strip(), 180)
        shown = slurms.told(environment, "scontrol", "show", "job", number)
    assert shown.count("JobState=COMPLETED") == 2 and shown.count("Restarts=1") == 1, shown
    assert [run.seed for run in LocalStore(results).runs()] == [0, 1, 2, 3]
    assert [path.name for path in sorted(seeds.glob("seed-*/v*"))] == ["v1"] * 4
    log = (results / f"local/slurm/coupling-smoke-{number}_0.log").read_text()
    assert "interrupted" in log or "finished" in log
