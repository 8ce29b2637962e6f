"""Edit distance over the operand length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lightning import Callback, LightningModule, Trainer

from lengen.callbacks.accuracy_grid import AccuracyGrid, Measurement, cell_name
from lengen.data.task_data import TaskData
from lengen.digits import OperandError
from lengen.metrics.responses import EDIT_DISTANCE
from lengen.models import Transformer
from lengen.part import SettingError
from lengen.results.progress import Report
from lengen.results.records import draw, extra

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class EditDistanceCurve(Measurement):
    """``curve``: operand length -> edits per token of the true response, where the model writes its own text.

    It is empty where text cannot be written freely (`lengen.data.reading.can_run_free`).

    Args:
        lengths: Tested operand lengths.
        count: The second axis.
        examples: Examples per length.
        scored: An `AccuracyGrid` of the same Trainer, before this callback: then its counts at ``count`` are used,
            because both come from one pass, and ``lengths`` and ``examples`` have no say, nor has ``count`` if the
            grid has one alone.

    Example:
        >>> import lengen
        >>> measured = lengen.EditDistanceCurve(lengths=(1, 2), examples=4)
        >>> module = lengen.train("copy", digits=2, steps=2, batch=4, callbacks=measured)
        >>> sorted(measured.logged())
        ['edits_per_token/length=1,count=1', 'edits_per_token/length=2,count=1']
    """

    def __init__(
        self, lengths: Sequence[int] = (), count: int = 1, examples: int = 1000, *, scored: AccuracyGrid | None = None
    ) -> None:
        super().__init__()
        self.scored = scored
        self.alone = AccuracyGrid(lengths, (count,), examples)
        counts = {each for _, each in scored.cells} if scored is not None else {count}
        self.count = counts.pop() if len(counts) == 1 else count
        self.curve: dict[int, float] = {}

    def logged(self) -> dict[str, float]:
        """Return edits per token of each length."""
        return {f"edits_per_token/{cell_name((length, self.count))}": value for length, value in self.curve.items()}

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
        if self.scored is not None:
            self._check(self.scored, trainer.callbacks)  # type: ignore[attr-defined]
        else:
            try:
                self.alone.setup(trainer, pl_module, stage)
            except (OperandError, SettingError) as error:
                raise type(error)(f"EditDistanceCurve(count={self.count}): {error}") from None

    def _check(self, scored: AccuracyGrid, callbacks: Sequence[Callback]) -> None:
        """Raise `OperandError` for a grid that has not counted the edits of this curve when they are read."""
        before = callbacks[: callbacks.index(self)]
        counts = {count for _, count in scored.cells}
        if scored not in before or not scored.free_running or self.count not in counts:
            raise OperandError(
                f"EditDistanceCurve(count={self.count}): scored= has to be an AccuracyGrid with free_running=True that "
                "tests this count and stands before the curve among the callbacks of the Trainer"
            )

    def measure(self, model: Transformer, data: TaskData, report: Report) -> None:
        if self.scored is None:
            self.alone.measure(model, data, report)
        grid = (self.scored or self.alone).grid
        self.curve = {}
        for cell in sorted(grid.scores):
            if cell[1:] in ((), (self.count,)) and "free_running" in grid.scores[cell]:
                counts = grid.scores[cell]["free_running"]
                self.curve[cell[0]] = counts.rate(EDIT_DISTANCE.numerator, EDIT_DISTANCE.denominator)
