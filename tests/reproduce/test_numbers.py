"""A measured number is taken over cells and seeds as a loop would take it."""

import dataclasses
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengen.records import Counts, Grid
from tests.reproduce.made import experiment, number, of_runs, run

A = experiment("p/f/a")
CELLS = [(length, count) for length in (2, 3, 5) for count in (1, 4)]
right = st.fixed_dictionaries({cell: st.integers(0, 20) for cell in CELLS})


@settings(deadline=None, max_examples=25)
@given(st.lists(right, min_size=1, max_size=4), st.sampled_from(["minimum", "mean", "maximum"]))
def test_a_number_is_the_median_over_seeds_cell_by_cell_and_then_taken_over_cells(seeds, statistic):
    runs = []
    for seed, cells in enumerate(seeds):
        scores = {cell: {"teacher_forced": Counts(n=20, correct=correct)} for cell, correct in cells.items()}
        runs.append(dataclasses.replace(run(A, 1.0, seed=seed), grid=Grid(("length", "count"), scores)))
    medians = {cell: statistics.median(cells[cell] / 20 for cells in seeds) for cell in CELLS}
    found = number(statistic=statistic).find([of_runs(*runs)])
    assert found.ours == pytest.approx(
        {"minimum": min, "mean": statistics.fmean, "maximum": max}[statistic](medians.values())
    )
    assert (found.n, found.seeds) == (20 * len(CELLS) if statistic == "mean" else 20, len(seeds))
    if statistic != "mean":
        first = {"minimum": min, "maximum": max}[statistic](CELLS, key=medians.__getitem__)
        assert any(f"at {first[0]} x {first[1]}" in note for note in found.notes)


@settings(deadline=None, max_examples=25)
@given(st.lists(right, min_size=2, max_size=4))
def test_a_number_across_runs_reduces_each_run_by_itself(seeds):
    runs = []
    for seed, cells in enumerate(seeds):
        scores = {cell: {"teacher_forced": Counts(n=20, correct=correct)} for cell, correct in cells.items()}
        runs.append(dataclasses.replace(run(A, 1.0, seed=seed), grid=Grid(("length", "count"), scores)))
    found = number(across="mean").find([of_runs(*runs)])
    assert found.ours == pytest.approx(statistics.fmean(min(cells.values()) / 20 for cells in seeds))
    assert found.n == len(seeds)
