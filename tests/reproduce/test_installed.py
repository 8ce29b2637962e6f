"""Where results go and what is said when the program runs without its repository."""

import pytest

from reproduce.cli import main
from reproduce.store import provenance, store


def test_from_a_checkout_results_lie_in_it_and_a_variable_says_otherwise(monkeypatch, tmp_path):
    monkeypatch.delenv("LENGEN_RESULTS", raising=False)
    monkeypatch.chdir(tmp_path)
    assert store.results_root() == provenance.checkout() / "results" and store.no_reference() == ""
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path / "here"))
    assert store.results_root() == tmp_path / "here"


def installed(monkeypatch, folder):
    """As if the packages lay in an environment, not in the repository."""
    monkeypatch.delenv("LENGEN_RESULTS", raising=False)
    monkeypatch.chdir(folder)
    store._say.cache_clear()
    monkeypatch.setattr(provenance, "__file__", str(folder / "site-packages" / "reproduce" / "store" / "provenance.py"))


def test_without_a_repository_results_go_to_the_current_folder_and_no_commit_is_claimed(monkeypatch, tmp_path):
    installed(monkeypatch, tmp_path)
    assert provenance.checkout() is None and store.results_root() == tmp_path / "results"
    made = provenance.provenance(["run", "toy"])
    assert (made["commit"], made["dirty"]) == ("unknown", True), "not that of a repository around the environment"


def test_committed_results_that_are_not_here_are_named_in_one_sentence(monkeypatch, tmp_path, capsys):
    installed(monkeypatch, tmp_path)
    assert main(["list", "coupling/fig1"]) == 0
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "results/reference is not there" in said and "LENGEN_RESULTS" in said
    assert list(tmp_path.iterdir()) == [], "listing writes nothing"
    store._say.cache_clear()
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
        store._say.cache_clear()
        assert main(words) == 0
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and f"result, which {found}: no run is found" in said
    assert main(["list"]) == 0 and capsys.readouterr().err == "", "once a process"
    (tmp_path / "results" / "local").mkdir(parents=True)
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path / "results"))
    assert main(["list", "coupling"]) == 0 and capsys.readouterr().err == ""
