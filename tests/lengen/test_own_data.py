"""Callbacks beside data and module of somebody else while it trains; LightningCLI; what a setting may be given as."""

import itertools
import json

import pytest
import torch
import yaml
from lightning import Callback, LightningDataModule, LightningModule, Trainer
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader

import lengen
from lengen.data.setting_from_names import read_spec
from lengen.results.records import Grid
from tests.fixtures.refusals import refused
from tests.lengen.benchmark.test_any_module import OPTIONS, Kept, Predicts, spec

SPEC = spec()
DATA = lengen.ArithmeticData(SPEC)
EXACT, EDITS = "exact_match/length=2", "edits_per_token/length=2"
CHARACTERS = "0123456789=$"
FIELDS = {"task": "copy", "digits": 2, "batch": 4, "steps": 4, "layers": 1, "width": 16, "head_dim": 4}
COPY = lengen.setting(**FIELDS)
NAME = "coupling/fig3/coupling-scratchpad"


class Own(LightningDataModule):
    """Batches of ours, in a loader of nobody's."""

    def train_dataloader(self):
        return DataLoader([DATA.batch(step) for step in range(4)], batch_size=None)

    def val_dataloader(self):
        return DataLoader([DATA.validation()], batch_size=None)


class Validates(Predicts):
    def validation_step(self, batch, index):
        pass


class Watches(Callback):
    """The step and the number at the end of every evaluation."""

    def __init__(self, monitor):
        self.monitor, self.seen = monitor, []

    def on_validation_end(self, trainer, pl_module):
        if not trainer.sanity_checking:
            self.seen.append((trainer.global_step, float(trainer.callback_metrics[self.monitor])))


def fitted(*callbacks, data=None, module=None, **options):
    given = OPTIONS | {"max_epochs": 3, "num_sanity_val_steps": 2} | options
    trainer = Trainer(callbacks=list(callbacks), **given)
    module = module or Validates(len(DATA.vocab))
    trainer.fit(module, data or Own())
    return trainer


@pytest.mark.parametrize("data", [DATA, DATA.data])
def test_callbacks_measure_problems_of_ours_beside_own_data(data, tmp_path):
    grid = lengen.AccuracyGrid((2, 4), examples=5, data=data, folder=tmp_path / "grid")
    curve = lengen.EditDistanceCurve((2, 4), examples=5, data=data)
    learning = lengen.LearningCurves((2,), examples=5, data=data)
    trainer = fitted(grid, curve, learning)
    assert trainer.global_step == 12 and list(curve.curve) == [2, 4]
    assert trainer.callback_metrics[EXACT] == pytest.approx(grid.grid.accuracy(2))
    assert trainer.callback_metrics[EDITS] == pytest.approx(curve.curve[2])
    assert "exact_match.2" in trainer.callback_metrics
    assert Grid.from_csv((tmp_path / "grid" / "scores.csv").read_text()) == grid.grid
    loader = fitted(lengen.AccuracyGrid((2,), examples=5, data=data), data=Own().train_dataloader())
    assert EXACT in loader.callback_metrics


def test_a_callback_without_data_and_a_module_without_answers_say_what_they_need():
    refused(TypeError, r"or as data= of the callback", fitted, lengen.AccuracyGrid((2,), examples=5))
    module = Copies()
    with pytest.raises(TypeError, match=r"Copies: expected a method answer\(prompts\)"):
        fitted(lengen.BenchmarkScores("copy"), module=module)
    refused(lengen.benchmark.TaskError, "no size 7", lengen.BenchmarkScores, "copy", 7)


def test_numbers_are_there_after_every_n_steps_and_in_every_logger():
    logger, grid = Kept(), lengen.AccuracyGrid((2,), examples=5, data=DATA, every_n_steps=3)
    steps = []
    logger.log_metrics = lambda metrics, step=None: steps.append(step) if EXACT in metrics else None
    fitted(grid, logger=logger)
    assert steps == [3, 6, 9, 12, 12], "and once more at the end"


def measured(kind, **options):
    make = lengen.AccuracyGrid if kind == EXACT else lengen.EditDistanceCurve
    return make((2, 4), examples=5, data=DATA, **options)


@pytest.mark.parametrize(("kind", "every"), [*itertools.product([EXACT, EDITS], [0, 2, 100])])
@pytest.mark.parametrize("first", [True, False])
def test_lightnings_callbacks_find_the_numbers_in_any_order(kind, every, first, tmp_path):
    stop = EarlyStopping(kind, mode="max", patience=1, min_delta=2.0)  # nothing gets better by so much
    best = ModelCheckpoint(tmp_path, monitor=kind, mode="max")
    callback, watches = measured(kind, every_n_steps=every), Watches(kind)
    others = [stop, best, watches]
    trainer = fitted(*([callback, *others] if first else [*others, callback]), enable_checkpointing=True)
    assert trainer.global_step == 8 and best.best_model_score is not None
    assert [step for step, _ in watches.seen] == [4, 8]


def test_what_is_monitored_is_that_of_the_weights_at_hand(tmp_path):
    grid, watches = measured(EXACT), Watches(EXACT)
    expected = []
    reference = measured(EXACT)

    class Compares(Watches):
        def on_validation_end(self, trainer, pl_module):
            reference.measure(lengen.callbacks.accuracy_grid.model_of(pl_module), DATA.data, lambda progress: None)
            expected.append((trainer.global_step, pytest.approx(reference.grid.accuracy(2))))

    fitted(watches, Compares(None), grid, num_sanity_val_steps=0)
    assert watches.seen == expected and len(expected) == 3


def test_without_validation_the_end_of_an_epoch_has_the_numbers():
    stop = EarlyStopping(EXACT, mode="max", patience=1, min_delta=2.0, check_on_train_epoch_end=True)
    assert fitted(stop, measured(EXACT), limit_val_batches=0).global_step == 8


def test_a_curve_of_a_grid_is_measured_with_it():
    grid = measured(EXACT)
    curve, watches = lengen.EditDistanceCurve(scored=grid), Watches(EDITS)
    fitted(grid, watches, curve)
    assert [step for step, _ in watches.seen] == [4, 8, 12]


def test_edits_of_several_counts_are_added_up():
    data = lengen.ArithmeticData(lengen.setting("addition", digits=2, counts=(2, 3), lengths=(1, 2), steps=2, batch=4))
    grid = lengen.AccuracyGrid((1, 2), (2, 3), examples=5)
    both, curves = lengen.EditDistanceCurve(scored=grid, counts=(2, 3)), lengen.LearningCurves((1, 2), (2, 3), 5)
    module = lengen.SequenceModule(data.spec)
    trainer = Trainer(max_steps=2, callbacks=[grid, both, curves], **OPTIONS)
    trainer.fit(module, data)
    edits = [grid.grid.scores[1, count]["free_running"] for count in (2, 3)]
    assert both.curve[1] == sum(e["edit_sum"] for e in edits) / sum(e["reference_tokens"] for e in edits)
    assert trainer.callback_metrics["edits_per_token/length=1"] == pytest.approx(both.curve[1])
    assert trainer.callback_metrics["exact_match.2"] == pytest.approx(grid.grid.accuracy(2))


class Copies(LightningModule):
    """Characters of its own; it answers what it was asked, up to as many characters as it has steps behind it."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))
        self.modes = set()

    def training_step(self, batch, index):
        return self.weight.sum() * 0

    def validation_step(self, batch, index):
        pass

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def tokens_of(self, prompt):
        return [CHARACTERS.index(letter) for letter in prompt]

    def copied(self, prompts):
        self.modes.add(self.training)
        known = 6 * (self.global_step // 4)
        return ["".join(CHARACTERS[token] for token in self.tokens_of(text))[:-1][:known] for text in prompts]


class Answers(Copies):
    def answer(self, prompts):
        return self.copied(prompts)


@pytest.mark.parametrize(("module", "answer"),
    [(Answers, None), (Copies, lambda module: module.copied)], ids=["method", "function"])  # fmt: skip
def test_a_module_with_its_own_tokenizer_is_scored_while_it_trains(module, answer):
    scores = lengen.BenchmarkScores("copy", 6, answer)
    reach, share = Watches("copy/reach"), Watches("copy/in_range")
    trained = module()
    trainer = fitted(reach, share, scores, module=trained, num_sanity_val_steps=0)
    assert reach.seen == [(4, 6.0), (8, 12.0), (12, 18.0)] and share.seen[0] == (4, 1.0)
    assert 0 < trainer.callback_metrics["copy/area"] < 1 and scores.grid.accuracy(18) == 1.0
    assert trained.modes == {False}, "it answers in evaluation mode"


@pytest.mark.parametrize(("answer", "sentence"), [
    (lambda prompts: ["1"] * len(prompts), "function of the module that returns one from prompts to texts"),
    (lambda module: None, "answers nothing"), (lambda module: lambda prompts: "1", "a list of as many"),
])  # fmt: skip
def test_what_makes_no_answerer_is_refused_before_it_trains(answer, sentence):
    module = Copies()
    refused((TypeError, ValueError), sentence, fitted, lengen.BenchmarkScores("copy", 6, answer), module=module)
    assert module.global_step == 0


def test_a_network_with_few_positions_answers_as_far_as_they_go():
    network = nn.Embedding(3, 3)
    with torch.no_grad():
        network.weight.copy_(torch.eye(3))
    few = nn.Module()
    few.forward = lambda tokens: network(tokens) + nn.Embedding(4, 3).weight.mul(0)[torch.arange(tokens.shape[1])]
    with pytest.warns(UserWarning, match="reads no further"):
        assert lengen.character_model(few, "01$")(["00", "11111"]) == ["000", ""]


def test_characters_and_modules_of_ours_answer_too():
    class Characters(Copies):
        def __init__(self):
            super().__init__()
            self.network = nn.Embedding(len(CHARACTERS), len(CHARACTERS))

    def answer(module):
        return lengen.character_model(module.network, CHARACTERS)

    scores = lengen.BenchmarkScores("copy", 6, answer, every_n_steps=10)
    fitted(scores, module=Characters())
    assert scores.grid.total(scores.grid.scores, "free_running")["n"] == len(lengen.problems("copy", 6))
    ours = lengen.BenchmarkScores("copy", 6)
    lengen.train("copy", digits=2, lengths=range(1, 31), steps=2, batch=4, callbacks=ours)
    assert set(ours.grid.scores) == set(scores.grid.scores)


def test_a_setting_is_read_from_whatever_stands_for_it_and_a_file_that_is_none_is_named(tmp_path):
    file = tmp_path / "spec.json"
    for content in (COPY.to_dict(), {"spec": COPY.to_dict(), "seed": 0}, FIELDS):
        file.write_text(json.dumps(content))
        for source in (file, str(file), content):
            assert read_spec(source) == COPY == lengen.SequenceModule(source).spec == lengen.ArithmeticData(source).spec
    assert read_spec("copy") == lengen.setting("copy") and read_spec(COPY) is COPY
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
    trainer.fit(lengen.SequenceModule(COPY, seed=1), lengen.ArithmeticData(COPY, 2, file))
    trainer.save_checkpoint(tmp_path / "s.ckpt")
    data = lengen.ArithmeticData.load_from_checkpoint(tmp_path / "s.ckpt", weights_only=True)
    assert (data.spec, data.seed) == (COPY, 2)
    assert torch.equal(data.batch(3).tokens, lengen.ArithmeticData(COPY, 2, file).batch(3).tokens)
    assert data.hparams == {"spec": COPY.to_dict(), "seed": 2, "train_file": str(file)}


def fit(words):
    pytest.importorskip("jsonargparse")
    from lightning.pytorch.cli import LightningCLI

    quiet = {"max_steps": 2, "logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    return LightningCLI(
        lengen.SequenceModule, lengen.ArithmeticData, args=words, trainer_defaults={**quiet, "accelerator": "cpu"},
        save_config_kwargs={"overwrite": True},
    )  # fmt: skip


@pytest.mark.parametrize(("source", "task"), [
    (NAME, lengen.Parity(20)), (json.dumps(FIELDS), lengen.Copy(2)), (json.dumps(COPY.to_dict()), lengen.Copy(2)),
], ids=["name", "fields", "whole"])  # fmt: skip
def test_the_command_line_takes_a_setting(source, task, tmp_path):
    words = ["fit", "--model.spec", source, "--data.spec", source, "--data.seed", "3"]
    cli = fit([*words, "--trainer.default_root_dir", str(tmp_path)])
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
    cli = fit(["fit", "--config", str(tmp_path / "config.yaml")])
    assert cli.model.spec == COPY and cli.datamodule.seed == 5 and cli.trainer.global_step == 4
    grid, curve = cli.trainer.callbacks[:2]
    assert set(grid.grid.scores) == {(1,), (2,)} and list(curve.curve) == [1, 2]
