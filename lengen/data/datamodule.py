"""The LightningDataModule of every training: batches from the trainer's step on, and what validates."""

from lightning import LightningDataModule
from torch.utils.data import DataLoader, Dataset

from lengen.config.spec import Spec
from lengen.data.batch import Batch, TrainBatch
from lengen.data.task_data import TaskData


class ArithmeticData(TaskData, LightningDataModule):
    """`TaskData` as a trainer takes it."""

    def __init__(self, spec: Spec, seed: int) -> None:
        LightningDataModule.__init__(self)
        TaskData.__init__(self, spec, seed)

    def train_dataloader(self) -> DataLoader[TrainBatch]:
        """Batches from the trainer's step up to the next evaluation; asked for anew after each one."""
        first = self.trainer.global_step if self.trainer else 0
        # The last stretch may be shorter: it has to end with the training, or it would not be validated.
        size = max(1, min(self.segment(), self.spec.train.steps - first))
        return DataLoader(_Steps(self, first, size), batch_size=None)

    def val_dataloader(self) -> DataLoader[Batch]:
        return DataLoader(_Single(self.validation()), batch_size=None)

    def segment(self) -> int:
        """Steps between two evaluations."""
        return -(-self.spec.train.steps // max(self.spec.train.evaluations, 1))


class _Steps(Dataset[TrainBatch]):
    """The training batches of consecutive steps."""

    def __init__(self, data: ArithmeticData, first: int, size: int) -> None:
        self._data, self._first, self._size = data, first, size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: int) -> TrainBatch:
        if index >= self._size:
            raise IndexError
        return self._data.batch(self._first + index)


class _Single(Dataset[Batch]):
    """One batch."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> Batch:
        if index > 0:
            raise IndexError
        return self._batch
