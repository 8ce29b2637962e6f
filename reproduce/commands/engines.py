"""From the options of the command ``run`` to what makes its runs: this machine, Ray, or Slurm."""

import argparse
import shlex
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from reproduce.runs.estimate import usable_cores
from reproduce.runs.local import Local
from reproduce.runs.plan import Order, PlanError
from reproduce.runs.slurm import WORKERS, Slurm

OWN = {
    "address": ("ray",),
    "gpus_per_run": ("ray",),
    "cpus_per_run": ("ray", "slurm"),
    "workers": ("slurm",),
    "sbatch_args": ("slurm",),
    "share": ("local",),
}
"""Option -> the executors that it goes with; of those it is one where it was not given."""


def check(options: argparse.Namespace) -> None:
    """Raise `PlanError`, before anything is trained, for options that say nothing together."""
    for name, executors in OWN.items():
        value = getattr(options, name)
        is_set = value is not None and value is not False and value != []
        if is_set and options.executor not in executors:
            option = "--" + name.replace("_", "-")
            raise PlanError(f"{option} goes with --executor {' or '.join(executors)}, not with {options.executor}")
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
    words = [
        "run",
        *options.selector.split(),
        "--profile",
        options.profile,
        "--share",
        "--jobs",
        str(options.jobs or 1),
    ]
    if options.seeds is not None:
        words += ["--seeds", ",".join(map(str, options.seeds))]
    words += [word for override in options.overrides for word in ("--set", override)]
    words += [word for name in order.loggers for word in ("--logger", name)]
    words += ["--without-gpu"] * options.without_gpu + ["--missing"] * options.missing
    return Slurm(
        order.root,
        tuple(words),
        options.workers or WORKERS,
        options.jobs or 1,
        options.cpus_per_run or 1.0,
        options.profile == "paper" and not options.without_gpu,
        _sbatch_words(options),
    )
