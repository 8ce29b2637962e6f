"""Workers on this machine: this process itself, or several, forked from one that has loaded torch.

What enters are jobs and what all of them share; what leaves are runs, and events for a `Watch`. Each worker sends its
events through a pipe of its own, so a killed one takes nothing along that the others need.
"""

import math
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, MutableSequence, Sequence
from multiprocessing.connection import Connection
from typing import Any

from reproduce.runs.plan import FatalError, Job, Order, Watch, longest_first
from reproduce.runs.worker import DEATHS, FREE, LEFT, OVER, PATIENCE, Deaths, use_one_thread, work

LOADED = ("lengen.training.run",)
"""Modules that workers share, read-only: they load torch and lightning, which takes 4 core-seconds, and start no
thread."""
MOMENT = 0.5
"""Seconds within which a signal to the whole process group, of which a worker died, reaches this process as well."""
SAVING = 30.0
"""Seconds that trainings have to save their step before they are killed."""


class Local:
    """Makes runs on this machine: in this process if one worker is enough, else in ``workers`` processes.

    ``share``: one of several commands for the same jobs; it ends where all that is left is being made by the others.
    """

    def __init__(self, workers: int, share: bool = False) -> None:
        self.workers, self.patience = workers, PATIENCE if share else math.inf

    def __call__(self, jobs: Sequence[Job], order: Order, watch: Watch) -> None:
        workers = min(self.workers, len(jobs))
        if workers <= 1:
            work(jobs, order, watch, [FREE] * len(jobs), patience=self.patience)
        else:
            _Workers(longest_first(jobs), order, watch, self.patience).run(workers)


class _Workers:
    """Worker processes of one command."""

    def __init__(self, jobs: Sequence[Job], order: Order, watch: Watch, patience: float) -> None:
        self._jobs, self._order, self._watch, self._patience = jobs, order, watch, patience
        self._numbers = {job: number for number, job in enumerate(jobs)}
        if all(job.profile != "paper" for job in jobs):
            use_one_thread()  # before the libraries are loaded that workers share
        self._context = _processes()
        self._holders: MutableSequence[int] = self._context.RawArray("q", [FREE] * len(jobs))
        self._processes: dict[Connection, Any] = {}
        self._deaths, self._vain_deaths = Deaths(order.root), 0

    def run(self, workers: int) -> None:
        """Start so many workers, pass on what they report, and replace those that die, until all have ended."""
        try:
            for first in range(workers):
                self._start(first)
            while self._processes:
                for pipe in multiprocessing.connection.wait(list(self._processes), timeout=1.0):
                    self._receive(pipe)  # type: ignore[arg-type]
        except BaseException:
            self._stop()
            raise
        finally:
            for process in self._processes.values():
                process.kill()
                process.join()

    def _start(self, first: int) -> None:
        """Start a worker, which begins with the job of this number."""
        ours, theirs = self._context.Pipe(duplex=False)
        values = self._jobs, self._order, self._holders, first % len(self._jobs), self._patience
        process = self._context.Process(target=_worker, args=(theirs, dict(os.environ), *values), daemon=True)
        process.start()
        theirs.close()
        self._processes[ours] = process

    def _receive(self, pipe: Connection) -> None:
        """Pass on one event of a worker, or note its end."""
        try:
            event, *values = pipe.recv()
        except (EOFError, OSError):
            self._ended(self._processes.pop(pipe))
            return
        self._vain_deaths = 0
        if event == "fatal":
            raise FatalError(*values)
        if event in ("finished", "failed"):  # whatever becomes of the worker
            self._holders[self._numbers[values[0]]] = OVER
        getattr(self._watch, event)(*values)

    def _ended(self, process: Any) -> None:
        """Start another worker if one died (out of memory, killed).

        Its run goes on, unless that happens over and over.
        """
        process.join()
        if process.exitcode == 0:
            return
        time.sleep(MOMENT)  # if the command was ended together with its workers, this is where it ends
        cause = f"its process ended with code {process.exitcode} (out of memory, or killed)"
        held = [number for number, holder in enumerate(self._holders) if holder == process.pid]
        for number in held:
            again, sentence = self._deaths.after(self._jobs[number], cause)
            self._holders[number] = LEFT if again else OVER
            if again:
                self._watch.noted(sentence)
            else:
                self._watch.failed(self._jobs[number], sentence)
        self._vain_deaths += not held
        if self._vain_deaths >= DEATHS:
            raise FatalError(f"a worker {cause.removeprefix('its process ')} {DEATHS} times before it began a run")
        if any(holder != OVER for holder in self._holders):
            self._start(max(held, default=-1) + 1)

    def _stop(self) -> None:
        """Let trainings save the step at hand: a worker that has ended closes its pipe.

        Its process is no witness: the one that it was forked from may have been ended, too.
        """
        began, left, announced = time.monotonic(), list(self._processes), False
        for process in self._processes.values():
            process.terminate()
        while left and (waited := time.monotonic() - began) < SAVING:
            if waited > 2 * MOMENT and not announced:
                announced = True
                self._watch.noted("saving the steps at hand; Ctrl-C again ends at once")
            ready = multiprocessing.connection.wait(left, timeout=MOMENT)
            for pipe in [pipe for pipe in left if pipe in ready]:
                try:
                    pipe.recv()
                except (EOFError, OSError):
                    left.remove(pipe)


def _processes() -> Any:
    """Return the way in which workers start.

    They are forked from one process that has loaded the needs of a training, if the system can fork.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(LOADED))
    return context


class _Sender:
    """A `Watch` in a worker process: what happens goes to the process that started it."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def __getattr__(self, event: str) -> Callable[..., None]:
        return lambda *values: self._pipe.send((event, *values))


def _worker(pipe: Connection, environment: Mapping[str, str], jobs: Sequence[Job], order: Order, *turns: Any) -> None:
    """Work in a process of its own, and die with the one that started it.

    ``environment``: that of the command, which may have changed since the process was loaded that workers fork from.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent decides
    signal.signal(signal.SIGTERM, _end)
    _without_semaphores()
    os.environ.clear()
    os.environ.update(environment)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    sender = _Sender(pipe)
    try:
        work(jobs, order, sender, *turns)
    except FatalError as error:
        sender.fatal(str(error))


def _die_with_parent() -> None:
    """End this process when its parent has ended, by SIGKILL too: a killed command leaves nothing that still writes."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _without_semaphores() -> None:
    """Let the progress bars of Lightning lock by threads.

    A process that is killed with a lock among processes leaves a semaphore behind, of which Python complains.
    """
    if "tqdm" in sys.modules:
        from tqdm import tqdm

        tqdm.set_lock(threading.RLock())


def _end(number: int, _: object) -> None:
    """End this process, once: the parent sends SIGTERM also after a signal to the whole group."""
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)
