"""What an addition touches: recorded small ones, laid over a copy of the packages, touch what docs/extending.md says
and work.

A record that no longer applies is made anew: repeat the addition by hand, then ``git diff`` with ``git add -N``.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
RECORDS = ROOT / "tests" / "additions"
COPIED = ("lengen", "papers", "reproduce", "tests")
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("| to add | touch |")[2].partition("\n\n")[0]
ROWS = {
    match[1]: row for row in TABLE.splitlines() if (match := re.search(r"\]\(\.\./tests/additions/(\w+)\.diff\)", row))
}
"""Record -> the row of the page that says what it touches."""
PLACE = r"`((?:lengen|papers|tests)/[\w/<>.]+)`"


def touched(record: Path) -> list[str]:
    return re.findall(r"^\+\+\+ b/(.+)$", record.read_text(encoding="utf-8"), re.MULTILINE)


def run(folder: Path, *arguments: str) -> str:
    own = {"PYTHONPATH": str(folder), "LENGEN_RESULTS": str(folder / "results"), "OMP_NUM_THREADS": "1"}
    words = [sys.executable, "-m", *arguments]
    done = subprocess.run(words, cwd=folder, env={**os.environ, **own}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def add(folder: Path, *options: str) -> None:
    subprocess.run(["git", "apply", "--whitespace=nowarn", *options], cwd=folder, check=True)


@pytest.fixture(scope="module")
def all_added(tmp_path_factory) -> Path:
    folder, ignored = tmp_path_factory.mktemp("all"), shutil.ignore_patterns("golden", "additions", ".*")
    for package in COPIED:
        shutil.copytree(ROOT / package, folder / package, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder)
    for record in RECORDS.iterdir():
        add(folder, str(record))
    return folder


def test_every_record_has_a_row_and_is_shown():
    assert {path.stem for path in RECORDS.iterdir()} == set(ROWS)
    assert set(ROWS) == {"task", "format", "encoding", "position_ids", "metric", "experiment", "paper", "trick"}
    assert set(re.findall(r"<!-- diff of (\w+): begin", PAGE)) == set(ROWS)


@pytest.mark.parametrize("name", ROWS)
def test_an_addition_touches_what_the_page_says_and_no_other_file(name):
    files, places = touched(RECORDS / f"{name}.diff"), re.findall(PLACE, ROWS[name])
    inside = {place: r"\w+\.\w+" if place.endswith("/") else "" for place in places}
    patterns = [re.escape(place).replace("<name>", r"[a-z]\w*") + inside[place] for place in places]
    found = [[pattern for pattern in patterns if re.fullmatch(pattern, file)] for file in files]
    assert all(len(fitting) == 1 for fitting in found), "nothing else is touched"
    assert {pattern for fitting in found for pattern in fitting} == set(patterns), "all of it is"
    assert len(files) == len(patterns) or name == "paper"
    add(ROOT, "--check", str(RECORDS / f"{name}.diff"))


def test_the_rows_of_tests_are_enough_for_the_tests(all_added):
    """Worked example, encoding and scheme are tested by their rows alone, those that ask for a row of each included."""
    files = ("tasks/test_base.py", "formats/test_linear.py", "encodings", "settings/test_every_trick_on_every_task.py")
    mine = "has_a_row or has_a_worked or is_here or kerple or blocks or complement or paused"
    chosen = f"({mine}) and not (sort or count or larger or listops)"
    tests = [f"tests/lengen/{file}" for file in files]
    said = run(all_added, "pytest", "-q", "-p", "no:cacheprovider", "-k", chosen, *tests)
    assert re.search(r"[1-9]\d* passed, \d+ deselected", said)


def test_added_papers_experiments_tricks_and_parts_are_listed_and_run(all_added):
    blocks = 'data.position_ids={"kind": "blocks", "size": 2, "max_position": 30}'
    changes = ("data.task=complement", "model.encoding=kerple", blocks)
    words = [word for change in changes for word in ("--set", change)]
    words += ["--set", 'data.format={"kind": "paused", "pauses": 2}']
    said = run(all_added, "reproduce", "run", "copying/sketch/rope", "--profile", "smoke", *words)
    assert "copying/sketch/rope seed 0: exact match" in said
    (scores,) = (all_added / "results" / "local" / "copying").rglob("scores.csv")
    assert ",right_before_error," in scores.read_text()
    assert "copying/sketch/rope" in run(all_added, "reproduce", "list", "copying/sketch")
    assert "6\tcopying\tRepeat After Me" in run(all_added, "papers")
    planned = run(all_added, "reproduce", "run", "coupling/sketch", "--profile", "smoke", "--dry-run")
    assert "coupling/sketch/rope-scratchpad" in planned and "1 to run" in planned
    smoke = ("--profile", "smoke")
    planned = run(all_added, "reproduce", "run", "matrix/*/cyclic", *smoke, "--dry-run")
    assert "matrix/addition/cyclic" in planned and "8 to run" in planned
    made = run(all_added, "reproduce", "run", "matrix/copy/cyclic", "matrix/sums/cyclic", *smoke)
    assert "matrix/copy/cyclic seed 0: exact match" in made and "matrix/sums/cyclic seed 0: exact match" in made
