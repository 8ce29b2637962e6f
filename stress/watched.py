"""What a reader of foreign files must not do: write elsewhere, start anything, open a connection, unpickle objects.

One audit hook of the interpreter sees it; it cannot be taken away again, and says nothing outside of `watched`.
"""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "socket.connect", "ctypes.dlopen")
CHANGES = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod")
UNPICKLED = ("pickle.find_class",)
"""torch reads weights with an unpickler of its own, which looks up what it knows; C's is asked for everything."""
_inside: list[tuple[Path, list[str]]] = []


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if not _inside:
        return
    home, seen = _inside[-1]
    if event in STARTS or event in UNPICKLED:
        seen.append(f"{event} {arguments!r:.200}")
    elif (event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITING) or event in CHANGES:
        _outside(event, arguments[0], home, seen)


def _outside(event: str, place: object, home: Path, seen: list[str]) -> None:
    if not isinstance(place, str | bytes | os.PathLike):
        return  # an open file
    path = Path(os.path.abspath(os.fsdecode(place)))
    if path != Path(os.devnull) and not path.is_relative_to(home):
        seen.append(f"{event} {path}")


sys.addaudithook(_hook)


@contextlib.contextmanager
def watched(home: Path) -> Iterator[list[str]]:
    """What was done inside that is allowed below ``home`` only, or nowhere; empty where all went well."""
    seen: list[str] = []
    _inside.append((Path(os.path.abspath(home)), seen))
    try:
        yield seen
    finally:
        _inside.pop()
