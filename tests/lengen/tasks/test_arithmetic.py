"""Arithmetic at a fixed width: results and answers against Python integers, samples, and what is refused."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lengen import NByOne, SettingError
from lengen.digits.problems import OperandError, Problems
from lengen.digits.randomness import generator
from lengen.part import build
from lengen.tasks.arithmetic import Arithmetic
from lengen.tasks.base import Task
from tests.lengen.helpers import FIXED
from tests.lengen.tasks.test_base import chi_square

LETTERS = "0123456789abcdef"
NUMERIC = {"successor": lambda a: a + 1, "addition": lambda a, b: a + b, "n_by_one": lambda a, b: a * b}
STEPS = {
    "running_xor": lambda so_far, digit, base: (so_far + digit) % 2,
    "listops_sm": lambda so_far, digit, base: (so_far + digit) % base,
    "listops_max": lambda so_far, digit, base: max(so_far, digit),
    "listops_min": lambda so_far, digit, base: min(so_far, digit),
}


def text(number: int, base: int) -> str:
    found = ""
    while number or not found:
        number, digit = divmod(number, base)
        found = LETTERS[digit] + found
    return found


def task(name: str, base: int = 10, limit: int = 0, digits: int = 3) -> Arithmetic:
    return FIXED[name](digits=digits, base=base, limit=limit)


@st.composite
def typed(draw) -> tuple[str, int, list[str]]:
    """An operation, a base, and operands as somebody may type them."""
    name = draw(st.sampled_from(sorted(FIXED)))
    base = 2 if name == "running_xor" else draw(st.integers(2, 16))
    number = st.text(LETTERS[:base], min_size=1, max_size=70)
    second = {"addition": [number], "n_by_one": [st.sampled_from(LETTERS[:base])]}.get(name, [])
    return name, base, [draw(part) for part in (number, *second)]


def literal(name: str, base: int, operands: list[str], width: int) -> tuple[list[int], str]:
    """Digits of the result, least significant first, and the answer: Python integers, or a loop from the right."""
    if name in NUMERIC:
        answer = text(NUMERIC[name](*(int(operand, base) for operand in operands)), base)
        return [LETTERS.index(c) for c in reversed(answer.rjust(width, "0"))], answer
    read = [LETTERS.index(c) for c in reversed(operands[0])]
    results, so_far = [], read[0]
    for place in range(width):
        if 0 < place < len(read):
            so_far = STEPS[name](so_far, read[place], base)
        results.append(so_far)
    return results, LETTERS[so_far]


@given(typed(), st.integers(1, 9))
def test_results_and_answers_are_those_of_python(drawn, spare):
    name, base, operands = drawn
    width = max(map(len, operands)) + spare
    own = task(name, base)
    problem = own.parse(operands)
    results, answer = literal(name, base, operands, width)
    assert own.answer(problem, width)[0].tolist() == results
    assert own.text(problem) == [answer]


@given(typed(), st.integers(0, 99))
def test_a_batch_is_computed_as_each_problem_alone(drawn, seed):
    name, base, _ = drawn
    own = task(name, base, digits=5)
    problems = own.train(7, torch.Generator().manual_seed(seed))
    rows = [problems.select(torch.tensor([i])) for i in range(7)]
    assert own.text(problems) == [own.text(row)[0] for row in rows]
    assert torch.equal(own.answer(problems, 9), torch.cat([own.answer(row, 9) for row in rows]))


def test_the_examples_of_the_text():
    assert task("successor").text(task("successor").parse(["0129"])) == ["130"]
    assert task("addition").text(task("addition").parse(["0123", "0748"])) == ["871"]
    assert task("n_by_one").text(task("n_by_one").parse(["0123", "6"])) == ["738"]
    parity = task("running_xor", 2)
    assert parity.answer(parity.parse(["0110"]), 4).tolist() == [[0, 1, 0, 0]]
    assert parity.text(parity.parse(["0111"])) == ["1"]


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


@given(typed(), st.integers(1, 5))
def test_carries_are_those_of_a_loop(drawn, spare):
    """Into a place goes what the places below it have in common with the next power of the base."""
    name, base, operands = drawn
    if name not in NUMERIC:
        return
    width = max(map(len, operands)) + spare
    values = [[LETTERS.index(c) for c in reversed(operand.rjust(width, "0"))] for operand in operands]
    expected, carry = [], 0
    for place in range(width):
        expected.append(carry)
        column = {
            "successor": values[0][place] + (place == 0),
            "addition": sum(value[place] for value in values),
            "n_by_one": values[0][place] * values[-1][0],
        }[name]
        carry = (column + carry) // base
    own = task(name, base)
    assert own.stages("carries", own.parse(operands), width).tolist() == [[expected]]
    with pytest.raises(KeyError):
        own.stages("running sums", own.parse(operands), width)


def test_tasks_are_built_by_name():
    assert task("listops_min", 7) == FIXED["listops_min"](digits=3, base=7)
    assert task("addition", 7, 5).limit == 5
    for value, message in [
        ({"kind": "sucessor", "digits": 3}, "data.task: unknown task 'sucessor'; nearest: successor"),
        ({"kind": "parity", "base": 9, "bits": 3}, "data.task: there is no field 'base' in parity"),
        ({"kind": "n_by_one"}, "data.task.digits: this field is missing, and it has no default"),
    ]:
        with pytest.raises(SettingError) as caught:
            build(value, Task, "data.task")
        assert message in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(SettingError, match=r"data\.task\.base=1: expected a base from 2 to 16"):
        NByOne(digits=3, base=1).check()
