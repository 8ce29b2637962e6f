"""Digit arithmetic against Python's own integers, far beyond 64 bits."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lengen import digits

huge = st.integers(0, 10**70 - 1)


def rows(numbers, width):
    return torch.stack([digits.from_strings([str(n)], width)[0] for n in numbers])


def values(tensor):
    return [int("".join(map(str, reversed(row)))) for row in tensor.tolist()]


@given(st.lists(st.lists(huge, min_size=3, max_size=3), min_size=1, max_size=4))
def test_running_sums_are_exact(batch):
    numbers = torch.stack([rows(row, 70) for row in batch])
    sums = digits.running_sums(numbers, 71)
    assert [values(row) for row in sums] == [[sum(row[:i]) for i in range(4)] for row in batch]
    assert int(sums.max()) <= 9


@given(st.lists(st.tuples(huge, st.integers(0, 10**64 - 1)), min_size=1, max_size=3))
def test_products_are_exact_in_both_stages(pairs):
    a, b = rows([a for a, _ in pairs], 70), rows([b for _, b in pairs], 64)
    partial = digits.partial_products(a, b, 71)
    sums = digits.shifted_sums(partial, 134)
    for (x, y), parts, totals in zip(pairs, partial, sums, strict=True):
        of_y = [int(c) for c in reversed(str(y).rjust(64, "0"))]
        assert values(parts) == [x * digit for digit in of_y]
        assert values(totals) == [x * (y % 10 ** (i + 1)) for i in range(64)]


@given(st.lists(st.integers(0, 10**4), min_size=1, max_size=80))
def test_carry_keeps_the_value(columns):
    value = sum(column * 10**place for place, column in enumerate(columns))
    wide = torch.nn.functional.pad(torch.tensor([columns]), (0, 6))
    assert values(digits.carry(wide)) == [value]


def test_a_sum_too_large_for_its_width_is_refused():
    with pytest.raises(OverflowError, match="a sum does not fit into 2 digits"):
        digits.carry(torch.tensor([[9, 9], [99, 1]]))
    with pytest.raises(OverflowError, match="3 digits"):
        digits.running_sums(rows([999, 1], 3)[None], 3)


@given(huge)
def test_significant_digits_are_those_of_the_decimal_text(number):
    assert digits.significant(rows([number], 70)).tolist() == [len(str(number))]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=20), st.integers(0, 99))
def test_a_sampled_number_has_exactly_its_length(lengths, seed):
    drawn = digits.sample(torch.tensor(lengths), 6, torch.Generator().manual_seed(seed))
    for length, value, row in zip(lengths, values(drawn), drawn.tolist(), strict=True):
        assert row[length:] == [0] * (6 - length)
        assert length == 0 or (len(str(value)) == length)
