"""Files that are whole or absent: atomic writing, locks, and errors a reader of messages can use.

What enters is a path and its content; what leaves is a file that was put on the disk before it got its name, or a
`StoreError` of one sentence.
"""

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path


class StoreError(ValueError):
    """A results folder or file that cannot be used; one sentence with its place, what was expected, what to do."""


def readable(path: Path) -> str:
    """A path as messages show it: relative to the current folder where that is shorter."""
    shown = os.path.relpath(path)
    return shown if len(shown) < len(str(path)) else str(path)


def write_text(path: Path, text: str) -> None:
    """Write a file atomically: under a temporary name, onto the disk, then renamed over the old one."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """`write_text` for bytes; raises `StoreError` where the folder cannot be written."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fchmod(file.fileno(), 0o644)
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an OSError about ``path`` (disk full, no permission) into a `StoreError`."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{readable(path)} cannot be written ({error.strerror or error}): make room or give permission, "
            "or set LENGEN_RESULTS to another folder"
        ) from error


@contextlib.contextmanager
def locked(home: Path, wait: bool, tell: Callable[[str], None] | None) -> Iterator[None]:
    """Hold ``home/.lock``; the kernel lets go of it when its holder ends, however it ends."""
    with writing(home):
        home.mkdir(parents=True, exist_ok=True)
        handle = os.open(home / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sentence = f"{readable(home)} is being written by process {os.pread(handle, 20, 0).decode() or 'unknown'}"
            if not wait:
                raise StoreError(sentence + ": wait for it to finish, or stop it") from None
            if tell is not None:
                tell(sentence + ": waiting for it to finish")
            fcntl.flock(handle, fcntl.LOCK_EX)
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(handle)


def sync(path: Path) -> None:
    """Put a file's content, or a folder's list of names, onto the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
