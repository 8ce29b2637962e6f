"""Installed in an environment, from a wheel, and as part of a repository; notebooks outside of a clone."""

import base64
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import lengen
from lengen.cli import entry
from reproduce.cli import main
from reproduce.commands import doctor
from reproduce.store import checkout
from tests.fixtures.program import git

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
BUILD = "from setuptools.build_meta import build_wheel; print(build_wheel('..'))"
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
ADDER = "def build_model(): return None, {'name': 'adder'}\ndef add(model, a, b): return a + b\n"
WITHOUT_TORCH = """
import contextlib, lengen.cli, sys
for words in ([], ["help"], ["--help"], ["score", "--help"], ["export", "--help"], ["evaluate", "--help"]):
    with contextlib.suppress(SystemExit):
        lengen.cli.entry(words)
assert not {"torch", "lengen.benchmark"} & sys.modules.keys()
print("no torch")
"""
__all__ = ["hostile", "site"]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
RUNNER = """
import importlib.util, json, re, sys
sys.modules["tests"] = type(sys)("tests")
for name in ("pages", "notebooks"):
    spec = importlib.util.spec_from_file_location(f"tests.{name}", f"{sys.argv[1]}/{name}.py")
    module = sys.modules[f"tests.{name}"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
text = open(sys.argv[2], encoding="utf-8").read()
print(json.dumps(module.executed(json.loads(re.sub(r"steps=\\d+00", "steps=20", text)))))  # fewer than shown
import lengen
assert lengen.__file__.startswith(sys.argv[3]) and not {"papers", "reproduce"} & sys.modules.keys()
"""


def test_results_lie_in_the_checkout_and_a_variable_moves_local_runs(monkeypatch, tmp_path):
    monkeypatch.delenv("LENGEN_RESULTS", raising=False)
    monkeypatch.chdir(tmp_path)
    assert checkout.results_root() == checkout.checkout() / "results" and checkout.no_reference() == ""
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path / "here"))
    assert checkout.results_root() == tmp_path / "here"
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path / "disk"))
    (tmp_path / "disk" / "local").mkdir(parents=True)
    reference, local = checkout.stores()
    assert reference.path == checkout.checkout() / "results" / "reference"
    assert local.path == tmp_path / "disk" / "local" and next(iter(reference.headers("coupling"))).info["spec_hash"]
    (tmp_path / "disk" / "reference").mkdir()
    assert checkout.stores()[0].path == tmp_path / "disk" / "reference"


def installed(monkeypatch, folder):
    """As if the packages lay in an environment, not in the repository."""
    monkeypatch.delenv("LENGEN_RESULTS", raising=False)
    monkeypatch.chdir(folder)
    checkout._say.cache_clear()
    monkeypatch.setattr(checkout, "__file__", str(folder / "site-packages" / "reproduce" / "store" / "checkout.py"))


def test_without_a_repository_results_go_to_the_current_folder_and_no_commit_is_claimed(monkeypatch, tmp_path):
    installed(monkeypatch, tmp_path)
    assert checkout.checkout() is None and checkout.results_root() == tmp_path / "results"
    made = checkout.provenance(["run", "toy"])
    assert (made["commit"], made["dirty"]) == ("unknown", True), "not that of a repository around the environment"


def test_committed_results_that_are_not_here_are_named_in_one_sentence(monkeypatch, tmp_path, reproduce):
    installed(monkeypatch, tmp_path)
    said = reproduce("list coupling/fig1").err
    assert said.count("\n") == 1 and "results/reference is not there" in said and "LENGEN_RESULTS" in said
    assert list(tmp_path.iterdir()) == [], "listing writes nothing"
    checkout._say.cache_clear()
    assert reproduce("compare coupling").err == said, "once, however often the stores are asked for"


@pytest.mark.parametrize(("make", "found"), [
    (lambda path: None, "is not there"),
    (lambda path: path.write_text("a file"), "is no folder"),
    (lambda path: (path / "refrence").mkdir(parents=True), "holds neither reference nor local"),
])  # fmt: skip
def test_a_mistyped_folder_is_named_in_one_line(monkeypatch, tmp_path, capsys, reproduce, make, found):
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path / "result"))
    make(tmp_path / "result")
    for words in (["compare", "coupling"], ["list", "coupling"]):
        checkout._say.cache_clear()
        said = reproduce(words).err
        assert said.count("\n") == 1 and f"result, which {found}: no run of yours is found" in said
    assert main(["list"]) == 0 and capsys.readouterr().err == "", "once a process"
    (tmp_path / "results" / "local").mkdir(parents=True)
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path / "results"))
    assert main(["list", "coupling"]) == 0 and capsys.readouterr().err == ""


def test_a_home_folder_in_the_variable_is_expanded_or_refused(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LENGEN_RESULTS", os.path.join("~", "res"))
    assert checkout.results_root() == tmp_path / "res"
    monkeypatch.setenv("LENGEN_RESULTS", os.path.join("~nobody-of-that-name", "res"))
    assert main(["list"]) == 2 and "there is no home folder of ~nobody-of-that-name" in capsys.readouterr().err


@pytest.fixture
def vendored(monkeypatch, tmp_path):
    suite = tmp_path / "thesis" / "vendored" / "suite"
    file = suite / "reproduce" / "store" / "checkout.py"
    file.parent.mkdir(parents=True)
    shutil.copy(checkout.__file__, file)
    shutil.copy(checkout.checkout() / "pyproject.toml", suite)
    (tmp_path / "thesis" / "notes.txt").write_text("a thesis")
    git(tmp_path / "thesis", "init", "-q")
    git(tmp_path / "thesis", "add", "notes.txt")
    git(tmp_path / "thesis", "commit", "-qm", "first")
    monkeypatch.setattr(checkout, "__file__", str(file))
    return suite


@pytest.mark.parametrize("ignored", [False, True])
def test_a_repository_that_does_not_track_the_program_is_not_its_commit(vendored, ignored):
    if ignored:
        (vendored.parents[1] / ".gitignore").write_text("vendored/")
    assert checkout.commit() == ("unknown", True)
    made = checkout.provenance(["run", "toy"])
    assert made["code"] == {"version": lengen.__version__, "sha256": checkout.code_digest()}
    git(vendored, "add", "--force", ".")
    git(vendored, "commit", "-qm", "vendored")
    assert checkout.commit() == (git(vendored, "rev-parse", "HEAD"), False)
    git(vendored, "config", "status.showUntrackedFiles", "no")
    (vendored / "papers").mkdir()
    (vendored / "papers" / "mine.py").write_text("new")
    assert checkout.commit()[1] is not ignored
    (vendored / "papers" / "mine.py").unlink()
    (vendored / "reproduce" / "store" / "checkout.py").write_text("changed")
    assert checkout.commit()[1] is True


def test_without_git_no_commit_is_claimed(vendored, monkeypatch, tmp_path):
    shutil.rmtree(tmp_path / "thesis" / ".git")
    assert checkout.commit() == ("unknown", True)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert checkout.commit() == ("unknown", True)


@pytest.mark.parametrize(("harm", "words"), [
    (lambda folder, patch: patch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1"), "fatal: detected dubious ownership"),
    (lambda folder, patch: patch.setenv("PATH", ""), "it is not installed here"),
    (lambda folder, patch: (folder / "HEAD").write_text("nothing"), "fatal: not a git repository"),
    (lambda folder, patch: git(folder.parent, "update-ref", "-d", "HEAD"), "fatal: "),
])  # fmt: skip
def test_a_failure_of_git_is_passed_on_once_and_the_doctor_names_it(vendored, monkeypatch, capsys, harm, words):
    git(vendored, "add", "--force", ".")
    git(vendored, "commit", "-qm", "vendored")
    assert doctor.git().remedy == "" and checkout.missing_commits().startswith("git does not have their commits")
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    harm(vendored.parents[1] / ".git", monkeypatch)
    checkout._say.cache_clear()
    assert [checkout.commit() for _ in range(2)] == [("unknown", True)] * 2
    said = capsys.readouterr().err
    assert said.startswith(f"git: {words}") and said.count("\n") == 1
    assert words in doctor.git().state and doctor.git().remedy and words in checkout.missing_commits()
    assert "unshallow" not in checkout.missing_commits()


def test_commits_of_a_shallow_clone_can_be_fetched(vendored, monkeypatch, tmp_path):
    git(vendored, "add", "--force", ".")
    git(vendored, "commit", "-qm", "vendored")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{tmp_path / 'thesis'}", "shallow")
    copy = tmp_path / "shallow" / "vendored" / "suite" / "reproduce" / "store" / "checkout.py"
    monkeypatch.setattr(checkout, "__file__", str(copy))
    assert checkout.missing_commits() == "fetch the whole history (git fetch --unshallow) to look the others up"
    shutil.rmtree(tmp_path / "shallow" / ".git")
    assert checkout.missing_commits().startswith("there is no git repository here")


def test_results_that_a_sparse_checkout_leaves_out_are_named(vendored, monkeypatch, capsys):
    monkeypatch.delenv("LENGEN_RESULTS", raising=False)
    for paper in ("first", "second", "new"):
        (vendored / "papers" / paper).mkdir(parents=True)
        (vendored / "papers" / paper / "__init__.py").touch()
    for paper in ("first", "second"):
        (vendored / "results" / "reference" / paper).mkdir(parents=True)
        (vendored / "results" / "reference" / paper / "comparison.md").touch()
    git(vendored, "add", "--force", ".")
    git(vendored, "commit", "-qm", "vendored")
    assert checkout.no_reference() == "", "a new paper has no committed results"
    shutil.rmtree(vendored / "results" / "reference" / "second")
    said = checkout.no_reference()
    assert said.endswith("git sparse-checkout add results/reference/second brings them") and "first" not in said
    assert "results/reference/second: committed results that are not checked out" in said
    shutil.rmtree(vendored / "results")
    checkout._say.cache_clear()
    checkout.stores(), checkout.stores()
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and said.endswith("git sparse-checkout add results/reference brings them\n")


def test_the_digest_of_the_code_is_the_same_with_other_line_ends(vendored):
    checkout.code_digest.cache_clear()
    before, file = checkout.code_digest(), Path(checkout.__file__)
    content = file.read_bytes()
    file.write_bytes(content.replace(b"\n", b"\r\n"))
    checkout.code_digest.cache_clear()
    assert file.read_bytes() != content and checkout.code_digest() == before
    checkout.code_digest.cache_clear()


def test_the_digest_of_the_code_is_of_its_files(tmp_path, monkeypatch):
    for name in ("lengen", "reproduce/store"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setattr(checkout, "__file__", str(tmp_path / "reproduce/store/checkout.py"))

    def digest() -> str:
        checkout.code_digest.cache_clear()
        return checkout.code_digest()

    (tmp_path / "lengen/a.py").write_text("1")
    first = digest()
    (tmp_path / "lengen/notes.md").write_text("any")
    assert digest() == first
    (tmp_path / "lengen/a.py").write_text("2")
    second = digest()
    (tmp_path / "lengen/a.py").rename(tmp_path / "lengen/b.py")
    assert len({first, second, digest()}) == 3
    monkeypatch.undo()
    checkout.code_digest.cache_clear()


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
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


def test_outside_a_clone_the_whole_face_loads_without_the_extra(site, hostile):
    loading, asking, plotting, pictures = python(hostile, site, "-c", OUTSIDE).splitlines()
    assert "names none: runs and settings are known by name in a clone of the repository alone" in loading
    assert asking.startswith("runs and settings are known by name in a clone of the repository alone")
    assert pictures == "tables and pictures need matplotlib: pip install 'lengen[reproduce]'"
    assert plotting == "tables and pictures need pandas: pip install 'lengen[reproduce]'"


def test_the_program_of_the_library_needs_no_clone(site, hostile):
    """All commands in one process, which loads torch once."""
    rows = [{"id": problem.id, "prediction": problem.answer} for problem in lengen.problems("addition", 6)]
    (hostile / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (hostile / "zero.py").write_text("def answer(prompts):\n    return ['0'] * len(prompts)\n")
    (hostile / "adder.py").write_text(ADDER)
    lines = (
        "problems addition --size 6", "score addition p.jsonl --size 6 --json",
        "evaluate zero.py:answer --on addition --size 6 --json", "export successor --size 6 --hub hub",
        "adderboard adder.py --pairs 2 --json", "evaluate adder.py --on addition --size 10 --json",
        "solve sums-coupled 57 48",
    )  # fmt: skip
    code = f"{BASE}\nimport lengen.cli\nfor line in sys.argv[1:]: lengen.cli.entry(line.split()), print('\\0')"
    asked, *told = python(hostile, site, "-c", code, *lines).split("\0")[:-1]
    problems = [json.loads(line) for line in asked.splitlines()]
    assert problems[0]["prompt"] == "46+47=" and len(problems) == 3974
    scored, evaluated, written, judged, beyond, solved = told
    assert [json.loads(text)[0]["reach"] for text in (scored, evaluated, beyond)] == [600, 0, 1000]
    assert written.split()[-1].endswith("eval.yaml") and (hostile / "hub/README.md").is_file()
    assert json.loads(judged)[0]["pairs"] == 2
    assert json.loads(solved)["read"] == "105" and json.loads(solved)["correct"]
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


def test_what_a_notebook_and_a_folder_hand_down_stops_no_command(tmp_path):
    """The backend of a notebook, and modules in the current folder that are called as those of the program."""
    for name in ("papers", "lengen", "matplotlib", "benchmarks"):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "__init__.py").write_text("raise ImportError('of the user')")
    environment = {**os.environ, "MPLBACKEND": "module://matplotlib_inline.backend_inline", "PYTHONPATH": str(ROOT)}
    environment["LENGEN_RESULTS"] = str(tmp_path / "results")
    run = "run task_hinting/thm5.1/float32 --profile smoke --seeds 0,1 --jobs 2"
    for command in (run, "figures task_hinting/thm5.1", "list coupling/fig3"):
        words = [sys.executable, "-m", "reproduce", *command.split()]
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0 and "Error" not in done.stderr, done.stderr
    (tmp_path / "none.jsonl").write_text("")
    words = [sys.executable, "-P", "-m", "lengen", "score", "copy", "none.jsonl", "--picture", "p.png"]
    assert subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True).returncode == 0
    code = "import os, lengen; print(os.environ['MPLBACKEND'])"
    words = [sys.executable, "-P", "-c", code]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout.startswith("module://"), "the library leaves it alone"


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
