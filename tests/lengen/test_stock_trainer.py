"""Module, data and callbacks in a Trainer of one's own, with Lightning's own callbacks beside them."""

import sys

import pytest
import torch
from lightning import Callback, Trainer
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from lightning.pytorch.loggers.logger import DummyLogger, Logger

from lengen import (
    AccuracyGrid,
    ArithmeticData,
    AttentionMaps,
    EditDistanceCurve,
    LearningCurves,
    Probes,
    SequenceModule,
    execute,
    generate,
)
from lengen.callbacks.loggers import METRICS, MetricsLogger, extra_loggers, read_metrics
from lengen.callbacks.monitoring import TrainingLoss
from lengen.settings.spec import replace
from tests.fixtures.settings import TEST, TRAIN, data_spec, kill_at, spec
from tests.lengen.test_hints import RUN as HINTED

pytestmark = pytest.mark.slow

SPEC = spec(
    data_spec("addition", 1, 2, room=8),
    replace(TRAIN, steps=8, evaluations=4, lr=1e-2),
    replace(TEST, lengths=(1, 2), counts=(2, 3), examples=8, attention=((1, 3),), attention_examples=6),
    layers=1,
)
"""Evaluated after steps 2, 4, 6 and 8."""


class Remembers(Logger):
    """A logger of anybody's."""

    name, version = "remembers", 0

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[tuple[int, dict]] = []
        self.hparams: dict = {}

    def log_metrics(self, metrics, step=None):
        self.rows.append((step, metrics))

    def log_hyperparams(self, params, *args):
        self.hparams = params


def stock(folder, *callbacks: Callback, logger=False, **options) -> Trainer:
    quiet = {"enable_progress_bar": False, "enable_model_summary": False, "accelerator": "cpu"}
    return Trainer(
        max_steps=SPEC.train.steps,
        max_epochs=-1,
        gradient_clip_val=SPEC.train.clip,
        default_root_dir=folder,
        num_sanity_val_steps=0,
        callbacks=list(callbacks),
        logger=logger,
        **quiet,
        **options,
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("execute")
    return folder, execute(SPEC, 0, folder, lambda progress: None)


def test_twelve_lines_train_validate_test_predict_and_resume(finished, tmp_path):
    folder, outcome = finished
    data, module = ArithmeticData(SPEC), SequenceModule(SPEC)
    grid, maps = AccuracyGrid((1, 2), (2, 3), 8), AttentionMaps([(1, 3)], 6)
    curve, best = EditDistanceCurve(scored=grid, count=3), ModelCheckpoint(tmp_path, monitor="val_exact_match")
    trainer = stock(tmp_path, grid, curve, maps, best, logger=MetricsLogger(tmp_path), log_every_n_steps=1)
    trainer.fit(module, data)
    validated = trainer.validate(module, data, verbose=False)
    tested = trainer.test(module, data, verbose=False)
    answers = trainer.predict(module, data.prompts([["5", "4"], ["9", "9", "1"]]))
    loaded = SequenceModule.load_from_checkpoint(best.best_model_path, weights_only=True)

    assert grid.grid == outcome.grid and (maps.map.weights == outcome.attention.weights).all()
    assert maps.key_counts == outcome.key_counts
    assert validated == [{"val_exact_match": pytest.approx(outcome.info["scalars"]["val_exact_match"], abs=1e-6)}]
    shares = [score["teacher_forced"].rate("correct") for _, score in sorted(grid.grid.scores.items())]
    assert [value for cell in tested for value in cell.values()] == pytest.approx(shares)
    assert len(tested) == len(data.cells) == 4
    for row, (text,) in zip([["5", "4"], ["9", "9", "1"]], answers, strict=True):
        assert text == data.vocab.decode(generate(module.model, data.writer, data.task.parse(row))[0])
    trained = [row for row in read_metrics(tmp_path / METRICS) if row[0] <= 8 and not row[1].startswith("test")]
    once = list(dict.fromkeys(trained))  # validated once more
    assert once == read_metrics(folder / METRICS), "the rows of the run, by Lightning's own means"
    assert loaded.spec == SPEC and loaded.seed == 0 and len(curve.curve) == 2


def test_a_checkpoint_of_lightning_resumes_to_the_same_end(finished, tmp_path, monkeypatch):
    folder, _ = finished

    def trained(place):
        every = ModelCheckpoint(place, filename="every", enable_version_counter=False)
        trainer = stock(place, every, logger=MetricsLogger(place), log_every_n_steps=1)
        found = place / "every.ckpt"
        module = SequenceModule(SPEC)
        trainer.fit(module, ArithmeticData(SPEC), ckpt_path=found if found.exists() else None, weights_only=True)
        return module

    whole, other = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir(), other.mkdir()
    expected = trained(whole)
    kill_at(5, monkeypatch, trained, other)
    again = trained(other)
    for one, two in zip(expected.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, two)
    assert (other / METRICS).read_bytes() == (whole / METRICS).read_bytes() == (folder / METRICS).read_bytes()


def test_lightnings_callbacks_see_what_is_logged(tmp_path):
    worst = ModelCheckpoint(tmp_path, monitor="train_loss", mode="max", save_top_k=1, save_on_train_epoch_end=True)
    stop = EarlyStopping("val_exact_match", mode="max", patience=1)
    logger = Remembers()
    stock(tmp_path, worst, stop, logger=logger, log_every_n_steps=4).fit(SequenceModule(SPEC), ArithmeticData(SPEC))
    assert worst.best_model_score is not None and stop.best_score >= 0
    names = {name for _, metrics in logger.rows for name in metrics}
    assert names == {"train_loss", "learning_rate", "val_exact_match", "epoch"}
    assert logger.hparams["seed"] == 0 and logger.hparams["spec"] == SPEC.to_dict()
    assert next(step for step, metrics in logger.rows if "train_loss" in metrics) == 3, "counted from 0, every fourth"


def test_loggers_get_the_loss_once_from_the_callback_if_the_trainer_has_it(tmp_path):
    logger = Remembers()
    stock(tmp_path, TrainingLoss(1), logger=logger, log_every_n_steps=1).fit(SequenceModule(SPEC), ArithmeticData(SPEC))
    steps = [step for step, metrics in logger.rows if "train_loss" in metrics]
    assert steps == sorted(set(steps)) and len(steps) == SPEC.train.steps


def test_loggers_beside_a_run_get_what_its_file_gets_and_the_learning_rate(finished, tmp_path):
    folder, outcome = finished
    logger = Remembers()
    again = execute(SPEC, 0, tmp_path, lambda progress: None, loggers=[logger])
    assert again.grid == outcome.grid and (tmp_path / METRICS).read_bytes() == (folder / METRICS).read_bytes()
    rows = [(step + 1, name, float(f"{value:.6g}")) for step, metrics in logger.rows for name, value in metrics.items()]
    cells = {name: value for _, name, value in rows if "=" in name}
    assert set(cells) == {f"exact_match/length={length},count={count}" for length, count in outcome.grid.scores}
    told = [row for row in rows if row[1] not in ("epoch", "learning_rate", *cells)]
    assert told == read_metrics(tmp_path / METRICS)
    rates = [value for _, name, value in rows if name == "learning_rate"]
    assert len(rates) == 8 and rates == sorted(rates, reverse=True) and rates[0] == 1e-2


def test_a_module_says_what_its_forward_and_its_loss_are():
    module, data = SequenceModule(SPEC, seed=3), ArithmeticData(SPEC, 3)
    batch = data.validation()
    assert torch.equal(module(batch), module.model.predict(batch))
    assert SequenceModule(SPEC.to_dict(), seed=3).spec == SPEC
    one, two = (SequenceModule(SPEC, seed=3).state_dict() for _ in range(2))
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_the_edit_distance_curve_is_the_same_alone_and_beside_a_grid(tmp_path):
    grid = AccuracyGrid((1, 2), (2, 3), 8)
    beside, alone = EditDistanceCurve(scored=grid, count=2), EditDistanceCurve((1, 2), 2, 8)
    one = EditDistanceCurve(scored=AccuracyGrid((1, 2), (2,), 8))
    stock(tmp_path, grid, beside, alone, one.scored, one).fit(SequenceModule(SPEC), ArithmeticData(SPEC))
    assert one.curve == beside.curve == alone.curve and list(alone.curve) == [1, 2] and one.count == 2
    score = grid.grid.scores[1, 2]["free_running"]
    assert beside.curve[1] == score["edit_sum"] / score["reference_tokens"] > 0
    assert dict(alone.to_frame().itertuples(index=False)) == alone.curve
    (line,) = alone.plot().lines
    assert dict(line.get_xydata().tolist()) == alone.curve


def test_curves_while_training_reach_every_logger_and_callback(tmp_path):
    logger = Remembers()
    best = ModelCheckpoint(tmp_path, monitor="answer_loss.2")
    stock(tmp_path, LearningCurves((1, 2), 2, 5), best, logger=logger).fit(SequenceModule(SPEC), ArithmeticData(SPEC))
    assert best.best_model_score > 0
    curves = {"exact_match.1", "answer_loss.1", "exact_match.2", "answer_loss.2"}
    assert {name for _, metrics in logger.rows for name in metrics} == {"val_exact_match", "epoch", *curves}


def test_measuring_without_our_data_is_refused(tmp_path):
    module, data = SequenceModule(SPEC), ArithmeticData(SPEC)
    trainer = stock(tmp_path, Probes([["5", "4"]]))
    with pytest.raises(TypeError, match=r"expected datamodule=ArithmeticData"):
        trainer.test(module, data.test_dataloader(), verbose=False)


# ------------------------------------------------------------------ loggers


def test_a_training_that_starts_anew_starts_its_file_anew_and_tests_add_to_it(tmp_path):
    (tmp_path / METRICS).write_text("step,name,value\n1,train_loss,9\n99,train_loss,9\n")
    trainer = stock(tmp_path, logger=MetricsLogger(tmp_path), log_every_n_steps=1)
    module, data = SequenceModule(SPEC), ArithmeticData(SPEC)
    trainer.fit(module, data)
    rows = read_metrics(tmp_path / METRICS)
    assert [step for step, name, _ in rows if name == "train_loss"] == list(range(1, 9))
    stock(tmp_path, logger=MetricsLogger(tmp_path)).test(module, data, verbose=False)
    assert read_metrics(tmp_path / METRICS)[: len(rows)] == rows, "nothing of the training is lost"


def test_a_logger_without_a_trainer_counts_from_zero(tmp_path):
    logger = MetricsLogger(tmp_path)
    logger.log_metrics({"a": 1.0, "epoch": 3.0, "b": 0.1234567}, step=4)
    assert (tmp_path / METRICS).read_text() == "5,a,1\n5,b,0.123457\n"


@pytest.mark.parametrize("name", ["tensorboard", "wandb"])
def test_a_logger_whose_package_is_missing_says_which_extra_installs_it(name, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ValueError, match=rf"logger {name}: the package is not installed; pip install '\.\[{name}\]'"):
        extra_loggers([name], tmp_path)


def test_extra_loggers_are_lightnings_own(tmp_path, monkeypatch):
    made = []

    class Board(DummyLogger):
        def __init__(self, **options):
            super().__init__()
            made.append(options)

    monkeypatch.setitem(sys.modules, "tensorboard", sys)
    monkeypatch.setattr("lightning.pytorch.loggers.TensorBoardLogger", Board)
    (logger,) = extra_loggers(["tensorboard"], tmp_path)
    assert isinstance(logger, Board) and made == [{"save_dir": str(tmp_path), "name": "tensorboard"}]
    with pytest.raises(ValueError, match="logger carrier-pigeon: expected one of tensorboard, wandb"):
        extra_loggers(["carrier-pigeon"], tmp_path)


def test_hints_log_a_loss_each(tmp_path):
    logger, small = Remembers(), replace(HINTED, train={"steps": SPEC.train.steps, "evaluations": 1})
    trainer = stock(tmp_path, logger=logger, log_every_n_steps=1)
    trainer.fit(SequenceModule(small), ArithmeticData(small))
    names = {name for _, metrics in logger.rows for name in metrics}
    assert {"train_loss", *(f"train_loss.{hint.name}" for hint in small.data.hints)} <= names
