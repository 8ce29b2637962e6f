"""Files that are whole or absent, errors a reader of messages can use, and leases: the right to write a run.

What enters is a path and its content; what leaves is a file that was put on the disk before it got its name, or a
`StoreError` of one sentence.

A lease is the right to write in the folder of one seed; a `BusyError` names who has it. It is the file ``.lease``, made
atomically, with its owner's process, host and a random token. Its owner touches it every `HEARTBEAT` seconds. It is
taken over at once where its owner is a process of this machine that is gone, and where nobody touched it for `STALE`
seconds on the clock of who watches. ``fcntl.flock`` promises none of this on NFS.

The file itself is `filelock.SoftFileLease`, which torch brings with it, and which knows reused process ids, containers
and Windows; here is only how a results folder uses it.
"""

import contextlib
import functools
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import SoftFileLease


LONGEST_SENTENCE = 1000
"""Characters of a message."""


class StoreError(ValueError):
    """A results folder or file that cannot be used; one sentence with its place, what was expected, what to do."""


def readable(path: Path) -> str:
    """Return a path as messages show it: relative to the current folder where that is shorter."""
    shown = os.path.relpath(path)
    return shown if len(shown) < len(str(path)) else str(path)


def check_place(option: str, path: str | None) -> None:
    """Raise `StoreError` for a file of an option that cannot be written: before work of hours is done for it."""
    if path is None:
        return
    place = Path(path)
    if not place.parent.is_dir():
        raise StoreError(f"--{option} {path}: {place.parent} is no folder; make it, or name another")
    if place.is_dir():
        raise StoreError(f"--{option} {path}: it is a folder; name a file in it")
    try:
        if place.is_file():
            place.open("ab").close()
        elif not place.exists():
            tempfile.TemporaryFile(dir=place.parent).close()
    except OSError as error:
        reason = f"it cannot be written ({error.strerror or error})"
        raise StoreError(f"--{option} {path}: {reason}; give permission, or name another place") from None


def existing(path: Path) -> Path:
    """Return a path, or the nearest folder above it that exists."""
    while not os.path.exists(path):  # which says no, too, where a folder may not be entered
        path = path.parent
    return path


def one_line(text: str) -> str:
    r"""Return a message as one line of printable characters, whatever was typed or stood in a file.

    What would move the cursor or colour the terminal is shown as an escape, and the middle of a long message is left
    out.

    >>> one_line("a\x1b[31m" + chr(10) + "b")
    'a\\x1b[31m\\nb'
    """
    if len(text) > LONGEST_SENTENCE:
        half = LONGEST_SENTENCE // 2
        text = f"{text[:half]} ... {text[-half:]}"
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def read_bytes(path: Path, most: int) -> bytes:
    """Read a file; raises `StoreError` if it is longer than ``most`` bytes, before any of it is read."""
    if (size := path.stat().st_size) > most:
        raise StoreError(
            f"{readable(path)} has {size / 2**20:.0f} MB, more than the {most / 2**20:.0f} MB such a file may have: "
            "restore it, or delete its folder"
        )
    return path.read_bytes()


def write_text(path: Path, text: str) -> None:
    """Write a file atomically: under a temporary name, onto the disk, then renamed over the old one."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write bytes as `write_text` does; raises `StoreError` where the folder cannot be written."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o644)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise


def update(path: Path, content: str | bytes) -> bool:
    """Write a text or bytes unless the file holds them already; returns True if it was written."""
    content = content.encode() if isinstance(content, str) else content
    if path.is_file() and path.read_bytes() == content:
        return False
    write_bytes(path, content)
    return True


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an OSError about ``path`` (disk full, no permission) into a `StoreError`."""
    try:
        yield
    except OSError as error:
        fault = "make room or give permission, or set LENGEN_RESULTS to another folder"
        raise StoreError(f"{readable(path)} cannot be written ({error.strerror or error}): {fault}") from error


def sync(path: Path) -> None:
    """Put a file's content, or a folder's list of names, onto the disk; Windows opens no folders, and keeps names."""
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


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
