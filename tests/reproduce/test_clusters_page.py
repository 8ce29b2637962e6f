"""docs/clusters.md: its commands are real, its costs are what the estimator says, its Kubernetes file is whole."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from reproduce.catalogue import CATALOGUE
from reproduce.cli import parser
from reproduce.commands import run
from reproduce.runs.costs import cost, in_words, makespan
from reproduce.runs.plan import PlanError, plan

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "clusters.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^ {4}\.venv/bin/python -m reproduce (.+)", PAGE, re.MULTILINE)


@pytest.mark.parametrize("arguments", COMMANDS)
def test_every_command_of_the_page_is_one(arguments: str) -> None:
    options = parser().parse_args(shlex.split(arguments))
    if options.command == "run":
        run.check(options)
    assert options.command == "doctor" or CATALOGUE.select(options.selector)


def test_the_page_shows_every_engine() -> None:
    assert {"slurm", "ray"} <= {word for line in COMMANDS for word in line.split()} and len(COMMANDS) >= 10


def line_of(name: str, seconds: list[float]) -> str:
    return f"| {name} | {len(seconds)} | {in_words(sum(seconds))} | {in_words(makespan(seconds, 8))} |"


def test_costs_are_what_the_estimator_says() -> None:
    everything: list[float] = []
    for paper in CATALOGUE.papers():
        try:
            jobs = plan([item for item in CATALOGUE.experiments(paper) if "paper" not in item.extra], "paper").jobs
        except PlanError:
            continue
        seconds = [cost(job.spec, "paper").total for job in jobs]
        assert line_of(paper, seconds) in PAGE
        everything += seconds
    assert line_of("all", everything) in PAGE


def test_the_kubernetes_file_is_whole_and_its_command_is_one() -> None:
    claim, job = yaml.safe_load_all((DOCS / "kuberay.yaml").read_text())
    words = shlex.split(job["spec"]["entrypoint"])
    assert words[:3] == ["python", "-m", "reproduce"]
    options = parser().parse_args(words[3:])
    run.check(options)
    cluster = job["spec"]["rayClusterSpec"]
    (head,) = cluster["headGroupSpec"]["template"]["spec"]["containers"]
    (group,) = cluster["workerGroupSpecs"]
    (worker,) = group["template"]["spec"]["containers"]
    assert head["image"] == worker["image"] and group["maxReplicas"] == options.jobs
    assert worker["resources"]["limits"]["nvidia.com/gpu"] == f"{options.gpus_per_run:g}"
    for pod, container in ((cluster["headGroupSpec"], head), (group, worker)):
        (volume,) = pod["template"]["spec"]["volumes"]
        assert volume["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
        assert container["env"] == [{"name": "LENGEN_RESULTS", "value": container["volumeMounts"][0]["mountPath"]}]
    assert claim["spec"]["accessModes"] == ["ReadWriteMany"]
