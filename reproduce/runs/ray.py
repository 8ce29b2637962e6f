"""Ray as the engine: one task a run, on whichever node has room (``pip install .[cluster]``).

What enters are jobs; what leaves are runs in the results folder, which every node sees at the same place. A task is a
worker with one job: it holds the lease of its run, works in its folder and publishes it, and yields events to the
driver, the process that gave the command. When a worker or a node dies, the driver resubmits the run, and it goes on
from its newest checkpoint: Ray's own retries are off.
"""

import contextlib
import logging
import os
import platform
import queue
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

from lengen.results.progress import Progress
from reproduce.runs.plan import FatalError, Job, Order, PlanError, Watch, longest_first
from reproduce.runs.worker import Deaths, JobQueue, make
from reproduce.store.checkout import code_digest, this_machine
from reproduce.store.files import writing
from reproduce.store.lease import BusyError
from reproduce.store.store import LocalStore

AHEAD = 2
"""Runs that are submitted beyond what the cluster has room for: none waits for the driver, and a cluster that grows by
itself sees that there is work."""
PAUSE = 0.05
"""Seconds between two looks at tasks when none had an event."""
ENDING = 10.0
"""Seconds that tasks have to end by themselves when the command was interrupted."""


class OnRay:
    """An engine, to be used as a context manager: it connects, and ``workers`` says how many runs have room.

    Args:
        address: Of the cluster; "" takes ``$RAY_ADDRESS``, the cluster of this machine, or starts one here.
        cpus: Processor cores of a run.
        gpus: GPUs of a run; a part of one lets several runs share it.
        at_once: Runs that are submitted at a time; None: as many as have room, and a few more.
    """

    def __init__(self, address: str = "", cpus: float = 1.0, gpus: float = 0.0, at_once: int | None = None) -> None:
        self.address, self.cpus, self.gpus, self.at_once = address, cpus, gpus, at_once
        self._connected = ExitStack()

    def __enter__(self) -> "OnRay":
        self._connected.enter_context(connected(self.address))
        return self

    def __exit__(self, *_: object) -> None:
        self._connected.close()

    @property
    def workers(self) -> int:
        """Runs for which the cluster has room now."""
        return self.at_once or room(self.cpus, self.gpus)

    def __call__(self, jobs: Sequence[Job], order: Order, watch: Watch) -> None:
        if not self.workers:
            needs = f"{self.cpus:g} CPU" + (f" and {self.gpus:g} GPU" if self.gpus else "")
            watch.noted(f"no node of the cluster has {needs}: waiting for one")
        order = replace(order, root=order.root.resolve())
        with command_file(order.root) as mark, noted_signals() as look:
            _Tasks(self, order, watch, mark).run(jobs, look)


class _Tasks:
    """The tasks of one command."""

    def __init__(self, engine: OnRay, order: Order, watch: Watch, mark: Path) -> None:
        import ray

        self._ray, self._engine, self._order, self._watch, self._mark = ray, engine, order, watch, mark
        self._running: dict[Any, Job] = {}
        self._hosts: dict[Any, str] = {}
        self._left: set[Job] = set()
        self._deaths = Deaths(order.root)
        self._most, self._counted = 0, float("-inf")
        options = {"num_cpus": engine.cpus, "num_gpus": engine.gpus, "max_retries": 0, "num_returns": "streaming"}
        self._task = ray.remote(_run).options(**options)

    def run(self, jobs: Sequence[Job], look: Callable[[], None]) -> None:
        """Submit the jobs, and pass on what their tasks yield, until all are over."""
        self._waiting = JobQueue(longest_first(jobs))
        try:
            while self._running or self._waiting:
                look()
                while len(self._running) < self._limit() and (job := self._waiting.next()) is not None:
                    self._submit(job)
                ready = self._ready()
                for task in ready:
                    self._receive(task)
                if not ready:
                    time.sleep(PAUSE)
        finally:
            self._stop(look)

    def _submit(self, job: Job) -> None:
        self._running[self._task.remote(job, self._order, job in self._left, self._mark, code_digest())] = job

    def _limit(self) -> int:
        """Return the number of runs to have submitted: counted anew every few seconds, because nodes come and go."""
        if self._engine.at_once is not None:
            return self._engine.at_once
        if time.monotonic() - self._counted > 5.0:
            self._most, self._counted = room(self._engine.cpus, self._engine.gpus) + AHEAD, time.monotonic()
        return self._most

    def _ready(self) -> list[Any]:
        """Return the tasks that have an event."""
        tasks = list(self._running)
        ready: list[Any] = self._ray.wait(tasks, num_returns=len(tasks), timeout=0)[0] if tasks else []
        return ready

    def _receive(self, task: Any) -> None:
        """Pass on one event of a task, or note its end."""
        job = self._running[task]
        try:
            event, *values = self._ray.get(next(task))
        except self._ray.exceptions.RayTaskError as error:
            del self._running[task]
            cause = f"{type(error.cause).__name__}: {(str(error.cause).splitlines() or ['no message'])[0]}"
            if task not in self._hosts:
                raise FatalError(f"a node of the cluster cannot begin ({cause}): install the same there") from None
            self._watch.failed(job, cause)
        except (self._ray.exceptions.RayError, StopIteration) as error:
            self._died(task, type(error).__name__.removesuffix("Error"))
        else:
            if event == "fatal":
                raise FatalError(*values)
            if event == "host":
                (self._hosts[task],) = values
                self._left.add(job)
                return
            if event in ("finished", "failed", "postponed"):
                del self._running[task]
            if event == "postponed":
                self._waiting.postpone(job)
            getattr(self._watch, event)(job, *values)

    def _died(self, task: Any, cause: str) -> None:
        """Resubmit the run of a worker or node that died, unless that happens over and over."""
        job, host = self._running.pop(task), self._hosts.get(task)
        again, sentence = self._deaths.after(job, f"its worker{f' on {host}' if host else ''} died ({cause})")
        if again:
            self._watch.noted(sentence)
            self._submit(job)
        else:
            self._watch.failed(job, sentence)

    def _stop(self, look: Callable[[], None]) -> None:
        """End the tasks: those that train end by themselves, and give back their leases, when the mark is gone."""
        self._mark.unlink(missing_ok=True)
        for task in self._running.keys() - self._hosts.keys():
            self._ray.cancel(task)
        end = time.monotonic() + ENDING
        try:
            while self._running and time.monotonic() < end:
                look()
                for task in self._ready():
                    try:
                        self._ray.get(next(task))
                    except (self._ray.exceptions.RayError, StopIteration):
                        del self._running[task]
                time.sleep(PAUSE)
        finally:
            for task in self._running:
                self._ray.cancel(task, force=True)


class _StoppedError(BaseException):
    """The command that submitted this task was ended."""


def _run(job: Job, order: Order, left: bool, mark: Path, code: str) -> Iterator[tuple[Any, ...]]:
    """Make one run in a worker of Ray, and yield its events.

    Its training is a thread, so they leave while it computes.
    """
    node = platform.node()
    if code_digest() != code:
        remedy = "install the same there, or start this command from what is there"
        yield "fatal", f"{node} has other code than the machine that gave the command: {remedy}"
    elif not mark.exists():
        remedy = "set LENGEN_RESULTS to a folder that all nodes see at the same place"
        yield "fatal", f"{node} does not see {mark}: {remedy}"
    else:
        yield "host", node
        order = replace(order, provenance={**order.provenance, **this_machine()})
        sender = _Sender(mark)
        threading.Thread(target=sender.run, args=(job, order, left), daemon=True).start()
        while (event := sender.events.get()) is not None:
            yield event


class _Sender:
    """A `Watch` in a task: what happens waits in ``events``, until None ends them."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark
        self.events = queue.SimpleQueue[Any]()

    def run(self, job: Job, order: Order, left: bool) -> None:
        """Make the run."""
        try:
            make(job, order, self, left)
        except BusyError as error:
            self.events.put(("postponed", str(error)))
        except FatalError as error:
            self.events.put(("fatal", f"{platform.node()}: {error}"))
        except _StoppedError:
            pass
        finally:
            self.events.put(None)

    def __getattr__(self, event: str) -> Callable[..., None]:
        return lambda job, *values: self.events.put((event, *values))

    def progressed(self, job: Job, progress: Progress) -> None:
        if not self._mark.exists():
            raise _StoppedError
        self.events.put(("progressed", progress))


@contextlib.contextmanager
def command_file(root: Path) -> Iterator[Path]:
    """Give an empty file among the local runs: a task that does not see it cannot begin, and ends when it is gone."""
    place = LocalStore(root).path
    with writing(place):
        place.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=place, prefix=".command-")
        os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


@contextlib.contextmanager
def connected(address: str) -> Iterator[None]:
    """Yield a connection to a cluster; raises `PlanError` where there is no Ray, or no cluster at the address."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a cluster that is started here tells nobody
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError:
        raise PlanError("--executor ray: the package is not installed; pip install '.[cluster]' adds it") from None
    if ray.is_initialized():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        ray.init(address=address or None, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, RuntimeError, ValueError, TimeoutError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise PlanError(f"--address {address}: there is no Ray cluster that answers ({reason})") from None
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, handler in handlers.items():  # Ray puts its own in place
                signal.signal(number, handler)
    try:
        yield
    finally:
        ray.shutdown()


def room(cpus: float, gpus: float) -> int:
    """Return the number of runs for which the nodes that are alive have room."""
    import ray

    return sum(fitting(node["Resources"], cpus, gpus) for node in ray.nodes() if node["Alive"])


def fitting(resources: dict[str, float], cpus: float, gpus: float) -> int:
    """Return the number of runs that fit on a node; a run uses parts of one GPU, or whole ones.

    >>> fitting({"CPU": 16.0, "GPU": 2.0}, 1, 0.3), fitting({"CPU": 4.0, "GPU": 2.0}, 1, 0.25)
    (6, 4)
    """
    fit = []
    if cpus:
        fit.append(int(resources.get("CPU", 0) / cpus))
    if gpus:
        here = resources.get("GPU", 0)
        fit.append(int(here / gpus) if gpus >= 1 else int(here) * int(1 / gpus))
    return min(fit, default=0)


@contextlib.contextmanager
def noted_signals() -> Iterator[Callable[[], None]]:
    """Keep SIGINT and SIGTERM for a call of what this gives: inside of Ray's core an exception of a handler is lost."""
    noted: list[tuple[int, FrameType | None]] = []
    handlers: dict[signal.Signals, Any] = {}

    def look() -> None:
        if noted:
            number, frame = noted.pop(0)
            handler = handlers[signal.Signals(number)]
            if callable(handler):
                handler(number, frame)
            raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        for each in (signal.SIGINT, signal.SIGTERM):
            handlers[each] = signal.signal(each, lambda *values: noted.append(values))
    try:
        yield look
    finally:
        for each, handler in handlers.items():
            signal.signal(each, handler)
