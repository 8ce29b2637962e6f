"""Sources of the generated files: the committed runs and their comparison, read once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lengen import __version__
from lengen.results.records import Run
from reproduce.comparison.compare import Comparison, compare
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store.reference import Reference


@dataclass(frozen=True)
class Facts:
    """The committed runs of a checkout, compared."""

    repository: Path
    version: str
    """Of the suite."""
    reference: Reference
    compared: Mapping[str, Comparison]
    """Paper -> its comparison."""
    runs: Mapping[str, Sequence[Run]]
    """Paper -> its runs, without their records."""


def gather(repository: Path) -> Facts:
    """Return the facts of a checkout; raises `StoreError` for a damaged run."""
    reference = Reference(repository / "results")
    papers = CATALOGUE.papers()
    return Facts(
        repository=repository,
        version=__version__,
        reference=reference,
        compared={name: compare(name, [reference]) for name in papers},
        runs={name: reference.headers(name) for name in papers},
    )
