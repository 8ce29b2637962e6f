"""The comparison as it was last written: the rows of a comparison.csv, for commands with no time to compare anew.

A store enters, rows leave; no run is read.
"""

import csv
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reproduce.comparison.rows import CHECKED, EQUAL, NOT_COMPARABLE, ORDER, UNEQUAL, Row
from reproduce.store.atomic_files import StoreError, readable
from reproduce.store.store import Store

KINDS = {item.name: item.type for item in dataclasses.fields(Row)}
WORDS = {*ORDER, NOT_COMPARABLE, EQUAL, UNEQUAL}
NEEDED = {item.name for item in dataclasses.fields(Row) if item.default is dataclasses.MISSING}


def stored(paper: str, stores: Sequence[Store]) -> list[Row]:
    """The rows of a paper in every store that holds its comparison.csv, those of the first store first.

    Raises:
        StoreError: for a file that is no comparison.
    """
    paths = [store.path / paper / "comparison.csv" for store in stores]
    return [row for path in paths if path.is_file() for row in read(path, paper)]


def read(path: Path, paper: str) -> list[Row]:
    """The rows of a file as they were written, numbers rounded as there; what it lacks of later columns is empty."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            head, *lines = filter(None, csv.reader(file, strict=True))
            if not NEEDED.issubset(head):
                raise ValueError
            rows = [Row(**_fields(head, line)) for line in lines]
        if not all(row.verdict in WORDS and row.profile in CHECKED for row in rows):
            raise ValueError
        return rows
    except (OSError, ValueError, TypeError, csv.Error):
        raise StoreError(
            f"{readable(path)}: expected a comparison as this program writes it; write it anew with "
            f"python -m reproduce compare {paper}"
        ) from None


def _fields(head: Sequence[str], line: Sequence[str]) -> dict[str, Any]:
    told = ((name, text, KINDS[name]) for name, text in zip(head, line, strict=True) if name in KINDS)
    return {name: text if kind is str else _value(text, kind) for name, text, kind in told}


def _value(text: str, kind: object) -> object:
    if kind is bool:
        return text == "true"
    found = number(text)  # an end of an interval is written whole where it is the bound of what is possible
    if (kind == float | None and isinstance(found, str)) or (kind == int | None and isinstance(found, str | float)):
        raise ValueError
    return found


def number(text: str) -> int | float | str | None:
    """A cell as a number where it is one, else as text; None where it is empty.

    >>> number("3"), number("0.2500"), number("3e-05"), number("[1, 30]"), number("")
    (3, 0.25, 3e-05, '[1, 30]', None)
    """
    if not text:
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
