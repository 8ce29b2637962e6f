"""Signals that end a process, held back until the step at hand is saved."""

import signal
import threading
from types import FrameType
from typing import Any


class HeldSignals:
    """SIGINT and SIGTERM between `hold` and `release`: the first one is noted in ``came``, and has its effect after.

    A second SIGINT has it at once. Signals that the process ignores stay ignored; outside of the main thread, which
    alone may do this, nothing is held.
    """

    def __init__(self) -> None:
        self.came: int | None = None
        self._handlers: dict[int, Any] = {}

    def hold(self) -> None:
        """Note signals from now on."""
        if self._handlers or threading.current_thread() is not threading.main_thread():
            return
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                self._handlers[number] = signal.signal(number, self._note)

    def release(self) -> None:
        """Let signals have their effect again, first the one that came."""
        while self._handlers:
            signal.signal(*self._handlers.popitem())
        came, self.came = self.came, None
        if came is not None:
            signal.raise_signal(came)

    def _note(self, number: int, _: FrameType | None) -> None:
        if self.came is not None and number == signal.SIGINT:
            self.release()
        elif self.came is None:
            self.came = number
