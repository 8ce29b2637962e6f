"""Whose turn it is: work in order, where what another process is doing comes back after the rest."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

AGAIN = 2.0
"""Seconds after which a run that another process is making is looked at again."""
IDLE = 0.1
"""Seconds to sleep where all that is left is being made elsewhere."""

T = TypeVar("T")


class Turns(Generic[T]):
    """A queue; iterating over it waits for what was postponed, and ends when nothing is left.

    >>> turns = Turns("ab", now=iter(range(9)).__next__)
    >>> turns.next(), turns.postpone("a"), turns.next(), turns.next(), turns.next()
    ('a', None, 'b', None, 'a')
    """

    def __init__(self, items: Iterable[T], now: Callable[[], float] = time.monotonic) -> None:
        self._ready, self._postponed, self._now = deque(items), deque[tuple[float, T]](), now

    def __bool__(self) -> bool:
        return bool(self._ready or self._postponed)

    def __iter__(self) -> Iterator[T]:
        while self:
            item = self.next()
            if item is None:
                time.sleep(IDLE)
            else:
                yield item

    def next(self) -> T | None:
        """What to do now; None where nothing is left, or all that is left was postponed a moment ago."""
        if self._ready:
            return self._ready.popleft()
        if self._postponed and self._postponed[0][0] <= self._now():
            return self._postponed.popleft()[1]
        return None

    def postpone(self, item: T) -> None:
        """Put an item behind all others, for `AGAIN` seconds at least."""
        self._postponed.append((self._now() + AGAIN, item))
