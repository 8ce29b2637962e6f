"""Records of a run, as counts: grids, curves, attention, arrays.

Counts before rates: a cell keeps how many examples were tested and how many were right, so intervals,
merging over seeds and re-weighting need no new run. CSV text is the exchange format; `numpy` holds maps. A person sees
them as a number with its interval, a frame, a picture, or a table in a notebook or a terminal.
"""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from lengen.part import build
from lengen.settings.sections import DataSpec, Trained
from lengen.settings.spec import Spec, from_dict

if TYPE_CHECKING:
    import numpy as np
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


MODES = ("teacher_forced", "free_running", "sampled")
"""Modes of scoring: reference prefix in context, the model's own text, or text sampled at temperature 1."""


class RecordError(ValueError):
    """A results file that is not what it should be; the message names the line and what was expected."""


class Counts(dict[str, float]):
    """Counts over the examples of one test cell in one mode, by name: ``n`` examples, ``correct``, ...

    A metric adds counts of its own (`lengen.metrics`), so two runs need not have the same names.
    """

    def __add__(self, other: "Counts") -> "Counts":
        """Return sums of the counts that both have: a sum over some of the examples counts nothing.

        Without any count it is of no examples, and adds nothing.
        """
        if not self or not other:
            return self or other
        return Counts({name: self[name] + other[name] for name in self if name in other})

    def rate(self, numerator: str, denominator: str = "n") -> float:
        """Return one count per another; nan if either was not counted, or nothing was."""
        scale = self.get(denominator, 0)
        return self.get(numerator, math.nan) / scale if scale else math.nan


@dataclass(repr=False)
class Grid:
    """Counts over one axis (a curve) or two (a grid)."""

    axes: tuple[str, ...]
    """Names of the axes: ("length",) or ("length", "count")."""
    scores: dict[tuple[int, ...], dict[str, Counts]] = field(default_factory=dict)
    """cell -> mode -> counts."""

    def add(self, cell: Sequence[int], mode: str, counts: Counts) -> None:
        """Add counts to a cell; a second call for the same cell and mode adds up."""
        modes = self.scores.setdefault(tuple(cell), {})
        modes[mode] = modes.get(mode, Counts()) + counts

    def entries(self) -> Iterator[tuple[tuple[int, ...], str, Counts]]:
        """Yield every cell and mode with its counts."""
        yield from ((cell, mode, counts) for cell, modes in self.scores.items() for mode, counts in modes.items())

    def total(self, cells: Iterable[tuple[int, ...]], mode: str) -> Counts:
        """Return counts summed over the given cells.

        Cells without that mode are left out, without any there is no count.
        """
        return sum((self.scores[cell][mode] for cell in cells if mode in self.scores.get(cell, {})), Counts())

    def to_csv(self) -> str:
        """Return ``length,count,mode,name,value``, sorted: one row per count; the second column of a curve is empty."""
        scored = sorted(self.entries(), key=lambda entry: entry[:2])
        counted = (((*(*cell, "")[:2], mode), counts) for cell, mode, counts in scored)
        rows = ((*place, name, counts[name]) for place, counts in counted for name in sorted(counts))
        return to_table(SCORE_COLUMNS, rows)

    @classmethod
    def from_csv(cls, text: str) -> "Grid":
        """Return the inverse of `to_csv`; raises `RecordError` with the line of the first bad row.

        A file without any cell is that of a grid.
        """
        rows = _rows(text, SCORE_COLUMNS)
        curve = bool(rows) and len(rows[0]) == len(SCORE_COLUMNS) and not rows[0][1]
        grid = cls(("length",) if curve else ("length", "count"))
        for number, row in enumerate(rows, start=2):
            try:
                length, count, mode, name, value = row
                if mode not in MODES or not name or bool(count) is curve:
                    raise ValueError
                cell = (int(length),) if curve else (int(length), int(count))
                counts = grid.scores.setdefault(cell, {}).setdefault(mode, Counts())
                if name in counts:
                    raise ValueError
                counts[name] = read_count(value)
            except ValueError:
                axes = "a length" if curve else "a length, a count"
                raise RecordError(f"line {number}: expected {axes}, a mode, a new name and a number") from None
        return grid

    @property
    def mode(self) -> str:
        """The mode that is shown if none is named.

        It is teacher-forced if it was scored, because its exact match is that of greedy decoding.
        """
        modes_scored = {mode for modes in self.scores.values() for mode in modes}
        return "teacher_forced" if "teacher_forced" in modes_scored or not modes_scored else min(modes_scored)

    def accuracy(
        self, length: int | None = None, count: int | None = None, *, mode: str | None = None, metric: str = "correct"
    ) -> float:
        """Return exact match, or another count per example, over all cells of a length and a count; nan if none.

        A grid of lengths alone, a curve, has no second axis: ``count`` says nothing there.
        """
        wanted, mode = (length, count), mode or self.mode
        cells = [cell for cell in self.scores if all(a in (None, b) for a, b in zip(wanted, cell, strict=False))]
        return self.total(cells, mode).rate(metric)

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
        frame = frame[frame["mode"] == self.mode]
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


SCORE_COLUMNS = ("length", "count", "mode", "name", "value")
"""Columns of the scores of a run."""
METRIC_COLUMNS = ("step", "name", "value")
"""Columns of metrics.csv."""


def to_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return comma-separated values with a header and line feeds."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def metrics_from_csv(text: str, cut_short: bool = False) -> tuple[tuple[int, str, float], ...]:
    """Return rows of a metrics.csv; raises `RecordError` with the line of the first bad row.

    Of a file that a killed run left, ``cut_short``, the rows before the first bad one are given instead.
    """
    parsed = []
    for number, row in enumerate(_rows(text, () if cut_short else METRIC_COLUMNS), start=2):
        try:
            step, name, value = row
            parsed.append((int(step), name, float(value)))
        except ValueError:
            if cut_short:
                break
            raise RecordError(f"line {number}: expected a step, a name and a number") from None
    return tuple(parsed)


def _rows(text: str, columns: Sequence[str]) -> list[list[str]]:
    """Return the rows below a header, which has to be of these ``columns`` unless there are none."""
    try:
        header, *rows = list(csv.reader(io.StringIO(text))) or [[]]
    except csv.Error as error:  # a stray quote swallows the rest of a file
        raise RecordError(f"expected comma-separated values: {error}") from None
    if columns and header != list(columns):
        raise RecordError(f"line 1: expected columns {','.join(columns)}")
    return rows


def read_count(text: str) -> float:
    """Return a count from text: whole if it is written so; raises `ValueError` for nan and infinity."""
    if text.lstrip("-").isdecimal():
        return int(text)
    if not math.isfinite(value := float(text)):
        raise ValueError
    return value


def in_steps(weights: "np.ndarray") -> "np.ndarray":
    """Return attention weights in steps of 1/255, uint8; nan is 0.

    >>> import numpy as np
    >>> in_steps(np.array([0.0, 0.5, 1.0, np.nan])).tolist()
    [0, 128, 255, 0]
    """
    import numpy as np  # takes a tenth of a second, and tables need none

    steps: np.ndarray = np.rint(np.clip(np.nan_to_num(weights), 0, 1) * 255).astype(np.uint8)
    return steps


class ExampleMap(NamedTuple):
    """Attention in one example, its true response given."""

    tokens: tuple[str, ...]
    weights: "np.ndarray"
    """Softmax weights by `in_steps`, (layers, heads, queries, keys)."""


@dataclass(frozen=True)
class AttentionMap:
    """Attention averaged over examples of one test cell."""

    tokens: tuple[str, ...]
    """Characters of one example of the cell, to label the axes (digits differ between examples)."""
    weights: "np.ndarray"
    """Mean softmax weights, float32, (layers, heads, queries, keys)."""
    n: int
    """Examples averaged."""
    examples: tuple[ExampleMap, ...] = ()
    """The first of them, each by itself; none in runs that were made before these were kept."""

    def to_frame(self, layer: int = 0, head: int = 0) -> "pd.DataFrame":
        """Return the mean weights of a head: a row a query, a column a key, both by their tokens."""
        with extra():
            import pandas as pd

        return pd.DataFrame(self.weights[layer, head], index=list(self.tokens), columns=list(self.tokens))

    def plot(self, layer: int = 0, head: int = 0, ax: "Axes | None" = None) -> "Axes":
        """Draw the mean weights of a head: queries downwards, keys to the right."""
        drawn = draw(self.to_frame(layer, head), "attention", ax, xticklabels=True, yticklabels=True)
        drawn.set(xlabel="key", ylabel="query", title=f"layer {layer}, head {head}")
        return drawn

    def _repr_html_(self) -> str:
        """Return the first head, for notebooks."""
        html: str = self.to_frame().to_html(float_format=lambda value: f"{value:.2f}")
        return html


class KeyCount(NamedTuple):
    """Number of keys that hold 90 % of the attention of one head, over the response steps of a cell."""

    length: int
    count: int  # type: ignore[assignment]
    layer: int
    head: int
    steps: int
    """Prediction steps measured (examples x response tokens)."""
    keys_sum: int
    """Sum over those steps of the smallest number of keys that hold 90 % of the softmax."""


def key_counts_to_csv(rows: Sequence[KeyCount]) -> str:
    """Return ``length,count,layer,head,steps,keys_sum``, one row per cell, layer and head."""
    return to_table(KeyCount._fields, sorted(rows))


def key_counts_from_csv(text: str) -> list[KeyCount]:
    """Return the inverse of `key_counts_to_csv`."""
    rows = _rows(text, KeyCount._fields)
    try:
        return [KeyCount(*map(int, row)) for row in rows]
    except (TypeError, ValueError):
        raise RecordError(f"expected {len(KeyCount._fields)} whole numbers in every row") from None


@dataclass(frozen=True)
class Run:
    """A finished run as the store hands it out: who it was and what it measured."""

    experiment: str
    """Name under which it is stored, ``paper/figure/variant``."""
    profile: str
    seed: int
    version: int
    store: str
    """``reference`` (committed) or ``local`` (this checkout)."""
    info: Mapping[str, Any]
    """The whole run.json: spec, hash, status, commit, versions, device, times, scalars, checksums."""
    grid: Grid
    """Counts over the tested cells; one axis for curves."""
    key_counts: Sequence[KeyCount] = ()
    attention: AttentionMap | None = None
    metrics: Sequence[tuple[int, str, float]] = ()
    """Rows (step, name, value) of metrics.csv."""
    arrays: Mapping[str, "np.ndarray"] = field(default_factory=dict)
    """Named arrays of numbers or text, for what no other record holds: matrices that a run made, and labels."""

    @cached_property
    def spec(self) -> Spec:
        """The specification it was made from, without sections that only its paper has."""
        return from_dict(self.info["spec"])

    @cached_property
    def trained(self) -> Trained:
        """The trained range, from its own specification, or on the axes of other problems that it was tested on."""
        if size := self.info.get("trained"):
            return Trained(*size)
        return build(self.info["spec"]["data"], DataSpec, "data").trained

    @cached_property
    def frame(self) -> "pd.DataFrame":
        """One row a tested cell and mode: ``seed``, the axes, ``mode``, and every count by its name."""
        import pandas as pd

        axes, entries = self.grid.axes, self.grid.entries()
        rows = [{"seed": self.seed, **dict(zip(axes, cell, strict=True)), "mode": k, **n} for cell, k, n in entries]
        return pd.DataFrame(rows, columns=None if rows else ["seed", *axes, "mode", "n"])

    @property
    def constructed(self) -> bool:
        """True if nothing was trained: the weights were set by hand."""
        return not self.info["spec"]["train"]["steps"]

    def scalar(self, name: str, other: float) -> float:
        """Return a number that it wrote among its scalars; ``other`` if it wrote none of this name."""
        scalars = self.info.get("scalars")
        value = scalars.get(name) if isinstance(scalars, Mapping) else None
        return float(value) if isinstance(value, int | float) else other


def said_against(info: Mapping[str, Any]) -> str:
    """Return what the record of a run notes of a training that never left chance; else nothing."""
    return " ".join(info.get("notes", ())) if info.get("never_left_chance") else ""
