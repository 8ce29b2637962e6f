"""The worker, the only maker of runs: it takes the next run whose lease is free, until none is left.

What enters are jobs and what all runs of one command share; what leaves are runs in the local store, and events for a
`Watch`. Workers keep no book of what is done: that is in the run folders, so any worker goes on where another was
killed. A machine has some of them (`runs.local`), Slurm an array of them, and each task of Ray is one with one job.
"""

import datetime
import heapq
import json
import math
import os
import shutil
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, MutableSequence, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from lengen.clone import is_sentence
from lengen.part import SettingError
from lengen.results.progress import Progress, Report
from lengen.results.records import Run
from lengen.training.dispatch import run_setting
from reproduce.runs.plan import FatalError, Job, Order, Watch
from reproduce.store.files import StoreError, existing, readable, write_text
from reproduce.store.lease import STALE, BusyError
from reproduce.store.run_folder import CHECKPOINT
from reproduce.store.store import BEGINNING, LOGGERS, LocalStore, Workspace

ERRORS = "error.txt"
"""File for the traceback of an unexpected error, in the work folder of the run."""
RESUMING = "resuming"
"""Stage of a run that goes on from the checkpoint of an earlier process."""
FULL = 4 * 2**20
"""Bytes below which a disk counts as full: writers of checkpoints do not always say so."""
REPORTS_PER_SECOND = 4
"""At most so many progress reports of one run reach the display."""
AGAIN = 1.0
"""Seconds after which a run that another command is making is looked at again."""
IDLE = 0.05
"""Seconds to sleep when all that is left is being made elsewhere."""
PATIENCE = 2 * STALE
"""Seconds for which a worker that need not wait for the others looks at what is left: were one of them dead, its lease
would be free by then."""
DEATHS = 5
"""Times in a row that the processes of a run may die without a checkpoint in between."""
FREE, LEFT, OVER = 0, -1, -2
"""States of a job that no worker of this command holds: nobody took it, its process died, it is over."""
OF_THE_FIRST = ("commit", "dirty", "code", "command")
"""Fields of the provenance that are those of the process that began; the others are of the machine that ended."""

T = TypeVar("T")


class JobQueue(Generic[T]):
    """A queue; iterating over it waits for what was postponed, and ends when nothing is left.

    With ``patience`` it ends as well when for so many seconds all that was looked at was being made elsewhere.

    >>> queue = JobQueue("ab", now=iter((0.0, 0.5, 1.0)).__next__)
    >>> queue.next(), queue.postpone("a"), queue.next(), queue.next(), queue.next()
    ('a', None, 'b', None, 'a')
    """

    def __init__(
        self, items: Iterable[T], now: Callable[[], float] = time.monotonic, patience: float = math.inf
    ) -> None:
        self._waiting = [(-math.inf, place, item) for place, item in enumerate(items)]
        self._places, self._now, self._patience = len(self._waiting), now, patience
        self._since: float | None = None  # when the first look of a row of vain ones was

    def __bool__(self) -> bool:
        return bool(self._waiting) and (self._waiting[0][0] == -math.inf or not self._in_vain())

    def __iter__(self) -> Iterator[T]:
        while self:
            item = self.next()
            if item is None:
                time.sleep(IDLE)
            else:
                yield item

    def next(self) -> T | None:
        """Return the next item; None if nothing is left, or all that is left was postponed a moment ago."""
        if self._waiting and (self._waiting[0][0] == -math.inf or self._waiting[0][0] <= self._now()):
            return heapq.heappop(self._waiting)[2]
        return None

    def postpone(self, item: T, seconds: float = AGAIN) -> None:
        """Put an item behind all new ones, for so many seconds at least."""
        now = self._now()
        if self._since is None:
            self._since = now
        self._places += 1
        heapq.heappush(self._waiting, (now + seconds, self._places, item))

    def done(self) -> None:
        """Note that an item was dealt with: looking at the others was not in vain."""
        self._since = None

    def _in_vain(self) -> bool:
        return self._since is not None and self._now() - self._since > self._patience


def work(
    jobs: Sequence[Job], order: Order, watch: Watch, holders: MutableSequence[int], first: int = 0,
    patience: float = math.inf,
) -> None:  # fmt: skip
    """Make every run that nobody else makes, one after another, and wait for what others are making.

    Args:
        jobs: In the order in which they are begun.
        order: What all of them share.
        watch: Receiver of events.
        holders: Of each job the process among the workers of this command that makes it, or `FREE`, `LEFT` or `OVER`.
            Leases decide who makes a run; this tells workers of each other, and of runs that failed, without a lock
            that a killed one could take along.
        first: Number of the job to begin with, so that several workers do not begin with the same.
        patience: Seconds after which it ends if all that is left is being made by others.

    Raises `FatalError` for what concerns all runs.
    """
    queue = JobQueue([*range(first, len(jobs)), *range(first)], patience=patience)
    for number in queue:
        job, state = jobs[number], holders[number]
        if state > 0:
            queue.postpone(number, IDLE)
            continue
        try:
            if state != OVER:
                make(job, order, watch, state == LEFT, partial(_take, holders, number))
        except BusyError as error:
            if holders[number] not in (FREE, LEFT, os.getpid()):  # held by another worker of this command
                queue.postpone(number, IDLE)
                continue
            if holders[number] > 0:  # it was taken over from this process
                holders[number] = LEFT
            watch.postponed(job, str(error))
            queue.postpone(number)
        else:
            holders[number] = OVER
            queue.done()


def _take(holders: MutableSequence[int], number: int) -> None:
    """Note that this process has the lease of a job; raises `BusyError` if a worker of this command had it before."""
    if holders[number] not in (FREE, LEFT):
        raise BusyError("another worker made it")
    holders[number] = os.getpid()


def make(job: Job, order: Order, watch: Watch, left: bool = False, take: Callable[[], None] = lambda: None) -> None:
    """Make one run: hold its lease, train and measure (going on from what a killed process left), publish it.

    Args:
        job: The run.
        order: What all runs of the command share.
        watch: Receiver of events, of the failure too.
        left: True for a run that a process of this command began and left: it goes on, even if it was to begin anew.
        take: Called with the lease in hand; may raise `BusyError`.

    Raises:
        BusyError: if another process makes it.
        FatalError: for what concerns all runs.
    """
    store, began = LocalStore(order.root), time.monotonic()
    work: Path | None = None
    try:
        with store.workspace(*job.key, fresh=order.fresh and not left) as space:
            take()
            watch.started(job)
            made = None if order.fresh else store.find(*job.key)  # by a process that held the lease before
            if made is None:
                work = space.folder
                begin(work, order, job)
                report = throttled(partial(watch.progressed, job))
                if (work / CHECKPOINT).is_file():
                    report(Progress(RESUMING, 0, 1, None, None))
                outcome = train(job, work, watched(report, space), order.loggers)
                made = publish(space, order, job, outcome, time.monotonic() - began)
    except BusyError:
        raise
    except Exception as error:
        watch.failed(job, explained(error, work, order.root))
    else:
        watch.finished(job, made.version)


def watched(report: Report, space: Workspace) -> Report:
    """Return ``report``, which ends a run that another process took over while this one stood still."""

    def passed(progress: Progress) -> None:
        space.held.glance()
        report(progress)

    return passed


def throttled(report: Report) -> Report:
    """Return ``report``, called at most 4 times a second, but for the first and last step of each stage."""
    last, stage = 0.0, ""

    def passed(progress: Progress) -> None:
        nonlocal last, stage
        now = time.monotonic()
        if progress.stage == stage and progress.step != progress.steps and now - last < 1 / REPORTS_PER_SECOND:
            return
        last, stage = now, progress.stage
        report(progress)

    return passed


def begin(work: Path, order: Order, job: Job) -> dict[str, object]:
    """Return the record of the process that began the run in a work folder: of this one, if none did before.

    It is made before the first step, since a claim may change before another process takes the last one. Under
    ``resumed`` stand commits of later processes that ran other code. A folder that has a checkpoint and no such file
    was left by a program that kept none: its run is begun by who goes on with it. Raises `StoreError` where the file is
    no JSON.
    """
    path = work / BEGINNING
    known = {name: order.provenance[name] for name in OF_THE_FIRST if name in order.provenance}
    if not path.exists():
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        began: dict[str, object] = {**known, "claims": dict(order.claims.get(job.experiment, {})), "started": now}
        write_text(path, json.dumps(began))
        return began
    try:
        began = dict(json.loads(path.read_bytes()))
    except (ValueError, TypeError) as error:
        fault = f"{readable(path)}: expected JSON ({error})"
        raise StoreError(f"{fault}; delete {readable(work)}, and its run begins anew") from None
    codes = [began, *began.get("resumed", [])]  # type: ignore[misc]
    code = {name: known.get(name) for name in ("commit", "dirty", "code") if name in known or name != "code"}
    if not any(all(other.get(name) == code[name] for name in code) for other in codes):
        began["resumed"] = [*codes[1:], code]
        write_text(path, json.dumps(began))
    return began


def publish(space: Workspace, order: Order, job: Job, outcome: Any, seconds: float) -> Run:
    """Give a run that took so many seconds its final name, with everything that is known of it."""
    info = {"spec": job.spec.to_dict(), "overrides": list(job.overrides), **order.provenance}
    return space.publish({**info, **begin(space.folder, order, job), "seconds": round(seconds, 1)}, outcome)


def train(job: Job, folder: Path, report: Report, names: Sequence[str]) -> Any:
    """Train and measure in a folder, resuming what lies there; return what was measured, for `publish`.

    Other packages are loaded only for a logger of theirs.
    """
    if job.profile != "paper":
        use_one_thread()
    if not names:
        return run_setting(job.spec, job.seed, folder, report)
    from lengen.callbacks.loggers import close, extra_loggers

    try:
        return run_setting(job.spec, job.seed, folder, report, extra_loggers(names, folder / LOGGERS))
    finally:
        close()


def use_one_thread() -> None:
    """Take one thread: a sum then has one order, so results do not depend on how many runs share the machine."""
    os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")  # for a torch that is not loaded yet
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)


def explained(error: Exception, work: Path | None, root: Path) -> str:
    """Return the error as one sentence; raises `FatalError` with it if it would stop the other runs too."""
    if isinstance(error, StoreError | SettingError):
        raise FatalError(str(error)) from error
    if _disk_full(work or root):
        remedy = "make room and run the same command; without --fresh it resumes"
        raise FatalError(f"the disk of {readable(root)} is full: {remedy}") from error
    if "No space left on device" in str(error) and _disk_full(Path(temporary := os.environ.get("TMPDIR") or "/tmp")):
        raise FatalError(
            f"the disk of the temporary files, {temporary}, is full: make room, or set TMPDIR to a folder"
        ) from error
    if isinstance(error, OSError) and error.filename is not None:
        place = readable(Path(os.fsdecode(error.filename)))
        remedy = "make it readable and writable, then run the same command"
        raise FatalError(f"{place}: {error.strerror}; {remedy}") from error
    if is_sentence(error):
        return str(error)
    sentence = f"{type(error).__name__}: {(str(error).splitlines() or ['no message'])[0]}"
    if work is not None and work.is_dir():
        try:
            write_text(work / ERRORS, "".join(traceback.format_exception(error)))
            sentence += f" (traceback in {readable(work / ERRORS)})"
        except StoreError as full:
            raise FatalError(str(full)) from error
    return sentence


def _disk_full(path: Path) -> bool:
    return shutil.disk_usage(existing(path)).free < FULL


class Deaths:
    """Count of the processes of each run that died in a row without a checkpoint in between."""

    def __init__(self, root: Path) -> None:
        self._store, self._counts = LocalStore(root), dict[Job, tuple[float, int]]()

    def after(self, job: Job, cause: str) -> tuple[bool, str]:
        """Note a death; return True if the run is made again, and the sentence about it."""
        home = self._store.path / job.experiment / job.profile / f"seed-{job.seed}"
        newest = max((path.stat().st_mtime for path in home.rglob(CHECKPOINT)), default=0.0)
        before, count = self._counts.get(job, (newest, 0))
        count = count + 1 if newest == before else 1
        self._counts[job] = newest, count
        if count >= DEATHS:
            return False, f"{cause}, {DEATHS} times in a row without a checkpoint in between"
        goes_on = "its newest checkpoint" if newest else "its beginning"
        return True, f"{job.name}: {cause}: it goes on from {goes_on}"
