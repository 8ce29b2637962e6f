"""Records as pandas frames, one row per run and place: what curves and heat maps are drawn from.

The first columns say where a value stands (length, count, step), ``run`` which run it is of. ``value`` is a rate, a
mean or a loss; if it was counted, ``total`` out of ``n``.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lengen.metrics import METRICS
from lengen.results.records import Run


def counted(metric: str) -> tuple[str, str]:
    """Return numerator and denominator of a metric of `lengen.metrics`, or of any count per response."""
    if metric in METRICS:
        return METRICS[metric].numerator, METRICS[metric].denominator
    return metric, "n"


def scores(runs: Sequence[Run], mode: str = "teacher_forced", metric: str = "correct") -> pd.DataFrame:
    """Return the axes of the grids, ``run``, ``total``, ``n``, ``value``: every cell that was scored in that mode."""
    top, bottom = counted(metric)
    frames = [run.frame[run.frame["mode"] == mode].assign(run=number) for number, run in enumerate(runs)]
    if not frames:
        return pd.DataFrame(columns=["length", "run", "total", "n", "value"])
    cells = pd.concat(frames)
    cells = cells[cells["n"] > 0]
    total, n = (cells.get(name, pd.Series(np.nan, cells.index)) for name in (top, bottom))
    places = cells[[*runs[0].grid.axes, "run"]]
    return places.assign(total=total.fillna(0), n=n.fillna(0), value=total / n.where(n > 0))


def hits(runs: Sequence[Run], name: str) -> pd.DataFrame:
    """Return ``length``, ``run``, ``total``, ``n``, ``value``: ones among the arrays ``hits.<name>.<length>``."""
    rows = [
        (int(key.rpartition(".")[2]), number, int(values.sum()), values.size, float(values.sum()) / values.size)
        for number, run in enumerate(runs)
        for key, values in run.arrays.items()
        if key.rpartition(".")[0] == f"hits.{name}" and values.size
    ]
    return pd.DataFrame(rows, columns=["length", "run", "total", "n", "value"])


def metrics(runs: Sequence[Run], name: str, window: int = 1) -> pd.DataFrame:
    """Return ``step``, ``run``, ``value``: a metric recorded in training, if it is finite.

    Medians of ``window`` rows around each, fewer at the ends.
    """
    frames = []
    for number, run in enumerate(runs):
        rows = [(step, number, value) for step, metric, value in run.metrics if metric == name and np.isfinite(value)]
        frame = pd.DataFrame(rows, columns=["step", "run", "value"])
        frames.append(frame.assign(value=frame["value"].rolling(window, center=True, min_periods=1).median()))
    return pd.concat(frames, ignore_index=True)


def arrays(runs: Sequence[Run], name: str, lengths: Sequence[int]) -> list[float]:
    """Return one mean per run over the examples of these lengths of the arrays ``<name>.<length>``.

    nan where none was recorded.
    """
    means = []
    for run in runs:
        found = [run.arrays[f"{name}.{length}"] for length in lengths if f"{name}.{length}" in run.arrays]
        every = np.concatenate([array.astype(np.float64) for array in found]) if found else np.empty(0)
        means.append(float(every.mean()) if every.size else float("nan"))
    return means
