"""The committed submissions, and the table that a page has of them."""

from pathlib import Path

import pytest

from lengen.benchmark import measures, read_submission
from lengen.benchmark.submission import FOLDER, PAGE, page, table

ROOT = Path(__file__).resolve().parents[3]
SUBMISSIONS = sorted(path.parent for path in (ROOT / FOLDER).glob("*/submission.json"))


def test_the_page_has_the_table_of_the_committed_files():
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    assert page(text, ROOT / FOLDER) == text
    assert len(table(ROOT / FOLDER).splitlines()) == len(SUBMISSIONS) + 2


@pytest.mark.parametrize("folder", SUBMISSIONS, ids=lambda folder: folder.name)
def test_a_submission_has_no_more_than_two_files(folder):
    assert sorted(path.name for path in folder.iterdir()) == ["predictions.jsonl.gz", "submission.json"]


def test_the_sanity_row_is_perfect():
    header, grids = read_submission(ROOT / FOLDER / "python-adder")
    assert measures(grids[0], header.size).reach == 5 * header.size


def test_a_page_without_the_block_stays():
    assert page("nothing\n", ROOT / FOLDER) == "nothing\n"
