"""Errata and paths to set of every paper."""

import ast
import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from lengen import SettingError, Spec
from reproduce.catalogue import CATALOGUE

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted(ROOT.glob("papers/*/ERRATA.md"))
PARTS = ("Place", "Printed", "Effect", "Repair", "Shown by")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
FILES = ("py", "toml", "csv", "json", "npz", "md", "safetensors")
PATH = r"[a-z_]+(?:\.[a-z_]+)+(?:=[^\s`]+)?"
IN_CODE = re.compile(rf"`({PATH})`")
AFTER_SET = re.compile(rf"--set ({PATH})")
IN_PROSE = re.compile(rf"(?<![\w./-])({PATH})")


def errata(text: str) -> list[tuple[int, dict[str, str]]]:
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
def test_every_erratum_has_its_parts_and_what_the_pages_name_is_there(page):
    assert flaws(page.read_text(encoding="utf-8")) == []
    assert "](ERRATA.md)" in (page.parent / "README.md").read_text(encoding="utf-8")
    text = "\n".join(each.read_text(encoding="utf-8") for each in (page, page.with_name("README.md")))
    named = set(re.findall(r"`((?:lengen|papers|reproduce|tests)/[\w./]+)", text))
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def specs(paper: str | None) -> list[Spec]:
    """Every setting of a paper, or of all, those of one class together."""
    found = [spec for item in CATALOGUE.experiments(paper) for spec in item.specs.values()]
    return sorted(found, key=lambda spec: type(spec).__name__)


def named(text: str, paper: str | None, *forms: re.Pattern[str]) -> set[str]:
    """Paths, some with a value, that begin with a section of the paper's settings."""
    sections = {item.name for sort in {type(spec) for spec in specs(paper)} for item in msgspec.structs.fields(sort)}
    assignments = {match.rstrip(".,;:)").split(",")[0] for form in forms for match in form.findall(text)}
    return {
        assignment
        for assignment in assignments
        if assignment.split(".")[0] in sections and assignment.rpartition(".")[2] not in FILES
    }


def docstrings(folder: str) -> Iterator[str]:
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                yield node.value.value


def texts() -> list[tuple[str | None, str]]:
    """Every paper, or None for the front page and what serves all, with each assignment or path in its texts."""
    found: set[tuple[str | None, str]] = set()
    for paper in CATALOGUE.papers():
        pages = "\n".join(
            path.read_text("utf-8")
            for name in ("README", "ERRATA")
            if (path := ROOT / f"papers/{paper}/{name}.md").exists()  # without a publication there are no errata
        )
        found |= {(paper, each) for each in named(pages, paper, IN_CODE, AFTER_SET)}
        found |= {(paper, each) for each in named("\n".join(docstrings(f"papers/{paper}")), paper, IN_CODE, AFTER_SET)}
        found |= {(paper, each) for each in named("\n".join(CATALOGUE.deviations(paper).values()), paper, IN_PROSE)}
    pages = [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("docs/papers/*.md")]
    front = [*(page.read_text("utf-8") for page in pages), *docstrings("lengen"), *docstrings("reproduce")]
    found |= {(None, each) for each in named("\n".join(front), None, IN_CODE, AFTER_SET)}
    return sorted(found, key=str)


def accepted(spec: Spec, assignment: str) -> bool:
    """Whether a setting takes an assignment; of a path alone, whether it takes the value that it has there."""
    path, equals, _ = assignment.partition("=")
    if not equals:
        held: object = spec.to_dict()
        for step in path.split("."):
            if not isinstance(held, dict) or step not in held:
                return False
            held = held[step]
        assignment = f"{path}={'none' if held is None else held if isinstance(held, str) else json.dumps(held)}"
    try:
        spec.override(assignment)
    except SettingError:
        return False
    return True


@pytest.mark.parametrize(("paper", "assignment"), texts())
def test_what_a_text_sets_some_experiment_takes(paper, assignment):
    assert any(accepted(spec, assignment) for spec in specs(paper)), f"no experiment takes --set {assignment}"
