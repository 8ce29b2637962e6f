"""Records that are read when they are first needed: a table of scores needs no curves and no arrays."""

from collections import UserDict, UserList
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any


class LazySequence(UserList[Any]):
    """A sequence that ``read`` returns."""

    def __init__(self, read: Callable[[], Sequence[Any]]) -> None:
        self._read = read

    @cached_property
    def data(self) -> list[Any]:  # type: ignore[override]
        """The records."""
        return list(self._read())


class LazyMapping(UserDict[str, Any]):
    """A mapping that ``read`` returns."""

    def __init__(self, read: Callable[[], Mapping[str, Any]]) -> None:
        self._read = read

    @cached_property
    def data(self) -> dict[str, Any]:  # type: ignore[override]
        """The records."""
        return dict(self._read())
