"""One run made where the results folder is not: on another machine, or beside it.

What enters is an errand: a job, and what an earlier try left of it. What leaves are letters: how far it is, each
checkpoint as it is written, and in the end all files with what was measured, or a sentence. Nothing here publishes,
and nothing knows how errands and letters travel (`on_ray` does).
"""

import platform
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from lengen.results.progress import Progress
from reproduce.runs.executors import throttled
from reproduce.runs.perform import FatalError, Job, explained, train
from reproduce.store.atomic_files import StoreError, readable, write_bytes
from reproduce.store.provenance import code_digest, this_machine
from reproduce.store.run_folder import RECORDS
from reproduce.store.store import LOGGERS

TOKEN = ".errand"
"""File in a work folder that says which errand is the present one; a machine that can read it trains in place."""
METRICS = RECORDS[0]
"""The only file that grows line by line; the others are whole whenever they are there."""

Files = Mapping[str, bytes]
"""Place below the work folder, parts between slashes -> content."""


@dataclass(frozen=True)
class Errand:
    """Work for another machine."""

    job: Job
    work: Path
    """The work folder, as the machine that publishes sees it."""
    token: str
    """Content of the file `TOKEN` in it."""
    code: str
    """`reproduce.store.provenance.code_digest` of the machine that publishes."""
    loggers: tuple[str, ...] = ()
    in_place: bool = True
    """True if the work folder itself may be used by a machine that sees it."""


@dataclass(frozen=True)
class Made:
    """The run is trained and measured."""

    outcome: Any
    seconds: float
    machine: Mapping[str, object]
    """The provenance of the machine that trained."""


@dataclass(frozen=True)
class Failed:
    """The run failed; ``fatal`` where every other one would fail too."""

    sentence: str
    fatal: bool = False


@dataclass
class Letter:
    """Events since the last letter."""

    host: str = field(default_factory=platform.node)
    progress: Progress | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    """Files that are new or changed; none of a run that is made in place."""
    end: Made | Failed | None = None


class SupersededError(Exception):
    """The errand was given to somebody else, because nothing was heard of this process."""


def errand_for(job: Job, work: Path, token: str, loggers: tuple[str, ...], in_place: bool) -> Errand:
    """Make a work folder ready for a new errand, which ends an earlier one that still writes there."""
    write_bytes(work / TOKEN, token.encode())
    return Errand(job, work.resolve(), token, code_digest(), loggers, in_place)


def letters(errand: Errand, left: Callable[[], Files]) -> Iterator[Letter]:
    """Do an errand; ``left`` brings what an earlier try left, where the work folder cannot be seen from here.

    The training is a thread of its own, so that letters leave while it computes; the newest replaces what did not leave
    yet, so that a slow line holds back nothing and needs no room.
    """
    if code_digest() != errand.code:
        remedy = "install the same there, or start this command from what is there"
        yield Letter(end=Failed(f"{platform.node()} has other code than the machine that publishes: {remedy}", True))
        return
    with ExitStack() as held:
        folder, in_place = errand.work, errand.in_place and _is_current(errand)
        if not in_place:
            folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="lengen-", ignore_cleanup_errors=True)))
            try:
                write(folder, left())
            except StoreError as error:
                yield Letter(end=Failed(f"{platform.node()}: {error}", True))
                return
        outbox = _Outbox()
        yield Letter()  # it has begun
        threading.Thread(target=_do, args=(errand, folder, in_place, outbox), daemon=True).start()
        while True:
            letter = outbox.take()
            yield letter
            if letter.end is not None:
                return


def _do(errand: Errand, folder: Path, in_place: bool, outbox: "_Outbox") -> None:
    """Train and measure, and tell the outbox."""
    began, changes = time.monotonic(), None if in_place else Changes(folder)

    def report(progress: Progress) -> None:
        if changes is None and not _is_current(errand):
            raise SupersededError
        outbox.put(progress, {} if changes is None else changes.after_a_checkpoint())

    end: Made | Failed
    try:
        outcome = train(errand.job, folder, throttled(report), errand.loggers)
        end = Made(outcome, time.monotonic() - began, this_machine())
    except SupersededError:
        end = Failed("another process makes it")  # whom nobody hears
    except Exception as error:
        told = explained(error, folder, folder)
        if isinstance(told, FatalError):  # a disk that is full is one of that machine
            end = Failed(f"{platform.node()}: {told}", True)
        else:
            end = Failed(_there(str(told), folder, errand.work))
    try:
        files = {} if changes is None else changes.all()
    except OSError as error:
        end, files = Failed(f"{platform.node()}: {error}"), {}
    outbox.put(None, files, end)


def _is_current(errand: Errand) -> bool:
    """Return True if the work folder can be seen from here, and still belongs to this errand."""
    try:
        return (errand.work / TOKEN).read_text() == errand.token
    except OSError:
        return False


def _there(sentence: str, folder: Path, work: Path) -> str:
    """A sentence about files of a folder here, as it reads where they will be."""
    for name in (readable(folder), str(folder)):
        sentence = sentence.replace(name, str(work))
    return sentence


class _Outbox:
    """One letter that grows until it is taken."""

    def __init__(self) -> None:
        self._changed, self._letter = threading.Condition(), Letter()

    def put(self, progress: Progress | None, files: Files, end: Made | Failed | None = None) -> None:
        with self._changed:
            self._letter.progress = progress or self._letter.progress
            self._letter.files |= files
            self._letter.end = end
            self._changed.notify()

    def take(self) -> Letter:
        """The letter, as soon as there is something in it."""
        with self._changed:
            self._changed.wait_for(lambda: self._letter.progress or self._letter.files or self._letter.end)
            letter, self._letter = self._letter, Letter()
            return letter


class Changes:
    """Changes in a folder since the last look, found by the thread that writes there, so nothing is half."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen = _stamps(folder)

    def after_a_checkpoint(self) -> dict[str, bytes]:
        """All that is new, where that is more than another line of metrics: what a run can go on from."""
        stamps = {name: stamp for name, stamp in _stamps(self._folder).items() if LOGGERS not in Path(name).parts}
        new = {name for name, stamp in stamps.items() if self._seen.get(name) != stamp}
        if all(PurePosixPath(name).name == METRICS for name in new):
            return {}
        return self._read({name: stamps[name] for name in new})

    def all(self) -> dict[str, bytes]:
        """All that is new, what loggers wrote as well."""
        return self._read({name: at for name, at in _stamps(self._folder).items() if self._seen.get(name) != at})

    def _read(self, stamps: dict[str, tuple[int, int]]) -> dict[str, bytes]:
        files = {name: (self._folder / name).read_bytes() for name in stamps}
        self._seen |= stamps
        return files


def _stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """Place -> time and size of each file that a run can go on from, or is."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and not path.name.startswith(".") and path.suffix != ".tmp":
            state = path.stat()
            found[path.relative_to(folder).as_posix()] = (state.st_mtime_ns, state.st_size)
    return found


def left_in(folder: Path) -> dict[str, bytes]:
    """Return the files that a try left in a work folder for the next one."""
    return {name: (folder / name).read_bytes() for name in _stamps(folder)}


def write(folder: Path, files: Files) -> None:
    """Put files into a folder, each whole or not at all, checkpoints after what accompanies them."""
    for name in sorted(files, key=lambda name: (name.endswith(".ckpt"), name)):
        place = folder / name
        if not place.resolve().is_relative_to(folder.resolve()):
            raise FatalError(f"a letter names the file {name!r}, which is outside of the folder of its run")
        write_bytes(place, files[name])
