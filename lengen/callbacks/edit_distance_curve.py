"""Edit distance over the operand length."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lightning import Callback, LightningModule, Trainer

from lengen.callbacks.accuracy_grid import AccuracyGrid, Measurement, cell_name
from lengen.data.datamodule import ArithmeticData
from lengen.data.task_data import TaskData
from lengen.digits import OperandError, cells
from lengen.metrics.response_metrics import EDIT_DISTANCE
from lengen.models import Transformer
from lengen.part import SettingError
from lengen.results.progress import Report
from lengen.results.records import Counts, draw, extra

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class EditDistanceCurve(Measurement):
    """``curve``: operand length -> edits per token of the true response, where the model writes its own text.

    It is empty where text cannot be written freely (`lengen.data.reading_responses.can_run_free`).

    Args:
        lengths: Tested operand lengths.
        counts: The second axis; edits of several are added up.
        examples: Examples per cell.
        scored: An `AccuracyGrid` of the same Trainer, before this callback: then its cells at ``counts`` are used,
            because both come from one pass, and ``lengths``, ``examples``, ``data`` and ``every_n_steps`` have no say,
            nor have ``counts`` if the grid has one alone.
        data: The problems, where the Trainer trains on data of your own; None: its `ArithmeticData`.
        every_n_steps: Also measure after every so many steps; 0: only at the end. Without it, a length that another
            callback of the Trainer monitors is measured at every evaluation.

    Example:
        >>> import lengen
        >>> measured = lengen.EditDistanceCurve(lengths=(1, 2), examples=4)
        >>> module = lengen.train("copy", digits=2, steps=2, batch=4, callbacks=measured)
        >>> sorted(measured.logged())
        ['edits_per_token/length=1', 'edits_per_token/length=2']
    """

    def __init__(
        self, lengths: Sequence[int] = (), counts: Sequence[int] = (1,), examples: int = 1000, *,
        scored: AccuracyGrid | None = None, data: ArithmeticData | TaskData | None = None, every_n_steps: int = 0,
    ) -> None:  # fmt: skip
        self.alone = scored is None
        """It scores a grid of its own."""
        self.scored = scored or AccuracyGrid(lengths, counts, examples, data=data, every_n_steps=every_n_steps)
        super().__init__(self.scored.data, self.scored.every_n_steps)
        tested = {count for _, count in self.scored.cells}
        self.counts = list(tested) if len(tested) == 1 else sorted({count for _, count in cells([1], counts)})
        self.curve: dict[int, float] = {}

    def _name(self, length: int) -> str:
        second = self.counts if len(self.counts) == 1 and "count" in self.scored.grid.axes else ()
        return f"edits_per_token/{cell_name((length, *second))}"

    def logged(self) -> dict[str, float]:
        """Return edits per token of each length."""
        return {self._name(length): value for length, value in self.curve.items()}

    def names(self) -> list[str]:
        return [self._name(length) for length, _ in self.scored.cells]

    def to_frame(self) -> pd.DataFrame:
        """Return one row a length: edits per token."""
        with extra():
            import pandas as pd

        return pd.DataFrame({"length": list(self.curve), "edits_per_token": list(self.curve.values())})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the curve."""
        return draw(self.to_frame().set_index("length"), "edits_per_token", ax)

    def _repr_html_(self) -> str:
        """Return a table, for notebooks."""
        html: str = self.to_frame().to_html(float_format=lambda value: f"{value:.3f}", index=False)
        return html

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Refuse lengths that have no problems, or no room, before anything is trained."""
        super().setup(trainer, pl_module, stage)
        if not self.alone:
            self._check(self.scored, trainer.callbacks)  # type: ignore[attr-defined]
            self.scored.is_monitored |= self.is_monitored
        else:
            try:
                self.scored.setup(trainer, pl_module, stage)
            except (OperandError, SettingError) as error:
                raise type(error)(f"EditDistanceCurve(counts={self.counts}): {error}") from None

    def _check(self, scored: AccuracyGrid, callbacks: Sequence[Callback]) -> None:
        """Raise `OperandError` for a grid that has not counted the edits of this curve when they are read."""
        before = callbacks[: callbacks.index(self)]
        missing = set(self.counts) - {count for _, count in scored.cells}
        if scored not in before or not scored.free_running or missing:
            raise OperandError(
                f"EditDistanceCurve(counts={self.counts}): scored= has to be an AccuracyGrid with free_running=True "
                "that tests these counts and stands before the curve among the callbacks of the Trainer"
            )

    def measure(self, model: Transformer, data: TaskData, report: Report) -> None:
        if self.alone:
            self.scored.measure(model, data, report)
        written: dict[int, Counts] = defaultdict(Counts)
        for cell, mode, counts in sorted(self.scored.grid.entries(), key=lambda entry: entry[0]):
            if mode == "free_running" and (not cell[1:] or cell[1] in self.counts):
                written[cell[0]] += counts
        rate = (EDIT_DISTANCE.numerator, EDIT_DISTANCE.denominator)
        self.curve = {length: counts.rate(*rate) for length, counts in written.items()}
