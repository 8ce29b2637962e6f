"""Selectors, homes of shared specifications, and which runs count."""

import re
import sys
import types

import pytest

import papers
from reproduce.catalogue import CATALOGUE, Catalogue, SelectorError
from reproduce.store.store import LocalStore
from tests.fixtures.refusals import refused
from tests.fixtures.toy_paper import outcome, spec_with

SPEC_AT_CPU = spec_with()
pytestmark = pytest.mark.usefixtures("results")


def names(selector):
    return [item.name.removeprefix("toy/") for item in CATALOGUE.select(selector)]


@pytest.mark.parametrize(("selector", "expected"), [
    ("toy", ["fig1/alpha", "fig1/beta", "fig2/gamma", "fig3/huge"]),
    ("toy/", ["fig1/alpha", "fig1/beta", "fig2/gamma", "fig3/huge"]), ("toy/fig1", ["fig1/alpha", "fig1/beta"]),
    ("toy/fig1/beta", ["fig1/beta"]), ("*/fig?/*a", ["fig1/alpha", "fig1/beta", "fig2/gamma"]),
    ("toy/fig[23]", ["fig2/gamma", "fig3/huge"]), ("paper1/fig2", ["fig2/gamma"]),
    ("paper1", ["fig1/alpha", "fig1/beta", "fig2/gamma", "fig3/huge"]),
    *((name, ["fig1/alpha", "fig1/beta"]) for name in ("fig1", "Toy/FIG1", "papers/toy/fig1", "1/fig1", "paper1/fig1")),
    *((name, ["fig1/alpha"]) for name in ("fig1/alpha", "Toy/FIG1/Alpha", "papers/toy/fig1/alpha", "1/fig1/alpha")),
    ("toy/fig1/", ["fig1/alpha", "fig1/beta"]), ("t*", ["fig1/alpha", "fig1/beta", "fig2/gamma", "fig3/huge"]),
    ("toy/*/[ag]*", ["fig1/alpha", "fig2/gamma"]),
])  # fmt: skip
def test_selectors(selector, expected):
    assert names(selector) == expected


@pytest.mark.parametrize(("selector", "sentence"), [
    ("toi", "there is no paper 'toi'; nearest: toy"), ("paper2", "there is no paper 'paper2'; nearest: paper1"),
    ("toy/fig11", "there is no figure or table 'fig11' in toy; nearest: fig1"),
    ("toy/fig1/alpa", "there is no variant 'alpa' in toy/fig1; nearest: alpha"),
    ("toy/fig1/z*", "there is no variant 'z\\*' in toy/fig1; one of: alpha, beta"),
    ("toy/fig1/alpha/cpu", "expected paper, paper/figure or paper/figure/variant"), ("", "there is no paper ''"),
    ("paper5", "there is no paper 'paper5'"),
])  # fmt: skip
def test_unknown_selectors_get_the_nearest_names(selector, sentence):
    refused(SelectorError, sentence, CATALOGUE.select, selector)


def test_one_experiment_is_asked_for_and_equal_specifications_have_one_home():
    assert CATALOGUE.select_one("toy/fig2").name == "toy/fig2/gamma"
    refused(SelectorError, r"names 2 experiments: name one, such as toy/fig1/alpha", CATALOGUE.select_one, "toy/fig1")
    alpha, beta, gamma, huge = CATALOGUE.select("toy")
    assert (
        CATALOGUE.home(gamma, "cpu") is alpha
        and CATALOGUE.home(alpha, "cpu") is alpha
        and CATALOGUE.home(beta, "cpu") is beta
    )
    assert CATALOGUE.home(huge, "cpu") is huge  # it has no specification there


@pytest.mark.parametrize(("words", "sentence"), [
    ("toy toy/fig1", "toy/fig1 lies in toy: write toy/fig1 for it alone, or toy for all of it"),
    ("fig1 toy", "toy/fig1 lies in toy"), ("toy fig1", "toy/fig1 lies in toy"),
    ("paper1 1/fig2/gamma", "toy/fig2/gamma lies in toy"),
    ("toy/* toy/fig1/beta", r"toy/fig1/beta lies in toy/\*: write"),
    ("toy/fig1 alpha", "there is no paper 'alpha': write toy/fig1/alpha"),
    ("toy fig1/beta", "toy/fig1/beta lies in toy"), ("toy alpha", "there is no paper 'alpha'"),
])  # fmt: skip
@pytest.mark.parametrize("command", ["run", "list", "show", "figures", "compare", "promote"])
def test_a_space_for_a_slash_is_a_question(command, words, sentence, reproduce, results):
    shown = reproduce([command, *words.split()], code=2)
    assert re.search(sentence, shown.err) and shown.out == "" and not results.exists()
    assert CATALOGUE.side_by_side(["fig2", "toy/fig1", "paper1/fig2"]) == ["toy/fig2", "toy/fig1"]


def test_what_stands_apart_has_no_number():
    known = Catalogue(papers.found())
    assert known.aliases()["paper4"] == "task_hinting" and "matrix" not in known.aliases().values()
    for number in ("5", "paper5", "papers/5"):
        refused(SelectorError, "there is no paper", known.select, number)
    assert known.canonical("matrix") == "matrix" and known.canonical("4") == "task_hinting"


def test_another_package_called_papers_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "papers", types.ModuleType("papers"))
    refused(SelectorError, r"cannot be loaded .*another package of this name hides it", Catalogue().papers)
    monkeypatch.setitem(sys.modules, "papers", None)
    refused(SelectorError, "git sparse-checkout add papers", Catalogue().papers)


def test_another_paper_is_another_folder(monkeypatch, tmp_path):
    (tmp_path / "fifth").mkdir()
    (tmp_path / "fifth" / "__init__.py").write_text(
        "from pathlib import Path\n"
        "from lengen.paper import Paper\n"
        "PAPER = Paper(name='fifth', number=9, title='t', published=Path('none.toml'), experiments=tuple)\n"
    )
    (tmp_path / "no_paper").mkdir()
    (tmp_path / "no_paper" / "__init__.py").write_text("")
    monkeypatch.setattr(papers, "__path__", [*papers.__path__, str(tmp_path)])
    catalogue = Catalogue()
    assert catalogue.papers() == (*Catalogue(papers.found()[:-1]).papers(), "fifth") and len(catalogue.papers()) > 4
    assert catalogue.experiments("fifth") == () and catalogue.deviations("fifth") == {}


def put(store, overrides=(), spec=SPEC_AT_CPU, seed=0, profile="cpu"):
    with store.workspace("toy/fig1/alpha", profile, seed, spec.hash()) as space:
        return space.publish({"spec": spec.to_dict(), "overrides": list(overrides)}, outcome())


def test_declared_runs_are_the_newest_of_the_declared_specification(results):
    alpha, _, gamma, huge = CATALOGUE.select("toy")
    local = LocalStore(results)
    put(local, seed=1), put(local, seed=0), put(local, seed=0)
    put(local, ["train.lr=0.1"], spec_with(lr=0.1), seed=2)
    put(local, [], spec_with(lr=0.2), seed=3)  # an earlier declaration
    for item in (alpha, gamma):
        assert [(run.seed, run.version) for run in CATALOGUE.declared_runs(local, item, "cpu")] == [(0, 2), (1, 1)]
    assert CATALOGUE.declared_runs(local, alpha, "paper") == CATALOGUE.declared_runs(local, huge, "cpu") == []


def test_reference_runs_of_an_earlier_declaration_still_count(results):
    alpha = CATALOGUE.select_one("toy/fig1/alpha")
    reference = LocalStore(results, "reference")
    put(reference, ["train.lr=0.1"], spec_with(lr=0.1), seed=0)
    assert CATALOGUE.declared_runs(reference, alpha, "cpu") == []
    put(reference, [], spec_with(lr=0.2), seed=0)
    put(reference, [], spec_with(lr=0.3), seed=0)
    assert [run.version for run in CATALOGUE.declared_runs(reference, alpha, "cpu")] == [3]
    put(reference, seed=0)
    put(reference, [], spec_with(lr=0.4), seed=0)
    assert [run.version for run in CATALOGUE.declared_runs(reference, alpha, "cpu")] == [4]
