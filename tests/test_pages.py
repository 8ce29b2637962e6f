"""Pages that run: the code of the documentation and its notebooks prints what stands beside it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages import CELL, executed, output

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
PAGES = [page for page in sorted(ROOT.glob("docs/**/*.md")) if CELL.search(page.read_text(encoding="utf-8"))]


def test_the_notebooks_are_among_them():
    assert {"first_steps", "look_inside", "your_own_task", "verdicts"} <= {page.stem for page in PAGES}


def test_pages_print_what_they_say():
    """In a program of its own: what a page defines or sets is nothing to other tests."""
    words = [sys.executable, "-m", "tests.pages", "--check", *map(str, PAGES)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"python -m tests.pages PAGE writes what it prints now\n{done.stdout}{done.stderr}"


def test_a_cell_shows_its_last_value_and_shares_its_names():
    cells = "```python\nx = 2\nx + 1\n```\n\n```text\nold\n```\n\nb\n\n```python\nprint(x)\n```\n"
    ran = cells.replace("old", "3") + "\n```text\n2\n```\n"
    assert executed(cells) == ran and executed(ran) == ran
    assert output("'as it is'", {}) == "as it is\n" and output("y = 1", {}) == ""
