"""Gives every test of one paper the paper's marker: by its file, its folder or the first word of its parameters."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAPERS = sorted(folder.parent.name for folder in ROOT.glob("papers/*/__init__.py"))


@pytest.fixture
def reproduce(capsys: pytest.CaptureFixture[str]) -> Callable[..., "pytest.CaptureResult[str]"]:
    """Type a command of the program, which ends with a code; return what it prints."""
    from reproduce.cli import main

    def typed(words: str | list[str], code: int = 0) -> "pytest.CaptureResult[str]":
        capsys.readouterr()
        assert main(shlex.split(words) if isinstance(words, str) else words) == code, words
        return capsys.readouterr()

    return typed


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for paper in PAPERS:
            if is_of(item, paper):
                item.add_marker(paper)


def is_of(item: pytest.Item, paper: str) -> bool:
    """Return True for ``tests/papers/test_<paper>_...``, a doctest of ``papers/<paper>``, a test ``[<paper>-...]``."""
    place = item.path.relative_to(ROOT).as_posix()
    if place.startswith((f"tests/papers/test_{paper}_", f"papers/{paper}/")):
        return True
    parameters = getattr(item, "callspec", None)
    return place.startswith("tests/papers/") and parameters is not None and re.split("[-/]", parameters.id)[0] == paper
