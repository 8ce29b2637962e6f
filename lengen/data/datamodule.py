"""The LightningDataModule of every training: batches from the trainer's step on, validation, tests and prompts."""

import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from multiprocessing import current_process
from pathlib import Path
from typing import Any, TypeVar, cast

from lightning import LightningDataModule, Trainer
from lightning.pytorch.callbacks import GradientAccumulationScheduler
from torch.distributed import is_initialized
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

from lengen.data.batch_and_random_spaces import Batch
from lengen.data.reading_problems import read_problems
from lengen.data.setting_from_names import SpecLike, read_spec
from lengen.data.task_data import TaskData
from lengen.digits import Problems, problem_texts
from lengen.part import SettingError, plain
from lengen.settings.spec import Spec

Item = TypeVar("Item")
AHEAD: dict[str, Any] = {"num_workers": 1, "multiprocessing_context": "fork", "prefetch_factor": 16}
"""A forked process writes the next batches of an epoch; it reads the trainer's step when the epoch starts."""
WORTH_A_PROCESS = 0.003
"""Seconds of writing a batch from which on a process is worth it: to hand a batch over takes about one millisecond."""


class ArithmeticData(LightningDataModule):
    """The data of a specification and seed, as a trainer takes it; ``data`` is the same without Lightning.

    Validation has one loader; tests have one for each cell, lengths outermost; predictions are of the tests' prompts.
    An epoch ends with the next evaluation of the specification. No Trainer option is needed: the batches of an epoch
    follow from the trainer's step, its accumulated batches and its processes, so none is repeated.

    Args:
        spec: The specification, the name of an experiment or of a task, a JSON file, what `Spec.to_dict` gives, or
            fields by their names, as `lengen.setting` takes them.
        seed: Decides the training and validation problems.
        train_file: Problems to train on in place of drawn ones, lines such as ``12+34=46`` or ``12,34,46``; they are
            shuffled anew in every epoch.

    Raises:
        SettingError: A setting, a file or, when it is fitted, a Trainer that cannot be.

    Example:
        >>> import lengen
        >>> data = lengen.ArithmeticData(lengen.setting("copy", digits=3, batch=4))
        >>> data.batch(0).tokens.shape[0], data.vocab.decode(data.batch(0).tokens[0])[0]
        (4, '$')
    """

    def __init__(self, spec: SpecLike, seed: int = 0, train_file: str | Path | None = None) -> None:
        super().__init__()
        self.data = TaskData(spec if isinstance(spec, Spec) else read_spec(spec), seed)
        self.spec = self.data.spec
        if not isinstance(train_file, str | Path | None):
            raise SettingError(f"train_file={train_file!r:.60}: expected the name of a file")
        if train_file is not None:
            self.data.train_on(read_problems(Path(train_file), self.data.task, self.data.writer))
        self.seed = self.data.seed
        file = None if train_file is None else str(train_file)
        # The loggers get them from the module, whose seed may be another one.
        self.save_hyperparameters({"spec": plain(self.spec), "seed": self.seed, "train_file": file}, logger=False)
        self.task = self.data.task
        self.writer = self.data.writer
        self.format = self.data.format
        self.vocab = self.data.vocab
        self.cells = [(length, count) for length in self.spec.test.lengths for count in self.spec.test.counts]

    def setup(self, stage: str) -> None:
        """Refuse or warn of a Trainer whose steps are not those of the specification."""
        if stage == "fit" and self.trainer is not None:
            check_trainer(self.trainer, self.spec.train.steps)

    def train_dataloader(self) -> DataLoader[Batch]:
        """Return batches from the trainer's step up to the next evaluation; without a trainer, those of all steps."""
        batches = TrainingBatches(self.data, self.segment(), self.trainer)
        return DataLoader(batches, batch_size=None, **(AHEAD if self._waits() else {}))

    def val_dataloader(self) -> DataLoader[Batch]:
        return _loader([self.data.validation()])

    def test_dataloader(self) -> list[DataLoader[Batch]]:
        return [DataLoader(_Cell(self.data, *cell), batch_size=None) for cell in self.cells]

    def predict_dataloader(self) -> list[DataLoader[Problems]]:
        return [_loader([self.test(*cell, self.spec.test.examples)]) for cell in self.cells]

    def prompts(self, rows: Sequence[Sequence[object]]) -> DataLoader[Problems]:
        """Return problems by their operands, such as ``[["57", "48"]]``, for `Trainer.predict`.

        Raises `OperandError`.
        """
        return _loader([self.task.parse(texts) for texts in problem_texts(rows)])

    def _waits(self) -> bool:
        """Return True if a GPU would wait for the processor to write its batches, which are the same either way.

        The first window of batches is not timed: it makes what all share. A worker of several (`multiprocessing`'s
        daemons) may start no process, and writes its batches itself.
        """
        device = "cpu" if self.trainer is None else self.trainer.strategy.root_device.type
        if device != "cuda" or current_process().daemon:
            return False
        window = self.spec.train.bucket * len(self.data.streams)
        for step in range(len(self.data.streams)):
            self.batch(step)
        started = time.perf_counter()
        for step in range(window, 2 * window):
            self.batch(step)
        return time.perf_counter() - started > window * WORTH_A_PROCESS

    def segment(self) -> int:
        """Return steps between two evaluations."""
        return -(-self.spec.train.steps // max(self.spec.train.evaluations, 1))

    def batch(self, step: int) -> Batch:
        """Return the training batch of a step, the same at every call."""
        return self.data.batch(step)

    def validation(self) -> Batch:
        """Draw in-distribution examples with the test-time offset."""
        return self.data.validation()

    def test(self, length: int, count: int, examples: int) -> Problems:
        """Return test problems of one cell; the same for every model and every seed of a task."""
        return self.data.test(length, count, examples)


def data_of(trainer: Trainer, data: ArithmeticData | TaskData | None = None) -> TaskData:
    """Return the data of a callback, or else what its trainer trains or tests on; raises `TypeError` for none."""
    source = getattr(trainer, "datamodule", None) if data is None else data
    if isinstance(source, TaskData):
        return source
    if not isinstance(source, ArithmeticData):
        fault = f"found {type(source).__name__}; expected ArithmeticData(...) for callbacks that measure"
        raise TypeError(f"Trainer: {fault}, as datamodule= of the Trainer or as data= of the callback")
    return source.data


def check_trainer(trainer: Trainer, steps: int) -> None:
    """Raise `SettingError` for a trainer whose batches cannot be counted; warn of one that goes on after ``steps``."""
    if any(isinstance(callback, GradientAccumulationScheduler) for callback in trainer.callbacks):  # type: ignore[attr-defined]
        fault = "Trainer: the batches of a step cannot be told from a GradientAccumulationScheduler"
        raise SettingError(f"{fault}; expected accumulate_grad_batches=N and no schedule")
    if steps and trainer.max_steps > steps:
        warnings.warn(
            f"Trainer(max_steps={trainer.max_steps}) trains on after the {steps} steps of the specification, with the "
            f"last learning rate of its schedule; expected max_steps={steps}, or TrainSpec(steps={trainer.max_steps})",
            stacklevel=2,
        )


class TrainingBatches(IterableDataset[Batch]):
    """The training batches from the trainer's step up to the next evaluation, looked up whenever they are iterated.

    A step takes ``accumulate_grad_batches`` batches of each process, and no two processes take the same. Batches of
    auxiliary tasks take turns: all processes train the same task at the same time. Workers of a loader share the
    batches of an epoch; a worker knows the step at which it was forked, so none can outlive its epoch.

    Without a trainer an iteration goes on where the one before ended, and the first has the batches of all steps.
    """

    def __init__(self, data: TaskData, segment: int, trainer: Trainer | None = None) -> None:
        self._data, self._segment, self._trainer = data, segment, trainer
        self._next = 0
        self._begun = False

    @property
    def follows(self) -> bool:
        """Batches are those of a trainer's step."""
        return self._trainer is not None

    def __iter__(self) -> Iterator[Batch]:
        if get_worker_info() is not None:
            if self._trainer is None or self._begun:
                fault = "DataLoader: a worker would repeat batches, since it cannot tell where the last epoch ended"
                remedy = "expected num_workers=0, or fit(module, datamodule=...) and persistent_workers=False"
                raise SettingError(f"{fault}; {remedy}")
            self._begun = True
        if self._trainer is None:
            if is_initialized():
                fault = "Trainer: every process would get the same batches"
                raise SettingError(f"{fault}; fit(module, ArithmeticData(spec))")
            first, self._next = self._next, self._next + max(1, self._data.spec.train.steps)
            yield from map(self._data.batch, range(first, self._next))
            return
        trainer, streams = self._trainer, len(self._data.streams)
        first, end = self._range(trainer)
        shared = trainer.distributed_sampler_kwargs or {"num_replicas": 1, "rank": 0}
        for number in _own(range(first, end)):
            turn, task = divmod(number, streams)
            yield self._data.batch((turn * shared["num_replicas"] + shared["rank"]) * streams + task)

    def _range(self, trainer: Trainer) -> tuple[int, int]:
        """Return numbers of the batches of the next epoch, among those of one process."""
        taken = trainer.fit_loop.epoch_loop.batch_progress.total.completed
        overfit: float = trainer.overfit_batches  # type: ignore[attr-defined]
        if overfit:
            return 0, overfit if isinstance(overfit, int) else self._segment
        if not trainer.lightning_module.automatic_optimization:  # it may step more often than it takes batches, or less
            return taken, taken + self._segment
        step, each = trainer.global_step, trainer.accumulate_grad_batches
        segment = max(1, self._segment)  # a constructed model trains no step
        # Up to the next evaluation, or until the training ends: it would not be validated otherwise.
        ends = [end for end in (self._data.spec.train.steps, trainer.max_steps) if end > step]
        end = min([step - step % segment + segment, *ends])
        # A checkpoint from between two steps has lost the gradients of the batches since the first of them.
        return step * each, end * each


def _own(items: Iterable[Item]) -> Iterator[Item]:
    """Return the items, or in a worker of a loader its share of them: a loader takes from its workers in turns."""
    worker = get_worker_info()
    return islice(items, worker.id, None, worker.num_workers) if worker else iter(items)


def _loader(items: list[Item]) -> DataLoader[Item]:
    """Return a loader of the items as they are: a list is a data set."""
    return DataLoader(cast(Dataset[Item], items), batch_size=None)


class _Cell(IterableDataset[Batch]):
    """The test examples of a cell, drawn on demand."""

    def __init__(self, data: TaskData, length: int, count: int) -> None:
        self._data, self._length, self._count = data, length, count

    def __iter__(self) -> Iterator[Batch]:
        problems = self._data.test(self._length, self._count, self._data.spec.test.examples)
        for part in _own(problems.parts()):
            yield self._data.writer.write(part)
