"""What the generated files are made of: the committed runs and verdicts, read once.

Verdicts are read from comparison.csv, which ``promote`` writes first: asking every run again would take a minute.
"""

import csv
import io
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lengen.records import Run
from reproduce.comparison.rows import COLUMNS, Row
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store.store import Store, StoreError, readable


@dataclass(frozen=True)
class Facts:
    """The committed runs and verdicts of a checkout."""

    repository: Path
    version: str
    """Of the suite."""
    reference: Store
    rows: Mapping[str, Sequence[Row]]
    """Paper -> lines of its comparison, of the papers that have runs; what was measured as number or text."""
    runs: Mapping[str, Sequence[Run]]
    """Paper -> its runs, without their records."""


def gather(repository: Path) -> Facts:
    """The facts of a checkout; raises `StoreError` for a comparison.csv that is not one."""
    reference = Store(repository / "results", "reference")
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    papers = [name for name in CATALOGUE.papers() if (reference.path / name / "comparison.csv").is_file()]
    return Facts(
        repository=repository,
        version=project["version"],
        reference=reference,
        rows={name: read_rows(reference.path / name / "comparison.csv") for name in papers},
        runs={name: reference.headers(name) for name in papers},
    )


def read_rows(path: Path) -> list[Row]:
    """The lines of a comparison.csv, the inverse of `reproduce.comparison.tables.to_csv`."""
    header, *lines = csv.reader(io.StringIO(path.read_text(encoding="utf-8")))
    if tuple(header) != COLUMNS:
        raise StoreError(f"{readable(path)}: expected the columns {','.join(COLUMNS)}; promote a run of this paper")
    return [_row(dict(zip(COLUMNS, line, strict=True))) for line in lines]


def _row(cells: Mapping[str, str]) -> Row:
    values = {name: number(cells[name]) for name in ("published", "ours", "ci_low", "ci_high", "n", "seeds")}
    text = {name: cells[name] for name in COLUMNS if name not in (*values, "headline")}
    return Row(**text, **values, headline=cells["headline"] == "true")  # type: ignore[arg-type]


def number(text: str) -> int | float | str | None:
    """A cell as a number where it is one, else as text; None where it is empty.

    >>> number("3"), number("0.2500"), number("3e-05"), number("[1, 30]"), number("")
    (3, 0.25, 3e-05, '[1, 30]', None)
    """
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text or None
