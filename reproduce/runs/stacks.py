"""Seeds of one setting trained as one program, each published as a run of its own (`lengen.training.stacked_run`).

What enters are jobs; what leaves are runs in the local store whose run.json says ``"stacked": k``.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import groupby

from lengen.progress import Progress
from lengen.training.stackable import obstacle
from reproduce.runs.executors import Local, throttled
from reproduce.runs.perform import (
    Job,
    JobError,
    Order,
    Perform,
    Result,
    Watch,
    begun,
    explained,
    publish,
    use_one_thread,
    watched,
)
from reproduce.runs.turns import Turns
from reproduce.store.leases import BusyError
from reproduce.store.store import Store


def stacks_of(jobs: Sequence[Job]) -> list[list[Job]]:
    """The jobs by setting, seeds rising: leases are then taken in one order by all processes."""

    def setting(job: Job) -> tuple[str, str, str]:
        return job.experiment, job.profile, job.spec.hash()

    found = [list(group) for _, group in groupby(sorted(jobs, key=lambda job: (*setting(job), job.seed)), setting)]
    return sorted(found, key=lambda stack: jobs.index(stack[0]))


class Stacked:
    """An executor: one stack after another, in this process; a setting that does not stack, seed by seed."""

    workers = 1

    def __init__(self, order: Order) -> None:
        self.order = order

    def __call__(self, jobs: Sequence[Job], perform: Perform, watch: Watch) -> None:
        turns = Turns(stacks_of(jobs))
        for stack in turns:
            if reason := obstacle(stack[0].spec):
                watch.told(f"{stack[0].experiment} does not stack, because {reason}: its seeds run one by one")
                Local(1)(stack, perform, watch)
                continue
            for job in stack:
                watch.started(job)
            try:
                results = perform_stack(self.order, stack, watch.progressed)
            except BusyError as error:
                turns.postpone(stack)
                for job in stack:
                    watch.postponed(job, str(error))
            except JobError as error:
                for job in stack:
                    watch.failed(job, str(error))
            else:
                for job, result in zip(stack, results, strict=True):
                    watch.finished(job, result)


def perform_stack(order: Order, jobs: Sequence[Job], report: Callable[[Job, Progress], None]) -> list[Result]:
    """Make the runs of one setting: hold their leases, train and measure them together, publish each.

    As `reproduce.runs.perform.perform` does for one: what is there by now is not made again, and what a killed stack
    left is resumed. Each run's ``seconds`` are its part of the stack's.
    """
    from lengen.training.stacked_run import execute_stacked

    store = Store(order.root, "local")
    began = time.monotonic()
    keys = {job: (job.experiment, job.profile, job.seed, job.spec.hash()) for job in jobs}
    work = None
    try:
        with ExitStack() as held:
            spaces = {job: held.enter_context(store.workspace(*key, fresh=order.fresh)) for job, key in keys.items()}
            made = {} if order.fresh else {job: run for job, key in keys.items() if (run := store.find(*key))}
            todo = [job for job in jobs if job not in made]
            if todo:
                work = spaces[todo[0]].folder
                for job in todo:
                    begun(spaces[job], order, job)
                if todo[0].profile != "paper":
                    use_one_thread()
                reports = [watched(throttled(partial(report, job)), spaces[job]) for job in todo]
                folders = [spaces[job].folder for job in todo]
                outcomes = execute_stacked(todo[0].spec, [job.seed for job in todo], folders, reports)
                share = (time.monotonic() - began) / len(todo)
                for job, outcome in zip(todo, outcomes, strict=True):
                    made[job] = publish(spaces[job], order, job, outcome, share)
            return [Result(made[job].version, time.monotonic() - began) for job in jobs]
    except BusyError:
        raise
    except Exception as error:
        raise explained(error, work, order.root) from error
