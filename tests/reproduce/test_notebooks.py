"""The notebooks: their cells run outside of a clone, they are small, and they show pictures."""

import base64
import json
from pathlib import Path

import pytest

from tests.reproduce.test_installed import hostile, python, site

__all__ = ["hostile", "site"]
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
RUNNER = """
import importlib.util, json, sys
sys.modules["tests"] = type(sys)("tests")
for name in ("pages", "notebooks"):
    spec = importlib.util.spec_from_file_location(f"tests.{name}", f"{sys.argv[1]}/{name}.py")
    module = sys.modules[f"tests.{name}"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
print(json.dumps(module.executed(json.load(open(sys.argv[2], encoding="utf-8")))))
import lengen
assert lengen.__file__.startswith(sys.argv[3]) and not {"papers", "reproduce"} & sys.modules.keys()
"""


def kinds(notebook: dict) -> list[list[str]]:
    """Of each cell, what it leaves: text, pictures."""
    return [[output["output_type"] for output in cell.get("outputs", [])] for cell in notebook["cells"]]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_cells_of_a_notebook_run_outside_the_clone(path, site, hostile, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    said = python(hostile, site, "-c", RUNNER, str(ROOT / "tests"), str(path), str(site))
    kept = json.loads(path.read_text(encoding="utf-8"))
    assert kinds(json.loads(said.splitlines()[-1])) == kinds(kept)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_small_and_shows_pictures(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    pictures = [base64.b64decode(output["data"]["image/png"]) for output in outputs if "data" in output]
    assert pictures and all(picture.startswith(b"\x89PNG") for picture in pictures)
    assert path.stat().st_size < 200_000 and str(ROOT) not in path.read_text(encoding="utf-8")
    numbers = [cell["execution_count"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert numbers == list(range(1, len(numbers) + 1)), "run from top to bottom"


def test_a_map_a_grid_and_a_curve_are_among_the_notebooks():
    text = "".join(path.read_text(encoding="utf-8") for path in NOTEBOOKS)
    assert len(NOTEBOOKS) == 3
    assert all(words in text for words in ("maps.map.plot(", "axes = grid.plot()", "axes = grid.grid.plot()"))
