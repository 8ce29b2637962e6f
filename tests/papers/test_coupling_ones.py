"""Parity by the number of ones: the committed table, the strings, and the stored model."""

from math import comb

import pytest

from papers.coupling import ones

ROWS = ones.FINDING.counts()


@pytest.mark.parametrize(("length", "number"), [(5, 0), (5, 2), (20, 10), (50, 50)])
def test_strings_have_so_many_ones_and_differ(length, number):
    found = ones.strings(length, number)
    assert len(set(found)) == len(found) == min(ones.EXAMPLES, comb(length, number))
    assert all(len(one) == length and one.count("1") == number for one in found)


def test_every_length_and_number_of_ones_is_in_the_table():
    assert [(row["length"], row["ones"]) for row in ROWS] == [(n, k) for n in ones.LENGTHS for k in range(n + 1)]
    assert all(row["n"] == min(ones.EXAMPLES, comb(row["length"], row["ones"])) for row in ROWS)


def test_few_ones_are_counted_at_every_length():
    few = [row for row in ROWS if row["ones"] <= 14]
    assert len(few) == 116 and sum(row["correct"] == row["n"] for row in few) == 112
    assert not any(row["correct"] for row in ROWS if row["ones"] == 16)


def test_half_of_long_strings_are_right_and_the_number_of_ones_tells_which():
    for length, least in {25: 0.99, 30: 0.97, 40: 0.79, 60: 0.6, 80: 0.6, 100: 0.6}.items():
        right, decided = ones.told(ROWS, length)
        assert decided > least and (length < 40 or 0.45 < right < 0.55)
    assert ones.told(ROWS, 20).right > 0.99


def test_of_three_other_models_every_long_string_is_told():
    """Two seeds of NoPE and one of FIRE; the stored model, with other strings, within a few points of its own table."""
    found = {
        (row["experiment"].split("/")[-1], int(row["seed"]), int(row["length"])): row for row in ones.MODELS.read()
    }
    assert {length for *_, length in found} == {*ones.LENGTHS} and len(found) == 6 * len(ones.LENGTHS)
    for model in (("nope-plain", 1), ("nope-plain", 2), ("fire-plain", 0)):
        assert all(float(found[(*model, length)]["decided"]) == 100 for length in (40, 60, 80, 100))
    for length in ones.LENGTHS:
        assert abs(float(found["nope-plain", 0, length]["right"]) - 100 * ones.told(ROWS, length).right) < 4


def test_shares_of_a_length():
    rows = [{"length": 2, "ones": k, "n": 4, "correct": right} for k, right in enumerate((4, 0, 2))]
    assert ones.told(rows, 2) == (0.375, 0.875)


def test_the_stored_model_gives_the_same_differences():
    few = {(row["length"], row["ones"]): row["correct"] / row["n"] for row in ones.measure(examples=4)}
    assert few[20, 5] == few[60, 7] == few[100, 10] == 1
    assert few[20, 16] == few[40, 16] == few[100, 16] == 0
