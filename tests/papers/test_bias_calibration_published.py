"""The published tables of attention bias calibration stand in published.toml, and its claims can be judged."""

from pathlib import Path

import numpy as np
import pytest

import papers.bias_calibration as package
from lengen.intervals import wilson
from lengen.measures import OfRun, Trained
from reproduce.comparison.checks import Level
from reproduce.comparison.numbers import Measured
from reproduce.comparison.published import load
from reproduce.runs.catalogue import CATALOGUE

PUBLISHED = load(Path(package.__file__).with_name("published.toml"))
NUMBERS = {number.id: number for number in PUBLISHED.numbers}
LENGTHS = (6, 10, 15, 20, 50)

TABLE1 = """
successor vanilla 100.0 0.0   0.0   0.0   0.0
successor alibi   1.3   0.0   0.0   0.0   0.0
successor rope    100.0 0.0   0.0   0.0   0.0
successor abc     100.0 100.0 100.0 100.0 100.0
addition  vanilla 100.0 0.0   0.0   0.0   0.0
addition  alibi   0.0   0.0   0.0   0.0   0.0
addition  rope    100.0 0.0   0.0   0.0   0.0
addition  rpe     100.0 99.9  97.2  21.3  N/A
addition  abc     100.0 100.0 99.9  99.9  99.8
n-by-one  vanilla 100.0 0.0   0.0   0.0   0.0
n-by-one  abc     100.0 100.0 100.0 100.0 100.0
"""

TABLE3 = """
successor vanilla 100.0 0.0   0.0   0.0   0.0
successor window  100.0 100.0 100.0 100.0 100.0
successor cyclic  100.0 100.0 100.0 100.0 100.0
successor nope    100.0 100.0 100.0 100.0 100.0
successor alibi   1.3   0.0   0.0   0.0   0.0
successor rope    100.0 0.0   0.0   0.0   0.0
addition  vanilla 100.0 0.0   0.0   0.0   0.0
addition  window  100.0 0.0   0.0   0.0   0.0
addition  cyclic  100.0 100.0 100.0 100.0 100.0
addition  nope    99.95 99.81 99.84 99.76 99.35
addition  alibi   0.0   0.0   0.0   0.0   0.0
addition  rope    100.0 0.0   0.0   0.0   0.0
addition  rpe     100.0 99.9  97.2  21.3  N/A
parity    window  100.0 100.0 100.0 100.0 100.0
parity    cyclic  100.0 100.0 100.0 100.0 100.0
parity    nope    100.0 100.0 100.0 100.0 100.0
n-by-one  vanilla 100.0 0.0   0.0   0.0   0.0
n-by-one  window  100.0 6.0   0.19  0.0   0.0
n-by-one  cyclic  100.0 100.0 100.0 100.0 100.0
n-by-one  nope    99.89 99.63 99.49 99.39 98.31
n-by-one  rope    100.0 0.0   0.0   0.0   0.0
"""


@pytest.mark.parametrize(("table", "text"), [("table1", TABLE1), ("table3", TABLE3)])
def test_every_number_of_the_tables_is_there_in_shares_at_its_length(table, text):
    expected = set()
    for task, model, *values in map(str.split, text.split("\n")[1:-1]):
        home = "table1" if model in ("alibi", "rope", "rpe") else table
        for length, value in zip(LENGTHS, values, strict=True):
            if value == "N/A":
                continue
            cited = "-cited" if model == "rpe" else ""
            number = NUMBERS[f"{table}{cited}-{task}-{model}-{length}"]
            expected.add(number.id)
            assert number.value == pytest.approx(float(value) / 100, abs=1e-9), number.id
            assert (number.lengths, number.measure, number.kind) == ((length, length), "exact", "measured")
            assert number.experiments == (f"bias_calibration/{home}/{task}-{model}",)
            assert (number.place, "cited" in number.how_read) == (f"Table {table[-1]}", model == "rpe")
    measured = {
        number.id for number in PUBLISHED.numbers if isinstance(number, Measured) and number.id.startswith(table)
    }
    assert measured == expected


def test_rows_of_parity_that_the_paper_cites_are_remarks():
    cited = [number for number in PUBLISHED.numbers if number.id.startswith("table3-cited-parity")]
    assert [(number.value, number.kind) for number in cited] == [(0.52, "remark"), (0.526, "remark")]


def asked():
    """(claim, experiment, specification, region) of everything a claim measures by cell, at every profile but smoke."""
    experiments = {item.name: item for item in CATALOGUE.experiments("bias_calibration")}
    for claim in PUBLISHED.claims:
        if isinstance(PUBLISHED.vocabulary.measure(claim.measure), OfRun):
            continue
        for name in claim.names:
            for profile in ("cpu", "night", "paper"):
                if profile in experiments[name].specs:
                    yield claim, f"{name} at {profile}", experiments[name].specs[profile]


def test_every_experiment_of_a_claim_tests_lengths_in_its_region():
    for claim, name, spec in asked():
        span = Trained(spec.data.task.longest, spec.data.task.most)
        lengths = np.array(spec.test.lengths)
        assert PUBLISHED.vocabulary.regions[claim.region].mask(span, lengths, np.ones_like(lengths)).any(), (
            f"{claim.id}: {name}"
        )


def test_a_perfect_model_can_reproduce_a_claim_of_near_perfection_with_the_examples_of_one_length():
    for claim, name, spec in asked():
        if isinstance(claim, Level) and claim.relation == ">=":
            n = spec.test.examples * (1 if claim.region in ("longest", "trained_length") else 2)
            assert wilson(n, n).low >= claim.threshold, f"{claim.id}: {name} tests too few examples"


def test_a_claim_needs_experiments_of_one_profile():
    """Else it could be judged nowhere: a side that exists at paper size only against one at cpu size only."""
    experiments = {item.name: item for item in CATALOGUE.experiments("bias_calibration")}
    for claim in PUBLISHED.claims:
        sides = [
            {profile for name in side for profile in experiments[name].specs if profile != "smoke"}
            for side in (claim.left, getattr(claim, "right", claim.left))
        ]
        assert set.intersection(*sides), claim.id
