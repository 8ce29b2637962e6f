"""What a run measured, as counts: grids, curves, attention, arrays; no torch.

Counts before rates: a cell keeps how many examples were tested and how many were right, so intervals,
merging over seeds and re-weighting need no new run. CSV text is the exchange format; `numpy` holds maps.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

MODES = ("teacher_forced", "free_running", "sampled")
"""How the response was scored: reference prefix in context, the model's own text, or text sampled at temperature 1."""


class RecordError(ValueError):
    """A results file that is not what it should be; the message names the line and what was expected."""


class Score(NamedTuple):
    """Counts of one test cell in one mode; sums over its ``n`` examples."""

    n: int
    correct: int
    """Whole response right, scratchpad and end token included (exact match; the same in both modes)."""
    answer_correct: int
    """Final answer right, whatever the scratchpad says."""
    edit_sum: int
    """Edit distance between written and true response in tokens, summed (0 where it was not decoded)."""
    reference_tokens: int
    """Tokens of the true responses, summed: the scale of ``edit_sum``."""

    def __add__(self, other: "Score") -> "Score":  # type: ignore[override]
        return Score(*(a + b for a, b in zip(self, other, strict=True)))


@dataclass
class Grid:
    """Scores over one axis (a curve) or two (a grid)."""

    axes: tuple[str, ...]
    """Names of the axes: ("length",) or ("length", "count")."""
    scores: dict[tuple[int, ...], dict[str, Score]] = field(default_factory=dict)
    """cell -> mode -> counts."""

    def add(self, cell: Sequence[int], mode: str, score: Score) -> None:
        """Add counts to a cell; a second call for the same cell and mode adds up."""
        modes = self.scores.setdefault(tuple(cell), {})
        modes[mode] = modes[mode] + score if mode in modes else score

    def merge(self, other: "Grid") -> "Grid":
        """Cell-wise sum of two grids over the same axes."""
        if self.axes != other.axes:
            raise RecordError(f"cannot merge a grid over {self.axes} with one over {other.axes}")
        merged = Grid(self.axes)
        for grid in (self, other):
            for cell, modes in grid.scores.items():
                for mode, score in modes.items():
                    merged.add(cell, mode, score)
        return merged

    def total(self, cells: Iterable[tuple[int, ...]], mode: str) -> Score:
        """Counts summed over the given cells; cells without that mode are left out."""
        total = Score(0, 0, 0, 0, 0)
        for cell in cells:
            if mode in self.scores.get(cell, {}):
                total = total + self.scores[cell][mode]
        return total

    def to_csv(self) -> str:
        """Rows sorted by cell and mode: ``length,count,mode,n,correct,answer_correct,edit_sum,reference_tokens``."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([*self.axes, "mode", *Score._fields])
        for cell in sorted(self.scores):
            for mode in sorted(self.scores[cell]):
                writer.writerow([*cell, mode, *self.scores[cell][mode]])
        return out.getvalue()

    @classmethod
    def from_csv(cls, text: str) -> "Grid":
        """The inverse of `to_csv`; raises `RecordError` with the line number of the first bad row."""
        rows = _rows(text)
        width = len(Score._fields)
        if not rows or tuple(rows[0][-width:]) != Score._fields or "mode" not in rows[0]:
            raise RecordError(f"line 1: expected columns <axes>,mode,{','.join(Score._fields)}")
        axes = tuple(rows[0][: rows[0].index("mode")])
        grid = cls(axes)
        for number, row in enumerate(rows[1:], start=2):
            try:
                if len(row) != len(axes) + 1 + width or row[len(axes)] not in MODES:
                    raise ValueError
                score = Score(*map(int, row[len(axes) + 1 :]))
                if not 0 <= score.correct <= score.n or not 0 <= score.answer_correct <= score.n:
                    raise ValueError
                grid.add(tuple(map(int, row[: len(axes)])), row[len(axes)], score)
            except ValueError:
                raise RecordError(f"line {number}: expected {len(axes)} axis values, a mode and counts") from None
        return grid


def _rows(text: str) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(text)))
    except csv.Error as error:  # a stray quote swallows the rest of a file
        raise RecordError(f"expected comma-separated values: {error}") from None


@dataclass(frozen=True)
class AttentionMap:
    """Attention averaged over examples of one test cell."""

    tokens: tuple[str, ...]
    """Characters of one example of the cell, to label the axes (digits differ between examples)."""
    weights: np.ndarray
    """Mean softmax weights, float32, (layers, heads, queries, keys)."""
    n: int
    """Examples averaged."""


class KeyCount(NamedTuple):
    """How many keys one head needs to hold 90 % of its attention, over the response steps of a cell."""

    length: int
    count: int  # type: ignore[assignment]
    layer: int
    head: int
    steps: int
    """Prediction steps measured (examples x response tokens)."""
    keys_sum: int
    """Sum over those steps of the smallest number of keys that hold 90 % of the softmax."""


def key_counts_to_csv(rows: Sequence[KeyCount]) -> str:
    """``length,count,layer,head,steps,keys_sum``, one row per cell, layer and head."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(KeyCount._fields)
    writer.writerows(sorted(rows))
    return out.getvalue()


def key_counts_from_csv(text: str) -> list[KeyCount]:
    """The inverse of `key_counts_to_csv`."""
    rows = _rows(text)
    if not rows or tuple(rows[0]) != KeyCount._fields:
        raise RecordError(f"line 1: expected columns {','.join(KeyCount._fields)}")
    try:
        return [KeyCount(*map(int, row)) for row in rows[1:]]
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
    info: Mapping[str, object]
    """The whole run.json: spec, hash, status, commit, versions, device, times, scalars, checksums."""
    grid: Grid
    """Scores over the tested cells; one axis for curves."""
    key_counts: Sequence[KeyCount] = ()
    attention: AttentionMap | None = None
    metrics: Sequence[tuple[int, str, float]] = ()
    """Rows (step, name, value) of metrics.csv."""
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Named arrays of numbers or text, for what no other record holds: matrices that a run made, and labels."""

    @property
    def constructed(self) -> bool:
        """Nothing was trained: the weights were set by hand."""
        return not self.info["spec"]["train"]["steps"]  # type: ignore[index]
