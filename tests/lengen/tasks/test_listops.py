"""ListOps: what is drawn is well formed, as deep and long as it may be, and comes to what a plain interpreter says."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lengen import ListOps, SettingError
from lengen.digits import OperandError, generator
from lengen.tasks.listops import evaluated, written
from tests.fixtures import plain

OPERATIONS = tuple(plain.OPERATIONS)


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
    """How many arguments each operation has."""
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


def test_all_operations_depths_and_lengths_are_drawn():
    part = ListOps(6, depth=3)
    drawn = words(part, part.train(4000, generator("test", 1)))
    counts = [sum(one.count(operation) for one in drawn) for operation in OPERATIONS]
    assert max(counts) < 1.15 * min(counts)
    lengths = torch.bincount(torch.tensor([sum(word.isdigit() for word in one) for one in drawn]))
    assert lengths[:2].tolist() == [0, 0] and int(lengths[2:].max()) < 1.25 * int(lengths[2:].min())
    assert {deepest(one) for one in drawn} == {1, 2, 3}


def test_levels_say_what_is_joined():
    """Digits 1 to 5; 2 and 3 are joined first, then 4 with what came of them, last the rest."""
    digits, levels = torch.tensor([[1, 2, 3, 4, 5]]), torch.tensor([[3, 1, 2, 3, 1]])
    operations = torch.tensor([[[13, 10, 10], [10, 11, 12], [10] * 3, [10] * 3, [10] * 3]])
    (found,) = words(ListOps(5, 3), written(digits, levels, operations, torch.tensor([5])))
    assert " ".join(found) == "[SM 1 [MIN [MED 2 3 ] 4 ] 5 ]"


def test_batches_of_mixed_depth_are_evaluated_each_for_itself():
    task = ListOps(9, depth=4)
    texts = ["7", "[MED 1 9 4 ]", "[SM [MAX 2 [MIN 3 [MED 9 8 ] ] ] [MAX 9 9 ] ]", "[MED 0 1 ]"]
    each = [task.parse([text]) for text in texts]
    width = max(one.operands.shape[2] for one in each)
    rows = torch.cat([torch.nn.functional.pad(one.operands[:, 0], (0, width - one.operands.shape[2])) for one in each])
    lengths = torch.cat([one.lengths[:, 0] for one in each])
    assert evaluated(rows, lengths).tolist() == [7, 4, 2, 0]
    assert task.text(task.parse(["[max 2 9 [min 4 7] 0]"])) == ["9"], "small letters, and brackets without a space"


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("[MAX 1 10 ]", "'10' is no part of an expression"),
        ("[AVG 1 2 ]", "'\\[AVG' is no part"),
        ("[MAX 1 2", "is not one expression"),
        ("1 2", "is not one expression"),
        ("[MAX 1 2 ] ]", "is not one expression"),
        ("[MAX 1 2 ] 3", "is not one expression"),
        ("", "is not one expression"),
        ("[MAX 1 [MIN ] ]", "an operation of nothing"),
        ("[MAX 1 [MIN 2 [SM 3 4 ] ] ]", "has 3 operations inside each other: this task has 2 at most"),
    ],
)
def test_what_is_no_expression_is_refused_in_one_sentence(typed, says):
    with pytest.raises(OperandError, match=says) as caught:
        ListOps(5).parse([typed])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("digits", "depth"), [(2, 2), (5, 5), (5, 1000)])
def test_more_depth_than_the_digits_have_is_refused(digits, depth):
    with pytest.raises(SettingError, match=rf"data\.task\.depth={depth}: expected at most {digits - 1}, "):
        ListOps(digits, depth).check()
    ListOps(digits, digits - 1).check()
    with pytest.raises(SettingError, match=r"data\.task\.digits=1: "):
        ListOps(1).check()
