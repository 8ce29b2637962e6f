"""The same work on many things, on all cores: what leaves is what one process would give.

Processes and no threads, because matplotlib draws in one thread alone. They are forks: what the work needs is there
without being read or sent again.
"""

import multiprocessing
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from reproduce.runs.estimate import usable_cores

T = TypeVar("T")
R = TypeVar("R")


class EndedError(ValueError):
    """A process that worked was ended from outside; one sentence for the user."""


def each(work: Callable[[T], R], items: Sequence[T], workers: int | None = None) -> Iterator[tuple[int, R]]:
    """``(place, work(item))`` of every item in the order in which they get ready; ``workers``: as many as cores.

    One process does it all where there is one worker or one item, and where forking is not safe: outside of Linux,
    beside other threads, and after torch was loaded.
    """
    workers = min(usable_cores() if workers is None else workers, len(items))
    if workers < 2 or not _forks():
        yield from ((place, work(item)) for place, item in enumerate(items))
        return
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), _hold, (work, items))
    try:
        places = {pool.submit(_at, place): place for place in range(len(items))}
        for done in as_completed(places):
            yield places[done], done.result()
    except BrokenProcessPool:
        raise EndedError(
            "a process was ended while it worked, as happens where memory is short: free some and give the same "
            "command again"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _forks() -> bool:
    return sys.platform == "linux" and threading.active_count() == 1 and "torch" not in sys.modules


_held: tuple[Callable[[Any], Any], Sequence[Any]]


def _hold(work: Callable[[T], R], items: Sequence[T]) -> None:
    """Keep in a new process what it was forked with; whoever interrupts the command interrupts its first process."""
    global _held
    _held = work, items
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _at(place: int) -> Any:
    work, items = _held
    return work(items[place])
