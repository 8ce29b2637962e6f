"""Files that are replaced whole: a kill leaves the old content or the new, never a part."""

import os
from collections.abc import Callable
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a small file.

    It is not forced onto the disk, which would take longer than the step before it, so readers must tolerate a file
    that a power failure cut short.
    """
    save_whole(path, lambda temporary: temporary.write_bytes(text.encode()), forced=False)


def save_whole(path: Path, save: Callable[[Path], object], *, forced: bool = True) -> None:
    """Let ``save`` write a temporary file, which takes the place of ``path`` once it is on the disk (if ``forced``)."""
    temporary = path.with_suffix(".tmp")
    save(temporary)
    if forced:
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
    temporary.replace(path)
