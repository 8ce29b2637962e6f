"""Executors on this machine: in this process, or in worker processes. For clusters see `on_ray` and `slurm`.

What enters are jobs and the function that performs one; what leaves are events for a `Watch`. An executor keeps no
book of what is done: that is in the run folders, so any executor goes on where another was killed.
"""

import contextlib
import math
import multiprocessing
import multiprocessing.connection
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from typing import Any

from lengen.results.progress import Progress
from reproduce.runs.estimate import cost
from reproduce.runs.job_queue import IDLE, PATIENCE, JobQueue
from reproduce.runs.perform import FatalError, Job, JobError, Perform, Watch, use_one_thread
from reproduce.store.leases import BusyError

REPORTS_PER_SECOND = 4
"""At most so many progress reports of one run reach the display."""
LOADED = ("lengen.training.run",)
"""Modules that workers share, read-only: they load torch and lightning, which takes 4 core-seconds, and start no
thread."""
MOMENT = 0.5
"""Seconds within which a signal to the whole process group, of which a worker died, reaches this process as well."""
ENDING = 5.0
"""Seconds that an idle worker has to end before it is killed."""
SAVING = 30.0
"""Seconds that trainings have to save their step before they are killed."""


class Local:
    """Runs jobs on this machine: in this process where one is enough, else in ``workers`` processes.

    ``share``: one of several commands for the same jobs; it ends where all that is left is being made by the others.
    """

    def __init__(self, workers: int, share: bool = False) -> None:
        self.workers, self.patience = workers, PATIENCE if share else math.inf

    def __call__(self, jobs: Sequence[Job], perform: Perform, watch: Watch) -> None:
        workers = min(self.workers, len(jobs))
        if workers <= 1:
            left = JobQueue(jobs, patience=self.patience)
            for job in left:
                _here(job, perform, watch, left)
        else:
            _Pool(jobs, perform, watch, self.patience).run(workers)


def _here(job: Job, perform: Perform, watch: Watch, left: JobQueue[Job]) -> None:
    """Perform one job in this process."""
    watch.started(job)
    try:
        report = throttled(lambda progress: watch.progressed(job, progress))
        watch.finished(job, perform(job, report))
    except BusyError as error:
        left.postpone(job)
        watch.postponed(job, str(error))
        return
    except JobError as error:
        watch.failed(job, str(error))
    left.done()


def throttled(report: Callable[[Progress], None]) -> Callable[[Progress], None]:
    """``report``, called at most 4 times a second, but for the first and last step of each stage."""
    last, stage = 0.0, ""

    def passed(progress: Progress) -> None:
        nonlocal last, stage
        now = time.monotonic()
        if progress.stage == stage and progress.step != progress.steps and now - last < 1 / REPORTS_PER_SECOND:
            return
        last, stage = now, progress.stage
        report(progress)

    return passed


def longest_first(jobs: Sequence[Job]) -> list[Job]:
    """The jobs in an order in which no long run starts when the others are done."""
    return sorted(jobs, key=lambda job: -cost(job.spec, job.profile).total)


def _processes() -> Any:
    """Start of workers: forked from one process that has loaded the needs of a training, if the system can fork."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(LOADED))
    return context


class _Pool:
    """Worker processes that live for the whole command, forked from one that has loaded torch where the system can."""

    def __init__(self, jobs: Sequence[Job], perform: Perform, watch: Watch, patience: float) -> None:
        self._waiting = JobQueue(longest_first(jobs), patience=patience)
        self._perform, self._watch = perform, watch
        if all(job.profile != "paper" for job in jobs):
            use_one_thread()  # before the libraries are loaded that workers share
        self._context = _processes()
        self._processes: dict[Connection, Any] = {}
        self._running: dict[Connection, Job] = {}
        self._idle: list[Connection] = []

    def run(self, workers: int) -> None:
        try:
            for _ in range(workers):
                self._feed(self._start())
            while self._running or self._waiting:
                for pipe in multiprocessing.connection.wait(list(self._running), timeout=1.0):
                    self._hear(pipe)  # type: ignore[arg-type]
                idle, self._idle = self._idle, []
                for pipe in idle:
                    self._feed(pipe)
                if not self._running:
                    time.sleep(IDLE)  # all that is left is being made elsewhere
            self._dismiss()
        except BaseException:
            self._stop()
            raise
        finally:
            for process in self._processes.values():
                process.kill()
            for process in self._processes.values():
                process.join()

    def _dismiss(self) -> None:
        """Let workers end by themselves: a killed one leaves semaphores (of tqdm, for one) that Python complains of."""
        for pipe, process in self._processes.items():
            with contextlib.suppress(OSError):
                pipe.send(None)
            process.join(ENDING)

    def _stop(self) -> None:
        """Let trainings save the step at hand: a worker that has ended closes its pipe.

        Its process is no witness: the one that it was forked from may have been ended, too.
        """
        began, left, told = time.monotonic(), list(self._processes), False
        for process in self._processes.values():
            process.terminate()
        while left and (waited := time.monotonic() - began) < SAVING:
            if waited > 2 * MOMENT and not told:
                told = True
                self._watch.told("saving the steps at hand; Ctrl-C again ends at once")
            ready = multiprocessing.connection.wait(left, timeout=MOMENT)
            for pipe in [pipe for pipe in left if pipe in ready]:
                try:
                    pipe.recv()
                except (EOFError, OSError):
                    left.remove(pipe)

    def _start(self) -> Connection:
        ours: Connection
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=work, args=(theirs, self._perform, dict(os.environ)), daemon=True)
        process.start()
        theirs.close()
        self._processes[ours] = process
        return ours

    def _feed(self, pipe: Connection) -> None:
        """Give an idle worker its next job, if there is one."""
        job = self._waiting.next()
        if job is None:
            self._idle.append(pipe)
            return
        self._watch.started(job)
        if not _sent(pipe, job):  # it died while it was idle, and the job has not begun
            self._processes.pop(pipe).join()
            pipe = self._start()
            _sent(pipe, job)  # were that one dead, too, it is heard of
        self._running[pipe] = job

    def _hear(self, pipe: Connection) -> None:
        """One message of a worker, or its end."""
        try:
            kind, content = pipe.recv()
        except (EOFError, OSError):
            self._lost(pipe)
            return
        job = self._running[pipe]
        if kind == "progress":
            self._watch.progressed(job, content)
        elif kind == "fatal":
            raise FatalError(content)
        else:
            del self._running[pipe]
            if kind == "finished":
                self._watch.finished(job, content)
            elif kind == "busy":
                self._waiting.postpone(job)
                self._watch.postponed(job, content)
            else:
                self._watch.failed(job, content)
            if kind != "busy":
                self._waiting.done()
            self._feed(pipe)

    def _lost(self, pipe: Connection) -> None:
        """A worker that died (out of memory, killed): its job failed, another worker takes the rest."""
        job, process = self._running.pop(pipe), self._processes.pop(pipe)
        process.join()
        time.sleep(MOMENT)  # if the command was ended together with its workers, this is where it ends
        self._watch.failed(job, f"its process ended with code {process.exitcode} (out of memory, or killed)")
        self._waiting.done()
        if self._waiting:
            self._feed(self._start())


def _sent(pipe: Connection, job: Job) -> bool:
    """Send a job to a worker; False where that is dead."""
    try:
        pipe.send(job)
    except OSError:
        return False
    return True


def _without_semaphores() -> None:
    """Let the progress bars of Lightning lock by threads: a process that is killed with a lock among processes leaves a
    semaphore behind, of which Python complains."""
    if "tqdm" in sys.modules:
        from tqdm import tqdm

        tqdm.set_lock(threading.RLock())


def _end(number: int, _: object) -> None:
    """End this process, once: the parent sends SIGTERM also after a signal to the whole group."""
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


def work(pipe: Connection, perform: Perform, environment: Mapping[str, str]) -> None:
    """Life of a worker: take jobs from the pipe, send back what happens, die with the parent.

    ``environment``: that of the command, which may have changed since the process was loaded that workers fork from.
    A thread waits on the pipe. When the parent ends, by SIGKILL too, its end of the pipe closes and the thread ends
    this process at once: a killed command leaves nothing that still writes.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent decides
    signal.signal(signal.SIGTERM, _end)
    _without_semaphores()
    os.environ.clear()
    os.environ.update(environment)
    jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()

    def listen() -> None:
        try:
            while True:
                jobs.put(pipe.recv())
        except (EOFError, OSError):
            os._exit(1)

    threading.Thread(target=listen, daemon=True).start()
    while (job := jobs.get()) is not None:
        try:
            report = throttled(lambda progress: pipe.send(("progress", progress)))
            pipe.send(("finished", perform(job, report)))
        except BusyError as error:
            pipe.send(("busy", str(error)))
        except JobError as error:
            pipe.send(("failed", str(error)))
        except FatalError as error:
            pipe.send(("fatal", str(error)))
