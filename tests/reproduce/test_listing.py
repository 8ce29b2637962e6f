"""What list shows: papers with their verdicts, figures of a paper, variants of a figure; and the rows it takes them
from."""

import re

import pytest

from papers.matrix.experiments import HOURS
from reproduce.cli import main
from reproduce.comparison import compare
from reproduce.comparison.score_card import SHOWN
from reproduce.comparison.stored import read, stored
from reproduce.output import listing
from reproduce.runs.catalogue import CATALOGUE, SelectorError
from reproduce.store.atomic_files import StoreError
from reproduce.store.locations import results_root
from reproduce.store.reference import Reference
from tests.reproduce.fakes import install_toy


@pytest.fixture
def results(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "180")
    yield install_toy(monkeypatch, tmp_path)
    CATALOGUE.fill()


def lines(capsys, *arguments):
    capsys.readouterr()
    assert main(["list", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


def test_papers_then_figures_then_variants(results, capsys):
    assert main(["run", "toy/fig2"]) == 0
    papers = lines(capsys)
    assert any(line.split() == ["paper1", "toy", "none", "none", "cpu", "1", "s", "2", "of", "3"] for line in papers)
    assert any(line.split() == ["On", "toys", "paper", "2", "min", "0", "of", "4"] for line in papers)
    figures = lines(capsys, "toy")
    assert ["toy/fig1", "none", "2", "1", "2", "s", "cpu"] in [line.split() for line in figures]
    assert ["toy/fig3", "none", "1", "0", "-"] in [line.split() for line in figures]
    assert "  adding" in figures and figures == lines(capsys, "paper1")
    variants = lines(capsys, "toy/fig2")
    assert ["toy/fig2/gamma", "1", "s", "cpu", "-", "cpu", "1"] in [line.split() for line in variants]
    assert "  Figure 1: [at cpu size the run of toy/fig1/alpha] it adds" in variants


def test_what_most_variants_lack_is_said_once_and_time_is_that_of_the_size_that_runs(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "180")
    sorting = lines(capsys, "matrix/sorting")
    assert sorting[-1] == f"All without a remark in brackets: not at cpu size: {HOURS}"
    assert sum(HOURS in line for line in sorting) == 1
    assert any("[not at cpu size: refused: " in line for line in sorting)
    plain = next(line for line in sorting if "sorting/plain" in line)
    assert re.fullmatch(r"matrix/sorting/plain +[\d.]+ (min|h) night .*", plain)
    assert lines(capsys, "matrix/addition")[-1] == f"not at cpu size: {HOURS}"
    mixed = lines(capsys, "matrix/successor")
    assert any(f"[{HOURS}]" in line for line in mixed) and mixed[-1].startswith("  "), "some have cpu: no caption"


def test_wildcards_name_papers_figures_and_variants(results, capsys):
    assert lines(capsys, "t*") == lines(capsys, "toy")
    assert lines(capsys, "*/*") == lines(capsys, "toy/fig?")
    assert [line for line in lines(capsys, "toy/*/[ag]*") if line.startswith("toy/")] != []
    assert not any("beta" in line for line in lines(capsys, "toy/*/[ag]*"))


def test_verdicts_are_those_that_compare_found(results, capsys):
    assert main(["run", "toy/fig1", "--seeds", "0..2", "--jobs", "1"]) == 0 and main(["compare", "toy"]) == 0
    found = [line.split() for line in lines(capsys)]
    assert any(line[:6] == ["paper1", "toy", "none", "1", "reproduced", "cpu"] for line in found)
    assert any(line[:3] == ["toy/fig1", "1", "reproduced"] for line in map(str.split, lines(capsys, "toy")))


def test_runs_made_with_set_are_listed_as_such(results, capsys):
    assert main(["run", "toy/fig1/alpha"]) == 0
    assert main(["run", "toy/fig1/alpha", "--set", "train.steps=2"]) == 0
    assert main(["run", "toy/fig1/beta", "--set", "train.steps=2"]) == 0
    alpha, beta, gamma, huge = [line for line in lines(capsys, "toy/*") if line.startswith("toy/")]
    assert alpha.endswith(" cpu 1 +1 with --set") and gamma.endswith(" cpu 1 +1 with --set"), "one run, two readers"
    assert beta.endswith(" cpu 0 +1 with --set") and "--set" not in huge


def test_a_figure_that_draws_others_lists_them(monkeypatch, results):
    (fig1,) = CATALOGUE.figures("toy")
    drawn = [fig1, type(fig1)(name="fig7", title="again", reads=("toy/fig2/gamma",), draw=fig1.draw)]
    monkeypatch.setattr(CATALOGUE, "figures", lambda paper: drawn)
    assert [item.name for item in listing.groups("toy")["toy/fig7"]] == ["toy/fig2/gamma"]


OF_CLAIMS = {
    "random_spaces/fig4.7": "fig4.7-small-models",
    "random_spaces/fig4.9": "fig4.9-mad-rev",
    "task_hinting/fig3.9": "fig3.8-stable",
    "coupling/fig21": "fig7-keys-less",
    "coupling/fig21/coupling-plain": "fig7-keys-less",
    "coupling/fig16": "fig16-21-layers",
}
"""Figures that draw what others train, or that nothing draws -> a claim or number that names what they are made of."""


@pytest.mark.parametrize(("figure", "entry"), OF_CLAIMS.items())
def test_a_figure_is_compared_with_what_names_its_experiments(figure, entry, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path))
    assert main(["compare", figure, "--format", "csv"]) == 0
    assert f",{entry}," in capsys.readouterr().out
    assert main(["compare", figure]) == 0 and "Nothing is compared there" not in capsys.readouterr().out


def test_a_figure_lists_the_claims_on_what_it_draws(capsys):
    (line,) = [line.split() for line in lines(capsys, "random_spaces") if line.startswith("random_spaces/fig4.7")]
    assert line[1] != "none"


def test_a_figure_that_rests_on_no_experiment_is_said_to():
    with pytest.raises(SelectorError, match="fig10_11 rests on no experiment; python -m reproduce figures"):
        CATALOGUE.behind("bias_calibration/fig10_11")


@pytest.mark.parametrize("arguments", [[], *([name] for name in CATALOGUE.papers()), ["coupling/fig1*"]])
def test_every_list_fits_80_columns_with_whole_verdicts(arguments, capsys, monkeypatch):
    found = []
    for columns in (80, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        found.append(lines(capsys, *arguments))
        assert max(map(len, found[-1])) <= columns
    narrow, wide = ([line.count(f" {word}") for word in SHOWN for line in some if word in line] for some in found)
    assert sum(narrow) == sum(wide)


@pytest.mark.parametrize("paper", CATALOGUE.papers())
def test_what_is_stored_of_a_comparison_is_what_comparing_gives(paper):
    store = Reference(results_root())
    rows = stored(paper, [store])
    found = {(row.id, row.profile, row.verdict, row.headline, row.counts_as, row.examples_low) for row in rows}
    assert len(found) == len(rows)
    if rows:
        assert {row.id for row in rows} == {row.id for row in compare.compare(paper, [store])}


HEAD = "kind,id,place,statement,relation,published,aggregation,profile,verdict"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a,b\n1,2\n",
        "\x00",
        f"{HEAD},n\nclaim,a,b,c,>,0,d,cpu,reproduced,many\n",
        f"{HEAD}\nclaim,a,b,c,>,0,d,cpu,marvellous\n",
        f"{HEAD}\nclaim,a,b,c,>,0,d,moon,reproduced\n",
        f"{HEAD}\nclaim,a\n",
    ],
)
def test_what_is_no_comparison_is_named(text, tmp_path):
    path = tmp_path / "comparison.csv"
    path.write_text(text)
    with pytest.raises(StoreError, match=r"comparison.csv: expected a comparison .* python -m reproduce compare toy"):
        read(path, "toy")
