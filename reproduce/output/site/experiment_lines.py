"""The table of a paper's experiments: how far each one learned and went on, or why it was not run.

Declared experiments and the runs that were drawn enter, lines leave; they are filtered by both parts of a name.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from lengen.metrics.measures import at_edge, exact_at_longest, most_have_learned, shares
from lengen.paper.experiment import PROFILES, Experiment
from lengen.results.records import Run
from reproduce.output.site.statement_cards import run_page
from reproduce.runs import run_cost

LEARNED_IT, NOT_LEARNED, NOT_RUN, REFUSED = "learned", "not learned", "not run", "refused"
"""States by which experiments are filtered."""
Made = Mapping[str, Mapping[tuple[str, str], Sequence[Run]]]
"""Experiment -> (store, profile) -> its runs."""
Tokens = Callable[[Run], float]


class Line(NamedTuple):
    """One experiment at its largest size that has runs."""

    second: str
    """Second part of its name: a figure, or a task."""
    third: str
    """Third part: a variant, or a trick."""
    claim: str
    inside: str
    """Exact match in the trained range, median over seeds; empty without runs."""
    longest: str
    """The same at the longest trained length alone."""
    outside: str
    """The same beyond the trained range."""
    state: str
    """State of its longest trained length, as a filter names it."""
    took: tuple[str, str, str]
    """Parameters, millions of tokens that the model was trained on, seconds of the run with all its trainings: medians
    over seeds; empty without runs."""
    size: str
    """Size, seeds and store; without runs, why there are none."""
    runs: Sequence[tuple[str, str]]
    """Words and page of every run."""


def lines(experiments: Sequence[Experiment], made: Made, tokens: Tokens = run_cost.tokens) -> list[Line]:
    """A line for every experiment, in the order of declaration; ``tokens`` counts those of a run."""
    return [_line(item, made.get(item.name, {}), tokens) for item in experiments]


def _line(experiment: Experiment, made: Mapping[tuple[str, str], Sequence[Run]], tokens: Tokens) -> Line:
    held = {key: some for key, some in made.items() if some}
    if not held:
        # Without any size there is one reason for all of them: it is refused, and nobody will run it.
        state = NOT_RUN if experiment.specs else REFUSED
        why = NOT_RUN if experiment.specs else "; ".join(dict.fromkeys(experiment.absent.values()))
        return Line(experiment.figure, experiment.variant, experiment.claim, "", "", "", state, ("", "", ""), why, ())
    store, profile = max(held, key=lambda key: (key[0] == "reference", PROFILES.index(key[1])))
    some = held[store, profile]
    inside, outside = zip(*map(shares, some), strict=True)
    longest = [exact_at_longest(run.grid, run.trained) for run in some]
    seeds = f"{len(some)} seed{'s' * (len(some) > 1)}"
    return Line(
        experiment.figure,
        experiment.variant,
        experiment.claim,
        _percent(inside),
        _percent(longest),
        _percent(outside),
        _state(some),
        _took(some, tokens),
        f"{profile} size, {seeds}, {store} runs",
        tuple((f"seed {run.seed}", run_page(run)) for run in some),
    )


def _state(some: Sequence[Run]) -> str:
    """Return whether most seeds have learned its range, as in the pictures; empty for weights set by hand and where no
    trained cell was tested."""
    if some[0].constructed or math.isnan(median(map(at_edge, some))):
        return ""
    return LEARNED_IT if most_have_learned(some) else NOT_LEARNED


def _took(some: Sequence[Run], tokens: Tokens) -> tuple[str, str, str]:
    def told(values: Sequence[float], form: str) -> str:
        known = [value for value in values if value]
        return format(median(known), form) if known else ""

    return (
        told([run_cost.number(run, "parameters") for run in some], ",.0f"),
        told([tokens(run) / 1e6 for run in some], ".3g"),
        told([run_cost.whole(run) for run in some], ",.0f"),
    )


def _percent(rates: Sequence[float]) -> str:
    found = [rate for rate in rates if not math.isnan(rate)]
    return f"{100 * median(found):.1f} %" if found else "not tested"
