"""Arithmetic at a fixed width: results and answers against Python integers, samples, and what is refused."""

import pytest
import torch

from lengen.digits import OperandError, Problems, generator
from lengen.tasks.arithmetic import Arithmetic
from tests.fixtures.settings import FIXED
from tests.lengen.tasks.test_base import chi_square

LETTERS = "0123456789abcdef"


def task(name: str, base: int = 10, limit: int = 0, digits: int = 3) -> Arithmetic:
    return FIXED[name](digits=digits, base=base, limit=limit)


@pytest.mark.parametrize("name", FIXED)
def test_padding_changes_no_result(name):
    """It is the neutral digit: 0, and base - 1 for the minimum."""
    own = task(name, 6 if name != "running_xor" else 2)
    problem = own.parse(["101", "1"][: own.OPERANDS])
    padded = own.padded(problem, 6)[0]
    neutral = 5 if name == "listops_min" else 0
    assert padded[0].tolist() == [1, 0, 1, *[neutral] * 3]
    assert own.answer(problem, 6)[0, -1] == own.answer(problem, 4)[0, -1]
    wider = Problems(torch.nn.functional.pad(problem.operands, (0, 5)), problem.lengths)
    assert torch.equal(own.padded(wider, 6)[0], padded), "however wide the problem is held"


@pytest.mark.parametrize(
    ("name", "base", "operands", "message"),
    [
        ("addition", 10, ["5"], "this task takes 2 operands, got 1"),
        ("addition", 10, ["5", "6", "7"], "this task takes 2 operands, got 3"),
        ("successor", 10, ["5", "6"], "this task takes one operand, got 2"),
        ("successor", 10, [], "this task takes one operand, got 0"),
        ("successor", 10, [""], "operand '' is not a number in base 10: expected digits 0123456789 only"),
        ("addition", 10, ["1", "-2"], "operand '-2' is not a number in base 10"),
        ("addition", 8, ["1", "8"], "operand '8' is not a number in base 8: expected digits 01234567 only"),
        ("addition", 16, ["1", "fg"], "operand 'fg' is not a number in base 16"),
        ("successor", 10, ["٣"], "operand '٣' is not a number"),
        ("running_xor", 2, ["012"], "operand '012' is not a number in base 2: expected digits 01 only"),
        ("n_by_one", 10, ["123", "45"], "operand '45' has more than one digit: the second operand of N x 1 has one"),
    ],
)
def test_bad_operands_get_one_sentence(name, base, operands, message):
    with pytest.raises(OperandError) as caught:
        task(name, base).parse(operands)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_what_is_typed_is_what_is_held():
    problem = task("addition", 16).parse(["00aF", "0"])
    assert problem.operands.tolist() == [[[15, 10], [0, 0]]] and problem.lengths.tolist() == [[2, 1]]
    assert task("n_by_one").parse(["12", "007"]).lengths.tolist() == [[2, 1]], "leading zeros are no digits"
    assert task("listops_max").parse(["0073"]).lengths.tolist() == [[4]], "of a list they are"


def test_what_does_not_fit_is_refused_in_one_sentence():
    own = task("addition")
    with pytest.raises(OperandError, match="a result needs more than the 3 digits that this model writes") as caught:
        own.answer(own.parse(["999", "1"]), 3)
    assert "\n" not in str(caught.value) and "data.format.width" in str(caught.value)
    assert own.answer(own.parse(["999", "1"]), 4).tolist() == [[0, 0, 0, 1]]
    with pytest.raises(OperandError, match=r"an operand has 4 digits, and this model reads .* of 3") as caught:
        own.answer(own.parse(["1", "1000"]), 3)
    assert "\n" not in str(caught.value) and "data.format.width" in str(caught.value)
    for name, operands in (("successor", ["fff"]), ("n_by_one", ["fff", "2"])):
        with pytest.raises(OperandError, match="a result needs more than the 3 digits"):
            task(name, 16).answer(task(name, 16).parse(operands), 3)


def numbers(own: Arithmetic, problems: Problems) -> list[list[int]]:
    """Each operand's values as Python integers: one list per operand."""
    written = [["".join(LETTERS[d] for d in digits[::-1]) for digits in row] for row in problems.operands.tolist()]
    return [[int(number, own.base) for number in column] for column in zip(*written, strict=True)]


@pytest.mark.parametrize("name", ["successor", "addition", "n_by_one", "listops_max"])
@pytest.mark.parametrize(("base", "length", "n"), [(10, 1, 50), (10, 2, 500), (10, 3, 200), (2, 5, 99), (16, 2, 10)])
def test_tested_numbers_are_different_and_have_exactly_the_length(name, base, length, n):
    """Section 3.3: min(base^L - base^(L - 1), n) of them."""
    own = task(name, base)
    problems = own.test(n, length, 1, generator("t"))
    wanted = min(base**length - base ** (length - 1), n)
    columns = numbers(own, problems)
    assert len(columns) == own.OPERANDS and all(len(column) == wanted for column in columns)
    for column in columns[:1] if name == "n_by_one" else columns:
        assert len(set(column)) == wanted
        assert base ** (length - 1) <= min(column) and max(column) < base**length
    if name == "n_by_one":
        assert max(columns[1]) < base
    if name == "addition" and length > 1:
        assert columns[0] != columns[1], "operands are drawn independently"


def test_a_number_needs_no_64_bits():
    own = task("addition")
    problems = own.test(300, 60, 1, generator("t"))
    columns = numbers(own, problems)
    assert all(len(set(column)) == 300 and {len(str(n)) for n in column} == {60} for column in columns)
    assert [int(answer) for answer in own.text(problems)] == [a + b for a, b in zip(*columns, strict=True)]


def test_below_a_limit_one_number_in_eight_validates_and_never_trains():
    """Section 3.3: 7:1."""
    own = task("addition", limit=799)
    trained = numbers(own, own.train(20_000, generator("t")))
    held_out = numbers(own, own.validation(5_000, generator("t")))
    for column in (*trained, *held_out):
        assert min(column) >= 0 and max(column) <= 799
    assert not {*trained[0], *trained[1]} & {*held_out[0], *held_out[1]}
    assert len({*trained[0]}) == len({*trained[1]}) == 700 and len({*held_out[0], *held_out[1]}) == 100
    assert chi_square([trained[0].count(number) for number in {*trained[0]}]) < 1.5
    again = task("addition", limit=799)
    assert {*numbers(again, again.validation(5_000, generator("u")))[0]} == {*held_out[0]}, "for every seed"


def test_without_a_limit_lengths_are_uniform():
    own = task("addition", 4, digits=5)
    problems = own.train(20_000, generator("t"))
    for column in problems.lengths.T.tolist():
        assert set(column) == {1, 2, 3, 4, 5}
        assert chi_square([column.count(size) for size in range(1, 6)]) < 3
    first = [values[0] for values in problems.operands[problems.lengths[:, 0] == 2][:, 0].tolist()]
    assert set(first) == {0, 1, 2, 3}
    validation = own.validation(10, generator("t"))
    assert torch.equal(validation.operands, own.train(10, generator("t")).operands), "nothing is held out"


def test_the_digit_of_n_by_one_is_any_digit():
    for limit in (0, 999):
        own = task("n_by_one", limit=limit)
        second = numbers(own, own.train(5_000, generator("t")))[1]
        assert chi_square([second.count(digit) for digit in range(10)]) < 2
