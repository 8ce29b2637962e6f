"""The site of the committed runs, written anew for a test; pictures as they are committed, none is drawn."""

from pathlib import Path

import pytest

from reproduce import figures
from reproduce.pages import site
from reproduce.runs.catalogue import CATALOGUE
from reproduce.store.locations import results_root
from reproduce.store.reference import Reference


def quiet(what):
    return lambda done, most: None


def committed_pictures(patch: pytest.MonkeyPatch) -> None:
    """Drawing has tests of its own; what is not committed is an empty picture, below a folder of the test."""

    def drawn(wanted, root, tell, left=None):
        found = [sheet.stem.with_name(f"{sheet.stem.name}.svg") for sheet in wanted]
        for path in found:
            if not path.exists() and not path.is_relative_to(results_root()):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')
        return [[path] for path in found]

    patch.setattr(figures, "write", drawn)


def written(root: Path) -> tuple[Path, Reference]:
    """The folder of the site, and the store that it shows."""
    reference = Reference(results_root())
    index = site.write(CATALOGUE.papers(), lambda paper: [reference], root, quiet)
    return index.parent, reference
