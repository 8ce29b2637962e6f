"""Reads ``papers/<paper>/published.toml``: a table, or one sentence about what is wrong with it, leaves."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

LISTS = ("statement", "table", "settings", "headline", "exception", "ladder", "front")


class PublishedError(ValueError):
    """A published.toml that cannot be used; the message is one sentence for the user."""


@cache
def load(path: Path) -> Mapping[str, Any]:
    """Return a published.toml as a table; an empty one if a paper publishes nothing."""
    if not path.exists():
        return {}
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PublishedError(f"{path}: cannot be read ({error.strerror}); expected the published numbers") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise PublishedError(f"{path}: expected TOML; {error}") from None
    for name, rows in table.items():
        if name not in LISTS:
            raise PublishedError(f"{path}: there is no list '{name}'; one of: {', '.join(LISTS)}")
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise PublishedError(f"{path}: '{name}' is not a list of tables; write [[{name}]] above each entry")
    return table
