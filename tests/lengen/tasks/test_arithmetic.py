"""Arithmetic tasks and ListOps."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lengen import ListOps, SettingError
from lengen.digits import OperandError, Problems, generator
from lengen.tasks.listops import evaluated, written
from lengen.tasks.successor_and_pair_tasks import Arithmetic
from tests.fixtures import plain
from tests.fixtures.refusals import refused
from tests.fixtures.settings import FIXED
from tests.lengen.tasks.test_base import chi_square

LETTERS = "0123456789abcdef"
OPERATIONS = tuple(plain.OPERATIONS)


def task(name: str, base: int = 10, limit: int = 0, digits: int = 3) -> Arithmetic:
    return FIXED[name](digits=digits, base=base, limit=limit)


@pytest.mark.parametrize(("name", "base", "operands", "message"), [
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
])  # fmt: skip
def test_bad_operands_get_one_sentence(name, base, operands, message):
    refused(OperandError, message, task(name, base).parse, operands)


def test_what_is_typed_is_what_is_held_in_any_size_or_refused_in_one_sentence():
    problem = task("addition", 16).parse(["00aF", "0"])
    assert problem.operands.tolist() == [[[15, 10], [0, 0]]] and problem.lengths.tolist() == [[2, 1]]
    assert task("n_by_one").parse(["12", "007"]).lengths.tolist() == [[2, 1]], "leading zeros are no digits"
    assert task("listops_max").parse(["0073"]).lengths.tolist() == [[4]], "of a list they are"
    own = task("addition")
    problems = own.test(300, 60, 1, generator("t"))
    columns = numbers(own, problems)
    assert all(len(set(column)) == 300 and {len(str(n)) for n in column} == {60} for column in columns)
    assert [int(answer) for answer in own.text(problems)] == [a + b for a, b in zip(*columns, strict=True)]
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


def test_below_a_limit_one_number_in_eight_validates_and_without_one_lengths_are_uniform():
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
    own = task("addition", 4, digits=5)
    problems = own.train(20_000, generator("t"))
    for column in problems.lengths.T.tolist():
        assert set(column) == {1, 2, 3, 4, 5}
        assert chi_square([column.count(size) for size in range(1, 6)]) < 3
    first = [values[0] for values in problems.operands[problems.lengths[:, 0] == 2][:, 0].tolist()]
    assert set(first) == {0, 1, 2, 3}
    validation = own.validation(10, generator("t"))
    assert torch.equal(validation.operands, own.train(10, generator("t")).operands), "nothing is held out"
    for limit in (0, 999):
        own = task("n_by_one", limit=limit)
        second = numbers(own, own.train(5_000, generator("t")))[1]
        assert chi_square([second.count(digit) for digit in range(10)]) < 2


def words(task: ListOps, problems) -> list[list[str]]:
    rows, lengths = problems.operands[:, 0].tolist(), problems.lengths[:, 0].tolist()
    return [[task.symbols[i] for i in row[:size]] for row, size in zip(rows, lengths, strict=True)]


def deepest(expression: list[str]) -> int:
    inside = most = 0
    for word in expression:
        inside += (word in OPERATIONS) - (word == "]")
        most = max(most, inside)
    return most


def arguments(expression: list[str]) -> list[int]:
    found, inside = [], []
    for word in expression:
        if word in OPERATIONS:
            inside.append(0)
            continue
        if word == "]":
            found.append(inside.pop())
        if inside:
            inside[-1] += 1
    return found


@given(digits=st.integers(2, 12), depth=st.integers(1, 4), seed=st.integers(0, 99), length=st.integers(1, 20))
def test_what_is_drawn_is_an_expression_and_its_answer_that_of_an_interpreter(digits, depth, seed, length):
    part = ListOps(digits, min(depth, digits - 1))
    task = part
    for problems, sizes in (
        (task.train(20, generator("test", seed)), set(range(2, digits + 1))),
        (task.test(20, length, 1, generator("test", seed)), {length}),
    ):
        drawn = words(part, problems)
        assert [task.text(problems), task.answer(problems)[:, 0].tolist()] == [
            [str(plain.value(one)) for one in drawn],
            [plain.value(one) for one in drawn],
        ]
        for one, row in zip(drawn, problems.operands[:, 0].tolist(), strict=True):
            size = sum(word.isdigit() for word in one)
            assert size in sizes and deepest(one) <= part.depth and min(arguments(one), default=2) >= 2
            assert len(one) <= part.shape(size, 1)[0] and not any(row[len(one) :])
            parsed = task.parse(one)
            assert parsed.operands.tolist() == [[row[: len(one)]]] == task.parse([" ".join(one)]).operands.tolist()


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("digits", range(1, 7))
def test_the_longest_expression_of_so_many_digits(digits, depth):
    """All levels between neighbouring digits: none makes more tokens than the task allows for, and one as many."""
    part = ListOps(8, depth)
    gaps = torch.cartesian_prod(*[torch.arange(1, depth + 1)] * digits).view(-1, digits)
    zeros = torch.zeros(len(gaps), digits, dtype=torch.int64)
    operations = torch.full((len(gaps), digits, depth), 10)
    problems = written(zeros, gaps, operations, torch.full((len(gaps),), digits))
    assert int(problems.lengths.max()) == part.shape(digits, 1)[0]


def test_all_operations_depths_and_lengths_are_drawn_and_evaluated_each_for_itself():
    part = ListOps(6, depth=3)
    drawn = words(part, part.train(4000, generator("test", 1)))
    counts = [sum(one.count(operation) for one in drawn) for operation in OPERATIONS]
    assert max(counts) < 1.15 * min(counts)
    lengths = torch.bincount(torch.tensor([sum(word.isdigit() for word in one) for one in drawn]))
    assert lengths[:2].tolist() == [0, 0] and int(lengths[2:].max()) < 1.25 * int(lengths[2:].min())
    assert {deepest(one) for one in drawn} == {1, 2, 3}
    digits, levels = torch.tensor([[1, 2, 3, 4, 5]]), torch.tensor([[3, 1, 2, 3, 1]])
    operations = torch.tensor([[[13, 10, 10], [10, 11, 12], [10] * 3, [10] * 3, [10] * 3]])
    (found,) = words(ListOps(5, 3), written(digits, levels, operations, torch.tensor([5])))
    assert " ".join(found) == "[SM 1 [MIN [MED 2 3 ] 4 ] 5 ]"
    task = ListOps(9, depth=4)
    texts = ["7", "[MED 1 9 4 ]", "[SM [MAX 2 [MIN 3 [MED 9 8 ] ] ] [MAX 9 9 ] ]", "[MED 0 1 ]"]
    each = [task.parse([text]) for text in texts]
    width = max(one.operands.shape[2] for one in each)
    rows = torch.cat([torch.nn.functional.pad(one.operands[:, 0], (0, width - one.operands.shape[2])) for one in each])
    lengths = torch.cat([one.lengths[:, 0] for one in each])
    assert evaluated(rows, lengths).tolist() == [7, 4, 2, 0]
    assert task.text(task.parse(["[max 2 9 [min 4 7] 0]"])) == ["9"], "small letters, and brackets without a space"


@pytest.mark.parametrize(("typed", "says"), [
    ("[MAX 1 10 ]", "'10' is no part of an expression"), ("[AVG 1 2 ]", "'\\[AVG' is no part"),
    ("[MAX 1 2", "is not one expression"), ("1 2", "is not one expression"), ("[MAX 1 2 ] ]", "is not one expression"),
    ("[MAX 1 2 ] 3", "is not one expression"), ("", "is not one expression"),
    ("[MAX 1 [MIN ] ]", "an operation of nothing"),
    ("[MAX 1 [MIN 2 [SM 3 4 ] ] ]", "has 3 operations inside each other: this task has 2 at most"),
])  # fmt: skip
def test_what_is_no_expression_is_refused_in_one_sentence(typed, says):
    refused(OperandError, says, ListOps(5).parse, [typed])


@pytest.mark.parametrize(("digits", "depth"), [(2, 2), (5, 5), (5, 1000)])
def test_more_depth_than_the_digits_have_is_refused(digits, depth):
    refused(SettingError, rf"data\.task\.depth={depth}: expected at most {digits - 1}, ", ListOps(digits, depth).check)
    ListOps(digits, digits - 1).check()
    refused(SettingError, r"data\.task\.digits=1: ", ListOps(1).check)
