"""Lists of errata, papers/*/ERRATA.md. Below an opening every erratum is ``## E1. title``, E2, ..., with five items
``- **Name**: text`` in the order of `PARTS`; "Shown by" holds tests as `tests/x/test_y.py::test_z`, or "wording".
"""

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted(ROOT.glob("papers/*/ERRATA.md"))
PARTS = ("Place", "Printed", "Effect", "Repair", "Shown by")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def errata(text: str) -> list[tuple[int, dict[str, str]]]:
    """Number and parts of every erratum, in the order of the page."""
    found = []
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        number = re.fullmatch(r"E(\d+)\. \S.*", title)
        items = re.findall(r"^- \*\*([^*]+)\*\*:\s+(.*?)(?=^- \*\*|\Z)", body, re.MULTILINE | re.DOTALL)
        found.append((int(number[1]) if number else 0, {name: " ".join(said.split()) for name, said in items}))
    return found


@functools.cache
def functions(path: str) -> frozenset[str]:
    """Test functions that a file defines; none where there is no such file."""
    file = ROOT / path
    body = ast.parse(file.read_text(encoding="utf-8")).body if file.is_file() else []
    return frozenset(node.name for node in body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"))


def flaws(text: str) -> list[str]:
    """What is wrong with a page, one sentence each."""
    found, said = errata(text), []
    if not found or [number for number, _ in found] != list(range(1, len(found) + 1)):
        said.append("numbers are not E1, E2, ...")
    for number, parts in found:
        if tuple(parts) != PARTS or not all(parts.values()):
            said.append(f"E{number} does not have its parts in order: {', '.join(PARTS)}")
        shown = parts.get("Shown by", "")
        if not TEST.search(shown) and shown.rstrip(".") not in ("wording", "harmless: wording"):
            said.append(f"E{number} names no test")
        if shown.count("::") != len(TEST.findall(shown)):
            said.append(f"E{number} names a test in another form")
    return said + [f"{path}::{name} does not exist" for path, name in TEST.findall(text) if name not in functions(path)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_every_erratum_has_its_parts_and_its_tests_exist(page):
    assert flaws(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_the_readme_of_the_paper_leads_to_its_errata(page):
    assert "](ERRATA.md)" in (page.parent / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_files_that_the_pages_of_the_paper_name_are_there(page):
    text = "\n".join(each.read_text(encoding="utf-8") for each in (page, page.with_name("README.md")))
    named = set(re.findall(r"`((?:lengen|papers|reproduce|tests)/[\w./]+)", text))
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


GOOD = """# Errata

An opening.

## E1. A sign

- **Place**: Equation (1).
- **Printed**: plus.
- **Effect**: the wrong sum,
  twice.
- **Repair**: minus.
- **Shown by**: `tests/papers/test_errata.py::test_flaws_are_found`.

## E2. A word

- **Place**: Section 2.
- **Printed**: teh.
- **Effect**: none.
- **Repair**: the.
- **Shown by**: wording.
"""


def test_a_page_in_the_right_form_is_read_whole():
    assert flaws(GOOD) == []
    (_, first), (_, second) = errata(GOOD)
    assert first["Effect"] == "the wrong sum, twice." and second["Place"] == "Section 2."


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("## E2", "## E3", "numbers are not E1, E2, ..."),
        ("- **Repair**: minus.\n", "", "E1 does not have its parts in order: Place, Printed, Effect, Repair, Shown by"),
        (": wording.", ": nothing.", "E2 names no test"),
        ("test_flaws_are_found", "test_flaws", "tests/papers/test_errata.py::test_flaws does not exist"),
        ("papers/test_errata.py", "papers/test_erata.py", "tests/papers/test_erata.py::test_flaws_are_found does not"),
        (": wording.", ": `test_errata.py::test_flaws_are_found`", "E2 names a test in another form"),
    ],
)
def test_flaws_are_found(old, new, said):
    assert old in GOOD
    assert any(flaw.startswith(said) for flaw in flaws(GOOD.replace(old, new)))


def test_an_empty_page_is_no_list():
    assert flaws("# Errata\n") == ["numbers are not E1, E2, ..."]
