"""What list shows: papers with their verdicts, figures of a paper, variants of a figure; and the rows it takes them
from."""

import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from lengen import Spec
from papers.matrix.experiments import HOURS
from reproduce.catalogue import CATALOGUE, SelectorError, hash_of
from reproduce.cli import main
from reproduce.comparison.last_comparison import WORDS, recorded
from reproduce.pages import listing
from reproduce.pages.listing import different_kernels
from reproduce.store import reference, run_folder

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "180")


def lines(capsys, *arguments):
    capsys.readouterr()
    assert main(["list", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


def test_papers_then_figures_then_variants(results, capsys):
    assert main(["run", "toy/fig2"]) == 0
    papers = [re.sub(r" +", " ", line.strip()) for line in lines(capsys)]
    assert any(re.fullmatch(r"paper1 toy none none cpu \d+ s 2 of 3", line) for line in papers)
    assert "On toys paper 8 min 0 of 4" in papers
    figures = lines(capsys, "toy")
    assert ["toy/fig1", "none", "2", "1", "2", "s", "cpu"] in [line.split() for line in figures]
    assert ["toy/fig3", "none", "1", "0", "-"] in [line.split() for line in figures]
    assert "  adding" in figures and figures == lines(capsys, "paper1")
    variants = lines(capsys, "toy/fig2")
    assert ["toy/fig2/gamma", "1", "s", "cpu", "-", "cpu", "1"] in [line.split() for line in variants]
    assert "  Figure 1: [at cpu size the run of toy/fig1/alpha] it adds" in variants


def test_more_stored_runs_are_not_more_to_hash_or_to_read(results, capsys, monkeypatch):
    count = Counter()

    def counting(name, function):
        return lambda *given: (count.update([name]), function(*given))[1]

    monkeypatch.setattr(Spec, "hash", counting("hash", Spec.hash))
    monkeypatch.setattr(run_folder, "read_bytes", counting("read", run_folder.read_bytes))
    monkeypatch.setattr(reference, "read_bytes", counting("read", reference.read_bytes))
    found = []
    for seeds in ("0", "1..5"):
        assert main(["run", "toy/fig1", "toy/fig2", "--seeds", seeds]) == 0
        count.clear()
        for arguments in ([], ["toy"]):
            hash_of.cache_clear()
            lines(capsys, *arguments)
        found.append(dict(count))
    assert found[0] == found[1] and found[0]["read"] > 0


def test_what_most_variants_lack_is_said_once_and_figures_of_details_have_no_answer(capsys, reproduce):
    sorting = lines(capsys, "matrix/sorting")
    assert sorting[-1] == f"All without a remark in brackets: not at cpu size: {HOURS}"
    assert sum(HOURS in line for line in sorting) == 1
    assert any("[not at cpu size: refused: " in line for line in sorting)
    plain = next(line for line in sorting if "sorting/plain" in line)
    assert re.fullmatch(r"matrix/sorting/plain +[\d.]+ (min|h) night .*", plain)
    assert lines(capsys, "matrix/addition")[-1] == f"All without a remark in brackets: not at cpu size: {HOURS}"
    mixed = lines(capsys, "matrix/successor")
    assert any(f"[not at cpu size: {HOURS}]" in line for line in mixed) and mixed[-1].startswith("  "), (
        "some have cpu: no caption"
    )

    def said(*arguments):
        return reproduce([*arguments]).out

    for told in (said("compare", "coupling/fig5"), said("compare", "coupling/fig5", "--format", "md")):
        assert "a wider trained range reaches further" in told and "main statement" not in told.lower()
    assert next(line for line in said("list", "coupling").splitlines() if "coupling/fig5 " in line).split()[1] == "none"
    shown = said("show", "coupling/fig3/nope-scratchpad")
    assert "in a detail" in shown and "holds" not in shown
    assert "ours 100 (+0)" in said("show", "coupling/fig3/coupling-scratchpad")


def test_committed_weights_are_marked(capsys):
    marked = {line.split()[0] for line in lines(capsys, "*/*") if line.endswith("weights") or ", weights " in line}
    kept = ROOT.glob("results/reference/*/*/*/*/seed-*/model.safetensors")
    homes = {"/".join(path.relative_to(ROOT / "results" / "reference").parts[:3]) for path in kept}
    assert homes <= marked and len(marked) < 3 * len(homes), "with those that share the run"


def test_runs_made_with_set_are_listed_as_such(results, capsys):
    assert main(["run", "toy/fig1/alpha"]) == 0
    assert main(["run", "toy/fig1/alpha", "--set", "train.steps=2"]) == 0
    assert main(["run", "toy/fig1/beta", "--set", "train.steps=2"]) == 0
    alpha, beta, gamma, huge = [line for line in lines(capsys, "toy/*") if line.startswith("toy/")]
    assert alpha.endswith(" cpu 1 +1 with --set") and gamma.endswith(" cpu 1 +1 with --set"), "one run, two readers"
    assert beta.endswith(" cpu 0 +1 with --set") and "--set" not in huge


def test_a_figure_that_draws_others_lists_them(monkeypatch, results):
    (fig1,) = CATALOGUE.figures("toy")
    gamma = CATALOGUE.select_one("toy/fig2/gamma")
    drawn = [fig1, type(fig1)(name="fig7", title="again", experiments=(gamma,), how=fig1.how)]
    monkeypatch.setattr(CATALOGUE, "figures", lambda paper: drawn)
    assert [item.name for item in listing.groups("toy")["toy/fig7"]] == ["toy/fig2/gamma"]


@pytest.mark.slow
def test_comparisons_are_of_what_names_their_experiments_and_a_smoke_run_leaves_them(
    capsys, reproduce, monkeypatch, tmp_path
):
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path))
    assert "table4.3-10k-mix-mean-gap" in reproduce("compare random_spaces/table4.3 --format csv").out
    assert main(["compare", "coupling/fig1"]) == 0 and "of 1 statement" in capsys.readouterr().out
    name = "coupling/fig3"
    before = reproduce(["compare", name, "--format", "csv"]).out
    reproduce("run coupling/fig3/coupling-scratchpad --profile smoke")
    assert main(["compare", name, "--format", "csv"]) == 0 and capsys.readouterr().out == before
    assert main(["compare", name]) == 0 and "results/reference/coupling/comparison.md" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["coupling"], ["matrix"], ["coupling/fig1*"]])
def test_every_list_fits_80_columns_with_whole_verdicts(arguments, capsys, monkeypatch):
    found = []
    for columns in (80, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        found.append(lines(capsys, *arguments))
        assert max(map(len, found[-1])) <= columns
    narrow, wide = ([line.count(f" {word}") for word in WORDS for line in some if word in line] for some in found)
    assert sum(narrow) == sum(wide)


def test_list_has_the_committed_answers(tmp_path):
    (tmp_path / "statements.csv").write_text("statement,paper,answer\ntoy/a,toy,holds\ntoy/b,toy,open\no/a,o,holds\n")
    (tmp_path / "published.csv").write_text(
        "paper,points,relation,unit,source\ntoy,5,=,%,text\ntoy,-5.1,=,%,table\ntoy,,=,%,text\ntoy,0.1,=,characters,text\n"
        "toy,0,=,%,figure\n"
    )
    found = recorded("toy", tmp_path)
    assert (found.met, found.compared, found.answers) == (1, 2, {"a": "holds", "b": "open"})
    assert found.counts(["b"]) == {
        "open": 1, "holds": 0, "contradicted": 0, "not seen here": 0, "holds once repaired": 0,
    }  # fmt: skip
    assert recorded("toy", tmp_path / "nothing").answers == {}


def test_different_kernels_are_named_and_a_figure_that_rests_on_no_experiment_is_said_to():
    def said(*runs):
        kernels = [{"kernels": {"products": made, "compiled": compiled}} if made else {} for made, compiled in runs]
        return different_kernels([SimpleNamespace(seed=seed, info=info) for seed, info in enumerate(kernels)])

    several = said(("native", True), ("emulated", False), ("native", True), (None, True))
    assert "native bfloat16 products, compiled (seeds 0, 2)" in several
    assert "emulated bfloat16 products, not compiled (seed 1)" in several
    assert said(("none", True), ("none", True), (None, True)) == said() == ""
    with pytest.raises(SelectorError, match="fig10_11 rests on no experiment; python -m reproduce figures"):
        CATALOGUE.behind("bias_calibration/fig10_11")
