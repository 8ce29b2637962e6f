"""The folders of the committed and of the local results, and their stores."""

import functools
import os
import sys
from pathlib import Path

from reproduce.store.files import StoreError, one_line, readable
from reproduce.store.provenance import checkout
from reproduce.store.reference import Reference
from reproduce.store.store import LocalStore, Store
from reproduce.store.tables import RUNS


def results_root() -> Path:
    """Return the folder of the local runs.

    It is ``$LENGEN_RESULTS`` if it is set; else ``results`` of this checkout, or of the current folder if the program
    was installed without its repository.
    """
    chosen = os.environ.get("LENGEN_RESULTS", "").strip()
    if not chosen:
        return (checkout() or Path.cwd()) / "results"
    expanded = os.path.expanduser(chosen)
    if expanded.startswith("~"):
        raise StoreError(f"LENGEN_RESULTS names {chosen}: there is no home folder of {expanded.partition(os.sep)[0]}")
    return Path(expanded).absolute()


def reference_root() -> Path:
    """Return the folder of the committed results.

    It is that of this checkout, wherever local runs go, unless ``$LENGEN_RESULTS`` holds a ``reference`` of its own or
    there is no checkout.
    """
    root, repository = results_root(), checkout()
    return root if repository is None or (root / "reference").is_dir() else repository / "results"


def stores() -> tuple[Reference, LocalStore]:
    """Return the reference and the local store; a line on stderr says where there are no results.

    It also says where there are none of the committed.
    """
    if absent := no_results() or no_reference():
        _say(absent)
    return Reference(reference_root()), LocalStore(results_root())


def with_runs(paper: str) -> list[Store]:
    """Return the reference store, and the local one where it has runs of this paper."""
    reference, local = stores()
    return [reference, local] if local.headers(paper) else [reference]


@functools.cache
def _say(sentence: str) -> None:
    """Print a line on stderr, once a process: a command asks for its stores several times."""
    print(one_line(sentence), file=sys.stderr)


def no_results() -> str:
    """Return a sentence where ``$LENGEN_RESULTS`` names no results folder, maybe by a slip; else nothing."""
    root = results_root()
    if "LENGEN_RESULTS" not in os.environ or any((root / name).is_dir() for name in ("reference", "local")):
        return ""
    fault = "is no folder" if root.exists() else "is not there"
    if root.is_dir():
        fault = "holds neither reference nor local"
    lost = "no run of yours" if reference_root() != root else "no run"
    return f"LENGEN_RESULTS names {readable(root)}, which {fault}: {lost} is found; set it to a folder with results"


def no_reference() -> str:
    """Return a sentence where committed results cannot be here, as only the program was installed; else nothing."""
    place = results_root() / "reference"
    if checkout() is not None or "LENGEN_RESULTS" in os.environ or any(place.glob(f"*/*/{RUNS}")):
        return ""
    return (
        f"{readable(place)} is not there: the committed results are part of the repository, not of the installed "
        "package; run in a clone of it, or set LENGEN_RESULTS to its folder results"
    )
