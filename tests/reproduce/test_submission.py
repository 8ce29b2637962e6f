"""The command adderboard on a file in the form of the list, and published values beside scores."""

import json

import pytest

from lengen.benchmark.frozen import frozen
from reproduce.cli import main

GOOD = """
from torch import nn
def build_model():
    return nn.Linear(2, 1), {"name": "adder", "author": "somebody", "params": 3, "architecture": "a linear layer"}
def add(model, a, b):
    return a + b
"""


def test_a_submission_is_judged(tmp_path, capsys):
    path = tmp_path / "good.py"
    path.write_text(GOOD)
    assert main(["adderboard", str(path), "--pairs", "5", "--json"]) == 0
    (judged,) = json.loads(capsys.readouterr().out)
    assert judged["model"] == "adder" and judged["parameters"]["unique"] == 3 and not judged["qualifies"]
    assert (judged["sums"]["edges"], judged["sums"]["pairs"], judged["sums"]["wrong"]) == (10, 5, [])


def test_wrong_digits_and_carries_are_listed_and_errors_count_as_wrong(tmp_path, capsys):
    path = tmp_path / "bad.py"
    text = GOOD.replace("return a + b", "return (a + b) // (a > 5) - 10 * (a == 1111111111)")
    path.write_text(text)
    assert main(["adderboard", str(path), "--pairs", "5"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "1111111111 + 8888888889 = 10000000000, not 9999999990; wrong places 2, 3" in said
    assert "carries go into 2, 3" in said
    assert "ZeroDivisionError" in said and "3, counted as wrong" in said and "no verdict" in said


@pytest.mark.parametrize("text", ["x = 1", "def build_model(:", "import nothing_of_this_name", None])
def test_a_file_of_another_form_is_one_sentence(tmp_path, capsys, text):
    path = tmp_path / "odd.py"
    if text is not None:
        path.write_text(text)
    assert main(["adderboard", str(path)]) == 2
    err = capsys.readouterr().err
    assert "expected build_model() that returns (model, metadata)" in err and err.count("\n") == 1


def test_published_values_stand_beside_scores(tmp_path, capsys):
    rows = [{"id": problem.id, "prediction": problem.answer} for problem in frozen("successor", 6)]
    path = tmp_path / "p.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["score", "successor", str(path), "--beside", "bias_calibration/table1/successor-vanilla"]) == 0
    said = capsys.readouterr().out
    assert "published: 100 %, length 6 (Table 1)" in said and "published: 0 %, length 10 (Table 1)" in said
