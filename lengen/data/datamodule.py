"""The LightningDataModule of every training: batches from the trainer's step on, what validates, tests and is asked."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from lightning import LightningDataModule, Trainer
from torch.utils.data import DataLoader, Dataset, IterableDataset

from lengen.config.spec import Spec
from lengen.data.batch import Batch, TrainBatch
from lengen.data.task_data import TaskData
from lengen.tasks import Problems

Item = TypeVar("Item")


class ArithmeticData(LightningDataModule):
    """The data of a specification and seed, as a trainer takes it; ``data`` is the same without Lightning.

    Validation has one loader; tests have one for each cell, lengths outermost; predictions are of the tests' prompts.
    A Trainer reloads the training batches of a stretch after each evaluation: ``reload_dataloaders_every_n_epochs=1``.
    """

    def __init__(self, spec: Spec, seed: int = 0) -> None:
        super().__init__()
        self.data = TaskData(spec, seed)
        self.spec = spec
        self.seed = seed
        self.task = self.data.task
        self.writer = self.data.writer
        self.format = self.data.format
        self.vocab = self.data.vocab
        self.cells = [(length, count) for length in spec.test.lengths for count in spec.test.counts]

    def train_dataloader(self) -> DataLoader[TrainBatch]:
        """Batches from the trainer's step up to the next evaluation; asked for anew after each one."""
        first = self.trainer.global_step if self.trainer else 0
        # The last stretch may be shorter: it has to end with the training, or it would not be validated.
        size = max(1, min(self.segment(), self.spec.train.steps - first))
        return DataLoader(_Steps(self.data, first, size), batch_size=None)

    def val_dataloader(self) -> DataLoader[Batch]:
        return DataLoader(_Listed([self.data.validation()]), batch_size=None)

    def test_dataloader(self) -> list[DataLoader[Batch]]:
        return [DataLoader(_Cell(self.data, *cell), batch_size=None) for cell in self.cells]

    def predict_dataloader(self) -> list[DataLoader[Problems]]:
        drawn = [self.test(*cell, self.spec.test.examples) for cell in self.cells]
        return [DataLoader(_Listed([problems]), batch_size=None) for problems in drawn]

    def prompts(self, rows: Sequence[Sequence[str]]) -> DataLoader[Problems]:
        """Problems by their operands, such as ``[["57", "48"]]``, for `Trainer.predict`; raises `OperandError`."""
        return DataLoader(_Listed([self.task.parse(list(row)) for row in rows]), batch_size=None)

    def segment(self) -> int:
        """Steps between two evaluations."""
        return -(-self.spec.train.steps // max(self.spec.train.evaluations, 1))

    def batch(self, step: int) -> TrainBatch:
        """The training batch of a step, the same whenever it is asked for."""
        return self.data.batch(step)

    def validation(self) -> Batch:
        """In-distribution examples with the test-time offset."""
        return self.data.validation()

    def test(self, length: int, count: int, examples: int) -> Problems:
        """Test problems of one cell; the same for every model and every seed of a task."""
        return self.data.test(length, count, examples)


def data_of(trainer: Trainer) -> TaskData:
    """The data that a trainer trains or tests on; raises `TypeError` where it was given no `ArithmeticData`."""
    given = getattr(trainer, "datamodule", None)
    if not isinstance(given, ArithmeticData):
        raise TypeError(f"Trainer: expected datamodule=ArithmeticData(...) for callbacks that measure, found {given!r}")
    return given.data


class _Steps(Dataset[TrainBatch]):
    """The training batches of consecutive steps."""

    def __init__(self, data: TaskData, first: int, size: int) -> None:
        self._data, self._first, self._size = data, first, size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: int) -> TrainBatch:
        if index >= self._size:
            raise IndexError
        return self._data.batch(self._first + index)


class _Listed(Dataset[Item]):
    """What stands in a list."""

    def __init__(self, items: list[Item]) -> None:
        self._items = items

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: int) -> Item:
        return self._items[index]


class _Cell(IterableDataset[Batch]):
    """The test examples of a cell, drawn when they are asked for."""

    def __init__(self, data: TaskData, length: int, count: int) -> None:
        self._data, self._length, self._count = data, length, count

    def __iter__(self) -> Iterator[Batch]:
        problems = self._data.test(self._length, self._count, self._data.spec.test.examples)
        for part in problems.parts():
            yield self._data.writer.write(part)
