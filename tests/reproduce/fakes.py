"""A toy paper and runs that take no time: what the conductor's tests work on."""

import json
import multiprocessing.util
import os
import time
from pathlib import Path
from types import SimpleNamespace

from matplotlib.figure import Figure as Drawing

from lengen import Addition, Coupled, Linear
from lengen.paper.experiment import Experiment, Figure
from lengen.paper.paper import Paper
from lengen.part import SettingError
from lengen.results.divergence import diverged
from lengen.results.progress import Progress
from lengen.results.records import Grid
from lengen.settings.spec import DataSpec, ModelSpec, Spec, TestSpec, TrainSpec, replace
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store import locations
from tests.counted import counted


class Instant(Spec):
    """A run of four instant steps that keeps a checkpoint and counts how often each seed was executed."""

    def run(self, seed, folder, report, loggers=()):
        with open(folder / "last.ckpt", "a") as file:
            file.write("step\n")
        (folder / "metrics.csv").write_text(f"step,name,value\n{self.train.steps},train_loss,0.5\n")
        for step in range(1, 5):
            report(Progress("train", step, 4, 1.0 / step, None))
        report(Progress("measure", 1, 1, None, 1.0))
        (folder / "model.safetensors").write_bytes(b"weights")
        return outcome()


PAPER = SimpleNamespace(procedures={"Instant": lambda: lambda spec, *given: spec.run(*given)})
"""Every class here is run by its own method."""


class FailsForSeedOne(Instant):
    def run(self, seed, folder, report, loggers=()):
        if seed == 1:
            raise RuntimeError("seed one is unlucky")
        return super().run(seed, folder, report, loggers)


class Diverges(Instant):
    def run(self, seed, folder, report, loggers=()):
        result = super().run(seed, folder, report, loggers)
        if seed == 1:
            raise diverged("the loss at step 3 is nan", folder / "last.ckpt")
        return result


class TellsItsProcess(Instant):
    def run(self, seed, folder, report, loggers=()):
        result = super().run(seed, folder, report, loggers)
        result.info["pid"] = os.getpid()
        result.info["threads"] = int(os.environ["OMP_NUM_THREADS"])
        return result


class Dies(Instant):
    def run(self, seed, folder, report, loggers=()):
        if seed == 0:
            os._exit(7)
        return super().run(seed, folder, report, loggers)


class DiesOnce(Instant):
    """Its process ends after the first checkpoint, as if it was killed; resumed, it goes on to the end."""

    def run(self, seed, folder, report, loggers=()):
        resumed = (folder / "last.ckpt").exists()
        if not resumed:
            (folder / "last.ckpt").write_text("first\n")
            report(Progress("train", 1, 4, 1.0, None))
            time.sleep(0.5)
            os._exit(7)
        return super().run(seed, folder, report, loggers)


class WaitsOnce(Instant):
    """After its first checkpoint it waits for ever; resumed, it goes on to the end."""

    def run(self, seed, folder, report, loggers=()):
        if not (folder / "last.ckpt").exists():
            (folder / "last.ckpt").write_text("first\n")
            report(Progress("train", 1, 4, 1.0, None))
            time.sleep(600)
        return super().run(seed, folder, report, loggers)


class CleansUp(Instant):
    """Its process leaves a file when it ends by itself, as it would take back a semaphore."""

    def run(self, seed, folder, report, loggers=()):
        place = Path(os.environ["LENGEN_RESULTS"]) / f"ended-{os.getpid()}"
        multiprocessing.util.Finalize(None, place.touch, exitpriority=0)
        return super().run(seed, folder, report, loggers)


class BadField(Instant):
    def run(self, seed, folder, report, loggers=()):
        raise SettingError("data.task=knitting: unknown task")


class WaitsForever(Instant):
    """It takes a moment to save its step when it is ended."""

    def run(self, seed, folder, report, loggers=()):
        try:
            (folder / "pid").write_text(json.dumps(os.getpid()))
            while True:
                time.sleep(0.05)
        finally:
            time.sleep(0.3)
            (folder / "last.ckpt").write_text("saved")


class TellsWhen(Instant):
    """Takes half a second, and writes into one log when it began and ended."""

    def run(self, seed, folder, report, loggers=()):
        with open(Path(os.environ["LENGEN_RESULTS"]) / "log", "a", buffering=1) as log:
            run = f"{folder.parents[2].name}-{seed}"
            log.write(f"began {run} {os.getpid()}\n")
            time.sleep(0.5)
            result = super().run(seed, folder, report, loggers)
            log.write(f"ended {run} {os.getpid()}\n")
        return result


SPEC = Instant(
    data=DataSpec(
        task=Addition(digits=2, operands=2),
        format=Linear(scratchpad=True, pad_query=True, pad_response=True, reverse_response=True),
        position_ids=Coupled((9, 9)),
    ),
    model=ModelSpec(layers=1, heads=1, width=8, head_dim=8, ff_width=8),
    train=TrainSpec(steps=4, batch=2, lr=1e-3),
    test=TestSpec(lengths=(2, 3), counts=(2, 3), examples=10),
)


def behaving(kind: type[Instant], spec: Spec = SPEC) -> Instant:
    """The same specification, whose run does what ``kind`` says."""
    return kind(data=spec.data, model=spec.model, train=spec.train, test=spec.test)


def experiment(name: str, kind: type[Instant], absent: str = "", **train) -> Experiment:
    spec = replace(behaving(kind), train=train)
    specs = {} if absent else {"cpu": spec}
    return Experiment(
        name="toy/" + name,
        claim="it adds",
        place="Figure 1",
        seeds=2,
        skip={"cpu": absent} if absent else {},
        specs={"smoke": replace(spec, train={"steps": 1}), **specs, "paper": replace(spec, train={"steps": 9})},
    )


BLANK = "tests.reproduce.fakes:blank"


def blank(*_) -> Drawing:
    """A picture of nothing; tests put another function in its place."""
    return Drawing()


def toy(folder: Path, kind: type[Instant] = Instant) -> Paper:
    """A paper with four experiments, two of which are one run; its published claim lies in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "published.toml").write_text(PUBLISHED)
    experiments = (
        experiment("fig1/alpha", kind),
        experiment("fig1/beta", kind, lr=0.5),
        experiment("fig2/gamma", kind),
        experiment("fig3/huge", kind, absent="needs a GPU", batch=7),
    )
    figure = Figure(name="fig1", title="adding", experiments=experiments[:2], how=BLANK)
    return Paper(
        name="toy",
        number=1,
        title="On toys",
        published=folder / "published.toml",
        experiments=lambda: experiments,
        figures=lambda: (figure,),
    )


PUBLISHED = """
[[statement]]
id = "adds"
words = "alpha adds beyond its range"
place = "Figure 1"
quote = "It adds."
parts = [{ words = "beyond its range", left = ["toy/fig1/alpha"], least = 50, region = "outside" }]

[[table]]
prefix = "table1"
place = "Table 1"
over = { lengths = [3, 3], counts = [3, 3] }
rows = [["alpha", "three numbers of three digits", "toy/fig1/alpha", [68.0]]]
"""


def install_toy(monkeypatch, tmp_path: Path, kind: type[Instant] = Instant) -> Path:
    """Put the paper ``toy`` (alone) and an empty results folder in place; returns the results folder.

    Whoever calls it puts the papers back with ``CATALOGUE.fill()``.
    """
    CATALOGUE.fill(toy(tmp_path / "papers" / "toy", kind))
    monkeypatch.setattr(locations, "checkout", lambda: None)  # its committed results lie in the same folder
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path / "results"))
    return tmp_path / "results"


def outcome(correct: int = 7):
    grid = Grid(("length", "count"))
    for length in SPEC.test.lengths:
        for count in SPEC.test.counts:
            inside = (length, count) == (2, 2)
            grid.add((length, count), "teacher_forced", counted(10, 10 if inside else correct, 10, 0, 90))
    return SimpleNamespace(grid=grid, key_counts=[], attention=None, arrays={}, info={"device": "cpu", "scalars": {}})


def spec_with(**train) -> Spec:
    return replace(SPEC, train=train)
