"""The command adderboard, on the models that papers offer for it; three random pairs in place of ten thousand."""

import json
import re
from pathlib import Path

import pytest

from lengen.benchmark.adderboard import judge
from reproduce.catalogue import CATALOGUE
from reproduce.commands.solve import find

OFFERED = {name: spec for paper in CATALOGUE.papers() for name, spec in CATALOGUE.paper(paper).adders().items()}
CONSTRUCTED = next(name for name, spec in OFFERED.items() if spec is not None)
GOOD = """
from torch import nn
def build_model():
    return nn.Linear(2, 1), {"name": "adder", "author": "somebody", "params": 3, "architecture": "a linear layer"}
def add(model, a, b):
    return a + b
"""
BARE, WORDS = GOOD.replace('{"name"', 'None and {"name"'), GOOD.replace('"params": 3', '"params": "many"')


def test_a_constructed_model_adds_and_a_trained_one_says_how_far_it_was_trained(reproduce):
    judged = json.loads(reproduce("adderboard --pairs 3 --json").out)
    assert len(judged) == len(OFFERED) >= 2
    for one, spec in zip(judged, OFFERED.values(), strict=True):
        assert one["parameters"] > 0 and one["qualifies"] is False, "only the whole check qualifies"
        if spec is None:
            assert "trained on numbers of up to " in one["weights"]
            assert ("tested beyond its trained range" in one["weights"]) is ("up to 10 digits" not in one["weights"])
        else:
            assert one["weights"] == "hand-coded" and (one["edges"], one["pairs"]) == (10, 3)


def test_the_check_fits_the_screen(reproduce, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = reproduce(["adderboard", CONSTRUCTED, "--pairs", "1"]).out
    assert max(map(len, out.splitlines())) <= 80 and "10 of 10 right" in out


@pytest.mark.parametrize(("name", "digits"), [
    ("bias_calibration/table1/addition-abc", 6), ("random_spaces/fig4.5/abacus", 9),
])  # fmt: skip
def test_any_run_can_be_named(name, digits):
    judged = judge(*find(CATALOGUE.select_one(name))[:3], pairs=1)
    assert f"up to {digits} digits; none of 10" in judged.weights
    assert judged.drawn == 1 and not judged.qualifies


def test_what_is_committed_of_the_check_is_the_whole_of_it():
    """Of the models that were offered when it was run: a minute each, so it is not run again here."""
    path = Path(__file__).parents[2] / "results" / "adderboard.json"
    if not path.is_file():
        pytest.skip(f"not run yet: python -m reproduce adderboard --json > results/{path.name}")
    judged = json.loads(path.read_text(encoding="utf-8"))
    assert {re.match(r"[^, ]+", one["model"])[0] for one in judged} == set(OFFERED)
    for one in judged:
        right = one["edges"] + one["pairs"]
        assert one["drawn"] == 10_000 and one["qualifies"] is (right >= 0.99 * 10_010)


@pytest.mark.parametrize("words", [["solve", CONSTRUCTED, "1", "2"], ["probe", CONSTRUCTED, "1", "2"], ["adderboard"]])
@pytest.mark.parametrize("option", [["--seed", "0"], ["--with-overrides"]])
def test_a_constructed_model_has_no_run_to_choose(words, option, reproduce):
    assert f"is constructed and has no runs for {option[0]} to choose from" in reproduce([*words, *option], code=2).err


def test_a_submission_is_judged_wrong_sums_are_listed_and_errors_count_as_wrong(tmp_path, reproduce):
    path = tmp_path / "good.py"
    path.write_text(GOOD)
    (judged,) = json.loads(reproduce(["adderboard", str(path), "--pairs", "5", "--json"]).out)
    assert judged["model"] == "adder" and judged["parameters"] == 3 and not judged["qualifies"]
    assert (judged["edges"], judged["pairs"], judged["wrong"]) == (10, 5, [])
    path = tmp_path / "bad.py"
    text = GOOD.replace("return a + b", "return (a + b) // (a > 5) - 10 * (a == 1111111111)")
    path.write_text(text)
    said = " ".join(reproduce(["adderboard", str(path), "--pairs", "5"]).out.split())
    assert "1111111111+8888888889=10000000000, not 9999999990" in said
    assert "ZeroDivisionError" in said and "3, counted as wrong" in said and "no verdict" in said


@pytest.mark.parametrize("text", ["x = 1", "def build_model(:", "import nothing_of_this_name", BARE, WORDS, None])
def test_a_file_of_another_form_is_one_sentence(tmp_path, reproduce, text):
    path = tmp_path / "odd.py"
    if text is not None:
        path.write_text(text)
    err = reproduce(["adderboard", str(path)], code=2).err
    assert "expected build_model() that returns (model, metadata)" in err and err.count("\n") == 1
