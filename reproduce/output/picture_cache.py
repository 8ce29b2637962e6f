"""Pictures that need no new drawing: made of the same content as now, and not touched since.

A sum of everything that a picture is made of enters (`sum_of`), whether its files still are what was drawn from that
leaves. The sum covers the program's own files, the versions of what draws, and every file of every run, so a picture is
never older than anything it shows; a figure of which that cannot be said has no sum and is drawn anew. The notes lie in
``<root>/local/drawn.json``, which git ignores; without that file everything is drawn.
"""

import contextlib
import functools
import hashlib
import json
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from lengen.paper.experiment import Figure
from lengen.results.records import Run
from reproduce import PROGRAM
from reproduce.store.atomic_files import StoreError, write_bytes
from reproduce.store.provenance import code_digest

LIBRARIES = ("matplotlib", "seaborn", "numpy", "pandas", "pillow", "kiwisolver", "pyparsing", "contourpy")
"""Whose version can change the bytes of a picture, or the numbers in it."""


def sum_of(figure: Figure, runs: Mapping[str, Sequence[Run]]) -> str | None:
    """A digest of all that the picture is made of; None where something of it is not known to be in a file."""
    known = all(place.partition(".")[0] in PROGRAM for place in (figure.how, figure.csv) if place)
    # a finished run holds the sha256 of its files or rows, which were compared when it was read
    if not known or not all(run.info.get("files") or run.info.get("rows") for some in runs.values() for run in some):
        return None
    read = [
        [name, [[[run.experiment, run.profile, run.seed, run.version, run.store], run.info] for run in some]]
        for name, some in runs.items()
    ]
    parts = [figure.name, figure.title, list(figure.reads), bool(figure.csv), read]
    return hashlib.sha256((_program() + json.dumps(parts, sort_keys=True)).encode()).hexdigest()


@functools.cache
def _program() -> str:
    """A digest of the program and of what it draws with; read once by a process, which does not change while it runs"""
    said = [platform.python_version(), platform.machine(), *(f"{name} {version(name)}" for name in LIBRARIES)]
    return json.dumps([code_digest(), *said])


class Drawn:
    """The notes of one results folder: file -> the sum of what it was made of, and the digest of its bytes."""

    def __init__(self, root: Path) -> None:
        self._root, self._path = root, root / "local" / "drawn.json"
        try:
            notes = json.loads(self._path.read_bytes())
        except (OSError, ValueError, RecursionError):
            notes = {}
        self._notes: dict[str, object] = notes if isinstance(notes, dict) else {}

    def is_current(self, path: Path, made_of: str | None) -> bool:
        """Return True if a file was drawn from exactly this and is as it was written."""
        note = self._notes.get(self._name(path))
        return made_of is not None and path.is_file() and note == [made_of, _digest(path.read_bytes())]

    def holds(self, path: Path) -> bool:
        """Return True if a file is as it was drawn here, from any content."""
        note = self._notes.get(self._name(path))
        return isinstance(note, list) and path.is_file() and note[-1:] == [_digest(path.read_bytes())]

    def note(self, path: Path, made_of: str | None, content: bytes) -> None:
        """A file was drawn from this."""
        if made_of is not None:
            self._notes[self._name(path)] = [made_of, _digest(content)]

    def save(self) -> None:
        """Write the notes where they are not those on the disk."""
        content = (json.dumps(self._notes, indent=0, sort_keys=True) + "\n").encode()
        if self._notes and not (self._path.is_file() and self._path.read_bytes() == content):
            with contextlib.suppress(StoreError):  # in a checkout that cannot be written all is drawn again
                write_bytes(self._path, content)

    def _name(self, path: Path) -> str:
        # committed pictures may lie in another folder than the local results
        return Path(os.path.relpath(path, self._root)).as_posix()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
