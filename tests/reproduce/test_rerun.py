"""rerun: the same setting and seed give the same numbers, and what differs is named with how far it lies apart."""

import dataclasses
import json
import math
import shutil

import numpy as np
import pytest

from lengen.results.records import AttentionMap, KeyCount
from reproduce.catalogue import CATALOGUE
from reproduce.cli import main
from reproduce.commands import rerun
from reproduce.commands.rerun import _as_then, accuracy, arrays, numbers, otherwise
from reproduce.store.files import StoreError
from reproduce.store.run_folder import sealed
from reproduce.store.store import LocalStore
from tests.fixtures.toy_paper import SPEC, Instant, install_toy, outcome
from tests.reproduce.test_store import publish

RUN = "results/local/toy/fig1/alpha/cpu/seed-0/v1"
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("results")]


class Better(Instant):
    def run(self, seed, folder, report, loggers=()):
        result = super().run(seed, folder, report, loggers)
        (folder / "model.safetensors").write_bytes(b"other weights")
        (folder / "metrics.csv").write_text("step,name,value\n4,train_loss,0.75\n")
        result.grid = outcome(9).grid
        result.info["scalars"] = {"steps": 5.0, "seconds_training": 2.0}
        return result


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_run_gives_the_same_numbers_and_its_folder_stays_as_it_is(results, reproduce):
    assert main(["run", "toy/fig1/alpha"]) == 0
    before = files(results)
    for arguments in ([RUN], ["toy/fig1/alpha"], ["toy/fig2/gamma", "--profile", "cpu", "--seed", "0"]):
        *lines, last = reproduce(["rerun", *arguments]).out.splitlines()
        assert last == "the same numbers"
        assert [line.split()[0] for line in lines].count("same") == 5 and "differs" not in "".join(lines)
    assert files(results) == before


def test_other_numbers_are_named_with_how_far_they_lie_apart(results, reproduce, monkeypatch, tmp_path):
    assert main(["run", "toy/fig1/alpha"]) == 0
    install_toy(monkeypatch, tmp_path, Better)
    path = results / RUN.removeprefix("results/") / "run.json"
    told = {"processor": "AMD EPYC 7B13", "instruction_sets": ["avx2"], "commit": "0" * 40, "dirty": True}
    told["scalars"] = {"steps": 4, "seconds_training": 1}
    path.write_text(json.dumps(sealed(json.loads(path.read_text()) | told)))
    (path.parent / "model.safetensors").unlink()
    shown = reproduce(["rerun", RUN], code=1).out
    said = " ".join(shown.split())
    differing = {line[9:].split("  ")[0] for line in shown.splitlines() if line.startswith("differs")}
    assert differing == {"weights", "metrics", "scores", "scalars", "exact match outside of it"}
    for fact in (
        "0.5 was stored, here it is 0.75", "7 was stored, here it is 9", "4 was stored, here it is 5", "+20.00",
    ):  # fmt: skip
        assert fact in said
    assert all(fact in said for fact in ("AMD EPYC 7B13", "were avx2", "uncommitted changes", "5 of 6"))


def test_the_newest_run_of_the_declared_setting_is_taken_and_one_made_with_set_by_its_folder(results, reproduce):
    assert main(["run", "toy/fig1/alpha", "--seeds", "0..1", "--jobs", "1"]) == 0
    reproduce("run toy/fig1/alpha --set train.steps=2")
    assert "alpha cpu seed 1 once more" in reproduce("rerun toy/fig1/alpha").err
    assert "same     metrics                            1 number" in reproduce(["rerun", RUN.replace("v1", "v2")]).out


def test_what_cannot_be_repeated_is_one_sentence(results, capsys, reproduce):
    run = publish(LocalStore(results))
    folder = LocalStore(results).folder(run)
    assert main(["rerun", str(folder), "--seed", "0"]) == 2 and "a folder is one run" in capsys.readouterr().err
    path = folder / "run.json"
    changed = json.loads(path.read_text()) | {"spec_hash": "0" * 16, "commit": "1" * 40}
    path.write_text(json.dumps(sealed(changed)))
    assert "repeat it with the commit it names, 111111111111" in reproduce(["rerun", str(folder)], code=2).err
    elsewhere = folder.rename(folder.with_name("copy"))
    assert main(["rerun", str(elsewhere)]) == 2 and "is no folder of a run" in capsys.readouterr().err


def test_weights_that_stayed_behind_are_compared_by_their_sum(results, capsys):
    assert main(["run", "toy/fig1/alpha"]) == 0
    assert main(["promote", "toy/fig1/alpha"]) == 0
    shutil.rmtree(results / "local")
    assert not list((results / "reference").rglob("model.safetensors"))
    capsys.readouterr()
    assert main(["rerun", "toy/fig1/alpha"]) == 0 and "same     weights" in capsys.readouterr().out
    path = results / "reference/toy/fig1/runs.jsonl"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"weights_sha256": "0" * 64}) + "\n")
    assert main(["rerun", "toy/fig1/alpha"]) == 1
    assert "sha256 0000000000000000 was stored, here it is" in " ".join(capsys.readouterr().out.split())


def test_a_failed_repetition_says_why(results, capsys, monkeypatch, tmp_path):
    class Fails(Instant):
        def run(self, seed, folder, report, loggers=()):
            raise RuntimeError("out of luck")

    assert main(["run", "toy/fig1/alpha"]) == 0
    install_toy(monkeypatch, tmp_path, Fails)
    assert main(["rerun", RUN]) == 1 and "RuntimeError: out of luck" in capsys.readouterr().err


def test_a_trained_run_repeats_bit_by_bit_with_the_kernels_it_chose(monkeypatch, reproduce):
    CATALOGUE.fill()
    selector = "coupling/fig3/nope-plain"
    reproduce(["run", selector, "--profile", "smoke"])
    *lines, last = reproduce(["rerun", selector]).out.splitlines()
    assert last == "the same numbers" and lines[0].startswith("same     weights")


def test_every_training_of_a_run_gets_the_kernels_that_it_chose(results):
    kernels = {"products": "native", "compiled": False, "why": "as before"}
    parts = {"rate-0.001/interpolation": kernels | {"compiled": True}, "further": {}}
    local, stored = LocalStore(results), publish(LocalStore(results, "reference"))
    told = dataclasses.replace(stored, info={**stored.info, "kernels": kernels, "kernels_of": parts})
    _as_then(told, local, SPEC)
    with local.workspace(told.experiment, told.profile, told.seed, SPEC.hash()) as space:
        laid = {path.relative_to(space.folder).as_posix() for path in space.folder.rglob("kernels.json")}
        assert laid == {"kernels.json", "rate-0.001/interpolation/kernels.json"}
    for outside in ("../above", "/etc", "a/../../b", ".hidden"):
        with pytest.raises(StoreError, match="expected a folder of its run"):
            _as_then(dataclasses.replace(told, info={**told.info, "kernels_of": {outside: kernels}}), local, SPEC)


def test_numbers_of_every_kind_are_held_against_each_other(results):
    assert arrays("metrics", {}, {"a 1": 1.0}) == rerun.Check("metrics", None, "nothing to compare")
    assert arrays("metrics", {"a 1": math.nan}, {"a 1": math.nan}).same
    assert arrays("metrics", {"a 1": 1.0, "b 1": 1.0}, {"a 1": 1.0}).same is False
    one = {"x": np.array([1.0, np.nan, np.inf]), "name": np.array(["a"])}
    assert arrays("arrays", one, one | {"more": np.zeros(1)}).words == "4 numbers"
    assert arrays("arrays", one, {**one, "x": np.array([1.5, np.nan, np.inf])}).words.startswith(
        "1 of 4 numbers differ"
    )
    assert "by inf at most" in arrays("arrays", one, {**one, "x": np.array([1.0, 0.0, np.inf])}).words
    assert arrays("arrays", one, {"x": np.zeros(2)}).same is False
    assert arrays("arrays", {"name": np.array(["a"])}, {"name": np.array(["b"])}).same is False
    assert accuracy("a", math.nan, 1.0).same is None
    run, other = (publish(LocalStore(results)) for _ in range(2))
    scores = numbers(run)["scores"]
    assert arrays("scores", scores, numbers(other)["scores"]).same
    other.grid.scores[2, 2]["teacher_forced"]["edit_sum"] += 1
    assert "edit_sum" in arrays("scores", scores, numbers(other)["scores"]).words, "all counts are compared"
    other.grid.scores.pop((2, 2))
    assert "not made any more" in arrays("scores", scores, numbers(other)["scores"]).words
    assert otherwise(
        {"versions": {"torch": "1"}, "processor": "x"}, {"versions": {"torch": "2"}, "processor": "x"}
    ) == ["torch was 1, here it is 2"]
    why = "60 s of training foreseen by its operations"
    whole = {"processor": "x", "kernels": {"compiled": True, "products": "none", "why": why}}
    failed = whole["kernels"] | {"why": f"{why}; not compiled from update 1,200 on: torch.compile failed: E"}
    assert otherwise(whole, whole) == []
    one, other = (f"Intel(R) Xeon(R) Gold {number} CPU @ 2.00GHz" for number in (6338, 6348))  # 40 letters
    assert otherwise({"processor": one}, {"processor": other}) == [f"processor was {one}, here it is {other}"]
    (said,) = otherwise({"processor": "x", "kernels": failed}, whole)
    assert said.startswith("kernels were compiled (not compiled from update 1,200 on; products none), here they")
    looked = AttentionMap(("a",), np.zeros((1, 1, 1, 1)), 1)
    run = dataclasses.replace(run, key_counts=[KeyCount(1, 1, 0, 0, 3, 9)], attention=looked)
    assert numbers(run)["key counts"] == {"1 1 0 0": 9} and set(numbers(run)["attention"]) == {"weights", "tokens"}
