"""Quantities of curves, by name: label of the axis, values of every run, and the published measure beside them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from lengen.metrics.measures import has_learned
from lengen.plotting.frames import hits, scores
from lengen.results.records import Run


class Measured(NamedTuple):
    """A measure over lengths."""

    label: str
    mode: str = "teacher_forced"
    metric: str = "correct"
    published: str = ""
    """The measure of published values; empty: none is published."""
    share: bool = True
    """Between 0 and 1, drawn in per cent."""


MEASURES = {
    "exact": Measured("Exact match", published="exact"),
    "answer_token": Measured("Answer token right\nin its place", metric="answer_token", published="answer_token"),
    "answer_correct": Measured("Answer before\nthe first end", metric="answer_correct", published="answer"),
    "final": Measured("Final answer,\nfree-running", "free_running", "answer_correct"),
    "edit": Measured("Edit distance\nper token", "free_running", "edit", share=False),
    "edits": Measured("Edit distance (tokens)", "free_running", "edit_sum", share=False),
    "hits.minimum": Measured("Minimum at the delimiter"),
    "hits.guessed": Measured("Minimum is 1"),
    "hits.copy": Measured("Copy of an input token"),
    "hits.identity_successor": Measured("Identity and successor"),
}
"""Every measure of curves."""


def published_kinds(options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return measure and mode of the published values that belong beside a figure with these options.

    Panels of single counts have none: published values are of all counts, or of the first.
    """
    if options.get("panels") == "count":
        return []
    return [(MEASURES[name].published, MEASURES[name].mode) for name in options.get("measures", ("exact",))]


def values(runs: Sequence[Run], name: str, count: int | None = None) -> pd.DataFrame:
    """Return ``length``, ``run``, ``value``, ``learned``: a row per run and length.

    Args:
        count: of the second axis of a grid; by default all trained ones together.
    """
    array = name.removeprefix("hits.")
    found = hits(runs, array) if array != name else _scored(runs, MEASURES[name], count)
    learned = [has_learned(run) for run in runs]
    return found.assign(learned=[learned[run] for run in found["run"]])


def _scored(runs: Sequence[Run], measure: Measured, count: int | None) -> pd.DataFrame:
    two = [run for run in runs if len(run.grid.axes) == 2]
    found = scores(two or runs, measure.mode, measure.metric)
    if not two:
        return found
    most = max(1, runs[0].trained.second)
    tested = found["count"]
    wanted = tested == count if count else (tested <= most if (tested <= most).any() else tested == tested.min())
    sums = found[wanted].groupby(["length", "run"])[["total", "n"]].sum().reset_index()
    return sums.assign(value=sums["total"] / sums["n"])


def medians(frame: pd.DataFrame) -> pd.Series:
    """Return the median over runs by length: of those that have learned, as `lengen.metrics.measures.learned` does."""
    most = 2 * frame.groupby("run")["learned"].first().sum() >= frame["run"].nunique()
    kept = frame[frame["learned"]] if most else frame
    return kept.groupby("length")["value"].median()
