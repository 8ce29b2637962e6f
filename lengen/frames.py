"""Finished runs as pandas frames: scores and metrics with the columns that say whose they are.

Runs enter, long tables leave; what is drawn is a group-by of them. Only what draws and
reports loads pandas.
"""

from collections.abc import Iterable, Sequence
from typing import Any, cast

import pandas as pd

from lengen.config.part import SettingError
from lengen.config.paths import read
from lengen.config.spec import from_dict
from lengen.records import MODES, Run

IDENTITY = ("experiment", "profile", "seed", "version")
"""Columns that tell runs apart."""
CELL = ("length", "count", "mode")


def scores(runs: Iterable[Run], settings: Sequence[str] = ()) -> pd.DataFrame:
    """The counts of runs, one per row: `IDENTITY`, the settings asked for, length, count, mode, name, value.

    Args:
        settings: paths of the specification such as ``model.width``; None where a run, or an older one, has no such
            setting. Lists are tuples, so that they can be grouped by.
    """
    wide = counts(runs, settings)
    kept = [name for name in wide.columns if name in (*IDENTITY, *settings, *CELL)]
    return wide.melt(kept, var_name="name", value_name="value").dropna(subset="value", ignore_index=True)


def counts(runs: Iterable[Run], settings: Sequence[str] = ()) -> pd.DataFrame:
    """The same with a row per run, cell and mode and a column per count, nan where a run did not count it.

    A length of a curve, which has no second axis, has the count 1.
    """
    rows: list[dict[str, Any]] = []
    for run in runs:
        who = _who(run, settings)
        for cell, modes in run.grid.scores.items():
            length, count = (*cell, 1)[:2]
            rows += [{**who, "length": length, "count": count, "mode": mode, **modes[mode]} for mode in modes]
    columns = [*IDENTITY, *settings, *CELL]
    frame = pd.DataFrame(rows, columns=None if rows else columns)
    return frame.astype({"mode": pd.CategoricalDtype(MODES)})


def metrics(runs: Iterable[Run], settings: Sequence[str] = ()) -> pd.DataFrame:
    """What runs logged while they were trained, one number per row: `IDENTITY`, settings, step, name, value."""
    rows = [(*_who(run, settings).values(), step, name, value) for run in runs for step, name, value in run.metrics]
    return pd.DataFrame(rows, columns=[*IDENTITY, *settings, "step", "name", "value"])


def _who(run: Run, settings: Sequence[str]) -> dict[str, Any]:
    identity = {name: getattr(run, name) for name in IDENTITY}
    return identity | {path: setting(run, path) for path in settings}


def setting(run: Run, path: str) -> Any:
    """A setting of the run's own specification by its path, such as ``model.width``; None where there is none."""
    try:
        found = read(from_dict(cast(dict[str, Any], run.info["spec"])), path)
    except SettingError:
        return None
    return tuple(found) if isinstance(found, list) else found
