"""Files that are whole or absent, and errors a reader of messages can use.

What enters is a path and its content; what leaves is a file that was put on the disk before it got its name, or a
`StoreError` of one sentence.
"""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

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
