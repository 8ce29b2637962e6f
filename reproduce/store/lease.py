"""Leases: the right to write in the folder of one seed; a `BusyError` names who has it.

A lease is the file ``.lease``, made atomically, with its owner's process, host and a random token. Its owner touches it
every `HEARTBEAT` seconds. It is taken over at once where its owner is a process of this machine that is gone, and where
nobody touched it for `STALE` seconds on the clock of who watches. ``fcntl.flock`` promises none of this on NFS.

The file itself is `filelock.SoftFileLease`, which torch brings with it, and which knows reused process ids, containers
and Windows; here is only how a results folder uses it.
"""

import contextlib
import functools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from reproduce.store.files import StoreError, readable, writing

if TYPE_CHECKING:
    from filelock import SoftFileLease


LEASE = ".lease"
"""File in the folder of a seed that names who writes there."""
STALE = 60.0
"""Seconds without a heartbeat after which a lease counts as left behind; every process has to agree on it."""
HEARTBEAT = 15.0
"""Seconds from one heartbeat to the next."""
MOMENT = 0.06
"""Seconds that a first look takes: a lease of a dead owner is cleared by one try, and taken by the next."""
POLL = 0.25
"""Seconds between two looks at a lease that is waited for."""
EMPTY = 10.0
"""Seconds that a lease may name nobody: making the file and writing its owner into it are two steps, and who is killed
between them leaves an empty one, which `filelock` takes for one of a program of long ago, and waits for it for ever."""
_seen_empty: dict[Path, tuple[tuple[int, int], float]] = {}
"""Empty leases: which file it is, and when this process saw it first."""


class BusyError(StoreError):
    """Another process writes this run; the message names it."""


class LostError(BusyError):
    """The lease of this process was taken over, because it missed its heartbeats: who took it makes the run."""


class Held:
    """A lease that this process holds, or lost because it stood still for long: stopped, or asleep."""

    def __init__(self, home: Path, lease: "SoftFileLease") -> None:
        self._home, self._lease, self._token = home, lease, lease.token

    def glance(self) -> None:
        """Raise `LostError` where a heartbeat found the lease in other hands; reads nothing while all is well."""
        if self._lease.compromise is not None:
            self.check()

    def check(self) -> None:
        """Raise `LostError` where the lease names another owner, or nobody, by now; reads one small file."""
        for _ in range(2):  # who looks whether its owner lives moves it aside for a moment
            owner = self._lease.owner
            if owner is not None and owner.token == self._token:
                return
            time.sleep(POLL)
        raise LostError(
            f"{readable(self._home)} was taken over by {_who(self._lease)}, because this process did not answer "
            f"for {STALE:.0f} seconds: run the same command again"
        )


@contextlib.contextmanager
def leased(home: Path, tell: Callable[[str], None] | None = None) -> Iterator[Held]:
    """Hold the lease of ``home``, which is made if need be.

    Where another process holds it, ``tell`` gets one sentence and the call waits; without ``tell`` it raises
    `BusyError`. Raises `StoreError` where the folder cannot be written.
    """
    with writing(home):
        home.mkdir(parents=True, exist_ok=True)
    lease = _lease(home.resolve())
    if lease.is_locked:
        raise BusyError(f"{readable(home)} is being written by this process already: wait for it to finish")
    with contextlib.ExitStack() as held:
        if not _acquired(lease, home, MOMENT, MOMENT / 3):
            sentence = f"{readable(home)} is being written by {_who(lease)}"
            if tell is None:
                raise BusyError(sentence + ": wait for it to finish, or stop it")
            tell(sentence + ": waiting for it to finish")
            while not _acquired(lease, home, EMPTY / 4, POLL):
                pass
        held.callback(lease.release)
        yield Held(home, lease)


def silent(path: Path, now: float) -> str:
    """Return the owner of a lease file that was not renewed for twice `STALE` seconds before ``now``, else "".

    ``now`` is in seconds since the epoch. Only reads.
    """
    try:
        age = now - path.stat().st_mtime
    except OSError:
        return ""
    if age <= 2 * STALE:
        return ""
    from filelock import SoftFileLease

    return _who(SoftFileLease(path))


def _acquired(lease: "SoftFileLease", home: Path, seconds: float, every: float) -> bool:
    """Return True if the lease was got within so many seconds, with a try every ``every`` seconds."""
    from filelock import Timeout

    try:
        with writing(home):
            try:
                lease.acquire(timeout=seconds, poll_interval=every)
            except Timeout:
                _clear_empty(home.resolve() / LEASE)
                return False
    except ValueError as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(f"{readable(home / LEASE)}: {error}") from None
    return True


def _clear_empty(path: Path) -> None:
    """Remove a lease that this process has seen empty, and untouched, for `EMPTY` seconds.

    An owner that stood still for so long between its two steps finds out before it publishes (`Held.check`).
    """
    with contextlib.suppress(OSError):
        status = path.stat()
        which, now = (status.st_ino, status.st_mtime_ns), time.monotonic()
        if status.st_size or _seen_empty.get(path, (which, now))[0] != which:
            _seen_empty.pop(path, None)
        if not status.st_size and now - _seen_empty.setdefault(path, (which, now))[1] >= EMPTY:
            del _seen_empty[path]
            path.unlink()


@functools.cache
def _lease(home: Path) -> "SoftFileLease":
    """Return one object for each folder and process, which remembers how long a lease was not touched."""
    from filelock import SoftFileLease

    return SoftFileLease(home / LEASE, lease_duration=STALE, heartbeat_interval=HEARTBEAT)


def _who(lease: "SoftFileLease") -> str:
    owner = lease.owner
    return "a process that just ended" if owner is None else f"process {owner.pid} on {owner.hostname.split('?')[0]}"
