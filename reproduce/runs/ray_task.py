"""One run made by a worker of a cluster, in the work folder that all nodes see.

What enters is an errand; what leaves are letters: how far it is, and in the end what was measured, or a sentence.
Nothing here publishes, and nothing knows how letters travel (`on_ray` does).
"""

import platform
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lengen.results.progress import Progress
from reproduce.runs.executors import throttled
from reproduce.runs.perform import FatalError, Job, explained, train
from reproduce.store.atomic_files import write_bytes
from reproduce.store.provenance import code_digest, this_machine

TOKEN = ".errand"
"""File in a work folder that says which errand is the present one: who finds another there stops writing."""


@dataclass(frozen=True)
class Errand:
    """The task of a worker."""

    job: Job
    work: Path
    """The work folder, which every node sees at this place."""
    token: str
    """Content of the file `TOKEN` in it."""
    code: str
    """`reproduce.store.provenance.code_digest` of the machine that publishes."""
    loggers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Made:
    """The run is trained and measured."""

    outcome: Any
    seconds: float
    machine: Mapping[str, object]
    """The provenance of the machine that trained."""


@dataclass(frozen=True)
class Failed:
    """The run failed; ``fatal`` if every other one would fail too."""

    sentence: str
    fatal: bool = False


@dataclass(frozen=True)
class Letter:
    """News since the last letter."""

    host: str = field(default_factory=platform.node)
    progress: Progress | None = None
    end: Made | Failed | None = None


class SupersededError(Exception):
    """The errand was given to somebody else, because nothing was heard of this process."""


def errand_for(job: Job, work: Path, token: str, loggers: tuple[str, ...]) -> Errand:
    """Make a work folder ready for a new errand, which ends an earlier one that still writes there."""
    write_bytes(work / TOKEN, token.encode())
    return Errand(job, work.resolve(), token, code_digest(), loggers)


def letters(errand: Errand) -> Iterator[Letter]:
    """Do an errand. The training is a thread of its own, so that letters leave while it computes; the newest replaces
    one that did not leave yet."""
    node = platform.node()
    if code_digest() != errand.code:
        remedy = "install the same there, or start this command from what is there"
        yield Letter(end=Failed(f"{node} has other code than the machine that publishes: {remedy}", True))
        return
    if not _is_current(errand):
        remedy = "set LENGEN_RESULTS to a folder that all nodes see at the same place"
        yield Letter(end=Failed(f"{node} does not see {errand.work}: {remedy}", True))
        return
    letter, outbox = Letter(), queue.SimpleQueue[Letter]()
    yield letter  # it has begun
    threading.Thread(target=_do, args=(errand, outbox.put), daemon=True).start()
    while letter.end is None:
        letter = outbox.get()
        while letter.end is None and not outbox.empty():
            letter = outbox.get()
        yield letter


def _do(errand: Errand, send: Callable[[Letter], None]) -> None:
    """Train and measure, and send letters."""
    began = time.monotonic()

    def report(progress: Progress) -> None:
        if not _is_current(errand):
            raise SupersededError
        send(Letter(progress=progress))

    end: Made | Failed
    try:
        outcome = train(errand.job, errand.work, throttled(report), errand.loggers)
        end = Made(outcome, time.monotonic() - began, this_machine())
    except SupersededError:
        end = Failed("another process makes it")  # whom nobody hears
    except Exception as error:
        told = explained(error, errand.work, errand.work)
        end = Failed(f"{platform.node()}: {told}", True) if isinstance(told, FatalError) else Failed(str(told))
    send(Letter(end=end))


def _is_current(errand: Errand) -> bool:
    """Return True if the work folder can be seen from here, and is that of this errand still."""
    try:
        return (errand.work / TOKEN).read_text() == errand.token
    except OSError:
        return False
