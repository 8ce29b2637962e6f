"""Records of runs for the pages of the site.

Counts of every cell by seed, training curves, attention maps; and a row for every experiment.

Declared experiments and their runs enter; rows and plain data for JSON leave, of counts never rates.
"""

import base64
import math
from collections.abc import Mapping, Sequence
from statistics import median

import numpy as np

from lengen.experiment import PROFILES, Experiment
from lengen.metrics import METRICS
from lengen.metrics.run_measures import at_edge, edge, has_learned, most_have_learned, shares
from lengen.results.records import Counts, Run, in_steps
from reproduce.runs import costs

MOST_POINTS, FEWEST_POINTS = 60, 20
"""Points of the first seed's training curve, evenly over the logarithm of the steps; those of the other seeds."""
LEARNED_IT, NOT_LEARNED, NOT_RUN, REFUSED = "learned", "not learned", "not run", "refused"
"""States of the longest trained length of an experiment."""
HEAD = (
    "figure or task", "variant or trick", "exact match, trained", "hardest trained", "state", "beyond", "parameters",
    "million tokens", "seconds by the clock", "runs",
)  # fmt: skip
"""Columns of `experiments`."""


def counts(name: str, runs: Sequence[Run], metric: str = "correct") -> dict[str, object]:
    """Return the counts of a metric in every tested cell, by mode and seed.

    With them stand the trained cells and the seeds that learned them; modes in which it counts nothing are left out.

    ``{"name", "cells": [[length, count]], "inside": [0 or 1], "modes": {mode: [{"seed", "learned", "right", "n"}]}}``;
    a cell that a seed did not test in a mode has n 0.
    """
    right, among = (METRICS[metric].numerator, METRICS[metric].denominator) if metric in METRICS else (metric, "n")
    cells = sorted({cell for run in runs for cell in run.grid.scores})
    span = runs[0].trained
    scored = [modes for run in runs for modes in run.grid.scores.values()]
    modes = sorted({mode for some in scored for mode, marks in some.items() if right in marks})

    def of_seed(run: Run, mode: str) -> dict[str, object]:
        counts = [run.grid.scores.get(cell, {}).get(mode, Counts()) for cell in cells]
        right_and_all = {
            key: [int(cell.get(name, 0)) for cell in counts] for key, name in (("right", right), ("n", among))
        }
        return {"seed": run.seed, "learned": int(has_learned(run)), **right_and_all}

    shape = [[cell[0], (*cell, 1)[1]] for cell in cells], [int(span.has(cell)) for cell in cells]
    by_mode = {mode: [of_seed(run, mode) for run in runs] for mode in modes}
    return {"name": name, "cells": shape[0], "inside": shape[1], "modes": by_mode}


def curves(runs: Sequence[Run]) -> dict[str, list[tuple[int, list[tuple[int, float]]]]]:
    """Return training curves: name -> seed and its (step, value), finite values only; seeds in their order."""
    by_name: dict[str, dict[int, list[tuple[int, float]]]] = {}
    for run in runs:
        for step, name, value in run.metrics:
            if np.isfinite(value):
                by_name.setdefault(name, {}).setdefault(run.seed, []).append((step, float(f"{value:.4g}")))
    return {
        name: [(seed, _spread(seeds[seed], FEWEST_POINTS if n else MOST_POINTS)) for n, seed in enumerate(seeds)]
        for name, seeds in by_name.items()
    }


def _spread(points: Sequence[tuple[int, float]], most: int) -> list[tuple[int, float]]:
    """Return the first and the last point, and between them those that lie apart on a logarithmic axis."""
    places = [math.log(max(step, 1)) for step, _ in points]
    apart, chosen = (places[-1] - places[0]) / most, [0]
    for k, place in enumerate(places[1:-1], start=1):
        if place - places[chosen[-1]] >= apart and places[-1] - place >= apart / 2:
            chosen.append(k)
    return [points[k] for k in dict.fromkeys((*chosen, len(points) - 1))]


def attention(run: Run) -> dict[str, object] | None:
    """Return the stored maps, the average first.

    Weights are in steps of 1/255, as base64 of bytes: layer, head, query, key.
    """
    stored = run.attention
    if stored is None:
        return None
    average = in_steps(stored.weights)
    maps = [(f"average of {stored.n}", stored.tokens, average)]
    maps += [("".join(tokens), tokens, weights) for tokens, weights in stored.examples]
    shown = [
        {"name": name, "tokens": list(tokens), "weights": base64.b64encode(weights.tobytes()).decode("ascii")}
        for name, tokens, weights in maps
    ]
    return {"shape": list(average.shape), "maps": shown}


# ------------------------------------------------------------------ a row for every experiment


def experiments(declared: Sequence[Experiment], runs: Mapping[str, Sequence[Run]]) -> list[tuple[str, ...]]:
    """Return a row for every experiment, in the order of declaration.

    It says how far its runs at its largest size learned and went on, medians over seeds, or why there is none.
    """
    return [_experiment(item, runs.get(item.name, ())) for item in declared]


def largest(runs: Sequence[Run]) -> Sequence[Run]:
    """Return the runs of the largest size, committed ones if there are any."""
    order = {profile: place for place, profile in enumerate(PROFILES)}
    best = max(runs, key=lambda run: (run.store == "reference", order.get(run.profile, -1)), default=None)
    return [run for run in runs if best and (run.store, run.profile) == (best.store, best.profile)]


def _experiment(experiment: Experiment, runs: Sequence[Run]) -> tuple[str, ...]:
    name = experiment.figure, experiment.variant
    if not runs:
        if experiment.specs:
            return (*name, "", "", NOT_RUN, "", "", "", "", NOT_RUN)
        # without any size there is one reason for all of them: it is refused, and nobody will run it
        return (*name, "", "", REFUSED, "", "", "", "", "; ".join(dict.fromkeys(experiment.absent.values())))
    some = largest(runs)
    inside, outside = zip(*map(shares, some), strict=True)
    hardest = [edge(run).rate("correct") for run in some]
    seeds = f"{len(some)} seed{'s' * (len(some) > 1)}"
    return (
        *name, _percent(inside), _percent(hardest), _state(some), _percent(outside), *_took(some),
        f"{some[0].profile} size, {seeds}, {some[0].store} runs",
    )  # fmt: skip


def _state(some: Sequence[Run]) -> str:
    """Return the word on whether most seeds have learned the range, as in the pictures.

    It is empty for weights set by hand, and if no trained cell was tested.
    """
    if some[0].constructed or math.isnan(median(map(at_edge, some))):
        return ""
    return LEARNED_IT if most_have_learned(some) else NOT_LEARNED


def _took(some: Sequence[Run]) -> tuple[str, str, str]:
    """Return medians over seeds of what a run took.

    These are parameters, millions of tokens that the model was trained on, seconds with all its trainings.
    """

    def middle(values: Sequence[float], form: str) -> str:
        known = [value for value in values if value]
        return format(median(known), form) if known else ""

    parameters = middle([costs.number(run, "parameters") for run in some], ",.0f")
    millions = middle([costs.tokens(run) / 1e6 for run in some], ".3g")
    return parameters, millions, middle([costs.whole(run) for run in some], ",.0f")


def _percent(rates: Sequence[float]) -> str:
    numbers = [rate for rate in rates if not math.isnan(rate)]
    return f"{100 * median(numbers):.1f} %" if numbers else "not tested"
