"""Cells of the matrix: their trainings, the benchmark's counts in their records, controls and pictures."""

from collections.abc import Sequence

import pytest
import torch

import lengen
from lengen.benchmark.tasks import task_of
from lengen.data.task_data import TaskData
from lengen.results.records import Grid, Run
from lengen.settings.attention_biases import LineWindow
from lengen.settings.changes import overlay
from lengen.training import calibration
from lengen.training import run as training
from lengen.training.build import build_model
from lengen.training.procedure import run_setting
from papers.matrix import procedures
from papers.matrix.experiments import EXPERIMENTS, FIGURES, cell
from papers.matrix.figures import verdict
from papers.matrix.settings import TASKS
from papers.matrix.tricks import BASELINES, CONTROLS, TRICKS
from reproduce.comparison.statements import statements
from tests.fixtures.runs import counted

DECLARED = {item.name: item for item in EXPERIMENTS}


def run(name: str, seed: int, reach: float, profile: str = "night") -> Run:
    """A run that is right up to ``reach`` times the trained length, and wrong beyond it."""
    spec = DECLARED[f"matrix/{name}"].specs[profile]
    known = task_of(spec.benchmark)
    grid = Grid(("length", "count") if known.second else ("length",))
    for length, count in known.cells(spec.size):
        right = 20 if max(length, count if known.second else 1) <= reach * spec.size else 0
        grid.add((length, count)[: len(grid.axes)], "free_running", counted(20, right))
    info = {"spec": spec.to_dict(), "spec_hash": spec.hash(), "overrides": [], "trained": spec.trained.size}
    return Run(f"matrix/{name}", profile, seed, 1, "reference", info, grid)


def runs(**reaches: Sequence[float]) -> dict[str, list[Run]]:
    names = {name.replace("__", "/"): values for name, values in reaches.items()}
    return {f"matrix/{name}": [run(name, *pair) for pair in enumerate(values)] for name, values in names.items()}
