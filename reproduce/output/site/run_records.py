"""Records of runs for the script of a page: counts of every cell by seed, training curves, attention maps.

Runs enter, plain data for JSON leaves; exact counts, never rates.
"""

import base64
import math
from collections.abc import Sequence

import numpy as np

from lengen.metrics import METRICS
from lengen.metrics.measures import has_learned
from lengen.results.records import Counts, Run, in_steps

MOST_POINTS, FEWEST_POINTS = 60, 20
"""Points of a training curve that a page shows, evenly over the logarithm of the steps; those of the other seeds."""


def counts(name: str, runs: Sequence[Run], metric: str = "correct") -> dict[str, object]:
    """Return what a metric counts in every tested cell, by mode and seed, with the trained cells and the seeds that
    learned them; modes in which it counts nothing are left out.

    ``{"name", "cells": [[length, count]], "inside": [0 or 1], "modes": {mode: [{"seed", "learned", "right", "n"}]}}``;
    a cell that a seed did not test in a mode has n 0.
    """
    right, among = (METRICS[metric].numerator, METRICS[metric].denominator) if metric in METRICS else (metric, "n")
    cells = sorted({cell for run in runs for cell in run.grid.scores})
    span = runs[0].trained
    scored = [modes for run in runs for modes in run.grid.scores.values()]
    modes = sorted({mode for some in scored for mode, found in some.items() if right in found})
    found: dict[str, object] = {
        "name": name,
        "cells": [[cell[0], (*cell, 1)[1]] for cell in cells],
        "inside": [int(span.has(cell)) for cell in cells],
    }
    found["modes"] = {
        mode: [
            {
                "seed": run.seed,
                "learned": int(has_learned(run)),
                "right": [int(_at(run, cell, mode).get(right, 0)) for cell in cells],
                "n": [int(_at(run, cell, mode).get(among, 0)) for cell in cells],
            }
            for run in runs
        ]
        for mode in modes
    }
    return found


def _at(run: Run, cell: tuple[int, ...], mode: str) -> Counts:
    return run.grid.scores.get(cell, {}).get(mode, Counts())


def curves(run: Run, others: Sequence[Run] = ()) -> dict[str, list[tuple[int, list[tuple[int, float]]]]]:
    """Training curves: name -> seed and its (step, value), finite values only; this run first, then the others."""
    found: dict[str, dict[int, list[tuple[int, float]]]] = {}
    for one in (run, *others):
        for step, name, value in one.metrics:
            if np.isfinite(value):
                found.setdefault(name, {}).setdefault(one.seed, []).append((step, float(f"{value:.4g}")))
    return {
        name: [
            (seed, _spread(points, MOST_POINTS if seed == run.seed else FEWEST_POINTS))
            for seed, points in seeds.items()
        ]
        for name, seeds in found.items()
        if run.seed in seeds
    }


def _spread(points: Sequence[tuple[int, float]], most: int) -> list[tuple[int, float]]:
    """The first and the last point, and between them those that lie apart on a logarithmic axis."""
    places = [math.log(max(step, 1)) for step, _ in points]
    apart, kept = (places[-1] - places[0]) / most, [0]
    for k, place in enumerate(places[1:-1], start=1):
        if place - places[kept[-1]] >= apart and places[-1] - place >= apart / 2:
            kept.append(k)
    return [points[k] for k in dict.fromkeys((*kept, len(points) - 1))]


def attention(run: Run) -> dict[str, object] | None:
    """The stored maps, the average first; weights in steps of 1/255, as base64 of bytes: layer, head, query, key."""
    stored = run.attention
    if stored is None:
        return None
    average = in_steps(stored.weights)
    maps = [(f"average of {stored.n}", stored.tokens, average)]
    maps += [("".join(tokens), tokens, weights) for tokens, weights in stored.examples]
    return {
        "shape": list(average.shape),
        "maps": [
            {"name": name, "tokens": list(tokens), "weights": base64.b64encode(weights.tobytes()).decode("ascii")}
            for name, tokens, weights in maps
        ],
    }
