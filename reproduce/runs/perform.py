"""From chosen experiments to finished runs: plan, skip what is there, run the rest, collect what failed.

What enters are experiments, a profile, seeds and overrides; what leaves are runs in the local store and a `Report`.
`perform` is the one function that makes a run; it is called in this process or in a worker (`runs.executors`).
"""

import os
import shutil
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from lengen.paper.experiment import Experiment
from lengen.part import SettingError
from lengen.results.progress import Progress
from lengen.results.records import Run
from lengen.settings.spec import Spec
from lengen.training.procedure import run_setting
from reproduce import is_sentence
from reproduce.runs.catalogue import CATALOGUE
from reproduce.runs.first_process import begin
from reproduce.store.atomic_files import StoreError, existing, readable, write_text
from reproduce.store.leases import BusyError
from reproduce.store.store import CHECKPOINT, LOGGERS, Store, Workspace

ERRORS = "error.txt"
"""File for the traceback of an unexpected error, in the work folder of the run."""
RESUMING = "resuming"
"""Stage of a run that goes on from the checkpoint of an earlier process."""
FULL = 4 * 2**20
"""Bytes below which a disk counts as full: writers of checkpoints do not always say so."""


class PlanError(ValueError):
    """Nothing to run; the message says why."""


class FatalError(Exception):
    """Error that would stop every other run too (results folder, disk, override): the command ends with one
    sentence."""


class JobError(Exception):
    """One run failed; the others go on."""


@dataclass(frozen=True)
class Job:
    """One run to be made: one specification and seed, stored under its home."""

    experiment: str
    profile: str
    seed: int
    spec: Spec
    overrides: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.experiment} seed {self.seed}"


@dataclass(frozen=True)
class Plan:
    """Runs of a command, in order of declaration, and those that the profile leaves out."""

    jobs: tuple[Job, ...]
    absent: Mapping[str, str]
    """Experiment without this profile -> reason."""


@dataclass(frozen=True)
class Order:
    """Options that all runs of one command share; sent to every worker."""

    root: Path
    provenance: Mapping[str, object]
    fresh: bool = False
    loggers: tuple[str, ...] = ()
    """Names of the loggers that every training has beside metrics.csv."""
    claims: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Experiment -> the published claims that rest on its run, each with a digest of what it asks as the command
    starts."""


class Watch(Protocol):
    """Who is told of what happens to the jobs (`reproduce.runs.display`)."""

    def started(self, job: Job) -> None: ...
    def progressed(self, job: Job, progress: Progress) -> None: ...
    def finished(self, job: Job, version: int) -> None: ...
    def failed(self, job: Job, sentence: str) -> None: ...
    def postponed(self, job: Job, sentence: str) -> None: ...
    def told(self, sentence: str) -> None: ...


Perform = Callable[[Job, Callable[[Progress], None]], int]
"""``perform(job, report)`` makes one run and returns its version in the store; raises `JobError`, `FatalError`, or
`BusyError` for a run that another process is making: it is asked for again after the others."""


@dataclass
class Report:
    """Outcome of a plan."""

    runs: list[Run] = field(default_factory=list)
    """Finished runs of the plan, those of earlier commands included, in its order."""
    failures: dict[str, str] = field(default_factory=dict)
    """Name of a failed run -> sentence."""


def plan(
    chosen: Sequence[Experiment], profile: str, seeds: Sequence[int] | None = None, overrides: Sequence[str] = ()
) -> Plan:
    """Jobs for these experiments; equal specifications are one job, under their home.

    Without ``seeds``: as many as the experiment has at this profile, from 0. Raises `PlanError` if no chosen experiment
    has this profile, `lengen.settings.spec.SettingError` for a bad override.
    """
    if not chosen:
        raise PlanError(f"all experiments are extra ones at --profile {profile}: name one, or choose another --profile")
    jobs: dict[tuple[str, str, int], Job] = {}
    absent = {}
    for experiment in chosen:
        if profile not in experiment.specs:
            absent[experiment.name] = experiment.absent.get(profile, "not declared")
            continue
        spec = experiment.specs[profile].override(*overrides)
        place = CATALOGUE.home(experiment, profile).name
        for seed in experiment.default_seeds(profile) if seeds is None else seeds:
            job = Job(place, profile, seed, spec, tuple(overrides))
            jobs.setdefault((place, spec.hash(), seed), job)
    if not jobs:
        name, reason = next(iter(absent.items()))
        other = "--profile" if any(experiment.specs for experiment in chosen) else "variant"
        raise PlanError(f"{name} has no {profile} profile ({reason}): choose another {other}")
    return Plan(tuple(jobs.values()), absent)


def finished(jobs: Sequence[Job], store: Store) -> dict[Job, Run]:
    """Those jobs that have a finished version in the store."""
    found = {job: store.find(job.experiment, job.profile, job.seed, job.spec.hash()) for job in jobs}
    return {job: run for job, run in found.items() if run is not None}


def run(
    jobs: Sequence[Job],
    done: Mapping[Job, Run],
    order: Order,
    execute_all: Callable[[Sequence[Job], Perform, Watch], None],
    watch: Watch,
) -> Report:
    """Make every run that is not ``done`` and collect failures.

    ``execute_all(jobs, perform, watch)`` is an executor. Raises `FatalError` for what concerns all runs.
    """
    collector = _Collector(watch)
    todo = [job for job in jobs if job not in done]
    if todo:
        execute_all(todo, partial(perform, order), collector)
    made = finished([job for job in todo if job.name not in collector.failures], Store(order.root, "local"))
    known = {**done, **made}
    return Report([known[job] for job in jobs if job in known], collector.failures)


def perform(order: Order, job: Job, report: Callable[[Progress], None]) -> int:
    """Make one run: hold its lease, train and measure (resuming what a killed process left), publish; its version."""
    store = Store(order.root, "local")
    began = time.monotonic()
    key = (job.experiment, job.profile, job.seed, job.spec.hash())
    work: Path | None = None
    try:
        with store.workspace(*key, fresh=order.fresh) as space:
            made = None if order.fresh else store.find(*key)  # by a process that held the lease before
            if made is None:
                work = space.folder
                begun(space, order, job)
                if (space.folder / CHECKPOINT).is_file():
                    report(Progress(RESUMING, 0, 1, None, None))
                outcome = train(job, space.folder, watched(report, space), order.loggers)
                made = publish(space, order, job, outcome, time.monotonic() - began)
            return made.version
    except BusyError:
        raise
    except Exception as error:
        raise explained(error, work, order.root) from error


def watched(report: Callable[[Progress], None], space: Workspace) -> Callable[[Progress], None]:
    """``report``, which ends a run that another process took over while this one stood still."""

    def passed(progress: Progress) -> None:
        space.held.glance()
        report(progress)

    return passed


def begun(space: Workspace, order: Order, job: Job) -> dict[str, object]:
    """Note who begins a run, before its first step: a claim may change before another process takes the last one."""
    return begin(space.folder, order.provenance, order.claims.get(job.experiment, {}))


def publish(space: Workspace, order: Order, job: Job, outcome: Any, seconds: float) -> Run:
    """Give a run that took so many seconds its final name, with everything that is known of it."""
    info = {"spec": job.spec.to_dict(), "overrides": list(job.overrides), **order.provenance}
    return space.publish({**info, **begun(space, order, job), "seconds": round(seconds, 1)}, outcome)


def train(job: Job, folder: Path, report: Callable[[Progress], None], names: Sequence[str]) -> Any:
    """Train and measure in a folder, resuming what lies there; returns what was measured, for `publish`.

    Other packages are loaded where a logger of theirs was asked for only.
    """
    if job.profile != "paper":
        use_one_thread()
    if not names:
        return run_setting(job.spec, job.seed, folder, report)
    from lengen.callbacks.extra_loggers import close, extra_loggers

    try:
        return run_setting(job.spec, job.seed, folder, report, extra_loggers(names, folder / LOGGERS))
    finally:
        close()


def use_one_thread() -> None:
    """With one thread a sum has one order, so results do not depend on how many runs share the machine."""
    os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")  # for a torch that is not loaded yet
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)


def explained(error: Exception, work: Path | None, root: Path) -> Exception:
    """The error as one sentence, of the kind that decides whether the other runs go on."""
    if isinstance(error, StoreError | SettingError):
        return FatalError(str(error))
    if _disk_full(work or root):
        remedy = "make room and run the same command; without --fresh it resumes"
        return FatalError(f"the disk of {readable(root)} is full: {remedy}")
    if "No space left on device" in str(error) and _disk_full(Path(temporary := os.environ.get("TMPDIR") or "/tmp")):
        return FatalError(
            f"the disk of the temporary files, {temporary}, is full: make room, or set TMPDIR to a folder"
        )
    if isinstance(error, OSError) and error.filename is not None:
        place = readable(Path(os.fsdecode(error.filename)))
        return FatalError(f"{place}: {error.strerror}; make it readable and writable, then run the same command")
    if is_sentence(error):
        return JobError(str(error))
    sentence = f"{type(error).__name__}: {(str(error).splitlines() or ['no message'])[0]}"
    if work is not None and work.is_dir():
        try:
            write_text(work / ERRORS, "".join(traceback.format_exception(error)))
            sentence += f" (traceback in {readable(work / ERRORS)})"
        except StoreError as full:
            return FatalError(str(full))
    return JobError(sentence)


def _disk_full(path: Path) -> bool:
    return shutil.disk_usage(existing(path)).free < FULL


class _Collector:
    """A `Watch` that passes everything on and keeps the failures."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self.failures: dict[str, str] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._watch, name)

    def failed(self, job: Job, sentence: str) -> None:
        self.failures[job.name] = sentence
        self._watch.failed(job, sentence)
