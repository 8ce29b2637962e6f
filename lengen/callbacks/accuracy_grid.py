"""The accuracy grid (two axes) and the accuracy and edit-distance curve (one axis): counts per test cell."""

from collections.abc import Callable
from pathlib import Path

import torch
from lightning import Callback, LightningModule, Trainer

from lengen.callbacks.training import write_whole
from lengen.config.spec import Spec
from lengen.data.datamodule import ArithmeticData
from lengen.data.writer import Writer
from lengen.decoding import sampled, verify, write
from lengen.formats import can_run_free
from lengen.metrics import count
from lengen.models import Transformer
from lengen.progress import Progress
from lengen.randomness import generator
from lengen.records import Counts, Grid, RecordError
from lengen.tasks import Problems

PARTIAL = "scores.partial.csv"
WORTH_KEEPING = 200_000
"""Response tokens scored before partial scores are written: where starting over would cost seconds."""
TOKENS_AT_ONCE = 40_000
"""Tokens of one evaluation batch: bounds memory at any length."""


class Scores(Callback):
    """Scores every test cell once training has ended; cells done before a kill are not done again."""

    def __init__(self, spec: Spec, folder: Path, report: Callable[[Progress], None]) -> None:
        counts = spec.test.counts
        self.cells = [(length, count) for length in spec.test.lengths for count in counts]
        self.axes = ("length", "count") if len(counts) > 1 else ("length",)
        self.grid = Grid(self.axes)
        self.partial = folder / PARTIAL
        self.examples = spec.test.examples
        self.sampled = spec.test.sampled
        self.report = report

    def on_fit_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        data: ArithmeticData = trainer.datamodule  # type: ignore[attr-defined]
        model: Transformer = pl_module.model  # type: ignore[assignment]
        free = data.spec.test.free_running and can_run_free(data.format, data.spec.data)
        model.eval()
        self.grid = self._resume()
        for done, cell in enumerate(self.cells):
            key = cell[: len(self.axes)]
            if key not in self.grid.scores:
                problems = data.test(*cell, self.examples)
                for mode, score in score_cell(model, data.writer, problems, free).items():
                    self.grid.add(key, mode, score)
                if self.sampled:
                    stream = generator("sampled", data.seed, *cell)
                    chosen = problems.select(torch.arange(min(self.sampled, len(problems.lengths))))
                    self.grid.add(key, "sampled", score_sampled(model, data.writer, chosen, stream))
                if self.grid.total(self.grid.scores, "teacher_forced")["reference_tokens"] > WORTH_KEEPING:
                    write_whole(self.partial, self.grid.to_csv())
            self.report(Progress("measure", done + 1, len(self.cells), None, None))

    def _resume(self) -> Grid:
        if self.partial.exists():
            try:
                return Grid.from_csv(self.partial.read_text())
            except RecordError:  # damaged: measure again
                pass
        return Grid(self.axes)


def score_cell(model: Transformer, writer: Writer, problems: Problems, free_running: bool) -> dict[str, Counts]:
    """Counts of one test cell, by mode.

    Exact match is the same in both modes (see `lengen.decoding`). The final answer is not: teacher-forced, the
    true scratchpad stands in the context; free-running, the model's own does. Only examples that fail are decoded.
    """
    totals: dict[str, Counts] = {}
    size = max(1, TOKENS_AT_ONCE // int(writer.lengths(problems).max()))
    for index in torch.split(torch.arange(len(problems.lengths)), size):
        for mode, score in _score(model, writer, problems.select(index), free_running).items():
            totals[mode] = totals[mode] + score if mode in totals else score
    return totals


def score_sampled(model: Transformer, writer: Writer, problems: Problems, stream: torch.Generator) -> Counts:
    """Counts of one test cell whose responses are sampled at temperature 1.

    Table 4.3 of "Length Generalization on Multi-Digit Integer Addition with Transformers" was measured so. The expected
    share of exact matches is the mean of exp(-loss of the whole response).
    """
    written = write(model, writer, problems, choose=sampled(stream))
    return count(written, verify(model, writer.write(problems)).reference, writer.format, own_text=True)


def _score(model: Transformer, writer: Writer, problems: Problems, free_running: bool) -> dict[str, Counts]:
    verified = verify(model, writer.write(problems))
    scores = {"teacher_forced": count(verified.predicted, verified.reference, writer.format, own_text=False)}
    if free_running:
        failed = (~verified.correct).nonzero()[:, 0]
        written = verified.reference.clone()
        if len(failed):
            own = write(model, writer, problems.select(failed), verified.agreed[failed], verified.reference[failed])
            written = torch.nn.functional.pad(written, (0, max(0, own.shape[1] - written.shape[1])))
            written[failed] = torch.nn.functional.pad(own, (0, written.shape[1] - own.shape[1]))
        scores["free_running"] = count(written, verified.reference, writer.format, own_text=True)
    return scores
