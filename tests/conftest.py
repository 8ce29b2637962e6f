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
    """Those of ``tests/papers/test_<paper>_...``, of ``papers/<paper>``, and of ``tests/papers`` ``[<paper>-...]``."""
    for item in items:
        place = item.path.relative_to(ROOT).as_posix()
        parameters = getattr(item, "callspec", None) if place.startswith("tests/papers/") else None
        first = re.split("[-/]", parameters.id)[0] if parameters else ""
        for paper in PAPERS:
            if first == paper or place.startswith((f"tests/papers/test_{paper}_", f"papers/{paper}/")):
                item.add_marker(paper)
