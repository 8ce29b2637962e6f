"""Settings of a run, as typed parts. Does not import torch; each name is loaded when it is first used."""

from typing import Any


def __getattr__(name: str) -> Any:
    import lengen

    return lengen.__getattr__(name)
