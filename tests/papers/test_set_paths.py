"""What the texts say can be set, ``--set path=value``, can be set."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from lengen import SettingError, Spec
from reproduce.catalogue import CATALOGUE

ROOT = Path(__file__).parent.parent.parent
PAPERS = CATALOGUE.papers()
FILES = ("py", "toml", "csv", "json", "npz", "md", "safetensors")
PATH = r"[a-z_]+(?:\.[a-z_]+)+(?:=[^\s`]+)?"
IN_CODE = re.compile(rf"`({PATH})`")
AFTER_SET = re.compile(rf"--set ({PATH})")
IN_PROSE = re.compile(rf"(?<![\w./-])({PATH})")


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
    """Docstrings of modules, classes, functions and fields."""
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
    for paper in PAPERS:
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


def test_a_path_of_older_settings_is_found_and_refused():
    (path,) = named("as `data.max_position` says", "coupling", IN_CODE)
    assert not any(accepted(spec, path) for spec in specs("coupling"))
    assert named("(--set model.encoding=rope or fire)", "coupling", AFTER_SET) == {"model.encoding=rope"}
    assert named("both (data.format.carries=code, true).", "random_spaces", IN_PROSE) == {"data.format.carries=code"}
    assert named("`papers/x.py` and `calibration.py`, `lengen.models`", "bias_calibration", IN_CODE) == set()
