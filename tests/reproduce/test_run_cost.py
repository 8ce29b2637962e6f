"""What a run took is what all its processes took, wherever it is told."""

import dataclasses

import pytest

from reproduce.catalogue import CATALOGUE
from reproduce.pages import crate, records
from reproduce.runs import costs
from reproduce.store.checkout import results_root
from reproduce.store.reference import Reference
from tests.fixtures.runs import experiment, run
from tests.fixtures.toy_paper import spec_with

A = experiment("p/f/a")
MADE = run(A, 1.0)
RESUMED = {"seconds": 433.1, "seconds_training": 1479.0, "seconds_measuring": 1.0, "tokens_per_second": 40_000}
BEFORE_CLOCKS = {"seconds": 60.0, "seconds_training": 50.0, "seconds_per_step": 0.5, "scalars": {"steps": 1000}}
TRIED = {"seconds": 610.4, "seconds_training": 299.6, "seconds_measuring": 0.3}
"""Several trainings, of which one was chosen."""
CHOSEN = {
    "seconds": 353.4, "seconds_training": 301.9, "seconds_measuring": 5.1, "tokens_per_second": 12_304,
    "scalars": {"seconds_of_all_trainings": 1202.2, "steps": 4688},
}  # fmt: skip
"""The same, resumed in the last of them: a matrix cell as it is stored."""


def made(**info):
    return dataclasses.replace(MADE, info={**MADE.info, **info})


@pytest.mark.parametrize(
    ("info", "seconds"), [(RESUMED, 1480.0), (BEFORE_CLOCKS, 500.0), (TRIED, 610.4), (CHOSEN, 1207.3), ({}, 0.0)]
)
def test_the_whole_is_no_less_than_its_parts(info, seconds):
    assert costs.whole(made(**info)) == seconds


def test_a_training_that_stops_early_makes_as_many_updates_as_its_like_did():
    whole, stops = spec_with(steps=100), spec_with(steps=100, stop_at=1.0)
    runs = [made(scalars={"steps": steps}) for steps in (40, 100, 60)]
    assert costs.updates_made(whole, runs) == 1.0
    assert costs.updates_made(stops, runs) == 0.6
    assert costs.updates_made(stops, [made(scalars={"steps": 120})]) == 1.0, "it had more to make"
    waits = spec_with(steps=100, stop_at=1.0, evaluations=20, patience=9)
    assert costs.updates_made(waits, [made(scalars={"steps": 40})]) == 0.45, "nine evaluations of twenty"
    assert costs.updates_made(stops, []) is None, "nothing tells when it stops"


def test_trainings_that_were_tried_and_left_took_seconds_and_gave_the_model_no_tokens():
    assert (costs.training(made(**CHOSEN)), costs.tokens(made(**CHOSEN))) == (1202.2, 12_304 * 301.9)
    (row,) = records.experiments([A], {A.name: [made(**CHOSEN)]})
    assert row[6:9] == ("1,000", "3.71", "1,207")
    (row,) = records.experiments([A], {A.name: [made(**CHOSEN)]}, lambda run: 2e6)
    assert row[7] == "2", "a paper that budgets tokens says how many they were"


def test_no_committed_run_took_less_than_its_trainings():
    runs = [run for paper in CATALOGUE.papers() for run in Reference(results_root()).headers(paper)]
    for one in runs:
        parts = one.info.get("seconds_training", 0), one.info.get("scalars", {}).get("seconds_of_all_trainings", 0)
        assert costs.whole(one) >= costs.training(one) >= max(parts), one.experiment


def test_the_crate_has_the_time_when_the_first_process_began():
    done = made(**RESUMED, finished="2026-11-22T17:32:39.000+00:00")
    assert crate._started(done) == "2026-11-22T17:07:59.000+00:00"
    noted = made(**done.info | {"started": "2026-11-20T08:00:00.000+00:00"})
    assert crate._started(noted) == "2026-11-20T08:00:00.000+00:00"
