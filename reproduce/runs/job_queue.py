"""The queue of jobs: in order; a job that another process is making comes back after the rest."""

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from reproduce.store.leases import STALE

AGAIN = 2.0
"""Seconds after which a run that another process is making is looked at again."""
IDLE = 0.1
"""Seconds to sleep where all that is left is being made elsewhere."""
PATIENCE = 2 * STALE
"""Seconds for which somebody who need not wait for the others looks at what is left: were one of them dead, its lease
would be free by then."""

T = TypeVar("T")


class JobQueue(Generic[T]):
    """A queue; iterating over it waits for what was postponed, and ends when nothing is left.

    With ``patience`` it ends as well when for so many seconds all that was looked at was being made elsewhere.

    >>> queue = JobQueue("ab", now=iter(range(9)).__next__)
    >>> queue.next(), queue.postpone("a"), queue.next(), queue.next(), queue.next()
    ('a', None, 'b', None, 'a')
    """

    def __init__(
        self, items: Iterable[T], now: Callable[[], float] = time.monotonic, patience: float = math.inf
    ) -> None:
        self._ready, self._postponed, self._now = deque(items), deque[tuple[float, T]](), now
        self._patience = patience
        self._since: float | None = None  # when the first look of a row of vain ones was

    def __bool__(self) -> bool:
        return bool(self._ready) or (bool(self._postponed) and not self._in_vain())

    def __iter__(self) -> Iterator[T]:
        while self:
            item = self.next()
            if item is None:
                time.sleep(IDLE)
            else:
                yield item

    def next(self) -> T | None:
        """Return the next job; None if nothing is left, or all that is left was postponed a moment ago."""
        if self._ready:
            return self._ready.popleft()
        if self._postponed and self._postponed[0][0] <= self._now():
            return self._postponed.popleft()[1]
        return None

    def postpone(self, item: T) -> None:
        """Put an item behind all others, for `AGAIN` seconds at least."""
        now = self._now()
        if self._since is None:
            self._since = now
        self._postponed.append((now + AGAIN, item))

    def done(self) -> None:
        """An item was dealt with: looking at the others was not in vain."""
        self._since = None

    def _in_vain(self) -> bool:
        return self._since is not None and self._now() - self._since > self._patience
