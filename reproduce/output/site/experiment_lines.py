"""The table of a paper's experiments: how far each one learned and went on, or why it was not run.

Declared experiments and the runs that were drawn enter, lines leave; they are filtered by both parts of a name.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lengen.config.experiment import PROFILES, Experiment
from lengen.intervals import median
from lengen.records import Run
from reproduce.comparison import effects
from reproduce.output.site.claim_cards import run_page
from reproduce.runs.accuracy import shares

Made = Mapping[str, Mapping[tuple[str, str], Sequence[Run]]]
"""Experiment -> (store, profile) -> its runs."""


class Line(NamedTuple):
    """One experiment at its largest size that has runs."""

    second: str
    """Second part of its name: a figure, or a task."""
    third: str
    """Third part: a variant, or a trick."""
    claim: str
    inside: str
    """Exact match in the trained range, median over seeds; empty without runs."""
    outside: str
    """The same beyond it."""
    size: str
    """Size, seeds and store; without runs, why there are none."""
    runs: Sequence[tuple[str, str]]
    """Words and page of every run."""


def lines(experiments: Sequence[Experiment], made: Made) -> list[Line]:
    """A line for every experiment, in the order of declaration."""
    return [_line(item, made.get(item.name, {})) for item in experiments]


def _line(experiment: Experiment, made: Mapping[tuple[str, str], Sequence[Run]]) -> Line:
    held = {key: some for key, some in made.items() if some}
    if not held:
        # Without any size there is one reason for all of them: it is refused.
        why = "not run" if experiment.specs else "; ".join(dict.fromkeys(experiment.absent.values()))
        return Line(experiment.figure, experiment.variant, experiment.claim, "", "", why, ())
    store, profile = max(held, key=lambda key: (key[0] == "reference", PROFILES.index(key[1])))
    some = held[store, profile]
    inside, outside = zip(*map(shares, some), strict=True)
    seeds = effects.seeds(len(some))
    return Line(
        experiment.figure,
        experiment.variant,
        experiment.claim,
        _percent(inside),
        _percent(outside),
        f"{profile} size, {seeds}, {store} runs",
        tuple((f"seed {run.seed}", run_page(run)) for run in some),
    )


def _percent(rates: Sequence[float]) -> str:
    found = [rate for rate in rates if not math.isnan(rate)]
    return f"{100 * median(found):.1f} %" if found else "not tested"
