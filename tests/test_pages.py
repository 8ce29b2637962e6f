"""Pages that run: the code of the documentation and its notebooks prints what stands beside it."""

from pathlib import Path

import pytest
import torch

from tests.pages import CELL, executed, output

ROOT = Path(__file__).parent.parent
PAGES = [page for page in sorted(ROOT.glob("docs/**/*.md")) if CELL.search(page.read_text(encoding="utf-8"))]


def test_the_notebooks_are_among_them():
    assert {"first_steps", "look_inside", "your_own_task", "verdicts"} <= {page.stem for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_prints_what_it_says(page, monkeypatch):
    monkeypatch.chdir(page.parent)
    threads = torch.get_num_threads()
    text = page.read_text(encoding="utf-8")
    try:
        assert executed(text) == text, f"python -m tests.pages {page.relative_to(ROOT)} writes what it prints now"
    finally:
        torch.set_num_threads(threads)


def test_a_cell_shows_its_last_value_and_shares_its_names():
    cells = "```python\nx = 2\nx + 1\n```\n\n```text\nold\n```\n\nb\n\n```python\nprint(x)\n```\n"
    ran = cells.replace("old", "3") + "\n```text\n2\n```\n"
    assert executed(cells) == ran and executed(ran) == ran
    assert output("'as it is'", {}) == "as it is\n" and output("y = 1", {}) == ""
