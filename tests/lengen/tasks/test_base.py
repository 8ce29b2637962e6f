"""Sampling as Sections 4.2 and 5.2 say it, true answers, and what operands are refused."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lengen import Addition, ListOps, Multiplication, Parity, Task
from lengen.digits import OperandError, generator
from lengen.part import kinds
from tests.cases import CASES
from tests.fixtures.refusals import refused
from tests.fixtures.settings import strings

PAIR = Addition(digits=1)


def sized(task: str, length: int = 3, count: int = 3) -> Task:
    """A task of "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count"."""
    if task == "addition":
        return Addition(digits=length, operands=count)
    return Multiplication(digits=length, second_digits=count) if task == "multiplication" else Parity(bits=length)


def chi_square(counts, expected=None) -> float:
    """Statistic over its degrees of freedom; near 1 for a fair draw, the tests allow 2 to 3."""
    total = sum(counts)
    expected = expected or [total / len(counts)] * len(counts)
    return sum((c - e) ** 2 / e for c, e in zip(counts, expected, strict=True)) / (len(counts) - 1)


def test_every_task_has_a_worked_example_and_draws_that_cover_its_problems():
    assert {case.data.task.kind for case in CASES} == set(kinds(Task))
    task = Parity(bits=3)
    held = [row[0] for row in strings(task, task.train(6000, generator("t")))]
    support = ["".join(bits) for size in (1, 2, 3) for bits in itertools.product("01", repeat=size)]
    expected = [6000 / 3 / 2 ** len(text) for text in support]
    assert set(held) == set(support)
    assert chi_square([held.count(text) for text in support], expected) < 2.5
    drawn = sized("multiplication", 3, 4).train(20_000, generator("t")).lengths
    pairs = [tuple(row) for row in drawn.tolist()]
    assert chi_square([pairs.count(pair) for pair in itertools.product(range(1, 4), range(1, 5))]) < 2.5
    for task in {type(case.data.task): case.data.task for case in CASES}.values():
        one, two, other = (task.train(50, generator("t", seed)) for seed in (0, 0, 1))
        assert torch.equal(one.operands, two.operands) and torch.equal(one.lengths, two.lengths)
        assert not (one.operands.shape == other.operands.shape and torch.equal(one.operands, other.operands))


@pytest.mark.parametrize(("task", "operands", "message"), [
    ("addition", ["5"], "addition takes two operands or more, got 1"),
    ("addition", ["5", "x"], "operand 'x' is not a number: expected digits 0-9 only"),
    ("addition", ["5", "-3"], "operand '-3' is not a number"),
    ("addition", ["5", ""], "operand '' is not a number"),
    ("addition", ["5", "٣"], "operand '٣' is not a number"),
    ("multiplication", ["5"], "multiplication takes two operands, got 1"),
    ("multiplication", ["5", "6", "7"], "multiplication takes two operands, got 3"),
    ("multiplication", ["5", "1.5"], "operand '1.5' is not a number"),
    ("parity", ["01", "1"], "parity takes one string of digits, got 2"),
    ("parity", ["012"], "operand '012' is not a string of digits: expected characters 0 to 1 only"),
    ("parity", [""], "operand '' is not a string of digits"),
])  # fmt: skip
def test_bad_operands_get_one_sentence(task, operands, message):
    refused(OperandError, message, sized(task).parse, operands)


# Support at the smallest lengths: everything the paper's range holds, and nothing else.


@pytest.mark.parametrize(("length", "support"), [(1, range(10)), (2, range(10, 100))])
@pytest.mark.parametrize("task", ["addition", "multiplication"])
def test_test_operands_cover_their_range_evenly(task, length, support):
    drawn = sized(task).test(20_000, length, {"addition": 2, "multiplication": length}[task], generator("t"))
    numbers = [int(text) for row in strings(PAIR, drawn) for text in row]
    assert set(numbers) == set(support)
    assert chi_square([numbers.count(value) for value in support]) < 2


@pytest.mark.parametrize("task", ["addition", "multiplication"])
def test_training_operands_cover_their_range(task):
    drawn = sized(task, 2, 2).train(20_000, generator("t"))
    assert {int(text) for row in strings(PAIR, drawn) for text in row} == set(range(100))


@given(st.integers(1, 12), st.integers(2, 9))
def test_test_problems_have_exactly_the_given_sizes(length, count):
    for task, lengths in (("addition", [length] * count), ("multiplication", [length, count]), ("parity", [length])):
        drawn = sized(task).test(7, length, count, generator("t", length))
        assert drawn.lengths.tolist() == [lengths] * 7


def test_addition_trains_on_two_equally_sized_chunks():
    """S_A(n, m): half own lengths, half one shared length; both with 2 to m operands, evenly."""
    n, length, count = 40_000, 5, 6
    drawn = Addition(digits=length, operands=count).train(n, generator("t"))
    sizes = [[size for size in row if size] for row in drawn.lengths.tolist()]
    operands = [len(row) for row in sizes]
    assert chi_square([operands.count(k) for k in range(2, count + 1)]) < 3
    assert set(operands) == set(range(2, count + 1))
    same = sum(len(set(row)) == 1 for row in sizes)
    # Of the chunk with own lengths, 5 ** (1 - k) have equal ones by chance.
    chance = sum(length ** (1 - k) for k in range(2, count + 1)) / (count - 1)
    assert same / n == pytest.approx(0.5 + 0.5 * chance, abs=0.01)
    for chunk in ([row for row in sizes if len(set(row)) > 1], [row for row in sizes if len(set(row)) == 1]):
        first = [row[0] for row in chunk]
        assert chi_square([first.count(k) for k in range(1, length + 1)]) < 3
    half = sum(len(set(row)) == 1 for row in sizes[: n // 2])
    assert half / same == pytest.approx(0.5, abs=0.02), "the chunks are shuffled"
    drawn = Addition(digits=40, operands=12).train(1000, generator("t"))
    longest = drawn.lengths.amax(dim=1, keepdim=True)
    shared = ((drawn.lengths == longest) | (drawn.lengths == 0)).all(dim=1)
    many = (drawn.lengths > 0).sum(dim=1) > 4
    assert abs(int(shared.sum()) - 500) <= int((~many).sum()) / 20
    absent_last = (drawn.lengths > 0).int().diff(dim=1) <= 0
    assert bool(absent_last.all()), "absent operands come last"
    assert bool((drawn.operands.amax(dim=2) <= 9 * (drawn.lengths > 0)).all()), "and hold nothing"


@pytest.mark.parametrize("task",
    [Addition(digits=300, operands=2), ListOps(digits=160, depth=3)], ids=["digits", "tokens"])  # fmt: skip
def test_a_fixed_set_holds_what_is_drawn_however_long(task, monkeypatch):
    monkeypatch.setattr("lengen.tasks.base.CHUNK", 40)
    made = task
    stored, drawn = made.fixed_set(50, 3), made.train(40, generator("set", 3, 0))
    assert len(stored.lengths) == 50 and int(drawn.lengths.max()) > 255
    assert stored.operands[:40].tolist() == drawn.operands.tolist()
    assert stored.lengths[:40].tolist() == drawn.lengths.tolist()
