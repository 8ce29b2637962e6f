"""Procedures, constructions and measurements of a setting, as its paper declares them."""

import sys
from collections.abc import Iterator
from typing import Any, Literal

Role = Literal["procedures", "constructions", "measurements"]


def declared(setting: object, role: Role) -> Any | None:
    """Return the entry of a role for the nearest class of a setting, loaded now; None if no paper declares one.

    A class belongs to the ``PAPER`` of its module, or else of the nearest package around it.
    """
    for cls in type(setting).__mro__:
        for module in _outwards(cls.__module__):
            paper = getattr(sys.modules.get(module), "PAPER", None)
            if paper is not None:
                entry = getattr(paper, role, {}).get(cls.__name__)
                if entry is not None:
                    return entry()
                break
    return None


def _outwards(module: str) -> Iterator[str]:
    while module:
        yield module
        module = module.rpartition(".")[0]
