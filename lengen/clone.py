"""Who knows a name: the package its own models, the clone that it runs in, if it does, all runs and settings."""

import importlib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
"""Folder above this package: that of the clone."""
PROGRAM = "reproduce"
CODE = ("lengen", "papers", PROGRAM)
"""The packages of the program: all of its code lies in their folders."""
MODELS = Path(__file__).parent / "shipped"
"""Folder of the models that come with the package: settings, and weights, in a clone mostly links to those of runs."""
SHIPPED = sorted(path.stem for path in MODELS.glob("*.json"))
"""Models that come with the package."""


class CloneError(ValueError):
    """A name that only a clone knows, outside of one; one sentence."""


def is_sentence(error: BaseException) -> bool:
    """Return True if an error is a sentence for the user: a ValueError of one of our own types."""
    return isinstance(error, ValueError) and type(error).__module__.partition(".")[0] in CODE


def program(module: str) -> Any:
    """Return a module of the clone's program; raises `CloneError`."""
    if not (ROOT / PROGRAM / "cli.py").is_file():
        fault = "clone it, type make setup there, and use its .venv/bin/python; or give the folder of a run"
        raise CloneError(f"runs and settings are known by name in a clone of the repository alone: {fault}")
    try:
        package = importlib.import_module(PROGRAM)
        place = Path(package.__file__ or "")
        if not place.is_relative_to(ROOT):
            raise CloneError(f"{place} hides the program of this clone with its name: give it another name")
        return importlib.import_module(f"{PROGRAM}.{module}")
    except ModuleNotFoundError as error:
        raise CloneError(f"the program needs {error.name}: pip install -e '.[reproduce]', or make setup") from None


def setting(name: str) -> Any:
    """Return the setting of an experiment by its name: that of its first profile of cpu, night, paper and smoke."""
    return program("commands.solve").setting(name)


def run(name: str) -> Any:
    """Return the newest finished run of a name, for `lengen.load`."""
    return program("commands.solve").named(name)
