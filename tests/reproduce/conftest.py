"""The toy paper alone, with an empty results folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from reproduce.catalogue import CATALOGUE
from tests.fixtures.toy_paper import install_toy


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """The results folder, below the current folder, which is the test's."""
    monkeypatch.chdir(tmp_path)
    yield install_toy(monkeypatch, tmp_path)
    monkeypatch.undo()
    CATALOGUE.fill()
