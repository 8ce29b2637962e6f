"""What the generated files are made of: the committed runs and verdicts, read once.

Verdicts are read from comparison.csv, which ``promote`` writes first: asking every run again would take a minute.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lengen.records import Run
from reproduce.comparison.rows import Row
from reproduce.comparison.stored import stored
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store.store import Store


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
        rows={name: stored(name, [reference]) for name in papers},
        runs={name: reference.headers(name) for name in papers},
    )
