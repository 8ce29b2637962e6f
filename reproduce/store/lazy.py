"""Records that are read when they are first needed: a table of scores needs no curves and no arrays."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any


class LazySequence(Sequence[Any]):
    """A sequence that ``read`` returns."""

    def __init__(self, read: Callable[[], Sequence[Any]]) -> None:
        self._read = read

    @cached_property
    def _rows(self) -> Sequence[Any]:
        return self._read()

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: Any) -> Any:
        return self._rows[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)


class LazyMapping(Mapping[str, Any]):
    """A mapping that ``read`` returns."""

    def __init__(self, read: Callable[[], Mapping[str, Any]]) -> None:
        self._read = read

    @cached_property
    def _items(self) -> Mapping[str, Any]:
        return self._read()

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __getitem__(self, name: str) -> Any:
        return self._items[name]
