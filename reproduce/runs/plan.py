"""From chosen experiments to finished runs: plan, skip what is there, let workers make the rest, collect what failed.

What enters are experiments, a profile, seeds and overrides; what leaves are runs in the local store and a `Report`.
Each run is made by a worker (`runs.worker`): on this machine (`runs.local`), on a Ray cluster or in a job of Slurm.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from lengen.experiment import PROFILES, Experiment
from lengen.part import LONGEST, SettingError, build
from lengen.results.progress import Progress
from lengen.results.records import Run
from lengen.settings.changes import assign
from lengen.settings.compatibility import longest_number
from lengen.settings.sections import TestSpec
from lengen.settings.spec import Spec
from reproduce.catalogue import CATALOGUE
from reproduce.runs.costs import cost, updates_made
from reproduce.store.checkout import reference_root
from reproduce.store.reference import Reference
from reproduce.store.store import LocalStore, Store


class PlanError(ValueError):
    """Nothing to run; the message says why."""


class FatalError(Exception):
    """Error that would stop every other run too (results folder, disk, override).

    The command ends with one sentence.
    """


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

    @property
    def key(self) -> tuple[str, str, int, str]:
        """Its place in a store."""
        return self.experiment, self.profile, self.seed, self.spec.hash()


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
    """Receiver of what happens to the jobs (`reproduce.runs.display`)."""

    def started(self, job: Job) -> None: ...
    def progressed(self, job: Job, progress: Progress) -> None: ...
    def finished(self, job: Job, version: int) -> None: ...
    def failed(self, job: Job, sentence: str) -> None: ...
    def postponed(self, job: Job, sentence: str) -> None: ...
    def noted(self, sentence: str) -> None: ...


Engine = Callable[[Sequence[Job], Order, Watch], None]
"""``engine(jobs, order, watch)`` lets workers make runs; raises `FatalError` for what concerns all of them."""


@dataclass
class Report:
    """Outcome of a plan."""

    runs: list[Run] = field(default_factory=list)
    """Finished runs of the plan, those of earlier commands included, in its order."""
    failures: dict[str, str] = field(default_factory=dict)
    """Name of a failed run -> sentence."""


def plan(
    chosen: Sequence[Experiment],
    profile: str,
    seeds: Sequence[int] | None = None,
    overrides: Sequence[str] = (),
    lengths: str | None = None,
) -> Plan:
    """Return the jobs for these experiments; equal specifications are one job, under their home.

    Without ``seeds``: as many as the experiment has at this profile, from 0. ``lengths`` are tested instead of the
    declared ones (`tested_at`). Raises `PlanError` if no chosen experiment has this profile,
    `lengen.settings.spec.SettingError` for a bad override.
    """
    if not chosen:
        raise PlanError(f"all experiments are extra ones at --profile {profile}: name one, or choose another --profile")
    jobs: dict[tuple[str, str, int, str], Job] = {}
    absent = {}
    for experiment in chosen:
        if profile not in experiment.specs:
            absent[experiment.name] = experiment.absent.get(profile, "not declared")
            continue
        changes = tuple(overrides)
        spec = experiment.specs[profile].override(*changes)
        if lengths is not None:
            changes += tested_at(spec, lengths)
            spec = experiment.specs[profile].override(*changes)
        place = CATALOGUE.home(experiment, profile).name
        for seed in experiment.default_seeds(profile) if seeds is None else seeds:
            job = Job(place, profile, seed, spec, changes)
            jobs.setdefault(job.key, job)
    if not jobs:
        name, reason = next(iter(absent.items()))
        other = "--profile" if any(experiment.specs for experiment in chosen) else "variant"
        raise PlanError(f"{name} has no {profile} profile ({reason}): choose another {other}")
    return Plan(tuple(jobs.values()), absent)


def tested_at(spec: Spec, lengths: str) -> tuple[str, ...]:
    """Return the overrides that test a setting at other lengths: padding and position ids are raised where they end.

    Raises `SettingError` or `OperandError`.
    """
    from lengen.data.task_data import TaskData
    from lengen.digits import RoomError

    values = spec.to_dict()
    assign(values, type(spec), f"test.lengths={lengths}")
    test = build(values["test"], TestSpec, "--lengths: test")
    if max(test.lengths) > LONGEST:
        raise SettingError(f"--lengths={max(test.lengths)}: expected at most {LONGEST}")
    changes: dict[str, list[int] | int] = {"test.lengths": list(test.lengths)}
    before, longest = (longest_number(spec.data, section) for section in (spec.test, test))
    for name in ("width", "pad_to"):
        held = getattr(spec.data.format, name, 0)
        if held and longest > held and (name == "width" or held >= before):
            changes[f"data.format.{name}"] = longest
    while True:
        overrides = tuple(f"{path}={json.dumps(value)}" for path, value in changes.items())
        changed = spec.override(*overrides)
        try:
            TaskData(changed, 0).check_all()
        except RoomError as error:
            sizes = list(changed.data.position_ids.sizes)
            sizes[error.level] = error.needs
            path = "data.position_ids.max_position"
            changes[path] = sizes if isinstance(values["data"]["position_ids"]["max_position"], list) else sizes[0]
        else:
            return overrides


def share_made(experiment: Experiment, profile: str, spec: Spec, *, changed: bool = False) -> float | None:
    """Return the share of its updates that a run of an experiment makes, by committed runs of the same.

    These are at its profile or, where there are none, at the next larger one that has some, else at the next smaller
    one; None if they cannot tell, as of a setting that was ``changed``.
    """
    if changed or not spec.train.stop_at:
        return updates_made(spec, [])
    place, committed = PROFILES.index(profile), Reference(reference_root())
    choices = (
        [run for run in committed.made(CATALOGUE.home(experiment, nearest).name, nearest)
         if CATALOGUE.counts(run, experiment)]
        for nearest in PROFILES[place:] + PROFILES[:place][::-1]
        if nearest in experiment.specs
    )  # fmt: skip
    return updates_made(spec, next(filter(None, choices), []))


def longest_first(jobs: Sequence[Job]) -> list[Job]:
    """Return the jobs in an order in which no long run starts when the others are done."""
    return sorted(jobs, key=lambda job: -cost(job.spec, job.profile).total)


def finished(jobs: Sequence[Job], store: Store) -> dict[Job, Run]:
    """Return the jobs that have a finished version in the store, each with its run."""
    runs = {job: store.find(*job.key) for job in jobs}
    return {job: run for job, run in runs.items() if run is not None}


def run(jobs: Sequence[Job], done: Mapping[Job, Run], order: Order, engine: Engine, watch: Watch) -> Report:
    """Let an engine make every run that is not ``done``, and collect failures.

    Raises `FatalError` for what concerns all runs.
    """
    collector = _Collector(watch)
    todo = [job for job in jobs if job not in done]
    if todo:
        engine(todo, order, collector)
    made = finished([job for job in todo if job.name not in collector.failures], LocalStore(order.root))
    known = {**done, **made}
    return Report([known[job] for job in jobs if job in known], collector.failures)


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
