"""Addition of two operands of equal length: numbers of problems, and that none is both trained and tested."""

import collections
import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lengen import VALIDATION, SettingError, TaskData, TrainSpec
from lengen import TwoOperandAddition as Part
from lengen.digits import OperandError, Problems, generator, mix
from lengen.tasks.base import keys
from lengen.tasks.two_operand_addition import TESTED, VALIDATED, TwoOperandAddition, first_of_each, quotas
from tests.fixtures.settings import TEST, spec, strings, two_operands
from tests.lengen.tasks.test_base import chi_square

SEVEN, MINI, LONGER = tuple(range(1, 8)), (1, 2, 3, 4, 5, 6, 7, 9), (*range(1, 18), 19)
EVERY = 10**6
"""More than are reserved."""


def of(*lengths: int, kinds: int = 0) -> TwoOperandAddition:
    return Part(lengths=lengths).with_subtasks(kinds)


def pairs(problems: Problems) -> list[tuple[str, str]]:
    return [(a, b) for a, b in strings(Part(lengths=(1,)), problems)]


def unseen(length: int, n: int = EVERY) -> list[tuple[str, str]]:
    return pairs(of(1).test(n, length, 2, generator("t")))


def validating(*lengths: int) -> set[tuple[str, str]]:
    return set(pairs(of(*lengths).validation(2 * VALIDATED * len(lengths), generator("v"))))


def printed(lengths: tuple[int, ...], examples: int) -> dict[int, int]:
    """Section 4.2.2: 100, 900 and 9000 problems of one to three digits, "an equal number of samples" of the others."""
    shortest = {1: 100, 2: 900, 3: 9000}
    rest = [length for length in lengths if length > 3]
    return shortest | dict.fromkeys(rest, (examples - 10_000) // len(rest))


@pytest.mark.parametrize(("lengths", "examples", "expected"), [
    ((1, 3), 10_000, {1: 100, 3: 9900}),
    (SEVEN, 100_000, printed(SEVEN, 100_000)),
    (LONGER, 1_000_000, printed(LONGER, 1_000_000)),
    (MINI, 10_000, {1: 100, 2: 900} | dict.fromkeys((3, 4, 5, 6, 7, 9), 1500)),
    *((MINI, examples, printed(MINI, examples)) for examples in (100_000, 1_000_000, 10_000_000)),
])  # fmt: skip
def test_quotas_of_the_four_data_sets(lengths, examples, expected):
    found = quotas(lengths, examples)
    assert sum(found.values()) == examples and found.keys() == expected.keys()
    assert all(0 <= found[length] - n <= 1 for length, n in expected.items()), found
    assert all(found[length] == n for length, n in expected.items() if length <= 3)


@given(st.sets(st.integers(1, 20), min_size=1), st.integers(0, 10**7))
def test_quotas_add_up_and_longer_lengths_share_equally(lengths, examples):
    found = quotas(tuple(lengths), examples)
    assert sum(found.values()) == examples and set(found) == lengths and min(found.values()) >= 0
    longer = [n for length, n in found.items() if length > 3]
    assert not longer or max(longer) - min(longer) <= 1
    for length, most in ((1, 100), (2, 900), (3, 9000)):
        assert found.get(length, 0) <= most or length == max(lengths)


@pytest.mark.slow
@pytest.mark.parametrize(("examples", "lengths"), [(20_000, MINI), (10_000, (1, 3)), (300, (1, 2, 4))])
def test_a_fixed_set_holds_distinct_problems_and_none_that_tests_or_validates(examples, lengths):
    """Every problem as text, so that no key is trusted."""
    drawn = pairs(of(*lengths).fixed_set(examples, 0))
    assert len(drawn) == len(set(drawn)) == examples
    assert collections.Counter(len(a) for a, _ in drawn) == quotas(lengths, examples)
    assert all(len(a) == len(b) and (len(a) == 1 or "0" not in (a[0], b[0])) for a, b in drawn)
    assert [len(a) for a, _ in drawn] != sorted(len(a) for a, _ in drawn), "lengths are mixed"
    reserved = validating(*lengths)
    reserved |= {pair for length in {*lengths, 8} for pair in unseen(length)}
    assert {pair for pair in drawn if pair in reserved} == {pair for pair in drawn if len(pair[0]) == 1}


def test_one_digit_is_trained_and_tested_on_all_there_is():
    every = {(str(a), str(b)) for a, b in itertools.product(range(10), repeat=2)}
    drawn = pairs(of(*MINI).fixed_set(20_000, 3))
    assert sorted(pair for pair in drawn if len(pair[0]) == 1) == sorted(every)
    assert len(unseen(1)) == 100 and set(unseen(1)) == every
    some = pairs(of(1, 2).fixed_set(60, 0))
    assert len({pair for pair in some if len(pair[0]) == 1}) == 30, "a smaller set has a part of them"


def test_the_stream_and_sub_tasks_of_sets_are_even_and_never_reserved_problems():
    """Of two digits a quarter is reserved: of 40,000 draws 10,000 would be, were they not drawn again."""
    drawn = pairs(of(2).train(40_000, generator("s")))
    reserved = set(unseen(2)) | validating(2)
    assert len(reserved) == 2025 and not reserved & set(drawn)
    free = [f"{a}+{b}" for a in range(10, 100) for b in range(10, 100) if (str(a), str(b)) not in reserved]
    counts = collections.Counter("+".join(pair) for pair in drawn)
    assert len(free) == 6075 and chi_square([counts[text] for text in free]) < 1.2, "all the others evenly"
    drawn = of(1, 2, 4, kinds=5).train(30_000, generator("s"))
    assert set(drawn.lengths.flatten().tolist()) == {1, 2, 4} and drawn.operands.shape == (30_000, 2, 4)
    assert torch.equal(drawn.lengths[:, 0], drawn.lengths[:, 1])
    for length in (1, 2, 4):
        kinds = drawn.kinds[drawn.lengths[:, 0] == length].tolist()
        assert abs(len(kinds) - 10_000) < 400 and chi_square([kinds.count(kind) for kind in range(5)]) < 4.5
    assert of(1, 2).train(5, generator("s")).kinds is None
    drawn = of(*MINI, kinds=5).fixed_set(10_000, 0)
    assert collections.Counter(drawn.kinds.tolist()) == dict.fromkeys(range(5), 2000)
    for length in (3, 9):
        kinds = drawn.kinds[drawn.lengths[:, 0] == length].tolist()
        assert chi_square([kinds.count(kind) for kind in range(5)]) < 4.5
    assert pairs(drawn) == pairs(of(*MINI, kinds=5).fixed_set(10_000, 0))
    assert of(*MINI, kinds=5).test(9, 3, 2, generator("t")).kinds is None, "the first sub-task"
    assert of(*MINI).fixed_set(500, 0).kinds is None and of(*MINI).test(9, 3, 2, generator("t")).kinds is None
    names = ("add", "rev", "ali", "mad", "car")
    data = made(0, examples=400, subtasks=names)
    batches = [data.batch(step) for step in range(8)]
    prefixes = collections.Counter(data.vocab.decode(row)[:3] for batch in batches for row in batch.tokens)
    assert set(prefixes) == set(names) and sum(prefixes.values()) == 256
    shown = data.writer.write(data.test(4, 2, 50))
    assert all(data.vocab.decode(row).startswith("add$") for row in shown.tokens)
    task = of(1, 3, 4, kinds=5)
    drawn = task.validation(256, generator("v"))
    assert collections.Counter(drawn.lengths[:, 0].tolist()) == {1: 86, 3: 85, 4: 85}
    assert set(drawn.kinds.tolist()) == set(range(5))
    assert made(0).validation().tokens.shape[0] == VALIDATION


@pytest.mark.parametrize("length", [8, 10, 11, 12, 20, 100])
def test_test_sets_of_untrained_lengths_are_a_thousand_distinct_problems(length):
    drawn = unseen(length, 1000)
    assert len(drawn) == len(set(drawn)) == 1000 and {len(text) for pair in drawn for text in pair} == {length}
    assert drawn == unseen(length)[:1000], "fewer are the first of more"


@pytest.mark.parametrize(("length", "most"), [(2, 1840), (3, TESTED), (4, TESTED), (9, TESTED)])
def test_reserves_have_their_sizes_and_what_validates_does_not_test(length, most):
    validates, tests = validating(length), unseen(length)
    assert len(tests) == len(set(tests)) == most
    assert len(validates) == (185 if length == 2 else VALIDATED) and not validates & set(tests)


def made(seed: int, *lengths: int, **options) -> TaskData:
    train = TrainSpec(steps=9, batch=32, bucket=4, lr=1e-3)
    return TaskData(spec(two_operands(*(lengths or MINI), **options), train, TEST, encoding="sinusoidal"), seed)


def test_problems_to_test_are_the_same_for_every_seed_and_keys_for_every_width():
    one, two = made(0, examples=5000), made(7, 1, 9, examples=2000, reverse_query=True)
    for length in (1, 2, 8, 12):
        assert pairs(one.test(length, 2, 500)) == pairs(two.test(length, 2, 500)) == unseen(length, 500)
    sets = [{pair for pair in pairs(of(*MINI).fixed_set(5000, seed)) if len(pair[0]) > 3} for seed in (0, 0, 1)]
    assert sets[0] == sets[1] and not sets[0] & sets[2]
    every = torch.cartesian_prod(*[torch.arange(10)] * 4).view(-1, 2, 2)
    found = keys(every)
    assert len(set(found.tolist())) == 10_000
    assert torch.equal(keys(torch.nn.functional.pad(every, (0, 17))), found)
    assert torch.equal(keys(every.to(torch.uint8)), found)
    assert not torch.equal(keys(every.flip(1)), found), "a + b is not b + a"
    long = torch.zeros(200, 2, 200, dtype=torch.long)
    long[torch.arange(200), 0, torch.arange(200)] = 1
    assert len(set(keys(torch.cat([long, long.flip(1)])).tolist())) == 400, "every place counts"


@pytest.mark.parametrize("lengths", [(1, 2, 3), (9, 10)])
def test_training_batches_hold_the_fixed_set_and_nothing_else(lengths):
    data = made(3, *lengths, examples=64)
    drawn = [data.vocab.decode(row) for step in range(4) for row in data.batch(step).tokens]
    expected = pairs(of(*lengths).fixed_set(64, 3))
    assert sorted(drawn) == sorted(2 * [f"${a}+{b}={int(a) + int(b)}$" for a, b in expected])


def unmixed(values: list[int]) -> list[int]:
    whole = (1 << 64) - 1
    found = []
    for value in values:
        value &= whole
        for bits, factor in ((31, 0x94D049BB133111EB), (27, 0xBF58476D1CE4E5B9), (30, 1)):
            shifted = value
            for _ in range(64 // bits):
                shifted = value ^ (shifted >> bits)
            value = shifted * pow(factor, -1, 1 << 64) & whole
        value = (value - 0x9E3779B97F4A7C15) & whole
        found.append(value - (1 << 64) if value >> 63 else value)
    return found


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_mixing_is_one_to_one(values):
    assert unmixed(mix(torch.tensor(values)).tolist()) == values


def test_typed_operands_are_two_numbers_of_any_lengths_and_mixing_gives_published_ones():
    """First outputs of SplitMix64 (Steele et al. 2014) from seed 0: its state after one step is what is mixed."""
    assert mix(torch.tensor([0])).item() & ((1 << 64) - 1) == 0xE220A8397B1DCDAF
    task = of(1, kinds=5)
    parsed = task.parse(["0045", "7"])
    assert pairs(parsed) == [("45", "7")] and task.text(parsed) == ["52"] and parsed.kinds is None
    assert of(1).parse(["1", "2"]).kinds is None
    assert task.text(task.parse(["9" * 30, "1"])) == ["1" + "0" * 30] and task.text(task.parse(["0", "0"])) == ["0"]
    for operands, message in [
        (["1"], "this addition takes exactly two operands, got 1"),
        (["1", "2", "3"], "this addition takes exactly two operands, got 3"),
        (["1", "x2"], "operand 'x2' is not a number: expected digits 0-9 only"),
    ]:
        with pytest.raises(OperandError) as caught:
            task.parse(operands)
        assert str(caught.value) == message


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=40))
def test_first_of_each_keeps_first_appearances_in_order(rows):
    operands = torch.tensor(rows, dtype=torch.long).view(-1, 2, 1)
    assert [tuple(row) for row in first_of_each(operands)[:, :, 0].tolist()] == list(dict.fromkeys(rows))


@pytest.mark.parametrize(("lengths", "examples", "free"), [((1,), 101, 100), ((2,), 6076, 6075), ((1, 2), 7000, 6075)])
def test_more_problems_than_there_are_is_refused(lengths, examples, free):
    with pytest.raises(SettingError) as caught:
        of(*lengths).fixed_set(examples, 0)
    message = str(caught.value)
    assert message.startswith("data.examples: ") and f"there are {free} beside the reserved ones" in message
    assert "\n" not in message and "lower data.examples" in message
    largest = free if len(lengths) == 1 else free + 100
    assert len(set(pairs(of(*lengths).fixed_set(largest, 0)))) == largest, "exactly all is possible"
