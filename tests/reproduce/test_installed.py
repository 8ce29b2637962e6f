"""Where results go, and what code is recorded, in a checkout, in a folder without git and in an installed package."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import lengen
from reproduce.cli import main
from reproduce.store import checkout

pytestmark = pytest.mark.slow


def test_from_a_checkout_results_lie_in_it_and_a_variable_says_otherwise(monkeypatch, tmp_path):
    monkeypatch.delenv("LENGEN_RESULTS", raising=False)
    monkeypatch.chdir(tmp_path)
    assert checkout.results_root() == checkout.checkout() / "results" and checkout.no_reference() == ""
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path / "here"))
    assert checkout.results_root() == tmp_path / "here"


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


def test_committed_results_that_are_not_here_are_named_in_one_sentence(monkeypatch, tmp_path, capsys):
    installed(monkeypatch, tmp_path)
    assert main(["list", "coupling/fig1"]) == 0
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "results/reference is not there" in said and "LENGEN_RESULTS" in said
    assert list(tmp_path.iterdir()) == [], "listing writes nothing"
    checkout._say.cache_clear()
    assert main(["compare", "coupling"]) == 0
    assert capsys.readouterr().err == said, "once, however often the stores are asked for"


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (lambda path: None, "is not there"),
        (lambda path: path.write_text("a file"), "is no folder"),
        (lambda path: (path / "refrence").mkdir(parents=True), "holds neither reference nor local"),
    ],
)
def test_a_mistyped_folder_is_named_in_one_line(monkeypatch, tmp_path, capsys, make, found):
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path / "result"))
    make(tmp_path / "result")
    for words in (["compare", "coupling"], ["list", "coupling"]):
        checkout._say.cache_clear()
        assert main(words) == 0
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and f"result, which {found}: no run of yours is found" in said
    assert main(["list"]) == 0 and capsys.readouterr().err == "", "once a process"
    (tmp_path / "results" / "local").mkdir(parents=True)
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path / "results"))
    assert main(["list", "coupling"]) == 0 and capsys.readouterr().err == ""


def test_a_variable_moves_local_runs_and_leaves_the_committed_ones_with_their_checkout(monkeypatch, tmp_path):
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path / "disk"))
    (tmp_path / "disk" / "local").mkdir(parents=True)
    reference, local = checkout.stores()
    assert reference.path == checkout.checkout() / "results" / "reference"
    assert local.path == tmp_path / "disk" / "local" and next(iter(reference.headers("coupling"))).info["spec_hash"]
    (tmp_path / "disk" / "reference").mkdir()
    assert checkout.stores()[0].path == tmp_path / "disk" / "reference"


def test_a_home_folder_in_the_variable_is_expanded_or_refused(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LENGEN_RESULTS", os.path.join("~", "res"))
    assert checkout.results_root() == tmp_path / "res"
    monkeypatch.setenv("LENGEN_RESULTS", os.path.join("~nobody-of-that-name", "res"))
    assert main(["list"]) == 2 and "there is no home folder of ~nobody-of-that-name" in capsys.readouterr().err


# ------------------------------------------------------------------ code


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=e", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def vendored(monkeypatch, tmp_path):
    """The program unzipped below a repository of somebody else."""
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
