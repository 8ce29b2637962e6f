"""Lightning's own Trainer, and every batch once in it."""

import os
import pickle
import subprocess
import sys
from multiprocessing import get_all_start_methods
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from lightning import Callback, Trainer
from lightning.pytorch.callbacks import EarlyStopping, GradientAccumulationScheduler, ModelCheckpoint
from lightning.pytorch.loggers.logger import Logger
from torch.utils.data import DataLoader

import lengen
from lengen import AccuracyGrid, ArithmeticData, EditDistanceCurve, SequenceModule, SettingError, execute, replace
from lengen.callbacks.loggers import METRICS, MetricsLogger, extra_loggers, read_metrics
from lengen.callbacks.monitoring import TrainingLoss
from lengen.data import datamodule
from lengen.data.datamodule import TrainingBatches
from tests.fixtures.refusals import refused
from tests.fixtures.settings import TEST, TRAIN, data_spec, kill_at, spec
from tests.lengen.test_hints import RUN as HINTED

pytestmark = pytest.mark.slow

SPEC = spec(
    data_spec("addition", 1, 2, room=8), replace(TRAIN, steps=8, evaluations=4, lr=1e-2),
    replace(TEST, lengths=(1, 2), counts=(2, 3), examples=8, attention=((1, 3),), attention_examples=6), layers=1,
)  # fmt: skip
"""Evaluated after steps 2, 4, 6 and 8."""
TWELVE = spec(
    data_spec("addition", 2, 2, room=8), replace(TRAIN, steps=12, evaluations=4),
    replace(TEST, lengths=(1,), counts=(2,), examples=4), layers=1,
)  # fmt: skip
"""Evaluated after steps 3, 6, 9 and 12."""
NUMBER = {hash(ArithmeticData(TWELVE).batch(step).tokens.numpy().tobytes()): step for step in range(60)}
PROGRAM = """
import sys
from pathlib import Path
from tests.lengen.test_stock_trainer import trained
watched = trained(Path(sys.argv[1]), devices=2, strategy="ddp", max_steps=4, enable_checkpointing=False)
import torch.distributed
rank = torch.distributed.get_rank()
(Path(sys.argv[1]) / f"rank{rank}").write_text(" ".join(map(str, watched.batches)))
"""


class Remembers(Logger):
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
        max_steps=SPEC.train.steps, max_epochs=-1, gradient_clip_val=SPEC.train.clip, default_root_dir=folder,
        num_sanity_val_steps=0, callbacks=list(callbacks), logger=logger, **quiet, **options,
    )  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("execute")
    return folder, execute(SPEC, 0, folder, lambda progress: None)


def test_twelve_lines_train_validate_test_predict_and_resume(finished, tmp_path):
    folder, outcome = finished
    data, module = ArithmeticData(SPEC), SequenceModule(SPEC)
    grid, maps = AccuracyGrid((1, 2), (2, 3), 8), lengen.AttentionMaps([(1, 3)], 6)
    curve, best = EditDistanceCurve(scored=grid, counts=(3,)), ModelCheckpoint(tmp_path, monitor="val_exact_match")
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
        assert text == data.vocab.decode(lengen.generate(module.model, data.writer, data.task.parse(row))[0])
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


def test_the_edit_distance_curve_is_the_same_alone_and_beside_a_grid(tmp_path):
    grid = AccuracyGrid((1, 2), (2, 3), 8)
    beside, alone = EditDistanceCurve(scored=grid, counts=(2,)), EditDistanceCurve((1, 2), (2,), 8)
    one = EditDistanceCurve(scored=AccuracyGrid((1, 2), (2,), 8))
    stock(tmp_path, grid, beside, alone, one.scored, one).fit(SequenceModule(SPEC), ArithmeticData(SPEC))
    assert one.curve == beside.curve == alone.curve and list(alone.curve) == [1, 2] and one.counts == [2]
    score = grid.grid.scores[1, 2]["free_running"]
    assert beside.curve[1] == score["edit_sum"] / score["reference_tokens"] > 0
    assert dict(alone.to_frame().itertuples(index=False)) == alone.curve
    (line,) = alone.plot().lines
    assert dict(line.get_xydata().tolist()) == alone.curve


def test_measuring_without_our_data_and_schedules_of_accumulation_are_refused(tmp_path):
    module, data = SequenceModule(SPEC), ArithmeticData(SPEC)
    trainer = stock(tmp_path, lengen.Probes([["5", "4"]]))
    with pytest.raises(TypeError, match=r"expected ArithmeticData\(\.\.\.\) for callbacks that measure, as"):
        trainer.test(module, data.test_dataloader(), verbose=False)
    with pytest.raises(SettingError, match=r"expected accumulate_grad_batches=N"):
        trained(tmp_path, GradientAccumulationScheduler({0: 2, 2: 4}))


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
    refused(ValueError, "logger pigeon: expected one of tensorboard, wandb", extra_loggers, ["pigeon"], tmp_path)


class Watches(Callback):
    def __init__(self) -> None:
        self.batches: list[int] = []
        self.evaluated: list[int] = []

    def on_train_batch_start(self, trainer, module, batch, index):
        self.batches.append(NUMBER[hash(batch.tokens.numpy().tobytes())])

    def on_validation_end(self, trainer, module):
        self.evaluated.append(trainer.global_step)


def trained(folder: Path, *callbacks: Callback, module=None, data=None, resume=None, **options) -> Watches:
    watches = Watches()
    options = {"max_steps": 12, "max_epochs": -1, "num_sanity_val_steps": 0, "logger": False} | options
    trainer = Trainer(
        accelerator="cpu", default_root_dir=folder, enable_progress_bar=False, enable_model_summary=False,
        callbacks=[watches, *callbacks], **options,
    )  # fmt: skip
    data = data or {"datamodule": ArithmeticData(TWELVE)}
    trainer.fit(module or SequenceModule(TWELVE), **data, ckpt_path=resume, weights_only=True if resume else None)
    return watches


def test_batches_differ_and_specifications_may_be_dictionaries_of_a_module_that_says_what_it_is():
    assert len(NUMBER) == 60, "no two batches are equal, or nothing below means anything"
    assert ArithmeticData(TWELVE.to_dict()).spec == TWELVE
    module, data = SequenceModule(SPEC, seed=3), ArithmeticData(SPEC, 3)
    batch = data.validation()
    assert torch.equal(module(batch), module.model.predict(batch))
    assert SequenceModule(SPEC.to_dict(), seed=3).spec == SPEC
    one, two = (SequenceModule(SPEC, seed=3).state_dict() for _ in range(2))
    assert all(torch.equal(one[name], two[name]) for name in one)


@pytest.mark.parametrize(("options", "batches", "evaluated"), [
    ({}, 12, [3, 6, 9, 12]), ({"reload_dataloaders_every_n_epochs": 1}, 12, [3, 6, 9, 12]),
    ({"accumulate_grad_batches": 3}, 36, [3, 6, 9, 12]), ({"max_steps": -1, "max_epochs": 2}, 6, [3, 6]),
    ({"max_steps": 8}, 8, [3, 6, 8]), ({"limit_train_batches": 2}, 12, None), ({"val_check_interval": 2}, 12, None),
    ({"num_sanity_val_steps": 2}, 12, [0, 3, 6, 9, 12]), ({"fast_dev_run": True}, 1, None),
])  # fmt: skip
def test_every_batch_once_and_in_order(tmp_path, options, batches, evaluated):
    watched = trained(tmp_path, enable_checkpointing=False, **options)
    assert watched.batches == list(range(batches))
    assert evaluated is None or watched.evaluated == evaluated


@pytest.mark.skipif("fork" not in get_all_start_methods(), reason="processes cannot fork here")
@pytest.mark.parametrize("options", [{}, {"accumulate_grad_batches": 3}, {"limit_train_batches": 2}])
def test_a_process_beside_a_gpu_writes_the_same_batches(tmp_path, monkeypatch, options):
    """No GPU is needed: the datamodule is told that there is one."""
    plain = trained(tmp_path, enable_checkpointing=False, **options)
    waited = []
    monkeypatch.setattr(ArithmeticData, "_waits", lambda data: not waited.append(data))
    ahead = trained(tmp_path, enable_checkpointing=False, **options)
    assert waited and (ahead.batches, ahead.evaluated) == (plain.batches, plain.evaluated)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("seconds", [0.0, 1e9])
def test_a_gpu_waits_only_where_writing_is_slow(monkeypatch, device, seconds):
    data = ArithmeticData(TWELVE)
    assert not data._waits()  # no trainer
    data.trainer = SimpleNamespace(strategy=SimpleNamespace(root_device=torch.device(device)))
    monkeypatch.setattr(datamodule, "WORTH_A_PROCESS", seconds)
    assert data._waits() is (device == "cuda" and seconds == 0.0)
    monkeypatch.setattr(datamodule, "current_process", lambda: SimpleNamespace(daemon=True))
    assert not data._waits()  # a worker of several, which may start no process


@pytest.mark.filterwarnings("ignore::UserWarning")  # pytest.warns emits lightning's advice anew, as its own
def test_a_longer_training_goes_on_with_new_batches_and_is_warned_of(tmp_path):
    with pytest.warns(UserWarning, match=r"Trainer\(max_steps=20\) trains on after the 12 steps"):
        watched = trained(tmp_path, max_steps=20, enable_checkpointing=False)
    assert watched.batches == list(range(20)) and watched.evaluated == [3, 6, 9, 12, 15, 18, 20]


@pytest.mark.parametrize("first", [2, 5])
def test_overfitting_repeats_the_first_batches(tmp_path, first):
    watched = trained(tmp_path, overfit_batches=first, enable_checkpointing=False)
    assert watched.batches == [step % first for step in range(12)]


@pytest.mark.skipif("fork" not in get_all_start_methods(), reason="processes cannot fork here")
def test_workers_of_a_loader_of_ones_own_share_the_batches(tmp_path):
    class Theirs(ArithmeticData):
        def train_dataloader(self):
            return DataLoader(super().train_dataloader().dataset, batch_size=None, **workers)

    def batches():
        return trained(tmp_path, data={"datamodule": Theirs(TWELVE)}, enable_checkpointing=False).batches

    workers = {"num_workers": 2, "multiprocessing_context": "fork"}
    assert batches() == list(range(12))
    tested = ArithmeticData(replace(TWELVE, test=replace(TWELVE.test, examples=250))).test_dataloader()[0].dataset
    assert [len(batch.tokens) for batch in DataLoader(tested, batch_size=None, **workers)] == [100, 100, 50]
    with pytest.raises(SettingError, match="expected num_workers=0"):
        list(DataLoader(ArithmeticData(TWELVE).train_dataloader().dataset, batch_size=None, **workers))
    workers["persistent_workers"] = True
    with pytest.raises(SettingError, match="persistent_workers=False"):  # with the traceback of the worker
        batches()


def test_data_that_were_read_and_models_go_to_another_process():
    data = ArithmeticData(TWELVE)
    data.setup("fit")
    dataset = data.train_dataloader().dataset
    assert torch.equal(next(iter(pickle.loads(pickle.dumps(dataset)))).tokens, next(iter(dataset)).tokens)
    assert pickle.loads(pickle.dumps(lengen.load("sums-coupled"))).solve([57, 48])["read"] == "105"


@pytest.mark.parametrize("stop", [3, 4, 6, 7])
@pytest.mark.parametrize("each", [1, 2])
def test_resumed_anywhere_the_batches_go_on(tmp_path, stop, each):
    kept = ModelCheckpoint(tmp_path, every_n_train_steps=1, save_last=True)
    trained(tmp_path, kept, max_steps=stop, accumulate_grad_batches=each)
    watched = trained(tmp_path, resume=kept.last_model_path, accumulate_grad_batches=each, enable_checkpointing=False)
    assert watched.batches == list(range(stop * each, 12 * each)) and watched.evaluated[-1] == 12


def test_bare_loaders_have_every_step_and_cannot_resume(tmp_path):
    def bare():
        data = ArithmeticData(TWELVE)
        return {"train_dataloaders": data.train_dataloader(), "val_dataloaders": data.val_dataloader()}

    kept = ModelCheckpoint(tmp_path, every_n_train_steps=4, save_top_k=-1)
    assert trained(tmp_path, kept, data=bare(), max_steps=15).batches == list(range(15))
    (middle,) = tmp_path.glob("*step=8.ckpt")
    with pytest.raises(SettingError, match=r"resume with fit\(module, ArithmeticData"):
        trained(tmp_path, data=bare(), resume=middle, enable_checkpointing=False)


def test_steps_of_a_module_that_steps_by_itself_and_rarely(tmp_path):
    class Rarely(SequenceModule):
        automatic_optimization = False

        def training_step(self, batch, index):
            loss = super().training_step(batch, index)
            self.manual_backward(loss)
            if index % 2:
                self.optimizers().step()
            return {"loss": loss}

    batches = trained(tmp_path, module=Rarely(TWELVE), enable_checkpointing=False).batches
    assert len(batches) == len(set(batches)) >= 12


@pytest.mark.parametrize("setting", [TWELVE, HINTED])
@pytest.mark.parametrize("each", [1, 2])
def test_processes_share_the_batches_and_train_the_same_task(setting, each):
    data = ArithmeticData(setting).data

    def taken(rank: int) -> list:
        trainer = SimpleNamespace(
            accumulate_grad_batches=each, distributed_sampler_kwargs={"num_replicas": 2, "rank": rank},
            overfit_batches=0, lightning_module=SimpleNamespace(automatic_optimization=True), global_step=2,
            max_steps=100,
            fit_loop=SimpleNamespace(
                epoch_loop=SimpleNamespace(batch_progress=SimpleNamespace(total=SimpleNamespace(completed=2 * each)))
            ),
        )  # fmt: skip
        return list(TrainingBatches(data, 6, trainer))

    one, two = taken(0), taken(1)
    assert [batch.output for batch in one] == [batch.output for batch in two] and len(one) == min(4, 6) * each
    seen = [(batch.output, batch.tokens.numpy().tobytes()) for batch in one + two]
    assert len(set(seen)) == len(seen)


def test_two_processes(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    found = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([sys.executable, program, tmp_path], check=True, capture_output=True, timeout=300, env=found)
    ranks = [[int(word) for word in (tmp_path / f"rank{rank}").read_text().split()] for rank in (0, 1)]
    assert ranks == [[0, 2, 4, 6], [1, 3, 5, 7]]
