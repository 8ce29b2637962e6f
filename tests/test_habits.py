"""Habits of the repository: set-up, line ends, pages."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
import yaml

import lengen
from tests.fixtures.program import git

ROOT = Path(__file__).parent.parent
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
DOCS = ROOT / "docs"


def made(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    if shutil.which("make") is None:
        pytest.skip("make is not installed: apt-get install make")
    command = ["make", "--no-print-directory", f"PYTHON={sys.executable}", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "TORCH"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def planned(*arguments: str) -> str:
    """What is planned whatever torch this .venv was made with."""
    return made(ROOT, "--dry-run", "--always-make", "STAMP=nowhere", "PYTHON=python3", *arguments).stdout


@pytest.mark.parametrize(("chosen", "installed"), [
    ((), "--no-deps --require-hashes -r requirements-torch-cpu.txt"),
    (("TORCH=cuda",), "--no-deps --require-hashes -r requirements-torch-cuda.txt"),
    (("TORCH=torch==2.12.0 --index-url URL",), "torch==2.12.0 --index-url URL"),
])  # fmt: skip
def test_setup_installs_the_torch_that_one_variable_names(chosen, installed):
    said = planned("setup", "UV=", *chosen)
    pip = ".venv/bin/python -m pip install --quiet --no-compile --disable-pip-version-check"
    assert f"{pip} {installed} ||" in said
    assert f"{pip} --no-deps --require-hashes -r requirements.lock" in said and " venv .venv" in said


def test_uv_installs_the_same_files_and_the_container_sets_itself_up():
    said = planned("setup", "UV=/opt/uv")
    for file in ("requirements-torch-cpu.txt", "requirements.lock"):
        install = '"/opt/uv" pip install --quiet --python .venv/bin/python --no-deps --require-hashes -r'
        assert f"{install} {file}" in said
    assert " -m pip " not in said and '"/opt/uv" venv' in said
    text = (ROOT / ".devcontainer/devcontainer.json").read_text()
    container = json.loads(re.sub(r"(?m)^//.*\n", "", text))
    assert container["postCreateCommand"] == "make setup" and container["image"].startswith("python:3.")
    assert re.search(rf"^## {re.escape(lengen.__version__)} \(", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkout below a folder with a space in its name, with a ``.venv`` that has no pip and counts as complete."""
    place = tmp_path / "my code" / "suite"
    (place / ".venv" / "bin").mkdir(parents=True)
    for name in ("Makefile", "requirements.lock", "requirements-torch-cpu.txt", "requirements-torch-cuda.txt"):
        shutil.copy(ROOT / name, place / name)
    python = place / ".venv" / "bin" / "python"
    python.write_text('#!/bin/sh\ncase "$*" in *pip*) exit 1;; esac\necho "$@" >> calls.txt\n')
    python.chmod(0o755)
    return place


@pytest.mark.parametrize("torch", ["cpu", "cuda", "torch==2.12.0 --index-url URL"])
@pytest.mark.parametrize("target", ["setup", "compare", "reproduce-paper1", "bench"])
def test_every_target_keeps_the_torch_that_was_chosen(folder, torch, target):
    """Complete, with another lock, and when an installation was interrupted."""
    first = made(folder, "-n", "setup", f"TORCH={torch}", "UV=").stdout
    whole = re.findall(r"echo '(.*)' > \.venv/\.installed", first)[-1]
    (folder / ".venv" / ".installed").write_text(whole + "\n")
    complete = made(folder, "-n", target, "UV=").stdout
    assert "pip install" not in complete
    for stamp in ("0-0-" + whole.split("-", 2)[2], "1-2-" + whole.split("-", 2)[2]):
        (folder / ".venv" / ".installed").write_text(stamp + "\n")
        again = made(folder, "-n", target, "UV=").stdout
        assert f"echo '{whole}' > .venv/.installed" in again
    other = made(folder, "-n", target, "UV=", "TORCH=torch==2.11.0").stdout
    assert "pip install" in other and "-torch==2.11.0' > .venv/.installed" in other, "unless another one is named"


def test_a_foreign_environment_is_named_before_anything_is_installed(folder):
    done = made(folder, "setup", "UV=")
    assert done.returncode == 2 and "1.5 GB" in done.stdout
    assert done.stderr.splitlines()[0].startswith(".venv has no pip, as one that uv made: put uv on PATH")
    assert not (folder / "calls.txt").exists() and not (folder / ".venv" / ".installed").exists()


def test_setup_in_a_folder_with_a_space_installs_with_uv_and_ends_with_what_to_type(folder):
    uv = folder / "an uv"
    uv.write_text('#!/bin/sh\necho "$@" >> uv.txt\n')
    uv.chmod(0o755)
    done = made(folder, "setup", f"UV={uv}")
    assert done.returncode == 0 and len((folder / "uv.txt").read_text().splitlines()) == 3
    assert done.stdout.splitlines()[-1].startswith("ready: now type .venv/bin/reproduce ")
    assert "could not be installed" not in done.stdout and " -r " not in done.stdout, "a success shows no error's text"
    quiet = made(folder, "figures", f"UV={uv}")
    assert "1.5 GB" not in quiet.stdout and "ready" not in quiet.stdout, "nothing is left to install"
    assert "-m reproduce figures" in (folder / "calls.txt").read_text()


def test_no_number_stands_for_what_is_no_paper():
    python = f"PY={sys.executable}"
    told = made(ROOT, "help", python).stdout
    listed = re.findall(r"(?m)^reproduce-paper(\d)", told)
    assert listed == ["1", "2", "3", "4"], "make matrix alone"
    assert max(map(len, told.splitlines())) <= 80
    refused = made(ROOT, "--old-file=setup", "reproduce-paper5", python)
    assert refused.returncode == 2 and "there is no paper 5; make help lists them" in refused.stderr


def pins(name: str) -> dict[str, list[str]]:
    """Package -> its versions in a file of hashes, each with a hash."""
    found: dict[str, list[str]] = {}
    for entry in re.split(r"\n(?=[a-z])", re.sub(r"(?m)^[#-].*\n", "", (ROOT / name).read_text(encoding="utf-8"))):
        match = re.match(r"([\w.-]+)==([^ ]+)", entry.strip())
        assert match and re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry), f"{name}: {entry[:60]}"
        found.setdefault(match[1], []).append(match[2])
    return found


def test_workflow_hooks_and_locked_files_run_what_everybody_runs():
    (job,) = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step] == ["bash .ci/run"]
    ci = (ROOT / ".ci/run").read_text()
    assert all(f"\nmake {target}\n" in ci for target in ("lint", "test", "docs"))
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    lint = MAKEFILE.partition("\nlint:")[2]
    for hook in local["hooks"]:
        command = hook["entry"].removeprefix(".venv/bin/python -m ").removesuffix(" --force-exclude")
        assert f"$(PY) -m {command}" in lint or command.startswith("pytest")
        assert all((ROOT / word).exists() for word in command.split() if word.startswith("tests/"))
    processor, gpu, rest = (pins(f"requirements{end}") for end in ("-torch-cpu.txt", "-torch-cuda.txt", ".lock"))
    assert processor == {"torch": ["2.13.0+cpu", "2.13.0"]} and gpu["torch"] == ["2.13.0"] and "torch" not in rest
    needed = {re.split(r"[^\w.-]", name)[0] for name in metadata.requires("torch") or () if "extra ==" not in name}
    assert needed - set(gpu) <= set(rest), "torch is installed without what it needs, so that has to be here"
    assert "setuptools" in rest, "it builds the project, without a network"
    accelerated = [name for name in gpu if re.match(r"nvidia-|cuda-|triton$", name)]
    assert len(accelerated) == 19 == len(gpu) - 1 and not set(gpu) & set(rest)
    assert "index-url https://download.pytorch.org/whl/cpu\n" in (ROOT / "requirements-torch-cpu.txt").read_text()
    assert {"mkdocs", "mkdocs-material", "mkdocstrings"} <= set(pins("docs/requirements.txt"))


def in_nav(entries: list[object]) -> list[str]:
    found = []
    for entry in entries:
        value = next(iter(entry.values())) if isinstance(entry, dict) else entry
        found += in_nav(value) if isinstance(value, list) else [value]
    return found


def test_every_page_is_in_the_navigation_and_the_api_names_modules_that_are_there():
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    pages = [*DOCS.rglob("*.md"), *(notebook.with_suffix(".md") for notebook in DOCS.rglob("*.ipynb"))]
    assert sorted(in_nav(site["nav"])) == sorted(str(page.relative_to(DOCS)) for page in pages)
    assert site["strict"] is True and site["theme"]["font"] is False and site["use_directory_urls"] is False
    assert not re.search(r"https?://", (ROOT / "mkdocs.yml").read_text())
    named = [name for page in DOCS.glob("api/*.md") for name in re.findall(r"(?m)^::: (.+)$", page.read_text())]
    assert len(named) == len(set(named)) > 50
    files = [ROOT.joinpath(*name.split(".")) for name in named]
    assert all(file.with_suffix(".py").is_file() or (file / "__init__.py").is_file() for file in files)
    found = importlib.util.spec_from_file_location("repository_links", DOCS / "repository_links.py")
    hook = importlib.util.module_from_spec(found)
    found.loader.exec_module(hook)
    cells = [{"cell_type": "markdown", "source": ["# A"]}, {"cell_type": "code", "source": ["1"]}]
    cells[1]["outputs"] = [{"text": ["1\n"]}, {"data": {"image/png": "AA"}}]
    page = "# A\n\n```python\n1\n```\n\n```text\n1\n```\n\n![what the cell draws](data:image/png;base64,AA)\n"
    assert hook.page_of({"cells": cells}) == page
    text = "[a](../papers/coupling/ERRATA.md#e1) [b](verdicts.md) [c](https://x.org/y) [d](../results/bench)"
    moved = "[a](repository/papers/coupling/ERRATA.md#e1) [b](verdicts.md) [c](https://x.org/y) d"
    assert hook.rewritten(text, "index.md") == moved
    assert hook.linked(text, "docs/index.md") == ["papers/coupling/ERRATA.md", "docs/verdicts.md"]
    outside = "repository/papers/coupling/README.md"
    assert (
        hook.rewritten("[a](ERRATA.md) [b](../../docs/verdicts.md)", outside)
        == "[a](ERRATA.md) [b](../../../verdicts.md)"
    )
    assert hook.resolved("../../etc/passwd", "docs/index.md") == ""
    written = "results/local/report/coupling/fig1.md"
    assert (
        hook.in_site(written) == "report/coupling/fig1.md" and hook.in_repository("report/coupling/fig1.md") == written
    )
    assert hook.in_site("results/overview.svg") == "repository/results/overview.svg"


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("no checkout of git")
    return git(ROOT, "ls-files", "-z").split("\0")[:-1]


def test_a_clone_that_converts_line_ends_has_the_same_bytes(tracked, tmp_path):
    """The smallest file of every kind, within the results and outside of them."""
    smallest: dict[tuple[bool, str], Path] = {}
    for path in map(Path, tracked):
        if (ROOT / path).is_file():
            kind = (path.parts[0] == "results", path.suffix or path.name)
            smallest[kind] = min(path, smallest.get(kind, path), key=lambda one: (ROOT / one).stat().st_size)
    source = tmp_path / "source"
    for path in {Path(".gitattributes"), *smallest.values()}:
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, source / path)
    (source / "results" / "mixed.csv").write_bytes(b"a\r\nb\n")
    git(source, "init", "-q")
    git(source, "add", "--force", ".")
    git(source, "commit", "-qm", "one of each")
    git(tmp_path, "clone", "-q", "-c", "core.autocrlf=true", "-c", "core.eol=crlf", str(source), "clone")
    different = [
        path.relative_to(source).as_posix()
        for path in source.rglob("*")
        if path.is_file() and ".git" not in path.parts
        if path.read_bytes() != (tmp_path / "clone" / path.relative_to(source)).read_bytes()
    ]
    assert len(smallest) > 20 and different == []


def test_no_text_is_committed_with_line_ends_of_windows(tracked):
    wrong = [line for line in git(ROOT, "ls-files", "--eol").splitlines() if line.startswith(("i/crlf", "i/mixed"))]
    assert wrong == []
