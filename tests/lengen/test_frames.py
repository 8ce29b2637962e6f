"""Frames hold every stored number once, beside who measured it and the settings asked for."""

import dataclasses

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengen.config import TwoOperandAddition
from lengen.config.spec import change
from lengen.frames import IDENTITY, counts, metrics, scores
from lengen.records import MODES, Counts, Grid
from tests.reproduce.made import experiment, run, spec

A = experiment("p/f/a")
some = st.dictionaries(st.sampled_from(["n", "correct", "hops"]), st.integers(0, 99), min_size=1).map(Counts)
grids = st.builds(
    Grid,
    st.just(("length", "count")),
    st.dictionaries(
        st.tuples(st.integers(1, 5), st.integers(1, 5)),
        st.dictionaries(st.sampled_from(MODES), some, min_size=1),
        min_size=1,
        max_size=4,
    ),
)


@given(st.lists(grids, min_size=1, max_size=3))
def test_the_long_table_holds_every_count_of_every_run_once(several):
    runs = [dataclasses.replace(run(A, 1.0, seed=seed), grid=grid) for seed, grid in enumerate(several)]
    expected = [
        (one.experiment, one.profile, one.seed, one.version, *cell, mode, name, value)
        for one in runs
        for cell, modes in one.grid.scores.items()
        for mode, found in modes.items()
        for name, value in found.items()
    ]
    frame = scores(runs)
    assert [*frame.columns] == [*IDENTITY, "length", "count", "mode", "name", "value"]
    assert sorted(frame.itertuples(index=False, name=None)) == sorted(expected)
    assert len(counts(runs)) == sum(len(modes) for grid in several for modes in grid.scores.values())


def test_settings_are_columns_and_those_of_younger_runs_are_none():
    task = {"task": TwoOperandAddition((1, 3))}
    runs = [run(A, 1.0, made=change(spec(width=width), data=task)) for width in (32, 64)]
    frame = scores(runs, ["model.width", "data.task.lengths", "model.wings"])
    assert frame.groupby("model.width", sort=False).size().index.tolist() == [32, 64]
    assert {*frame["data.task.lengths"]} == {(1, 3)} and frame["model.wings"].isna().all()


def test_a_curve_has_the_count_one_and_rates_are_a_group_by():
    curve = Grid(("length",), {(n,): {"teacher_forced": Counts(n=10, correct=n)} for n in (2, 4)})
    frame = counts([dataclasses.replace(run(A, 1.0), grid=curve)])
    assert frame["count"].tolist() == [1, 1]
    sums = frame.groupby("mode", observed=True)[["correct", "n"]].sum()
    assert (sums["correct"] / sums["n"]).to_dict() == {"teacher_forced": 0.3}


def test_metrics_are_one_row_per_logged_number():
    made = dataclasses.replace(run(A, 1.0), metrics=((5, "train_loss", 0.5), (9, "train_loss", 0.25)))
    frame = metrics([made], ["train.lr"])
    assert frame[["step", "name", "value", "train.lr"]].values.tolist() == [
        [5, "train_loss", 0.5, 1e-3],
        [9, "train_loss", 0.25, 1e-3],
    ]


@pytest.mark.parametrize("table", [scores, counts, metrics])
def test_no_run_is_an_empty_table_with_its_columns(table):
    frame = table([], ["model.width"])
    assert isinstance(frame, pd.DataFrame) and frame.empty and {*IDENTITY, "model.width"} <= {*frame.columns}
