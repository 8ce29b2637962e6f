"""A smaller run stands beside a published number at the same multiples of its trained range, or not at all."""

import dataclasses

import pytest

from lengen.config.experiment import Experiment
from lengen.config.spec import change
from lengen.measures import Missing
from reproduce.comparison import compare
from reproduce.comparison.multiples import scaled
from reproduce.comparison.published import Published
from tests.reproduce.made import EVERY, both, evidence, number, run, spec

LARGE = change(spec(length=6, count=6), test={"lengths": (3, 6, 8, 10, 12, 18), "counts": (2, 6, 8, 12)})
MADE = {
    "cpu": change(spec(length=4, count=3), test={"lengths": (2, 4, 5, 8), "counts": (2, 3, 4, 6)}),
    "night": change(spec(length=3, count=3), test={"lengths": (3, 4, 6), "counts": (2, 3, 4, 6)}),
    "paper": LARGE,
}
A = Experiment(name="p/f/a", claim="c", place="p", specs=MADE, absent={}, seeds=1)


def of_profile(profile):
    return evidence((A,), [run(A, 1.0, profile)], profile).tested(["p/f/a"])[0]


@pytest.mark.parametrize(
    ("profile", "lengths", "expected"),
    [("night", (6, 6), (3, 3)), ("night", (12, 12), (6, 6)), ("night", (3, 12), (2, 6)), ("cpu", (6, 12), (4, 8))],
)
def test_bounds_lie_at_the_same_multiples(profile, lengths, expected):
    ours, counts, words = scaled(of_profile(profile), "all", lengths, (6, 6))
    assert (ours, counts) == (expected, (3, 3))
    span = "6" if lengths == (6, 6) else words.split(" of")[0]
    assert words.startswith(f"{span} of 6 in length; ours ") and words.endswith("; 6 of 6 in count; ours 3 of 3")


@pytest.mark.parametrize(
    ("profile", "lengths", "words"),
    [
        ("cpu", (8, 8), "published at 8 of 6, 1.33 times the trained range: f/a was trained on 4, of which that is no"),
        ("night", (18, 18), "published at 18 of 6, 3 times the trained range: f/a was not tested at 9 of 3"),
    ],
)
def test_a_multiple_is_exact_or_there_is_none(profile, lengths, words):
    with pytest.raises(Missing, match=words):
        scaled(of_profile(profile), "all", lengths, None)


def test_the_published_setting_is_asked_what_was_published():
    assert scaled(of_profile("paper"), "all", (8, 8), None) == ((8, 8), None, "")


def test_a_region_is_that_of_the_smaller_run_and_as_far():
    assert scaled(of_profile("night"), "in_range", None, None)[0] == (2, 3)
    assert scaled(of_profile("night"), "trained_length", None, None)[0] == (3, 3)
    with pytest.raises(Missing, match=r"published at 18 of 6, 3 times"):
        scaled(of_profile("night"), "longest", None, None)


def row_of(entry, *runs):
    (row,) = compare.rows(Published((entry,), (), {}, EVERY), both((A,), runs))
    return row


def test_a_night_is_shown_before_minutes_and_neither_is_compared():
    cells = {"lengths": [12, 12], "counts": [6, 6], "value": 1.0, "relation": "="}
    far = run(A, lambda n, m: 0.25 if (n, m) == (6, 3) else 0.0, "night")
    row = row_of(number(**cells), far, run(A, 1.0, "cpu"))
    assert (row.profile, row.verdict, row.ours) == ("night", "not comparable", 0.25)
    assert "12 of 6 in length; ours 6 of 3; 6 of 6 in count; ours 3 of 3" in row.deviations
    only = row_of(number(**cells), run(A, 1.0, "cpu"))
    assert (only.profile, only.verdict, only.ours) == ("cpu", "not comparable", 1.0)


def test_where_no_cell_has_the_multiple_ours_is_empty_and_says_so():
    row = row_of(number(lengths=[10, 10]), run(A, 1.0, "night"), run(A, 1.0, "cpu"))
    assert (row.verdict, row.ours, row.seeds) == ("not comparable", None, None)
    assert "10 of 6, 1.67 times the trained range" in row.deviations


def test_minutes_stand_in_where_the_night_was_not_tested_as_far():
    shorter = dataclasses.replace(A, specs=MADE | {"night": change(MADE["night"], test={"lengths": (3, 4)})})
    runs = run(shorter, 1.0, "night"), run(shorter, 0.5, "cpu")
    (row,) = compare.rows(Published((number(lengths=[12, 12], counts=[6, 6]),), (), {}, EVERY), both((shorter,), runs))
    assert (row.profile, row.ours) == ("cpu", 0.5)
