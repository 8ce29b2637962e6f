"""Code of a user as a module: a Python file, whatever its name, or a module that can be imported."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from lengen.benchmark.scoring import PredictionError


@contextmanager
def _going_on() -> Iterator[None]:
    """Make an end of the program that a module wants when it is imported an `ImportError`."""
    try:
        yield
    except SystemExit as end:
        raise ImportError(f"it ends the program when it is imported ({end})") from None


def loaded(path: Path) -> ModuleType:
    """Return the module of a file, which may import its neighbours; whatever the file raises is raised.

    It is known under a name of its own, so it hides no module, and none hides it.
    """
    name, folder = f"user_file_{path.stem}", str(path.resolve().parent)
    spec = spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)  # dataclasses look for their module there
    if folder not in sys.path:
        sys.path.append(folder)
    with _going_on():
        spec.loader.exec_module(module)
    return module


def imported(name: str) -> ModuleType:
    """Import a module of an installed package or of the current folder."""
    sys.path.insert(0, "")
    try:
        with _going_on():
            return import_module(name)
    finally:
        sys.path.remove("")


def function(name: str) -> Callable[[list[str]], Sequence[str]]:
    """Return the function of ``module:function`` or ``folder/file.py:function``; raises `PredictionError`.

    A file of the current folder goes before modules that are installed.
    """
    module, _, attribute = name.rpartition(":")
    file = Path(f"{module.removesuffix('.py')}.py")
    try:
        if not module or not attribute.isidentifier():
            raise ValueError("no function is named")
        if not file.is_file() and (module.endswith(".py") or os.sep in module):
            raise ValueError(f"there is no file {file}")
        held = loaded(file) if file.is_file() else imported(module)
        answer: Callable[[list[str]], Sequence[str]] | None = getattr(held, attribute, None)
        if answer is None:
            raise ValueError(f"it has no {attribute}")
    except Exception as error:  # a foreign module may raise anything
        raise PredictionError(f"'{name}': {error}; expected MODULE:FUNCTION, such as mymodel:answer") from None
    return answer
