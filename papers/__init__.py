"""One folder per paper: its experiments, its published numbers, its figures. Papers never import each other.

A folder whose ``__init__.py`` offers a `Paper` as ``PAPER`` is a paper; nothing else has to name it.
``python -m papers`` lists them without any library.
"""

import importlib
import pkgutil

from lengen.paper import Paper


def found() -> tuple[Paper, ...]:
    """Return the papers of this folder, by their number."""
    packages = [entry.name for entry in pkgutil.iter_modules(__path__) if entry.ispkg]
    modules = [importlib.import_module(f"{__name__}.{name}") for name in packages]
    offered = [getattr(module, "PAPER", None) for module in modules]
    return tuple(sorted((paper for paper in offered if isinstance(paper, Paper)), key=lambda paper: paper.number))
