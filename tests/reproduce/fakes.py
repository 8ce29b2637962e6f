"""A toy paper and runs that take no time: what the conductor's tests work on."""

import json
import os
import time
from pathlib import Path
from types import SimpleNamespace

import papers
from lengen.config.spec import DataSpec, ModelSpec, Spec, TestSpec, TrainSpec, change
from lengen.progress import Progress
from lengen.records import Grid
from reproduce.runs import catalogue as registry
from reproduce.runs import perform as runner
from tests.counted import counted

SPEC = Spec(
    data=DataSpec(task="addition", length=2, count=2),
    model=ModelSpec(layers=1, heads=1, width=8, head_dim=8, ff_width=8),
    train=TrainSpec(steps=4, batch=2, lr=1e-3),
    test=TestSpec(lengths=(2, 3), counts=(2, 3), examples=10),
)

TOY = """
from lengen.config.experiment import Experiment, Figure
from lengen.config.spec import change
from tests.reproduce.fakes import SPEC

def experiment(name, absent=None, **train):
    spec = change(SPEC, train=train)
    specs = {} if absent else {"cpu": spec}
    return Experiment(name="toy/" + name, claim="it adds", place="Figure 1", seeds=2, absent={"cpu": absent} if absent
        else {}, specs={"smoke": change(spec, train={"steps": 1}), **specs, "paper": change(spec, train={"steps": 9})})

EXPERIMENTS = (experiment("fig1/alpha"), experiment("fig1/beta", lr=0.5), experiment("fig2/gamma"),
    experiment("fig3/huge", absent="needs a GPU", batch=7))
FIGURES = (Figure(name="fig1", title="adding", reads=("toy/fig1/alpha", "toy/fig1/beta"), draw="fig1"),)
DEVIATIONS = {}
"""

FIGURES = """
from matplotlib.figure import Figure

def fig1(runs):
    return Figure()
"""

PUBLISHED = """
[[claim]]
id = "adds"
place = "Figure 1"
statement = "alpha adds beyond its range"
check = "level"
relation = ">"
threshold = 0.5
left = ["toy/fig1/alpha"]
"""


def install_toy(monkeypatch, tmp_path: Path) -> Path:
    """Put the paper ``toy`` (alone) and an empty results folder in place; returns the results folder."""
    (tmp_path / "papers" / "toy").mkdir(parents=True)
    (tmp_path / "papers" / "toy" / "experiments.py").write_text(TOY)
    (tmp_path / "papers" / "toy" / "published.toml").write_text(PUBLISHED)
    (tmp_path / "papers" / "toy" / "figures.py").write_text(FIGURES)
    monkeypatch.setattr(papers, "__path__", [str(tmp_path / "papers")])
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path / "results"))
    monkeypatch.setattr(runner, "EXECUTE", "tests.reproduce.fakes:execute")
    registry.papers.cache_clear()
    registry._homes.cache_clear()
    return tmp_path / "results"


def outcome(correct: int = 7):
    grid = Grid(("length", "count"))
    for length in SPEC.test.lengths:
        for count in SPEC.test.counts:
            inside = (length, count) == (2, 2)
            grid.add((length, count), "teacher_forced", counted(10, 10 if inside else correct, 10, 0, 90))
    return SimpleNamespace(grid=grid, key_counts=[], attention=None, arrays={}, info={"device": "cpu", "scalars": {}})


def execute(spec, seed, folder, report):
    """A run of four instant steps that keeps a checkpoint and counts how often each seed was executed."""
    with open(folder / "last.ckpt", "a") as file:
        file.write("step\n")
    (folder / "metrics.csv").write_text(f"step,name,value\n{spec.train.steps},train_loss,0.5\n")
    for step in range(1, 5):
        report(Progress("train", step, 4, 1.0 / step, None))
    report(Progress("measure", 1, 1, None, 1.0))
    (folder / "model.safetensors").write_bytes(b"weights")
    return outcome()


def fails_for_seed_one(spec, seed, folder, report):
    if seed == 1:
        raise RuntimeError("seed one is unlucky")
    return execute(spec, seed, folder, report)


def tells_its_process(spec, seed, folder, report):
    result = execute(spec, seed, folder, report)
    result.info["pid"] = os.getpid()
    result.info["threads"] = os.environ["OMP_NUM_THREADS"]
    return result


def dies(spec, seed, folder, report):
    if seed == 0:
        os._exit(7)
    return execute(spec, seed, folder, report)


def bad_field(spec, seed, folder, report):
    from lengen.config.spec import SpecError

    raise SpecError("data.task=knitting: unknown task")


def waits_forever(spec, seed, folder, report):
    (folder / "pid").write_text(json.dumps(os.getpid()))
    while True:
        time.sleep(0.05)


def spec_with(**train) -> Spec:
    return change(SPEC, train=train)
