"""Ray as the engine: one task per run, on whichever node has room (``pip install .[cluster]``).

What enters are jobs; what leaves are runs in the local store of the machine that gave the command, the driver. The
driver holds the lease of every run it has given away, and alone publishes. Every node sees the results folder at the
same place, and works in it. Where a worker or a node dies, the driver asks for the run again, and it goes on from its
newest checkpoint: Ray's own retries are off. A task is a generator of letters (`ray_task`), so nothing but Ray's own
processes has to live on the cluster.
"""

import contextlib
import dataclasses
import logging
import os
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from types import FrameType
from typing import Any

from reproduce.runs.executors import longest_first
from reproduce.runs.job_queue import JobQueue
from reproduce.runs.perform import (
    FatalError,
    Job,
    Order,
    Perform,
    PlanError,
    Watch,
    begun,
    explained,
    publish,
)
from reproduce.runs.ray_task import TOKEN, Errand, Failed, Letter, Made, errand_for, letters
from reproduce.store.leases import BusyError
from reproduce.store.store import CHECKPOINT, Store, Workspace

AHEAD = 2
"""Runs that are asked for beyond what the cluster has room for: none waits for the driver, and a cluster that grows by
itself sees that there is work."""
DEATHS = 5
"""Times in a row that the workers of a run may die without a checkpoint in between."""
PAUSE = 0.05
"""Seconds between two looks at letters where there was none."""
UNREAD = 2
"""Letters of a run that may wait for the driver; a task holds back the next one."""


class OnRay:
    """An executor, to be used as a context manager: it connects, and ``workers`` says how many runs have room.

    Args:
        order: What all runs share.
        address: Of the cluster; "" takes ``$RAY_ADDRESS``, the cluster of this machine, or starts one here.
        cpus: Processor cores of a run.
        gpus: GPUs of a run; a part of one lets several runs share it.
        at_once: Runs that are asked for at a time; None: what has room, and a few more.
    """

    def __init__(
        self,
        order: Order,
        address: str = "",
        cpus: float = 1.0,
        gpus: float = 0.0,
        at_once: int | None = None,
    ) -> None:
        self.order, self.address, self.cpus, self.gpus, self.at_once = order, address, cpus, gpus, at_once
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

    def __call__(self, jobs: Sequence[Job], perform: Perform, watch: Watch) -> None:
        if not self.workers:
            needs = f"{self.cpus:g} CPU" + (f" and {self.gpus:g} GPU" if self.gpus else "")
            watch.told(f"no node of the cluster has {needs}: waiting for one")
        with noted_signals() as look:
            _Errands(self, jobs, watch).run(look)


class _Given:
    """A run that was given away."""

    def __init__(self, job: Job, space: Workspace, held: ExitStack) -> None:
        self.job, self.space, self.held = job, space, held
        self.deaths = 0
        self.host = ""
        """Machine that makes it; "" before it has begun."""
        self.checkpoint = self.stamp()

    def stamp(self) -> float:
        """When the newest checkpoint that is here was written, of whichever of its trainings."""
        return max((path.stat().st_mtime for path in self.space.folder.rglob(CHECKPOINT)), default=0.0)

    def close(self) -> None:
        """Let others make it; who still works in its folder is told to stop."""
        with contextlib.suppress(OSError):
            (self.space.folder / TOKEN).unlink(missing_ok=True)
        self.held.close()


class _Errands:
    """The runs of one command: which wait, which were given away, what is heard of them."""

    def __init__(self, engine: OnRay, jobs: Sequence[Job], watch: Watch) -> None:
        import ray

        self._ray, self._engine, self._watch = ray, engine, watch
        self._order, self._store = engine.order, Store(engine.order.root, "local")
        self._waiting = JobQueue(longest_first(jobs))
        self._given: dict[Any, _Given] = {}
        self._most, self._counted = 0, float("-inf")
        self._task = ray.remote(_letters).options(
            num_cpus=engine.cpus,
            num_gpus=engine.gpus,
            max_retries=0,
            num_returns="streaming",
            _generator_backpressure_num_objects=UNREAD,
        )

    def run(self, look: Callable[[], None]) -> None:
        try:
            while self._given or self._waiting:
                look()
                self._give()
                ready = self._ready()
                for task in ready:
                    self._hear(task)
                if not ready:
                    time.sleep(PAUSE)
        finally:
            for task, given in self._given.items():
                with contextlib.suppress(Exception):
                    self._ray.cancel(task, force=True)
                given.close()

    def _ready(self) -> list[Any]:
        """Tasks that have something to say."""
        if not self._given:
            return []
        ready: list[Any] = self._ray.wait(list(self._given), num_returns=len(self._given), timeout=0)[0]
        return ready

    def _give(self) -> None:
        """Give runs away as long as the cluster has room."""
        while len(self._given) < self._limit() and (job := self._waiting.next()) is not None:
            held = ExitStack()
            key = (job.experiment, job.profile, job.seed, job.spec.hash())
            try:
                space = held.enter_context(self._store.workspace(*key, fresh=self._order.fresh))
                made = None if self._order.fresh else self._store.find(*key)  # by who held the lease before
                if made is None:
                    begun(space, self._order, job)
            except BusyError as error:
                self._waiting.postpone(job)
                self._watch.postponed(job, str(error))
                continue
            except Exception as error:
                held.close()
                raise explained(error, None, self._order.root) from error
            if made is None:
                self._send(_Given(job, space, held))
            else:
                held.close()
                self._watch.started(job)
                self._watch.finished(job, made.version)

    def _limit(self) -> int:
        """Runs to have given away: counted anew every few seconds, because nodes come and go."""
        if self._engine.at_once is not None:
            return self._engine.at_once
        if time.monotonic() - self._counted > 5.0:
            self._most, self._counted = room(self._engine.cpus, self._engine.gpus) + AHEAD, time.monotonic()
        return self._most

    def _send(self, given: _Given) -> None:
        """Ask for a run, from where the last try got."""
        folder = given.space.folder
        try:
            errand = errand_for(given.job, folder, uuid.uuid4().hex, self._order.loggers)
        except (OSError, ValueError) as error:
            given.close()
            raise explained(error, None, self._order.root) from error
        given.checkpoint = given.stamp()
        self._given[self._task.remote(errand)] = given

    def _hear(self, task: Any) -> None:
        """One letter of a run, or the end of its task."""
        given = self._given[task]
        try:
            letter = self._ray.get(next(task))
        except self._ray.exceptions.RayTaskError as error:
            self._close(task)
            said = f"{type(error.cause).__name__}: {(str(error.cause).splitlines() or ['no message'])[0]}"
            if not given.host:
                raise FatalError(f"a node of the cluster cannot begin ({said}): install the same there") from None
            self._watch.failed(given.job, said)
        except (self._ray.exceptions.RayError, StopIteration) as error:
            self._died(task, error)
        else:
            try:
                self._take(task, given, letter)
            except BusyError as error:  # the driver stood still for so long that its lease was taken over
                self._ray.cancel(task, force=True)
                self._close(task)
                self._waiting.postpone(given.job)
                self._watch.postponed(given.job, str(error))

    def _take(self, task: Any, given: _Given, letter: Letter) -> None:
        """Show what a letter says, and publish what it brings."""
        if not given.host:
            self._watch.started(given.job)
        given.host = letter.host
        given.space.held.glance()
        if letter.progress is not None:
            self._watch.progressed(given.job, letter.progress)
        end = letter.end
        try:
            if isinstance(end, Made):
                version = self._published(given, end)
        except (BusyError, FatalError):
            raise
        except Exception as error:
            told = explained(error, given.space.folder, self._order.root)
            if isinstance(told, FatalError):
                raise told from error
            self._ray.cancel(task, force=True)
            end = Failed(str(told))
        if end is None:
            return
        self._close(task)
        if isinstance(end, Made):
            self._watch.finished(given.job, version)
        elif end.fatal:
            raise FatalError(end.sentence)
        else:
            self._watch.failed(given.job, end.sentence)

    def _published(self, given: _Given, made: Made) -> int:
        order = dataclasses.replace(self._order, provenance={**self._order.provenance, **made.machine})
        return publish(given.space, order, given.job, made.outcome, made.seconds).version

    def _died(self, task: Any, error: Exception) -> None:
        """A worker or its node died: ask again, unless that happens at the same place over and over."""
        given = self._given.pop(task)
        given.deaths = 1 if given.stamp() != given.checkpoint else given.deaths + 1
        cause = type(error).__name__.removesuffix("Error")
        if given.deaths < DEATHS:
            goes_on = "its newest checkpoint" if given.stamp() else "its beginning"
            where = f" on {given.host}" * bool(given.host)
            self._watch.told(f"{given.job.name}: its worker{where} died ({cause}): it goes on elsewhere from {goes_on}")
            self._send(given)
        else:
            given.close()
            self._watch.failed(
                given.job, f"its workers died {DEATHS} times in a row ({cause}: out of memory, or killed)"
            )

    def _close(self, task: Any) -> None:
        self._given.pop(task).close()


def _letters(errand: Errand) -> Iterator[Letter]:
    """The task: runs in a worker of Ray."""
    yield from letters(errand)


@contextlib.contextmanager
def connected(address: str) -> Iterator[None]:
    """A connection to a cluster; raises `PlanError` where there is no Ray, or no cluster at the address."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a cluster that is started here tells nobody
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError:
        raise PlanError("--executor ray: the package is not installed; pip install '.[cluster]' adds it") from None
    if ray.is_initialized():
        yield
        return
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        ray.init(address=address or None, log_to_driver=False, logging_level=logging.ERROR)
        # whatever log_to_driver says, Ray prints into the live display what becomes of nodes; the watch is told
        ray._private.worker.print_to_stdstream = lambda *_, **__: None
    except (OSError, RuntimeError, ValueError, TimeoutError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise PlanError(f"--address {address}: there is no Ray cluster that answers ({reason})") from None
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, handler in kept.items():  # Ray puts its own in place
                signal.signal(number, handler)
    try:
        yield
    finally:
        ray.shutdown()


def room(cpus: float, gpus: float) -> int:
    """Runs for which the nodes that are alive have room."""
    import ray

    return sum(fitting(node["Resources"], cpus, gpus) for node in ray.nodes() if node["Alive"])


def fitting(resources: dict[str, float], cpus: float, gpus: float) -> int:
    """Runs that fit on a node; a run uses parts of one GPU, or whole ones.

    >>> fitting({"CPU": 16.0, "GPU": 2.0}, 1, 0.3), fitting({"CPU": 4.0, "GPU": 2.0}, 1, 0.25)
    (6, 4)
    """
    found = []
    if cpus:
        found.append(int(resources.get("CPU", 0) / cpus))
    if gpus:
        here = resources.get("GPU", 0)
        found.append(int(here / gpus) if gpus >= 1 else int(here) * int(1 / gpus))
    return min(found, default=0)


@contextlib.contextmanager
def noted_signals() -> Iterator[Callable[[], None]]:
    """SIGINT and SIGTERM wait for a call of what this gives: inside of Ray's core an exception of a handler is lost."""
    noted: list[tuple[int, FrameType | None]] = []
    handlers: dict[signal.Signals, Any] = {}

    def look() -> None:
        if noted:
            number, frame = noted[0]
            handler = handlers[signal.Signals(number)]
            if callable(handler):
                handler(number, frame)
            raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        for each in (signal.SIGINT, signal.SIGTERM):
            handlers[each] = signal.signal(each, lambda *seen: noted.append(seen))
    try:
        yield look
    finally:
        for each, handler in handlers.items():
            signal.signal(each, handler)
