"""Module, data and callbacks in LightningCLI, from words and from YAML; what a setting may be given as."""

import json

import pytest
import torch
import yaml
from lightning import Trainer

import lengen
from lengen.data.setting import read_spec
from tests.fixtures.refusals import refused
from tests.lengen.benchmark.test_any_module import OPTIONS

FIELDS = {"task": "copy", "digits": 2, "batch": 4, "steps": 4, "layers": 1, "width": 16, "head_dim": 4}
SPEC = lengen.setting(**FIELDS)
NAME = "coupling/fig3/coupling-scratchpad"


def test_a_setting_is_read_from_whatever_stands_for_it_and_a_file_that_is_none_is_named(tmp_path):
    file = tmp_path / "spec.json"
    for content in (SPEC.to_dict(), {"spec": SPEC.to_dict(), "seed": 0}, FIELDS):
        file.write_text(json.dumps(content))
        for source in (file, str(file), content):
            assert read_spec(source) == SPEC == lengen.SequenceModule(source).spec == lengen.ArithmeticData(source).spec
    assert read_spec("copy") == lengen.setting("copy") and read_spec(SPEC) is SPEC
    assert read_spec(NAME).data.task.kind == "parity"
    (tmp_path / "spec.json").write_text("{")
    refused(lengen.SettingError, r"spec\.json: expected a setting as JSON", read_spec, tmp_path / "spec.json")


@pytest.mark.parametrize(("source", "sentence"), [
    ("coupling/fig99", "expected an experiment by its name, a task, or a JSON file"),
    ("knitting", r"^spec='knitting': expected an experiment by its name, a task, or a JSON file \("),
    ("no.json", "there is no such file"), ({"task": "copy", "digit": 3}, "there is no setting 'digit'"),
    ({}, "data: this field is missing"), (3, "^spec=3: expected a setting"),
])  # fmt: skip
def test_what_is_no_setting_is_refused_in_one_sentence(source, sentence):
    refused(lengen.SettingError, sentence, read_spec, source)


def test_data_is_loaded_from_a_checkpoint(tmp_path):
    file = tmp_path / "train.txt"
    file.write_text("01=01\n1=1\n0=0\n22=22\n")
    trainer = Trainer(max_steps=4, **OPTIONS)
    trainer.fit(lengen.SequenceModule(SPEC, seed=1), lengen.ArithmeticData(SPEC, 2, file))
    trainer.save_checkpoint(tmp_path / "s.ckpt")
    data = lengen.ArithmeticData.load_from_checkpoint(tmp_path / "s.ckpt", weights_only=True)
    assert (data.spec, data.seed) == (SPEC, 2)
    assert torch.equal(data.batch(3).tokens, lengen.ArithmeticData(SPEC, 2, file).batch(3).tokens)
    assert data.hparams == {"spec": SPEC.to_dict(), "seed": 2, "train_file": str(file)}


# ------------------------------------------------------------------ LightningCLI


def run(words):
    pytest.importorskip("jsonargparse")
    from lightning.pytorch.cli import LightningCLI

    quiet = {"max_steps": 2, "logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    return LightningCLI(
        lengen.SequenceModule, lengen.ArithmeticData, args=words, trainer_defaults={**quiet, "accelerator": "cpu"},
        save_config_kwargs={"overwrite": True},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("source", "task"),
    [(NAME, lengen.Parity(20)), (json.dumps(FIELDS), lengen.Copy(2)), (json.dumps(SPEC.to_dict()), lengen.Copy(2))],
    ids=["name", "fields", "whole"],
)
def test_the_command_line_takes_a_setting(source, task, tmp_path):
    words = ["fit", "--model.spec", source, "--data.spec", source, "--data.seed", "3"]
    cli = run([*words, "--trainer.default_root_dir", str(tmp_path)])
    assert cli.trainer.global_step == 2 and cli.model.spec == cli.datamodule.spec
    assert cli.model.spec.data.task == task and cli.datamodule.seed == 3


def test_a_file_of_yaml_holds_setting_trainer_and_callbacks(tmp_path):
    def part(name, **fields):
        return {"class_path": name, "init_args": fields}

    data = part("lengen.ArithmeticData", spec=FIELDS)
    callbacks = [
        part("lengen.AccuracyGrid", lengths=[1, 2], examples=5, every_n_steps=2, data=data),
        part("lengen.EditDistanceCurve", lengths=[1, 2], counts=[1], examples=5),
        part("lengen.LearningCurves", lengths=[1, 2], examples=5),
        part("lengen.AttentionMaps", cells=[[2, 1]], examples=5),
        part("lightning.pytorch.callbacks.EarlyStopping", monitor="exact_match/length=2", mode="max"),
    ]
    trainer = {"max_steps": 4, "callbacks": callbacks, "default_root_dir": str(tmp_path)}
    config = {"model": {"spec": FIELDS}, "data": {"spec": FIELDS, "seed": 5}, "trainer": trainer}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    cli = run(["fit", "--config", str(tmp_path / "config.yaml")])
    assert cli.model.spec == SPEC and cli.datamodule.seed == 5 and cli.trainer.global_step == 4
    grid, curve = cli.trainer.callbacks[:2]
    assert set(grid.grid.scores) == {(1,), (2,)} and list(curve.curve) == [1, 2]
