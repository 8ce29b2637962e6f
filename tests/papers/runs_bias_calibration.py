"""Runs of paper 2 made by hand: what a figure must show is known beforehand."""

import numpy as np
from matplotlib.figure import Figure as Drawing

import lengen
from lengen.results.records import MODES, Grid, Run
from lengen.settings.changes import overlay
from papers.bias_calibration.experiments import FIGURES
from tests.fixtures.runs import counted

PAPER = "bias_calibration"
TRAINED = 4
LENGTHS = (1, 2, 3, 4, 5, 6, 8, 11)
HOLDS = ("abc", "cyclic", "nope", "code", "sm", "max", "min", "4", "8", "16")
"""Kinds whose made accuracy stays near 1; the others fall to 0 beyond the trained length."""


SPEC = lengen.Spec(
    data=lengen.DataSpec(task=lengen.PairAddition(TRAINED), format=lengen.Linear(width=12, separator="$")),
    model=lengen.ModelSpec(layers=1, heads=8, width=8, head_dim=4, ff_width=8),
    train=lengen.TrainSpec(steps=4, batch=2, lr=1e-3),
    test=lengen.TestSpec(lengths=LENGTHS),
)
TASKS = {
    "parity": lengen.RunningXor(TRAINED, base=2),
    "listops": lengen.ListOpsSum(TRAINED),
    "n-by-one": lengen.NByOne(TRAINED),
}
"""Task of an experiment whose name has the key in it; of others addition."""


def curve(name: str, seed=0) -> Grid:
    grid = Grid(("length",))
    holds = name.split("/")[-1].split("-")[-1] in HOLDS
    for length in LENGTHS:
        right = 400 - seed - length if holds else 400 if length <= TRAINED else 0
        for mode in MODES:
            edit = 0 if right > 300 else 100 * length
            grid.add((length,), mode, counted(400, right, right, edit, 400 * length))
    return grid


def run(name: str, seed=0, arrays=None, changes=None) -> Run:
    """A run of the setting with changes laid over it, as `lengen.settings.changes` takes them."""
    task = next((TASKS[key] for key in TASKS if key in name), SPEC.data.task)
    spec = overlay(SPEC, {"data.task": task}, changes or {})
    info = {"spec": spec.to_dict(), "spec_hash": "x", "overrides": []}
    return Run(f"{PAPER}/{name}", "cpu", seed, 1, "reference", info, curve(name, seed), arrays=arrays or {})


def several(*names: str, seeds=1, changes=None) -> dict[str, list[Run]]:
    return {f"{PAPER}/{name}": [run(name, seed, changes=changes) for seed in range(seeds)] for name in names}


def probe(source: str, target: str, cross: dict[int, int], own: dict[int, int], heads=8) -> dict[str, np.ndarray]:
    """Attention in which ``cross`` says where a head's anti-diagonal starts, ``own`` how far below its diagonal lies.

    The lines end with the trained rows; beyond them, and in all other heads, attention is uniform.
    """
    rows, columns = len(target), len(source)
    wide = np.full((heads, rows, columns), 1 / columns)
    square = np.tile(np.tri(rows) / np.arange(1, rows + 1)[:, None], (heads, 1, 1))
    for row in range(min(TRAINED, rows)):
        for head, place in cross.items():
            wide[head, row] = 0.05 / columns
            wide[head, row, place - row] = 0.95 - 0.01 * head
        for head, below in own.items():
            if row >= below:
                square[head, row] = 0
                square[head, row, row - below] = 1 - 0.01 * head
    return {
        "probe0.cross": wide,
        "probe0.self": square,
        "probe0.source": np.array(list(source)),
        "probe0.target": np.array(list(target)),
    }


def biases(rows: int, columns: int, starts: dict[int, tuple[int, ...]], heads=8) -> dict[str, np.ndarray]:
    """Biases with open anti-diagonals that start at the given columns; heads without any are transparent."""
    cross = np.zeros((heads, rows, columns), np.float32)
    own = np.zeros((heads, rows, rows), np.float32)
    for head, places in starts.items():
        cross[head] = own[head] = -np.inf
        for number, place in enumerate(places):
            for row in range(min(rows, place + 1)):
                cross[head, row, place - row] = -0.3 * number
        for row in range(rows):
            own[head, row, max(row - head % 2, 0)] = 0
    averaged = np.tile(np.tri(rows) / np.arange(1, rows + 1)[:, None], (heads, 1, 1))
    averaged[3] = np.eye(rows, k=-1)
    return {"bias.cross": cross, "bias.self": own, "attention.self": averaged}


def relative(heads=8, most=4) -> dict[str, np.ndarray]:
    distance = np.arange(-most, most + 1)
    score = np.array([[head * 0.1 * -abs(d + 1) for d in distance] for head in range(heads)])
    return {"relative.distance": distance, "relative.score": score}


def calibrated(name: str, digits=12) -> list[Run]:
    """An ABC run of addition or n-by-one whose head 6 is transparent."""
    if "n-by-one" in name:
        columns, starts = digits + 4, dict.fromkeys((0, 1, 2, 4, 6, 7), (digits,)) | {3: (digits + 2,)}
    else:
        columns = 2 * digits + 3
        starts = {0: (digits,), 1: (2 * digits + 1,), 2: (2 * digits + 1, 2 * digits + 2), 3: (digits,), 4: (digits, 5)}
        starts |= {6: (2 * digits + 1,), 7: (digits,)}
    made = run(name, arrays=biases(digits + 1, columns, starts), changes={"data.format.width": digits})
    made.info["spec"]["calibration"] = {"rows": digits + 1}  # type: ignore[index]
    return [made]


SUCCESSOR = probe("$003611451$", "$15411630", {1: 9, 2: 6}, {4: 1, 5: 0})
ADDITION = probe("$078114514+024191981$", "$594603201", {1: 19, 2: 19, 6: 9}, {4: 1, 5: 0})


def draw(name: str, runs) -> Drawing:
    """The figure of this name, of these runs."""
    figure = next(figure for figure in FIGURES if figure.name == name)
    with lengen.plotting.style():
        return figure.draw(runs)


def maps(drawing: Drawing) -> list:
    return [axes for axes in drawing.axes if axes.images]
