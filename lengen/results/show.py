"""Records for a person: a number with its interval, a frame, a picture, a table in a notebook or a terminal."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@contextmanager
def extra() -> Iterator[None]:
    """Say in one sentence how to install a package that an import within does not find."""
    try:
        yield
    except ModuleNotFoundError as error:
        message = f"tables and pictures need {error.name}: pip install 'lengen[reproduce]'"
        raise ModuleNotFoundError(message, name=error.name) from None


Z95 = 1.96
"""Standard normal quantile of a two-sided 95 % interval, rounded as every textbook rounds it."""


class Interval(NamedTuple):
    """A closed interval."""

    low: float
    high: float


def wilson(correct: float, n: float, z: float = Z95) -> Interval:
    """Return the Wilson score interval of a proportion (Wilson 1927), in closed form.

    Args:
        correct: successes, 0 to ``n``; as a mean over seeds they need not be whole.
        n: trials; without any, nothing is known and the interval is [0, 1].
        z: standard normal quantile; 1.96 gives 95 %.

    Raises:
        ValueError: when ``correct`` is not a count between 0 and ``n``.

    >>> tuple(round(edge, 4) for edge in wilson(50, 100))
    (0.4038, 0.5962)
    >>> wilson(0, 0)
    Interval(low=0.0, high=1.0)
    """
    if not 0 <= correct <= n:
        raise ValueError(f"wilson: expected a count between 0 and n = {n}, got {correct}")
    if n == 0:
        return Interval(0.0, 1.0)
    rate = correct / n
    scale = 1 + z * z / n
    centre = (rate + z * z / (2 * n)) / scale
    half = z / scale * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    # At the ends the closed form is exactly 0 or 1; rounding would leave 1e-17 and an interval without its own rate.
    low = 0.0 if correct == 0 else max(0.0, centre - half)
    high = 1.0 if correct == n else min(1.0, centre + half)
    return Interval(low, high)


EDITS = ("edit_sum", "reference_tokens")
"""Counts of the edit distance, and of the tokens it is divided by."""


def draw(frame: "pd.DataFrame", words: str, ax: "Axes | None" = None, **options: Any) -> "Axes":
    """Draw a table as a heat map, or its only column as a line; ``options`` go to seaborn."""
    with extra():
        import matplotlib.pyplot as plt
        import seaborn as sns

    if ax is None:
        ax = plt.subplots(layout="constrained")[1]
    if frame.shape[1] > 1:
        settings = {"vmin": 0, "vmax": 1, "cmap": "YlGnBu", "cbar_kws": {"label": words}} | options
        drawn: Axes = sns.heatmap(frame, ax=ax, **settings)
    else:
        drawn = sns.lineplot(frame.reset_index(), x=frame.index.name, y=frame.columns[0], marker="o", ax=ax, **options)
    return drawn


SHOWN = "accuracy"
"""Column of a grid's frame that tables and pictures show."""


class ShownGrid:
    """Views of a grid of counts for a person."""

    axes: tuple[str, ...]
    scores: Mapping[tuple[int, ...], Mapping[str, Any]]

    @property
    def mode(self) -> str:
        """The mode that is shown if none is named.

        It is teacher-forced if it was scored, because its exact match is that of greedy decoding.
        """
        found = {mode for modes in self.scores.values() for mode in modes}
        return "teacher_forced" if "teacher_forced" in found or not found else min(found)

    def accuracy(
        self, length: int | None = None, count: int | None = None, *, mode: str | None = None, metric: str = "correct"
    ) -> float:
        """Return exact match, or another count per example, over all cells of a length and a count; nan if none.

        A grid of lengths alone, a curve, has no second axis: ``count`` says nothing there.
        """
        wanted = [length, count][: len(self.axes)]
        cells = [
            modes[mode or self.mode]
            for cell, modes in self.scores.items()
            if all(value in (None, at) for value, at in zip(wanted, cell, strict=True)) and (mode or self.mode) in modes
        ]
        total = sum(counts["n"] for counts in cells)
        return sum(counts.get(metric, math.nan) for counts in cells) / total if total else math.nan

    def to_frame(self) -> "pd.DataFrame":
        """Return one row a cell and mode: axes, counts, accuracy with its 95 % interval, edits per token."""
        with extra():
            import pandas as pd

        rows = []
        for cell, modes in sorted(self.scores.items()):
            for mode, counts in sorted(modes.items(), key=lambda item: item[0] != self.mode):
                n, right = counts.get("n", 0), counts.get("correct", math.nan)
                interval = wilson(int(right), int(n)) if n and not math.isnan(right) else (math.nan, math.nan)
                edits = counts.rate(*EDITS)
                rows.append((*cell, mode, n, right, counts.rate("correct"), *interval, edits))
        columns = [*self.axes, "mode", "n", "correct", "accuracy", "low", "high", "edits_per_token"]
        return pd.DataFrame(rows, columns=columns)

    def __repr__(self) -> str:
        cells = " x ".join(str(len({cell[axis] for cell in self.scores})) for axis in range(len(self.axes)))
        return f"<Grid of {cells} {' x '.join(self.axes)}, accuracy {self.accuracy():.3f} ({self.mode})>"

    def _table(self) -> "pd.DataFrame":
        """Return the shown column, its second axis to the right if there is one."""
        frame = self.to_frame()
        axes = [name for name in self.axes if frame[name].nunique() > 1] or [*self.axes[:1]]
        if len(frame):
            frame = frame[frame["mode"] == frame["mode"].iloc[0]]
        return frame.pivot_table(SHOWN, axes[0], axes[1:]) if len(axes) > 1 else frame.set_index(axes)[[SHOWN]]

    def _repr_html_(self) -> str:
        """Return a table, for notebooks."""
        html: str = self._table().to_html(float_format=lambda value: f"{value:.3f}", na_rep="")
        return html

    def __rich__(self) -> Any:
        """Return a table, for `rich.print`."""
        from rich.table import Table

        frame = self._table()
        table = Table(str(frame.index.name), *map(str, frame.columns), title=repr(self))
        for name, row in frame.iterrows():
            table.add_row(str(name), *("" if math.isnan(value) else f"{value:.3f}" for value in row))
        return table

    def plot(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw it: a heat map of two axes, a line of one."""
        return draw(self._table(), SHOWN, ax, **options)
