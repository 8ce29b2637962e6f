"""Runs made by hand: accuracies enter, runs with exactly these counts leave."""

import dataclasses

from lengen import Addition, Coupled, Linear
from lengen.paper.experiment import Experiment
from lengen.results.records import Grid, KeyCount, Run
from lengen.settings.spec import DataSpec, ModelSpec, Spec, TestSpec, TrainSpec
from reproduce.comparison.measures import Vocabulary, paper_measures
from tests.counted import counted

MODES = ("teacher_forced", "free_running")
OWN = [paper_measures(paper) for paper in ("bias_calibration", "coupling", "random_spaces", "task_hinting")]
EVERY = Vocabulary({name: measure for some in OWN for name, measure in some.own.items()})
"""The measures of all papers together."""
N = 400


def spec(length=3, count=3, **model) -> Spec:
    shape = {"layers": 1, "heads": 4, "width": 64, "head_dim": 16, "ff_width": 128} | model
    return Spec(
        data=DataSpec(
            task=Addition(digits=length, operands=count),
            format=Linear(scratchpad=True, pad_query=True, pad_response=True, reverse_response=True),
            position_ids=Coupled((9, 9)),
        ),
        model=ModelSpec(**shape),
        train=TrainSpec(steps=10, batch=4, lr=1e-3),
        test=TestSpec(lengths=(2, 3, 4, 6), counts=(2, 3, 4, 6), examples=N),
    )


def experiment(name, profiles=("cpu", "paper"), declared=None) -> Experiment:
    specs = {profile: declared or spec() for profile in profiles}
    absent = {} if "cpu" in specs else {"cpu": "too large"}
    return Experiment(name=name, claim="c", place="p", specs=specs, skip=absent, seeds=1)


def run(of: Experiment, rate, profile="cpu", seed=0, store="reference", answer=None, modes=MODES, keys=(), made=None):
    """A run whose exact match in a cell is ``rate(length, count)`` or the constant ``rate``; ``answer`` per mode."""
    made = made or of.specs[profile]
    grid = Grid(("length", "count"))
    for length in made.test.lengths:
        for count in made.test.counts:
            value = rate(length, count) if callable(rate) else rate
            correct = round(value * N)
            for mode in modes:
                right = round((answer or {}).get(mode, value) * N)
                grid.add((length, count), mode, counted(N, correct, right, N - correct, N * 10))
    info = {"spec": made.to_dict(), "spec_hash": made.hash(), "overrides": [], "parameters": 1000}
    return Run(of.name, profile, seed, 1, store, info, grid, tuple(keys))


def scalars(of: Run, **values: float) -> Run:
    """The run with these scalars in its run.json."""
    return dataclasses.replace(of, info={**of.info, "scalars": values})


def outside(inside, beyond, length=3, count=3):
    """Accuracy ``inside`` in the trained range and ``beyond`` outside."""
    return lambda n, m: inside if n <= length and m <= count else beyond


def keys(exponent, heads=4, length=3):
    """Key counts that grow with the operand count to a power, the same for every head."""
    return [
        KeyCount(length, count, 0, head, 1000, round(3000 * (count / 2) ** exponent))
        for count in (2, 4, 8)
        for head in range(heads)
    ]


def stored(*runs: Run):
    """Runs as comparisons read them."""
    return lambda name, profile: [run for run in runs if (run.experiment, run.profile) == (name, profile)]
