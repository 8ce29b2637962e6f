"""Base of callbacks that measure, and the accuracy grid (two axes) or curve (one): counts of every test cell."""

import contextlib
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import torch
from lightning import Callback, LightningModule, Trainer
from torch import nn

from lengen.callbacks.loggers import MetricsLogger
from lengen.callbacks.monitoring import TrainingLoss, silent
from lengen.data.datamodule import data_of
from lengen.data.reading import can_run_free
from lengen.data.task_data import TaskData
from lengen.data.writer import Writer
from lengen.decoding.decoding import at_once, generate, go_on, read, sampled, true_responses
from lengen.digits import OperandError, Problems, cells, generator, whole
from lengen.metrics import count
from lengen.models import Transformer
from lengen.models.foreign import Foreign, Predicting, answering
from lengen.results.progress import Progress, Report, write_whole
from lengen.results.records import Counts, Grid, RecordError


class Measurement(Callback, ABC):
    """Asks the model something once training has ended, and in `Trainer.test`; what it answers are attributes.

    A run stores the ``arrays`` and ``scalars`` of all its measurements. It measures here and not in a test step because
    test steps run in the precision of the training: hooks of callbacks run in that of the weights.

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

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        """Named arrays, for figures."""
        self.scalars: dict[str, float] = {}
        """Named numbers."""
        self.writes_files = True
        """Of several processes the first one writes."""

    @property
    def reads_attention(self) -> bool:
        """The model has to show its attention."""
        return False

    def logged(self) -> dict[str, float]:
        """Return numbers for the Trainer's loggers, under names that say of which cell they are."""
        return {}

    @abstractmethod
    def measure(self, model: Transformer, data: TaskData, report: Report) -> None:
        """Ask the model, which neither drops nor learns anything, about problems of the data."""

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Refuse a module or data that cannot be measured, before anything is trained."""
        model = model_of(pl_module)
        data_of(trainer)
        if self.reads_attention and not hasattr(model, "attention"):
            raise TypeError(
                f"{type(pl_module).__name__}: {type(self).__name__} needs a method attention(batch) that returns a "
                'list of {"self": weights (B, heads, T - 1, T - 1)}, one for each layer'
            )
        self.writes_files = trainer.is_global_zero

    def on_fit_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Measure on the device that trained: before this hook, Lightning moves the model to the CPU."""
        pl_module.to(trainer.strategy.root_device)
        self._measure(trainer, pl_module)
        pl_module.cpu()

    def on_test_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._measure(trainer, pl_module)

    def _check_kept(self) -> None:
        """Raise `TypeError` for anything but named arrays and named numbers, which no run could store."""
        name = type(self).__name__
        for place, array in self.arrays.items():
            if not isinstance(array, np.ndarray) or array.dtype == object:
                raise TypeError(f"{name}.arrays[{place!r}]: found {type(array).__name__}; expected an array of numbers")
        for where, numbers in (("scalars", self.scalars), ("logged()", self.logged())):
            for place, number in numbers.items():
                if not isinstance(number, int | float | np.number):
                    raise TypeError(f"{name}.{where}[{place!r}]: found {type(number).__name__}; expected a number")

    def _measure(self, trainer: Trainer, pl_module: LightningModule) -> None:
        watched = [callback.report for callback in trainer.callbacks if isinstance(callback, TrainingLoss)]  # type: ignore[attr-defined]
        with answering(pl_module):
            self.measure(model_of(pl_module), data_of(trainer), watched[0] if watched else silent)
        self._check_kept()
        for logger in trainer.loggers:
            if not isinstance(logger, MetricsLogger) and (numbers := self.logged()):  # its folder has the counts
                logger.log_metrics(numbers, step=trainer.global_step)


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
    totals: dict[str, Counts] = {}
    for part in problems.parts(at_once(writer, problems, model)):
        for mode, score in _score(model, writer, part, free_running).items():
            totals[mode] = totals[mode] + score if mode in totals else score
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


PARTIAL = "scores.partial.csv"
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
        folder: Where scores are kept while they are taken: after a kill the same cells of the same weights are not
            scored again.

    Example:
        >>> import lengen
        >>> measured = lengen.AccuracyGrid(lengths=(1, 2), examples=4)
        >>> module = lengen.train("copy", digits=2, steps=2, batch=4, callbacks=measured)
        >>> measured.grid.total([(1,)], "teacher_forced")["n"]
        4
    """

    def __init__(
        self, lengths: Sequence[int], counts: Sequence[int] = (1,), examples: int = 1000, *, free_running: bool = True,
        sampled: int = 0, folder: Path | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.cells = cells(lengths, counts)
        several = len({count for _, count in self.cells}) > 1
        self.grid = Grid(("length", "count") if several else ("length",))
        self.examples = whole("examples", examples)
        self.free_running = free_running
        self.sampled = whole("sampled", sampled, least=0)
        self.partial = None
        if folder is not None:
            if Path(folder).is_file():
                raise OperandError(f"folder={str(folder)!r:.80}: it is a file; expected a folder")
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.partial = Path(folder) / PARTIAL
        self._unkept, self._of = 0.0, ""

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Refuse cells that have no problems, or no room, before anything is trained."""
        super().setup(trainer, pl_module, stage)
        if not self.cells:
            raise OperandError("no cell is tested; expected lengths and counts, such as lengths=(1, 2)")
        lengths, counts = (tuple(dict.fromkeys(axis)) for axis in zip(*self.cells, strict=True))
        data_of(trainer).check_cells(lengths, counts, self.examples)

    def measure(self, model: Transformer, data: TaskData, report: Report) -> None:
        if self.partial is not None:
            self._of = identity(model, data, (self.examples, self.free_running, self.sampled))
        self.grid, self._unkept = self._resumed(), 0.0
        for done, cell in enumerate(self.cells, start=1):
            self._score(model, data, cell)
            report(Progress("measure", done, len(self.cells), None, None))

    def logged(self) -> dict[str, float]:
        """Return exact match of each cell."""
        return {f"exact_match/{cell_name(cell)}": self.grid.accuracy(*cell) for cell in self.grid.scores}

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
        if self.partial is not None and self.writes_files and self._unkept > WORTH_KEEPING:
            write_whole(self.partial, sealed(self.grid.to_csv(), self._of))
            self._unkept = 0.0

    def _resumed(self) -> Grid:
        grid = Grid(self.grid.axes)
        if self.partial is not None and self.partial.exists():
            with contextlib.suppress(RecordError, UnicodeDecodeError):  # damaged, or of another model: measure again
                scores = Grid.from_csv(unsealed(self.partial.read_text(), self._of)).scores
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
