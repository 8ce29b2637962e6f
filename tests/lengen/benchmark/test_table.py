"""The committed submissions, and the table that a page has of them."""

from pathlib import Path

import pytest
import yaml

from lengen.benchmark import PredictionError, measures, read_submission, task_of
from lengen.benchmark.submission import FOLDER, PAGE, PUBLISHED, eval_results, page, published, table
from tests.fixtures.refusals import refused

ROOT = Path(__file__).resolve().parents[3]
SUBMISSIONS = sorted(path.parent for path in (ROOT / FOLDER).glob("*/submission.json"))


@pytest.mark.slow
def test_the_page_has_the_table_of_the_committed_files():
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    assert page(text, ROOT / FOLDER) == text
    measured, _, hollow = table(ROOT / FOLDER).partition("As published")
    assert len(measured.splitlines()) == len(SUBMISSIONS) + 3 and "○" not in measured
    assert hollow.count("| ○ |") == len(published(ROOT / FOLDER / PUBLISHED)) >= 20


def test_published_rows_have_a_source_and_can_be_entered():
    for one in published(ROOT / FOLDER / PUBLISHED):
        task = task_of(one.task)
        assert "arXiv:" in one.source and one.trained <= max(task.sizes()) and one.exact and one.method
        if one.tested.isdecimal():
            size = min(size for size in task.sizes() if size >= one.trained)
            assert int(one.tested) <= max(task.lengths(size))


@pytest.mark.parametrize("change", [("arXiv:", "somewhere "), ("trained", "size"), ('"addition"', '"knitting"')])
def test_a_published_row_without_its_source_is_refused(tmp_path, change):
    path = tmp_path / PUBLISHED
    path.write_text((ROOT / FOLDER / PUBLISHED).read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    refused(PredictionError, "expected rows with task, trained, tested", published, path)


@pytest.mark.parametrize("folder", SUBMISSIONS, ids=lambda folder: folder.name)
def test_a_submission_has_no_more_than_two_files(folder):
    assert sorted(path.name for path in folder.iterdir()) == ["predictions.jsonl.gz", "submission.json"]


def test_the_sanity_row_is_perfect():
    header, grids = read_submission(ROOT / FOLDER / "python-adder")
    assert measures(grids[0], header.size).reach == 5 * header.size


def test_a_page_without_the_block_stays():
    assert page("nothing\n", ROOT / FOLDER) == "nothing\n"


def test_a_row_of_the_hub_names_the_task_of_its_dataset():
    (entry,) = yaml.safe_load(eval_results(ROOT / FOLDER / "python-adder", "somebody/lengen-text"))
    assert entry["dataset"] == {"id": "somebody/lengen-text", "task_id": "addition_6"} and entry["value"] == 30
    assert entry["notes"] == "reach, lengen-text/1, program, one seed; area 1.00"
