"""The accuracy grid (two axes), or curve (one axis): counts of exact matches, final answers and edits per test cell."""

import contextlib
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import torch
from lightning import LightningModule, Trainer
from torch import nn

from lengen.callbacks.measurement import Measurement, Report
from lengen.callbacks.scoring import score_cell, score_sampled
from lengen.data.datamodule import data_of
from lengen.data.reading import can_run_free
from lengen.data.task_data import TaskData
from lengen.digits.problems import OperandError, cells, whole
from lengen.digits.randomness import generator
from lengen.models import Transformer
from lengen.results.progress import Progress
from lengen.results.records import Grid, RecordError
from lengen.results.whole_files import write_whole

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
        >>> measured.grid.scores[1,]["teacher_forced"]["n"]
        4
    """

    def __init__(
        self,
        lengths: Sequence[int],
        counts: Sequence[int] = (1,),
        examples: int = 1000,
        *,
        free_running: bool = True,
        sampled: int = 0,
        folder: Path | None = None,
    ) -> None:
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
                kept = Grid.from_csv(unsealed(self.partial.read_text(), self._of)).scores
                asked = {cell[: len(grid.axes)] for cell in self.cells}
                grid.scores = {cell: modes for cell, modes in kept.items() if cell in asked}
        return grid


def cell_name(cell: Sequence[int]) -> str:
    """Return the name of a cell in loggers.

    >>> cell_name((3, 2)), cell_name((3,))
    ('length=3,count=2', 'length=3')
    """
    return ",".join(f"{axis}={value}" for axis, value in zip(("length", "count"), cell, strict=False))


def identity(model: Transformer, data: TaskData, how: tuple[int, ...]) -> str:
    """Return Sha256 of what scores depend on.

    These are the weights, the specification and seed of the data, and how they are taken.
    """
    found = hashlib.sha256(f"{data.spec.hash()} {data.seed} {how}".encode())
    for name, value in cast(nn.Module, getattr(model, "module", model)).state_dict().items():
        found.update(name.encode() + value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return found.hexdigest()


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
