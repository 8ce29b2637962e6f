"""The way from an installed `lengen` to its program: the package `reproduce`, wherever this install has it.

In a wheel it lies in this package; in a checkout its folder stands beside this one, and must not be hidden by a file of
the same name in the current folder.
"""

import importlib
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any


class ProgramError(ValueError):
    """A program that cannot be reached; one sentence."""


def module(name: str) -> ModuleType:
    """Return the module ``name`` of the program; raises `ProgramError` if a package of the user has its name."""
    if find_spec(f"{__package__}.reproduce") is not None:
        return importlib.import_module(f"{__package__}.reproduce.{name}")
    beside = str(Path(__file__).resolve().parents[1])
    sys.path.insert(0, beside)
    try:
        for package in map(importlib.import_module, ("papers", "reproduce")):
            place = package.__file__ or "".join(package.__path__)
            if not Path(place).resolve().is_relative_to(beside):
                raise ProgramError(f"{place} hides the package of this suite with its name: give it another name")
        return importlib.import_module(f"reproduce.{name}")
    finally:
        sys.path.remove(beside)


def entry() -> None:
    """Answer the command ``reproduce`` and of ``python -m lengen``."""
    cli = module("cli")
    if cli.__name__ == "reproduce.cli":  # for worker processes, which import it by this name
        sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    cli.entry()


def setting(name: str) -> Any:
    """Return the setting of an experiment by its name: that of its first profile of cpu, night, paper and smoke."""
    return module("commands.problem").setting(name)


def named(name: str) -> Any:
    """Find a stored run by its name, for `lengen.load`."""
    return module("commands.problem").named(name)
