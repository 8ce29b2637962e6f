"""The installed package: one top-level name, which no file of a user hides."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lengen.cli import entry

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
BUILD = "from setuptools.build_meta import build_wheel; print(build_wheel('..'))"


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """A folder with what the wheel installs."""
    place = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT / "lengen", place / "source" / "lengen", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, place / "source" / name)
    subprocess.run([sys.executable, "-c", BUILD], cwd=place / "source", check=True, capture_output=True)
    (wheel,) = place.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(place / "site")
    return place / "site"


@pytest.fixture
def hostile(tmp_path) -> Path:
    """A folder with files that have the names of the packages."""
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "__init__.py").write_text("raise SystemExit('papers of the user')")
    (tmp_path / "reproduce.py").write_text("raise SystemExit('reproduce.py of the user')")
    return tmp_path


def python(folder: Path, path: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(path)}
    environment.pop("LENGEN_RESULTS", None)
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_installs_one_package(site):
    assert sorted(path.name for path in site.iterdir() if not path.name.endswith(".dist-info")) == ["lengen"]
    (names,) = site.glob("*.dist-info/top_level.txt")
    assert names.read_text().split() == ["lengen"]
    files = [path for path in (ROOT / "lengen").rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert [path for path in files if not (site / path.relative_to(ROOT)).is_file()] == []
    (scripts,) = site.glob("*.dist-info/entry_points.txt")
    assert scripts.read_text().split() == ["[console_scripts]", "lengen", "=", "lengen.cli:entry"]


BASE = """
import importlib.metadata as metadata, sys
EXTRA = ("pandas", "matplotlib", "seaborn", "rich", "argcomplete")  # torch itself needs filelock and jinja2
installed = metadata.distribution
def distribution(name):
    if name in EXTRA:
        raise metadata.PackageNotFoundError(name)
    return installed(name)
metadata.distribution = distribution
metadata.entry_points = lambda **_: metadata.EntryPoints()  # this environment has the clone's
sys.modules.update(dict.fromkeys(EXTRA))
"""
OUTSIDE = (
    BASE
    + """
import lengen
for name in lengen.__all__:
    getattr(lengen, name)
assert not {"papers", "reproduce"} & sys.modules.keys()
for call in (lengen.load, lengen.problems):
    try:
        call("coupling/fig1/coupling-scratchpad")
    except ValueError as error:
        print(error)
grid = lengen.evaluate(lambda prompts: ["0"] * len(prompts), "copy", 6)
for draw in (grid.plot, lambda: __import__("lengen.plotting")):
    try:
        draw()
    except ModuleNotFoundError as error:
        print(error)
"""
)


def test_outside_a_clone_the_whole_face_loads_without_the_extra(site, hostile):
    loading, asking, plotting, pictures = python(hostile, site, "-c", OUTSIDE).splitlines()
    assert "names none: runs and settings are known by name in a clone of the repository alone" in loading
    assert asking.startswith("runs and settings are known by name in a clone of the repository alone")
    assert pictures == "tables and pictures need matplotlib: pip install 'lengen[reproduce]'"
    assert plotting == "tables and pictures need pandas: pip install 'lengen[reproduce]'"


ADDER = "def build_model(): return None, {'name': 'adder'}\ndef add(model, a, b): return a + b\n"
WITHOUT_TORCH = """
import contextlib, lengen.cli, sys
for words in (["--help"], ["score", "--help"], ["export", "--help"], ["evaluate", "--help"]):
    with contextlib.suppress(SystemExit):
        lengen.cli.entry(words)
assert not {"torch", "lengen.benchmark"} & sys.modules.keys()
print("no torch")
"""


def test_the_program_of_the_library_needs_no_clone(site, hostile):
    lines = python(
        hostile, site, "-c", f"{BASE}\nimport lengen.cli\nlengen.cli.entry(['problems', 'addition', '--size', '6'])"
    )
    problems = [json.loads(line) for line in lines.splitlines()]
    assert problems[0]["prompt"] == "46+47=" and len(problems) == 3974
    rows = [{"id": problem["id"], "prediction": problem["answer"]} for problem in problems]
    (hostile / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (hostile / "zero.py").write_text("def answer(prompts):\n    return ['0'] * len(prompts)\n")
    scored = python(hostile, site, "-m", "lengen", "score", "addition", "p.jsonl", "--size", "6", "--json")
    assert json.loads(scored)[0]["reach"] == 600
    evaluate = ["-m", "lengen", "evaluate", "zero.py:answer", "--on", "addition", "--size", "6", "--json"]
    assert json.loads(python(hostile, site, *evaluate))[0]["reach"] == 0
    written = python(hostile, site, "-m", "lengen", "export", "successor", "--size", "6", "--hub", "hub").split()
    assert written[-1].endswith("eval.yaml") and (hostile / "hub/README.md").is_file()
    (hostile / "adder.py").write_text(ADDER)
    judged = python(hostile, site, "-m", "lengen", "adderboard", "adder.py", "--pairs", "2", "--json")
    assert json.loads(judged)[0]["sums"]["pairs"] == 2
    beyond = python(hostile, site, "-m", "lengen", "evaluate", "adder.py", "--on", "addition", "--size", "10", "--json")
    assert json.loads(beyond)[0]["reach"] == 1000
    solved = json.loads(python(hostile, site, "-m", "lengen", "solve", "sums-coupled", "57", "48"))
    assert solved["read"] == "105" and solved["correct"]
    assert "torch" in python(hostile, site, "-c", f"{BASE}\n{WITHOUT_TORCH}")


def test_a_wrong_word_is_answered_by_one_sentence(site, hostile, capsys):
    assert entry(["evaluate", "nothing.py:answer", "--on", "addition"]) == 2
    assert entry(["score", "additoin", str(hostile / "reproduce.py")]) == 2
    assert entry(["score", "addition", str(hostile / "absent.jsonl")]) == 2
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 3 and all(line.startswith("lengen: ") for line in told)


def test_a_file_of_the_user_that_hides_the_program_of_a_clone_is_named(hostile):
    (hostile / "reproduce.py").write_text("")
    code = "import lengen\ntry: lengen.load('a/b/c')\nexcept ValueError as e: print(e)"
    assert "hides the program of this clone with its name" in python(hostile, ROOT, "-c", code)
