"""Putting problems to a trained model: solve with the main and an auxiliary task, probe with and without a picture."""

import json
import os

import numpy as np
import pytest

from lengen.part import SettingError
from lengen.settings.spec import from_dict
from lengen.solve import probe_trained
from reproduce.cli import main
from reproduce.store.store import LocalStore
from tests.fixtures.refusals import refused

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A store with the two probed models of paper 4 at their smallest size."""
    root = tmp_path_factory.mktemp("results")
    (root / "reference").mkdir()  # else the committed runs would answer
    before = os.environ.get("LENGEN_RESULTS")
    os.environ["LENGEN_RESULTS"] = str(root)
    assert main(["run", "task_hinting/fig4.15", "--profile", "smoke", "--jobs", "1"]) == 0
    yield root
    os.environ.pop("LENGEN_RESULTS") if before is None else os.environ.update(LENGEN_RESULTS=before)


def test_a_model_answers_its_main_task_and_its_hint(results, reproduce):
    said = reproduce("solve task_hinting/fig3.6/successor 5 3 1 --json --profile smoke")
    assert "task_hinting/fig3.6/successor smoke seed 0 v1 (local): it never left chance" in said.err
    main_task = json.loads(said.out)
    assert main_task["prompt"] == "5 3 1 ⊥" and main_task["answer"] == "1 3 5"
    assert len(main_task["output"].split()) == 3
    asked = "solve task_hinting/fig3.6/successor 5 3 1 3 --task successor --json --profile smoke"
    hint = json.loads(reproduce(asked).out)
    assert hint["prompt"] == "5 3 1 ⊥ 3" and hint["answer"] == "5"
    assert len(hint["output"].split()) == 1


@pytest.mark.parametrize(("arguments", "words"), [
    (["solve", "task_hinting/fig3.6/none", "5", "3", "5", "--task", "successor"], "it trains sorting"),
    (["encode", "task_hinting/fig3.11/all", "5", "--task", "carries"], "it trains sorting, successor, count, fill"),
    (["encode", "task_hinting/fig3.6/none", "101"], "expected 1 to 100"),
    (["probe", "task_hinting/fig4.12/none", "11", "--profile", "smoke"], "expected 1 to 10"),
    (["probe", "task_hinting/fig3.6/none", "1", "--out", "p.png"], "task_hinting/fig4.12 or"),
    (["probe", "task_hinting/fig4.12/none", "1", "--out", "p.pdf"], "ends in .png or .svg"),
    (["probe", "task_hinting/table3/standard", "12"], "no finished run with weights"),
])  # fmt: skip
def test_bad_requests_get_one_sentence(results, reproduce, arguments, words):
    shown = reproduce(arguments, code=2)
    assert words in shown.err and shown.err.count("\n") == 1 and shown.out == ""


def test_a_probe_is_a_table_json_or_the_figure_of_any_problem(results, capsys, reproduce, tmp_path):
    found = json.loads(reproduce("probe task_hinting/fig4.13/none 7 2 9 --json --profile smoke").out)
    assert found["tokens"] == ["7", "2", "9", "⊥", "2", "7", "9"]
    assert np.array(found["decoder"]).shape == (2, 2, 7, 13)
    target = tmp_path / "probe.png"
    assert main(["probe", "task_hinting/fig4.13/none", "7", "2", "9", "--out", str(target), "--profile", "smoke"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["position", "token", "layer", "MLP", "encoder", "basis", "decoder", "basis"]
    assert len(lines) == 1 + 7 * 2 * 2 + 2, "a line per token, layer and stage, the model, the picture"
    assert target.read_bytes().startswith(b"\x89PNG")


def test_models_without_a_head_of_their_own_are_not_probed(results, tmp_path):
    run = LocalStore(results).runs("task_hinting")[0]
    tied = from_dict(run.info["spec"]).override("model.output_bias=false", "model.tied=true")
    refused(SettingError, r"probes need .* with an output head of its own", probe_trained, tied, tmp_path, ["1"])
