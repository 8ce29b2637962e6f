"""Records of runs for the script of a page: counts of every cell by seed, training curves, attention maps.

Runs enter, plain data for JSON leaves; exact counts, never rates.
"""

import base64
from collections.abc import Sequence

import numpy as np

from lengen.metrics.measures import trained
from lengen.results.records import Counts, Run, in_steps

MOST_POINTS = 400
"""Points of a training curve that a page shows: of longer ones every second, third, ..."""


def counts(name: str, runs: Sequence[Run]) -> dict[str, object]:
    """Exact matches of every tested cell, by mode and seed, with the cells that were trained.

    ``{"name", "cells": [[length, count]], "inside": [0 or 1], "modes": {mode: [{"seed", "right", "n"}]}}``;
    a cell that a seed did not test in a mode has n 0.
    """
    cells = sorted({cell for run in runs for cell in run.grid.scores})
    span = trained(runs[0])
    modes = sorted({mode for run in runs for some in run.grid.scores.values() for mode in some})
    found: dict[str, object] = {
        "name": name,
        "cells": [[cell[0], (*cell, 1)[1]] for cell in cells],
        "inside": [int(span.has(cell)) for cell in cells],
    }
    found["modes"] = {
        mode: [
            {
                "seed": run.seed,
                "right": [int(_at(run, cell, mode).get("correct", 0)) for cell in cells],
                "n": [int(_at(run, cell, mode).get("n", 0)) for cell in cells],
            }
            for run in runs
        ]
        for mode in modes
    }
    return found


def _at(run: Run, cell: tuple[int, ...], mode: str) -> Counts:
    return run.grid.scores.get(cell, {}).get(mode, Counts())


def curves(run: Run) -> dict[str, list[tuple[int, float]]]:
    """Training curves: name -> (step, value), finite values only."""
    found: dict[str, list[tuple[int, float]]] = {}
    for step, name, value in run.metrics:
        if np.isfinite(value):
            found.setdefault(name, []).append((step, float(f"{value:.4g}")))
    return {name: points[:: -(-len(points) // MOST_POINTS)] for name, points in found.items()}


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
