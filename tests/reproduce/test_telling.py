"""What tells most at the published setting comes first."""

import subprocess
from pathlib import Path

from reproduce.catalogue import CATALOGUE
from reproduce.comparison.compare import compare
from reproduce.comparison.recorded import UNDECIDED
from reproduce.comparison.telling import telling_first
from reproduce.runs.plan import plan
from reproduce.store.reference import Reference

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = Reference(ROOT / "results")


def test_runs_behind_undecided_statements_come_first_each_once():
    jobs = plan(CATALOGUE.select("bias_calibration"), "paper").jobs
    ordered = telling_first(jobs, REFERENCE)
    assert sorted(job.name for job in ordered) == sorted(job.name for job in jobs)
    undecided = {
        CATALOGUE.home(CATALOGUE.select_one(name), "paper").name
        for answer in compare("bias_calibration", [REFERENCE]).answers
        for finding in answer.findings
        if finding.word in UNDECIDED
        for name in finding.part.names
    }
    assert undecided and {job.experiment for job in ordered[: len(undecided)]} == undecided


def test_the_command_for_a_gpu_says_the_hours_and_how_to_send_the_results():
    done = subprocess.run(["make", "-n", "published-paper2", "DRY=1"], cwd=ROOT, capture_output=True, text=True)
    assert "run paper2 --profile paper --missing --telling-first --dry-run" in done.stdout


def test_a_dry_run_ends_with_how_to_send_the_results(reproduce):

    shown = reproduce("run bias_calibration/table3 -p paper --missing --telling-first --dry-run").out
    assert "on one GPU" in shown and "reproduce promote" in shown
