"""Loggers beside metrics.csv: asked for by name, in a folder of their own, and without any effect on the run."""

import sys
from pathlib import Path

import pytest
from lightning.pytorch.loggers.logger import Logger

from lengen.callbacks.loggers import EXTRAS
from reproduce.cli import main
from reproduce.commands import table
from reproduce.store.reference import Reference
from reproduce.store.store import LOGGERS, LocalStore

RUN = "bias_calibration/table1/successor-abc"
"""A run with two trainings."""


class Board(Logger):
    """A logger of another package, which writes what it is given into one file."""

    version = 0

    def __init__(self, save_dir: str, name: str) -> None:
        super().__init__()
        self.file, self._name = Path(save_dir) / "board.txt", name

    @property
    def name(self) -> str:
        return self._name

    def log_hyperparams(self, params, *args):
        """Nothing."""

    def log_metrics(self, metrics, step=None):
        with self.file.open("a") as file:
            file.writelines(f"{self._name} {name}\n" for name in metrics)


def made(monkeypatch, root: Path, *options: str) -> tuple[Path, dict]:
    """The folder and run.json of a small run into an empty results folder."""
    monkeypatch.setenv("LENGEN_RESULTS", str(root))
    assert main(["run", RUN, "--profile", "smoke", "--jobs", "1", *options]) == 0
    (run,) = LocalStore(root).runs()
    return LocalStore(root).folder(run), dict(run.info)


def test_a_logger_gets_what_metrics_csv_gets_and_changes_nothing(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "tensorboard", sys)
    monkeypatch.setattr("lightning.pytorch.loggers.TensorBoardLogger", Board)
    plain, without = made(monkeypatch, tmp_path / "plain")
    folder, beside = made(monkeypatch, tmp_path / "beside", "--logger", "tensorboard", "--logger", "tensorboard")
    assert without["files"] == {**beside["files"], "last.ckpt": without["files"]["last.ckpt"]}
    assert without["spec_hash"] == beside["spec_hash"] and not any(LOGGERS in name for name in beside["files"])
    assert (plain / "metrics.csv").read_bytes() == (folder / "metrics.csv").read_bytes()
    names = {row.split(",")[1] for row in (plain / "metrics.csv").read_text().splitlines()[1:]}
    told = [line.split()[1] for line in (folder / LOGGERS / "board.txt").read_text().splitlines()]
    assert names <= set(told) and {"learning_rate", "interpolation_learning_rate"} <= set(told)
    assert not (plain / LOGGERS).exists()

    (run,) = LocalStore(tmp_path / "beside").runs()
    reference = Reference(tmp_path / "beside")
    assert len(reference.adopt([run], LocalStore(tmp_path / "beside"))) == 1
    assert not list(reference.path.rglob(LOGGERS))


def test_a_missing_package_is_one_sentence_before_anything_trains(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("LENGEN_RESULTS", str(tmp_path))
    monkeypatch.setitem(sys.modules, "wandb", None)
    assert main(["run", RUN, "--profile", "smoke", "--logger", "wandb"]) == 2
    said = capsys.readouterr()
    sentence = "logger wandb: the package is not installed; pip install '.[wandb]' adds it"
    assert said.err == f"python -m reproduce: {sentence}\n"
    assert said.out == "" and not list(tmp_path.iterdir())


def test_an_unknown_logger_is_refused_with_the_known_ones(capsys):
    assert main(["run", RUN, "--logger", "pigeon"]) == 2
    assert "tensorboard" in capsys.readouterr().err and tuple(EXTRAS) == table.LOGGERS


@pytest.mark.parametrize("name", EXTRAS)
def test_lightning_has_each_logger(name):
    import lightning.pytorch.loggers

    assert issubclass(getattr(lightning.pytorch.loggers, EXTRAS[name][1]), Logger)
