"""Bases of callbacks that ask, and the accuracy grid (two axes) or curve (one): counts of every test cell."""

import contextlib
import hashlib
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from lightning import Callback, LightningModule, Trainer
from lightning.pytorch.trainer.states import TrainerFn
from torch import nn

from lengen.callbacks.loggers import MetricsLogger
from lengen.callbacks.monitoring import TrainingLoss
from lengen.data.batch_writer import Writer
from lengen.data.datamodule import ArithmeticData, data_of
from lengen.data.reading_responses import can_run_free
from lengen.data.task_data import TaskData
from lengen.decoding.decoding import at_once, generate, go_on, read, sampled, true_responses
from lengen.digits import OperandError, Problems, cells, generator, whole
from lengen.metrics import count
from lengen.models import Transformer
from lengen.models.foreign import Foreign, Predicting, answering
from lengen.results.progress import Progress, Report, silent, write_whole
from lengen.results.records import Counts, Grid, RecordError


class Asking(Callback, ABC):
    """Asks a module something once training has ended, in `Trainer.test`, and while it trains.

    It asks here and not in a test step because test steps run in the precision of the training: hooks of callbacks run
    in that of the weights. Numbers of `logged` go to the loggers and into ``trainer.callback_metrics``, where
    `EarlyStopping` and `ModelCheckpoint` find them, in whatever order the callbacks stand.

    Args:
        every_n_steps: Also ask after every so many steps; 0: only at the end. Without it, what another callback of the
            Trainer monitors is asked at every evaluation.
    """

    def __init__(self, every_n_steps: int = 0) -> None:
        self.every_n_steps = whole("every_n_steps", every_n_steps, least=0)
        self._asked_at = -1
        self.is_monitored = False
        """Another callback looks for a number of these."""

    @abstractmethod
    def ask(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Ask the module, which neither drops nor learns anything."""

    def logged(self) -> dict[str, float]:
        """Return numbers for loggers and other callbacks, under names that say of what they are."""
        return {}

    def names(self) -> Collection[str]:
        """Return the names of `logged`, as far as they are known before anything is asked."""
        return ()

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        monitors = {getattr(callback, "monitor", None) for callback in trainer.callbacks}  # type: ignore[attr-defined]
        self._asked_at, self.is_monitored = -1, not monitors.isdisjoint(self.names())

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        is_due = self.every_n_steps and trainer.global_step % self.every_n_steps == 0
        if is_due or trainer.is_last_batch:
            self._ask_once(trainer, pl_module, bool(is_due))

    def on_validation_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if trainer.state.fn == TrainerFn.FITTING and not trainer.sanity_checking:
            self._ask_once(trainer, pl_module, False)

    def on_fit_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Ask on the device that trained: before this hook, Lightning moves the model to the CPU."""
        pl_module.to(trainer.strategy.root_device)
        self._ask(trainer, pl_module)
        pl_module.cpu()

    def on_test_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._ask(trainer, pl_module)

    def _ask_once(self, trainer: Trainer, pl_module: LightningModule, is_due: bool) -> None:
        """Ask at a step at which nothing was asked yet, if that is due or another callback is about to look."""
        is_waited_for = self.is_monitored and (not self.every_n_steps or self._asked_at < 0)
        if (is_due or is_waited_for) and self._asked_at != trainer.global_step:
            self._ask(trainer, pl_module)

    def _ask(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._asked_at = trainer.global_step
        with answering(pl_module):
            self.ask(trainer, pl_module)
        numbers = self.logged()
        check_numbers(f"{type(self).__name__}.logged()", numbers)
        trainer.callback_metrics.update({name: torch.tensor(float(value)) for name, value in numbers.items()})
        for logger in trainer.loggers:
            if not isinstance(logger, MetricsLogger) and numbers:  # its folder has the counts
                logger.log_metrics(numbers, step=trainer.global_step)


def check_numbers(where: str, numbers: Mapping[str, object]) -> None:
    """Raise `TypeError` for anything but numbers, which no run could store and no logger show."""
    for name, number in numbers.items():
        if not isinstance(number, int | float | np.number):
            raise TypeError(f"{where}[{name!r}]: found {type(number).__name__}; expected a number")


class Measurement(Asking, ABC):
    """Asks a model about problems of the data; what it answers are attributes.

    A run stores the ``arrays``, ``scalars`` and ``info`` of all its measurements.

    Args:
        data: The problems, where the Trainer trains on data of your own; None: its `ArithmeticData`.
        every_n_steps: Also measure after every so many steps; 0: only at the end. Without it, what another callback of
            the Trainer monitors is measured at every evaluation.

    Example:
        >>> import lengen
        >>> class Parameters(lengen.Measurement):
        ...     def measure(self, model, data, report):
        ...         self.scalars["parameters"] = sum(each.numel() for each in model.parameters())
        >>> measured = Parameters()
        >>> module = lengen.train("copy", digits=2, steps=2, batch=4, callbacks=measured)
        >>> sorted(measured.scalars)
        ['parameters']
    """

    def __init__(self, data: ArithmeticData | TaskData | None = None, every_n_steps: int = 0) -> None:
        super().__init__(every_n_steps)
        self.data = data
        self.arrays: dict[str, np.ndarray] = {}
        """Named arrays, for figures."""
        self.scalars: dict[str, float] = {}
        """Named numbers."""
        self.info: dict[str, object] = {}
        """Further entries of run.json, by name."""
        self.writes_files = True
        """Of several processes the first one writes."""
        self.reads_attention = False
        """The model has to show its attention."""

    @abstractmethod
    def measure(self, model: Transformer, data: TaskData, report: Report) -> None:
        """Ask the model, which neither drops nor learns anything, about problems of the data."""

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Refuse a module or data that cannot be measured, before anything is trained."""
        super().setup(trainer, pl_module, stage)
        model = model_of(pl_module)
        data_of(trainer, self.data)
        if self.reads_attention and not hasattr(model, "attention"):
            raise TypeError(
                f"{type(pl_module).__name__}: {type(self).__name__} needs a method attention(batch) that returns a "
                'list of {"self": weights (B, heads, T - 1, T - 1)}, one for each layer'
            )
        self.writes_files = trainer.is_global_zero

    def ask(self, trainer: Trainer, pl_module: LightningModule) -> None:
        watched = [callback.report for callback in trainer.callbacks if isinstance(callback, TrainingLoss)]  # type: ignore[attr-defined]
        self.measure(model_of(pl_module), data_of(trainer, self.data), watched[0] if watched else silent)
        name = type(self).__name__
        for place, array in self.arrays.items():
            if not isinstance(array, np.ndarray) or array.dtype == object:
                raise TypeError(f"{name}.arrays[{place!r}]: found {type(array).__name__}; expected an array of numbers")
        check_numbers(f"{name}.scalars", self.scalars)


def model_of(module: LightningModule) -> Transformer:
    """Return the network that a module trains, or the module itself if it has `predict`.

    Raises `TypeError` otherwise.
    """
    model = getattr(module, "model", None)
    if isinstance(model, Transformer):
        return model
    for candidate in (model, module):
        if isinstance(candidate, Predicting):
            return cast(Transformer, Foreign(cast(nn.Module, candidate)))
    fault = f"{type(module).__name__}: expected a module whose `model` is a lengen Transformer"
    raise TypeError(f"{fault}, or one with a method predict(batch) that returns logits (B, T - 1, V)")


def score_cell(model: Transformer, writer: Writer, problems: Problems, free_running: bool) -> dict[str, Counts]:
    """Return the counts of one test cell, by mode.

    Exact match is the same in both modes (see `lengen.decoding.decoding`). The final answer is not: teacher-forced, the
    true scratchpad stands in the context; free-running, the model's own does. Only examples that fail are decoded.
    """
    totals: dict[str, Counts] = defaultdict(Counts)
    for part in problems.parts(at_once(writer, problems, model)):
        for mode, score in _score(model, writer, part, free_running).items():
            totals[mode] += score
    return totals


def score_sampled(model: Transformer, writer: Writer, problems: Problems, stream: torch.Generator) -> Counts:
    """Return the counts of one test cell whose responses are sampled at temperature 1.

    Table 4.3 of "Length Generalization on Multi-Digit Integer Addition with Transformers" was measured so. The expected
    share of exact matches is the mean of exp(-loss of the whole response).
    """
    written = generate(model, writer, problems, choose=sampled(stream))
    reference = true_responses(writer.write(problems))
    return count(written, reference, writer.format, writer.vocab, own_text=True)


def _score(model: Transformer, writer: Writer, problems: Problems, free_running: bool) -> dict[str, Counts]:
    reading, way = read(model, writer, problems), (writer.format, writer.vocab)
    verified = reading.verified
    scores = {"teacher_forced": count(verified.predicted, verified.reference, *way, own_text=False)}
    if free_running:
        failed = ~verified.correct
        written = verified.reference.clone()
        if bool(failed.any()):
            continued = go_on(model, writer, problems.select(failed.nonzero()[:, 0]), reading.select(failed))
            written = torch.nn.functional.pad(written, (0, max(0, continued.shape[1] - written.shape[1])))
            written[failed] = torch.nn.functional.pad(continued, (0, written.shape[1] - continued.shape[1]))
        scores["free_running"] = count(written, verified.reference, *way, own_text=True)
    return scores


SCORES, PARTIAL = "scores.csv", "scores.partial.csv"
WORTH_KEEPING = 200_000
"""Response tokens scored since partial scores were written: where scoring them again would cost seconds."""


class AccuracyGrid(Measurement):
    """Scores every cell of lengths and counts; ``grid`` holds what was counted.

    Args:
        lengths: Tested operand lengths (first axis).
        counts: Tested values of the second axis, such as numbers of operands; a single one gives a curve over the
            lengths.
        examples: Examples per cell; every model sees the same ones.
        free_running: Also let the model write its own text where it errs, to score the final answer and edit distance.
        sampled: Examples per cell whose responses are also sampled at temperature 1.
        folder: Where the counts are written as ``scores.csv``. They are kept there while they are taken: after a kill
            the same cells of the same weights are not scored again.
        data: The problems, where the Trainer trains on data of your own; None: its `ArithmeticData`.
        every_n_steps: Also score after every so many steps; 0: only at the end. Without it, a cell that another
            callback of the Trainer monitors is scored at every evaluation.

    Raises:
        OperandError: No cell, or a folder that is a file.

    Example:
        >>> import lengen
        >>> measured = lengen.AccuracyGrid(lengths=(1, 2), examples=4)
        >>> module = lengen.train("copy", digits=2, steps=2, batch=4, callbacks=measured)
        >>> measured.grid.total([(1,)], "teacher_forced")["n"]
        4
    """

    def __init__(
        self, lengths: Sequence[int], counts: Sequence[int] = (1,), examples: int = 1000, *, free_running: bool = True,
        sampled: int = 0, folder: str | Path | None = None, data: ArithmeticData | TaskData | None = None,
        every_n_steps: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(data, every_n_steps)
        self.cells = cells(lengths, counts)
        several = len({count for _, count in self.cells}) > 1
        self.grid = Grid(("length", "count") if several else ("length",))
        self.examples = whole("examples", examples)
        self.free_running = free_running
        self.sampled = whole("sampled", sampled, least=0)
        if folder is not None:
            if not isinstance(folder, str | Path) or Path(folder).is_file():
                raise OperandError(f"folder={folder!r:.80}: expected the path of a folder, and no file there")
            Path(folder).mkdir(parents=True, exist_ok=True)
        self.folder = None if folder is None else Path(folder)
        self._unkept, self._of = 0.0, ""

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Refuse cells that have no problems, or no room, before anything is trained."""
        super().setup(trainer, pl_module, stage)
        if not self.cells:
            raise OperandError("no cell is tested; expected lengths and counts, such as lengths=(1, 2)")
        lengths, counts = (tuple(dict.fromkeys(axis)) for axis in zip(*self.cells, strict=True))
        data_of(trainer, self.data).check_cells(lengths, counts, self.examples)

    def measure(self, model: Transformer, data: TaskData, report: Report) -> None:
        if self.folder is not None:
            self._of = identity(model, data, (self.examples, self.free_running, self.sampled))
        self.grid, self._unkept = self._resumed(), 0.0
        for done, cell in enumerate(self.cells, start=1):
            self._score(model, data, cell)
            report(Progress("measure", done, len(self.cells), None, None))
        if self.folder is not None and self.writes_files:
            write_whole(self.folder / SCORES, self.grid.to_csv())

    def logged(self) -> dict[str, float]:
        """Return exact match of each cell."""
        return {f"exact_match/{cell_name(cell)}": self.grid.accuracy(*cell) for cell in self.grid.scores}

    def names(self) -> list[str]:
        return [f"exact_match/{cell_name(cell[: len(self.grid.axes)])}" for cell in self.cells]

    def _score(self, model: Transformer, data: TaskData, cell: tuple[int, int]) -> None:
        key = cell[: len(self.grid.axes)]
        if key in self.grid.scores:
            return
        problems = data.test(*cell, self.examples)
        free = self.free_running and can_run_free(data.spec.data)
        for mode, score in score_cell(model, data.writer, problems, free).items():
            self.grid.add(key, mode, score)
        if self.sampled:
            stream = generator("sampled", data.seed, *cell)
            chosen = problems.select(torch.arange(min(self.sampled, len(problems.lengths))))
            self.grid.add(key, "sampled", score_sampled(model, data.writer, chosen, stream))
        self._unkept += self.grid.scores[key]["teacher_forced"]["reference_tokens"]
        if self.folder is not None and self.writes_files and self._unkept > WORTH_KEEPING:
            write_whole(self.folder / PARTIAL, sealed(self.grid.to_csv(), self._of))
            self._unkept = 0.0

    def _resumed(self) -> Grid:
        grid = Grid(self.grid.axes)
        if self.folder is not None and (self.folder / PARTIAL).exists():
            with contextlib.suppress(RecordError, UnicodeDecodeError):  # damaged, or of another model: measure again
                scores = Grid.from_csv(unsealed((self.folder / PARTIAL).read_text(), self._of)).scores
                keys = {cell[: len(grid.axes)] for cell in self.cells}
                grid.scores = {cell: modes for cell, modes in scores.items() if cell in keys}
        return grid


def cell_name(cell: Sequence[int]) -> str:
    """Return the name of a cell in loggers.

    >>> cell_name((3, 2)), cell_name((3,))
    ('length=3,count=2', 'length=3')
    """
    return ",".join(f"{axis}={value}" for axis, value in zip(("length", "count"), cell, strict=False))


def identity(model: Transformer, data: TaskData, how: tuple[int, ...]) -> str:
    """Return the sha256 of what scores depend on.

    These are the weights, the specification and seed of the data, and how they are taken.
    """
    digest = hashlib.sha256(f"{data.spec.hash()} {data.seed} {how}".encode())
    for name, value in cast(nn.Module, getattr(model, "module", model)).state_dict().items():
        digest.update(name.encode() + value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def sealed(text: str, of: str) -> str:
    """Return a text behind a line with the sha256 of it and of whose it is, so that a flipped bit is noticed."""
    return f"{hashlib.sha256((of + text).encode()).hexdigest()}\n{text}"


def unsealed(text: str, of: str) -> str:
    """Return the inverse of `sealed`; raises `RecordError` if the text is not what was sealed.

    >>> unsealed(sealed("7", "mine"), "mine")
    '7'
    """
    seal, _, rest = text.partition("\n")
    if hashlib.sha256((of + rest).encode()).hexdigest() != seal:
        raise RecordError("expected the sha256 of what follows in the first line")
    return rest
