"""The command run: plan, train what is missing here, on Ray or by Slurm, and show what came out."""

import argparse
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from lengen.experiment import Experiment
from lengen.part import SettingError
from lengen.results.records import Run
from lengen.this_machine import machine
from reproduce.catalogue import CATALOGUE, USUAL, usual_profile
from reproduce.comparison.published_settings import CHECKED
from reproduce.pages import terminal
from reproduce.runs import plan as planning
from reproduce.runs.costs import accuracies, cost_on, in_words, makespan, usable_cores, whole
from reproduce.runs.display import SURE, Display, counter
from reproduce.runs.local import Local
from reproduce.runs.plan import Job, Order, Plan, PlanError, Report
from reproduce.runs.slurm import WORKERS, Slurm
from reproduce.store.checkout import provenance, results_root, stores
from reproduce.store.files import one_line, readable
from reproduce.store.store import LocalStore, Store

OWN = {"address": "ray", "gpus_per_run": "ray", "cpus_per_run": "ray or slurm"}
OWN |= {"workers": "slurm", "sbatch_args": "slurm", "share": "local"}
"""Option -> the executors that it goes with; of those it is one where it was not given."""


def check(options: argparse.Namespace) -> None:
    """Raise `PlanError`, before anything is trained, for options that say nothing together."""
    for name, executors in OWN.items():
        value = getattr(options, name)
        is_set = value is not None and value is not False and value != []
        if is_set and options.executor not in executors.split(" or "):
            option = "--" + name.replace("_", "-")
            raise PlanError(f"{option} goes with --executor {executors}, not with {options.executor}")
    if options.fresh and (options.executor == "slurm" or options.share):
        raise PlanError("--fresh would be done again by every worker: leave it out")
    _sbatch_words(options)


def _sbatch_words(options: argparse.Namespace) -> tuple[str, ...]:
    """Return the further arguments of sbatch, as a shell would part them."""
    text = " ".join(options.sbatch_args)
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        expected = "expected what a shell can part, such as --sbatch-args='--partition=gpu --comment=\"two words\"'"
        raise PlanError(f"--sbatch-args={text}: {error}; {expected}") from None


def workers_here(options: argparse.Namespace) -> int:
    """Return the number of runs side by side on this machine, or in all workers of Slurm together."""
    if options.executor == "slurm":
        return (options.workers or WORKERS) * (options.jobs or 1)
    return options.jobs or (1 if options.profile == "paper" else usable_cores())


def engine(options: argparse.Namespace, needed: bool) -> AbstractContextManager[Any]:
    """Return the engine of the runs, with its ``workers``; the context connects to Ray if it is needed."""
    if not needed:
        return nullcontext(Local(1))
    if options.executor == "ray":
        from reproduce.runs.ray import OnRay

        gpus = 0.0 if options.profile != "paper" or options.without_gpu else 1.0
        gpus = gpus if options.gpus_per_run is None else options.gpus_per_run
        return OnRay(options.address or "", options.cpus_per_run or 1.0, gpus, options.jobs)
    return nullcontext(Local(workers_here(options), options.share))


def slurm(options: argparse.Namespace, order: Order) -> Slurm:
    """Return the engine that submits the runs: the same command for every worker, as one of several."""
    words = ["run", *options.selector.split()]
    words += f"--profile {options.profile} --share --jobs {options.jobs or 1}".split()
    if options.seeds is not None:
        words += ["--seeds", ",".join(map(str, options.seeds))]
    words += [word for override in options.overrides for word in ("--set", override)]
    words += ["--lengths", options.lengths] if options.lengths is not None else []
    words += [word for name in order.loggers for word in ("--logger", name)]
    words += ["--without-gpu"] * options.without_gpu + ["--missing"] * options.missing
    gpu, jobs, cpus = options.profile == "paper" and not options.without_gpu, options.jobs or 1, options.cpus_per_run
    workers, sbatch = options.workers or WORKERS, _sbatch_words(options)
    return Slurm(order.root, tuple(words), workers, jobs, cpus or 1.0, gpu, sbatch)


SLOW = 1.5
"""Times the estimate from which a dry run says so."""
SENDING = (
    "to send the results: python -m reproduce promote PAPER adds the finished runs to results/reference; commit that "
    "on a branch and open a pull request, or send the folder results/reference/PAPER"
)
ONE_SEED = (
    "one seed is one outcome: it can show that a setting reaches an accuracy, not how often it does; a level needs 3 "
    "seeds and a comparison 4 on each side, as --seeds 0..3 makes them"
)


def run_command(options: argparse.Namespace) -> int:
    """Plan, run what is missing, show what came out; 1 if a run failed.

    At the paper profile a machine without a GPU has to be chosen: the same takes many times as long.
    """
    check(options)
    selected = CATALOGUE.select(options.selector)
    if options.profile is None:
        options.profile = _profile(selected)
    chosen, left_out = suite(selected, options.selector, options.profile)
    plan = _plan(chosen, options)
    for note in _worth_saying(plan, chosen, options):
        print(note, file=sys.stderr)
    if options.loggers:
        from lengen.callbacks.loggers import require

        require(options.loggers)  # here, before anything is trained
    if options.missing:
        plan = _missing(plan)
        if not plan.jobs:
            terminal.tell("results/reference holds every run: nothing is missing")
            return 0
    if options.telling_first:
        from reproduce.comparison.run_priority import telling_first

        plan = replace(plan, jobs=tuple(telling_first(plan.jobs, stores()[0])))
    local = LocalStore(results_root())
    done = {} if options.fresh else planning.finished(plan.jobs, local)
    todo = [job for job in plan.jobs if job not in done]
    workers = workers_here(options)
    if options.dry_run:
        if options.overrides or options.lengths:
            _build(plan, options.overrides)
        _dry_run(plan, done, workers, options.profile)
        if options.telling_first:
            terminal.tell(SENDING)
        return 0
    loggers = tuple(dict.fromkeys(options.loggers))
    order = Order(local.root, provenance(options.arguments), options.fresh, loggers, _claims(plan))
    if options.executor == "slurm":
        _submit(todo, order, options)
        return 0
    _tell_left_out(plan, chosen, left_out, options.profile)
    made = _made(todo)
    gpu = _on_gpu(made, options)
    costs = {job: cost_on(job.spec, gpu=gpu, made=share or 1.0) for job, share in made.items()}
    before, pace = len(done), _pace(done, gpu=gpu)
    with (
        engine(options, bool(todo)) as maker,
        Display(costs, min(maker.workers, len(todo)), before, pace=pace) as display,
    ):
        report = planning.run(plan.jobs, done, order, maker, display)
    _tell_outcome(report, local, chosen, options)
    if options.telling_first:
        terminal.tell(SENDING)
    return int(bool(report.failures))


def _profile(selected: Sequence[Experiment]) -> str:
    """Return the profile of a command that names none; a note where it is not the usual one."""
    profile = usual_profile(selected)
    if profile != USUAL:
        other = f"taking --profile {profile}, the only one beside smoke"
        print(f"there is no {USUAL} size of these: {other}", file=sys.stderr)
    return profile


def _missing(plan: Plan) -> Plan:
    """Return the plan without the jobs that have a committed run."""
    committed = planning.finished(plan.jobs, stores()[0])
    return replace(plan, jobs=tuple(job for job in plan.jobs if job not in committed))


def _submit(jobs: Sequence[Job], order: Order, options: argparse.Namespace) -> None:
    """Hand the jobs to Slurm, if there are any."""
    if jobs:
        print(one_line(slurm(options, order).submit(jobs)), file=sys.stderr)
    else:
        print("every run is finished: nothing to submit")


def _tell_left_out(plan: Plan, chosen: Sequence[Experiment], left_out: Sequence[Experiment], profile: str) -> None:
    """Print how many experiments have no such size, and how many are extra at it."""
    if plan.absent:
        print(f"{len(plan.absent)} of {len(chosen)} experiments have no {profile} size: see list", file=sys.stderr)
    if left_out:
        extra = f"{len(left_out)} experiments are extra at the {profile} profile"
        print(f"{extra} and run when named: see list", file=sys.stderr)


def _on_gpu(made: Mapping[Job, float | None], options: argparse.Namespace) -> bool:
    """Return True if the jobs take the time of a GPU; raises `PlanError` where they need one and there is none."""
    gpu, on_ray = bool(options.profile == "paper"), options.executor == "ray"
    if not (made and gpu and (options.without_gpu if on_ray else not _has_gpu())):
        return gpu
    if not options.without_gpu:
        fault = "there is no GPU here, which --profile paper is made for"
        raise PlanError(f"{fault}; {_on_cores(made)}: add --without-gpu to start all the same, or choose --profile cpu")
    return False


def _tell_outcome(report: Report, local: LocalStore, chosen: Sequence[Experiment], options: argparse.Namespace) -> None:
    """Show what came out: the runs of a part, or all that follows from those of whole papers; then what failed."""
    part = "/" in options.selector.strip("/")
    if part or options.overrides or options.share or options.missing:
        _summary(report, local)
    else:
        conclude(list(dict.fromkeys(experiment.paper for experiment in chosen)))
        if options.profile not in CHECKED:
            terminal.tell(f"runs of the {options.profile} profile show that everything works; nothing is compared")
    trained = [run.experiment for run in report.runs if not run.constructed]
    if options.profile in CHECKED and trained and len(set(trained)) == len(trained):
        terminal.tell(ONE_SEED)
    if report.failures:
        names, runs = ", ".join(report.failures), len(report.failures) + len(report.runs)
        print(f"{len(report.failures)} of {runs} runs failed: {names}", file=sys.stderr)


def _plan(chosen: Sequence[Experiment], options: argparse.Namespace) -> Plan:
    """Return the jobs; raises `SettingError`, for several values of one setting with what to do."""
    try:
        return planning.plan(chosen, options.profile, options.seeds, options.overrides, options.lengths)
    except SettingError as error:
        values = [override.partition("=")[2].strip() for override in options.overrides]
        if any("," in value and not value.startswith("[") for value in values):
            raise SettingError(f"{error}; a setting has one value: run the command once for each") from None
        raise


def _worth_saying(plan: Plan, chosen: Sequence[Experiment], options: argparse.Namespace) -> Iterator[str]:
    """Yield notes on what may surprise: one seed of that number, and a run with another name."""
    if options.seeds and len(options.seeds) == 1 and options.seeds[0] > 0:
        (seed,) = options.seeds
        first = "0" if seed == 1 else f"0..{seed - 1}"
        yield f"--seeds {seed} makes seed {seed} alone; --seeds {first} makes {seed}"
    homes = {item.name: CATALOGUE.home(item, options.profile).name for item in chosen if item.name not in plan.absent}
    names = {job.experiment for job in plan.jobs}
    for name, home in homes.items():
        if name != home and home in names and home not in homes:
            yield f"{name} is the run of {home}: their settings are the same at this profile"


def _claims(plan: Plan) -> dict[str, Mapping[str, str]]:
    """Return the statements that rest on each home of a run, with what they ask: one changed later is younger."""
    from reproduce.comparison.published_statements import standing

    where = dict.fromkeys((job.experiment.split("/")[0], job.profile) for job in plan.jobs)
    return {home: claims for paper, profile in where for home, claims in standing(paper, profile).items()}


def suite(chosen: Sequence[Experiment], selector: str, profile: str) -> tuple[list[Experiment], list[Experiment]]:
    """Return the experiments to run, and those that only a whole paper names and that are extra at this profile."""
    parts = [part for part in selector.split() if "/" in part.strip("/")]
    named = {item.name for part in parts for item in CATALOGUE.select(part)}
    left_out = [item for item in chosen if profile in item.extra and item.name not in named]
    return [item for item in chosen if item not in left_out], left_out


def conclude(papers: Sequence[str]) -> None:
    """Draw the figures of the local runs, write comparison and report.

    Prints published values beside them, the main statements, and where everything lies.
    """
    from reproduce import figures
    from reproduce.commands import show_results
    from reproduce.pages import comparison

    for paper in papers:
        drawn = figures.draw(paper, stores()[1], tell=counter(f"figures of {paper} drawn", sys.stderr))
        (published, yours), written = comparison.save(paper, stores())
        values = bool(yours.score.compared)
        terminal.show(CATALOGUE.paper(paper).title, "", *comparison.whole(published, yours, values), "")
        for folder in dict.fromkeys(path.parent for path in drawn):
            print(f"figures  {readable(folder)}")
        print(f"compared {readable(written[-1])}")
    print(f"report   {readable(show_results.write_report(papers))}")


def _build(plan: Plan, overrides: Sequence[str]) -> None:
    """Build what every job would build first, so that ``--set`` is checked as running checks it.

    Raises `SettingError` or `OperandError`.
    """
    from lengen.data.task_data import TaskData
    from lengen.training.model_building import build_model

    specs = {job.spec.hash(): job.spec for job in plan.jobs}
    for spec in specs.values():
        TaskData(spec, 0).check_all()
        if any(override.startswith("model.") for override in overrides):
            build_model(spec, 0)


def _has_gpu() -> bool:
    import torch

    return torch.cuda.is_available()


def _made(jobs: Sequence[Job]) -> dict[Job, float | None]:
    """Return `planning.share_made` of each job."""
    shares: dict[tuple[str, str, str], float | None] = {}
    for job in jobs:
        key = job.experiment, job.profile, job.spec.hash()
        if key not in shares:
            home, changed = CATALOGUE.select_one(job.experiment), bool(job.overrides)
            shares[key] = planning.share_made(home, job.profile, job.spec, changed=changed)
    return {job: shares[job.experiment, job.profile, job.spec.hash()] for job in jobs}


def _pace(done: Mapping[Job, Run], *, gpu: bool) -> float | None:
    """Return the seconds of finished runs per second estimated; None if they are short, or of another machine."""
    passed = expected = 0.0
    for job, run in done.items():
        if not run.constructed and run.info.get("processor") == machine().model:
            share = run.scalar("steps", job.spec.train.steps) / max(1, job.spec.train.steps)
            passed, expected = passed + whole(run), expected + cost_on(job.spec, gpu=gpu, made=share).total
    return passed / expected if expected > SURE and passed else None


def _about(made: Mapping[Job, float | None], workers: int, where: str, *, gpu: bool, pace: float = 1.0) -> str:
    """Return the time that jobs take there: an upper bound where trainings stop early and none is committed."""
    seconds = [pace * cost_on(job.spec, gpu=gpu, made=share or 1.0).total for job, share in made.items()]
    return f"{'at most' if None in made.values() else 'about'} {in_words(makespan(seconds, workers))} on {where}"


def _on_cores(made: Mapping[Job, float | None]) -> str:
    """Return the time that jobs of the paper profile would take without a GPU."""
    cores = usable_cores()
    return _about(made, cores, f"{cores} core{'s' * (cores > 1)}", gpu=False)


def _dry_run(plan: Plan, done: dict[Job, Run], workers: int, profile: str) -> None:
    """Show the runs to make, the finished ones, those that this profile leaves out, and the time."""
    listed = terminal.table("experiment", ("seed", "right"), "time")
    gpu, made = profile == "paper", _made([job for job in plan.jobs if job not in done])
    for job in plan.jobs:
        left = "" if job in done else in_words(cost_on(job.spec, gpu=gpu, made=made[job] or 1.0).total)
        listed.add_row(job.experiment, str(job.seed), left or f"finished (v{done[job].version})")
    terminal.show(listed)
    for reason in dict.fromkeys(plan.absent.values()):
        names = [name for name, why in plan.absent.items() if why == reason]
        terminal.show(f"no {profile} size: {', '.join(names)} ({reason})")
    unit = "GPU" if gpu else "core"
    workers = min(workers, max(1, len(made)))
    where = f"one {unit}" if workers == 1 else f"{workers} {unit}s"
    pace = _pace(done, gpu=gpu) or 1.0
    left = f", {_about(made, workers, where, gpu=gpu, pace=pace)}" if made else ""
    if made and pace > SLOW:
        left += f", at {pace:.1f} times the estimated time, as the finished ones took"
    if made and gpu:
        left += f" ({_on_cores(made)})"
    terminal.tell(f"{len(made)} to run, {len(done)} finished{left}")


def _summary(report: Report, store: Store) -> None:
    """Print folder and exact match in and outside the trained range, one line per run."""
    for done in report.runs:
        inside, outside = accuracies(done)
        where = "; nothing was trained" if done.constructed else f" in the trained range, {outside} outside"
        terminal.tell(f"{done.experiment} seed {done.seed}: exact match {inside}{where}")
        terminal.tell(*(f"  {one_line(str(note))}" for note in done.info.get("notes", [])))
        print(f"  {readable(store.folder(done))}")
