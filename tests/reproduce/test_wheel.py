"""The installed package: one top-level name, which no file of a user hides."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from reproduce.runs.catalogue import CATALOGUE, hash_of
from reproduce.store.provenance import code_digest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
BUILD = "from setuptools.build_meta import build_wheel; print(build_wheel('..'))"


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """A folder with what the wheel installs."""
    place = tmp_path_factory.mktemp("wheel")
    for name in ("lengen", "papers", "reproduce"):
        shutil.copytree(ROOT / name, place / "source" / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
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
    listed = [path.relative_to(ROOT) for name in ("lengen", "papers", "reproduce") for path in (ROOT / name).rglob("*")]
    expected = {path for path in listed if path.suffix in (".py", ".toml", ".html", ".css", ".js")}
    inside = {Path("lengen", path) if path.parts[0] != "lengen" else path for path in expected}
    assert [path for path in inside if not (site / path).is_file()] == []


SAME = """
from lengen.reproduce.runs.catalogue import CATALOGUE, hash_of
from lengen.reproduce.store.provenance import checkout, code_digest
import sys, lengen
assert checkout() is None
model = lengen.load("coupling/thm4.1/construction")
hashes = [hash_of(item.specs[profile]) for item in CATALOGUE.experiments() for profile in item.specs]
print(code_digest(), model.solve([57, 48])["output"], len(hashes), hash_of(CATALOGUE.experiments()[0].specs["smoke"]))
assert not {"papers", "reproduce"} & set(sys.modules)
"""


def test_the_wheel_runs_the_same_code_beside_files_with_its_names(site, hostile):
    digest, output, number, first = python(hostile, site, "-c", SAME).split()
    assert digest == code_digest() and output == "000>750>501$"
    chosen = CATALOGUE.experiments()
    assert int(number) == sum(len(item.specs) for item in chosen) and first == hash_of(chosen[0].specs["smoke"])
    assert "coupling" in python(hostile, site, "-m", "lengen", "list")


def test_a_checkout_is_reached_beside_files_with_its_names(hostile):
    code = "import lengen.program as p; print(p.module('cli').__file__); import sys; print(sys.path[0] == '')"
    file, restored = python(hostile, ROOT, "-c", code).splitlines()
    assert Path(file) == ROOT / "reproduce" / "cli.py" and restored == "True"
    assert "coupling" in python(hostile, ROOT, "-m", "lengen", "list")


def test_a_module_of_the_user_that_is_loaded_already_is_named(hostile):
    (hostile / "papers" / "__init__.py").write_text("")
    code = "import papers\nfrom lengen.program import named\ntry: named('x')\nexcept ValueError as e: print(e)"
    assert "hides the package of this suite with its name" in python(hostile, ROOT, "-c", code)
