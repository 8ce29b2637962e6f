"""Training batches under every option of a Trainer that changes steps, epochs or processes: none is repeated."""

import os
import subprocess
import sys
from multiprocessing import get_all_start_methods
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from lightning import Callback, Trainer
from lightning.pytorch.callbacks import GradientAccumulationScheduler, ModelCheckpoint
from torch.utils.data import DataLoader

from lengen import ArithmeticData, SequenceModule, SettingError
from lengen.data import datamodule
from lengen.data.datamodule import TrainingBatches
from lengen.settings.spec import replace
from tests.fixtures.settings import TEST, TRAIN, data_spec, spec
from tests.lengen.test_hints import RUN as HINTED

pytestmark = pytest.mark.slow

SPEC = spec(
    data_spec("addition", 2, 2, room=8),
    replace(TRAIN, steps=12, evaluations=4),
    replace(TEST, lengths=(1,), counts=(2,), examples=4),
    layers=1,
)
"""Evaluated after steps 3, 6, 9 and 12."""
NUMBER = {hash(ArithmeticData(SPEC).batch(step).tokens.numpy().tobytes()): step for step in range(60)}


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
        accelerator="cpu",
        default_root_dir=folder,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[watches, *callbacks],
        **options,
    )
    data = data or {"datamodule": ArithmeticData(SPEC)}
    trainer.fit(module or SequenceModule(SPEC), **data, ckpt_path=resume, weights_only=True if resume else None)
    return watches


def test_the_batches_differ():
    assert len(NUMBER) == 60, "no two batches are equal, or nothing below means anything"


@pytest.mark.parametrize(
    ("options", "batches", "evaluated"),
    [
        ({}, 12, [3, 6, 9, 12]),
        ({"reload_dataloaders_every_n_epochs": 1}, 12, [3, 6, 9, 12]),
        ({"accumulate_grad_batches": 3}, 36, [3, 6, 9, 12]),
        ({"max_steps": -1, "max_epochs": 2}, 6, [3, 6]),
        ({"max_steps": 8}, 8, [3, 6, 8]),
        ({"limit_train_batches": 2}, 12, None),
        ({"val_check_interval": 2}, 12, None),
        ({"num_sanity_val_steps": 2}, 12, [0, 3, 6, 9, 12]),
        ({"fast_dev_run": True}, 1, None),
    ],
)
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
    data = ArithmeticData(SPEC)
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
        return trained(tmp_path, data={"datamodule": Theirs(SPEC)}, enable_checkpointing=False).batches

    workers = {"num_workers": 2, "multiprocessing_context": "fork"}
    assert batches() == list(range(12))
    tested = ArithmeticData(replace(SPEC, test=replace(SPEC.test, examples=250))).test_dataloader()[0].dataset
    assert [len(batch.tokens) for batch in DataLoader(tested, batch_size=None, **workers)] == [100, 100, 50]
    with pytest.raises(SettingError, match="expected num_workers=0"):
        list(DataLoader(ArithmeticData(SPEC).train_dataloader().dataset, batch_size=None, **workers))
    workers["persistent_workers"] = True
    with pytest.raises(SettingError, match="persistent_workers=False"):
        batches()


@pytest.mark.parametrize("stop", [3, 4, 6, 7])
@pytest.mark.parametrize("each", [1, 2])
def test_resumed_anywhere_the_batches_go_on(tmp_path, stop, each):
    kept = ModelCheckpoint(tmp_path, every_n_train_steps=1, save_last=True)
    trained(tmp_path, kept, max_steps=stop, accumulate_grad_batches=each)
    watched = trained(tmp_path, resume=kept.last_model_path, accumulate_grad_batches=each, enable_checkpointing=False)
    assert watched.batches == list(range(stop * each, 12 * each)) and watched.evaluated[-1] == 12


def test_bare_loaders_have_every_step_and_cannot_resume(tmp_path):
    def bare():
        data = ArithmeticData(SPEC)
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

    batches = trained(tmp_path, module=Rarely(SPEC), enable_checkpointing=False).batches
    assert len(batches) == len(set(batches)) >= 12


def test_a_schedule_of_accumulation_is_refused(tmp_path):
    with pytest.raises(SettingError, match=r"expected accumulate_grad_batches=N"):
        trained(tmp_path, GradientAccumulationScheduler({0: 2, 2: 4}))


@pytest.mark.parametrize("setting", [SPEC, HINTED])
@pytest.mark.parametrize("each", [1, 2])
def test_processes_share_the_batches_and_train_the_same_task(setting, each):
    data = ArithmeticData(setting).data

    def taken(rank: int) -> list:
        trainer = SimpleNamespace(
            accumulate_grad_batches=each,
            distributed_sampler_kwargs={"num_replicas": 2, "rank": rank},
            overfit_batches=0,
            lightning_module=SimpleNamespace(automatic_optimization=True),
            global_step=2,
            max_steps=100,
            fit_loop=SimpleNamespace(
                epoch_loop=SimpleNamespace(batch_progress=SimpleNamespace(total=SimpleNamespace(completed=2 * each)))
            ),
        )
        return list(TrainingBatches(data, 6, trainer))

    one, two = taken(0), taken(1)
    assert [batch.output for batch in one] == [batch.output for batch in two] and len(one) == min(4, 6) * each
    seen = [(batch.output, batch.tokens.numpy().tobytes()) for batch in one + two]
    assert len(set(seen)) == len(seen)


PROGRAM = """
import sys
from pathlib import Path
from tests.lengen.data.test_any_trainer import trained
watched = trained(Path(sys.argv[1]), devices=2, strategy="ddp", max_steps=4, enable_checkpointing=False)
import torch.distributed
rank = torch.distributed.get_rank()
(Path(sys.argv[1]) / f"rank{rank}").write_text(" ".join(map(str, watched.batches)))
"""


def test_two_processes(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    found = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    subprocess.run([sys.executable, program, tmp_path], check=True, capture_output=True, timeout=300, env=found)
    ranks = [[int(word) for word in (tmp_path / f"rank{rank}").read_text().split()] for rank in (0, 1)]
    assert ranks == [[0, 2, 4, 6], [1, 3, 5, 7]]


def test_a_specification_may_be_a_dictionary():
    assert ArithmeticData(SPEC.to_dict()).spec == SPEC
