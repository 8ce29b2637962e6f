"""Packages that tables and pictures need, and the library else does not."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def extra() -> Iterator[None]:
    """Say in one sentence how to install a package that an import within does not find."""
    try:
        yield
    except ModuleNotFoundError as error:
        message = f"tables and pictures need {error.name}: pip install 'lengen[reproduce]'"
        raise ModuleNotFoundError(message, name=error.name) from None
