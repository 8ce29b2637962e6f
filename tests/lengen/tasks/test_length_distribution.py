"""Training and test distributions of sequences: Appendix B and Section 3.1 of "Improving Length-Generalization in
Transformers via Task Hinting", counted over many draws."""

import collections
import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import lengen
from lengen import Coupled, Linear, SettingError, Successor, Task, TaskData, replace, validate
from lengen.digits import OperandError, generator
from lengen.solve import encode
from lengen.tasks.base import Task as Mathematics
from tests.fixtures.refusals import refused
from tests.fixtures.settings import ONE_LENGTH, TASKS, TEST, TRAIN, held, next_in_order, part, rows, sequences, sized
from tests.lengen.tasks.test_base import chi_square

# By hand, beside the figures of "Improving Length-Generalization in Transformers via Task Hinting" in `tests.cases`. A
# mask is printed over the tokens that predict; over the tokens that are predicted it stands one further to the right.
PRINTED = {
    "Figure 3.1": ("sorting", "5 3 1 4 2", "5 3 1 4 2 ⊥ 1 2 3 4 5", "0 0 0 0 0 1 1 1 1 1 0"),
    "one number": ("sorting", "7", "7 ⊥ 7", "0 1 0"),
    "duplicates": ("sorting", "4 100 4 1", "4 100 4 1 ⊥ 1 4 4 100", "0 0 0 0 1 1 1 1 0"),
    "the largest number": ("successor", "2 100 2 100", "2 100 2 ⊥ 100 100", "0 0 0 0 1 0"),
    "a tie": ("count", "9 4 9 4", "9 4 9 4 ⊥ 4", "0 0 0 0 1 0"),
    "a carry": ("increment", "199", "1 9 9 ⊥ 0 0 2", "0 0 0 1 1 1 0"),
    "one digit more": ("increment", "999", "9 9 9 ⊥ 0 0 0 1", "0 0 0 1 1 1 1 0"),
    "carries of nines": ("carries", "99", "9 9 ⊥ 0 ↑ 1 0 ↑ 1 1 ↑ 0", "0 0 1 1 1 1 1 1 1 1 1 0"),
    "the carry stops": ("carries", "919", "9 1 9 ⊥ 0 ↑ 1 2 ↑ 0 9 ↑ 0", "0 0 0 1 1 1 1 1 1 1 1 1 0"),
    "zero": ("increment", "0", "0 ⊥ 1", "0 1 0"),
}  # fmt: skip


def paper(task: str, **options: float) -> Task:
    """The published setting of sorting and its hints, or of increment."""
    numbers = task in ("increment", "carries")
    return part(task, 10 if numbers else 20, 100, short=4 if numbers else 5, skew=0.8, **options)


def of(task: str = "sorting", length: int = 6, alphabet: int = 9, **options: float) -> Mathematics:
    return part(task, length, alphabet, **options)


@pytest.mark.parametrize("task", ["sorting", "successor", "count", "fill", "increment"])
def test_four_fifths_of_the_examples_are_short(task):
    n, part = 50_000, paper(task)
    found = collections.Counter(part.train(n, generator("t")).lengths[:, 0].tolist())
    assert set(found) == set(range(2, part.longest + 1))
    short = range(2, part.short + 1)
    for length, count in found.items():
        share = 0.8 / len(short) if length in short else 0.2 / (part.longest - part.short)
        assert abs(count - n * share) <= 1, "systematic sampling: to one"


@pytest.mark.parametrize(("skew", "times"), [
    (0.8, (15, 1)), (0.99, (1485, 4)), (0.5, (15, 4)), (0.0, (1, 1)), (0.99999, (14985, 4)), (1.0, (1, 0)),
])  # fmt: skip
def test_planning_knows_how_often_each_length_is_trained(skew, times):
    """Of 2 to 5 and 6 to 20: four lengths share ``skew``, fifteen the rest."""
    found = collections.Counter(part("sorting", 20, 100, short=5, skew=skew).trained_lengths)
    assert found == +collections.Counter({length: times[length > 5] for length in range(2, 21)})


def test_lengths_are_equally_likely_without_a_skew_and_few_draws_have_the_distribution():
    found = collections.Counter(of().train(999, generator("t")).lengths[:, 0].tolist())
    assert sorted(found) == [2, 3, 4, 5, 6] and all(199 <= count <= 200 for count in found.values())
    for task in ("sorting", "successor", "count", "fill", "increment"):
        problems = of(task, 6, 9).test(40, 11, 1, generator("t"))
        assert problems.lengths[:, 0].tolist() == [11] * 40
    single = rows(of("sorting", 6, 3).test(900, 1, 1, generator("t")))
    assert chi_square([single.count([one]) for one in (1, 2, 3)]) < 5
    skewed, draws = lengen.Sorting(longest=10, short=4, skew=0.8), 6000
    windows = [skewed.draw_lengths(4, generator("t", i)).tolist() for i in range(draws)]
    for column in zip(*windows, strict=True):
        found = collections.Counter(column)
        expected = [draws * (0.8 / 3 if length <= 4 else 0.2 / 6) for length in range(2, 11)]
        assert chi_square([found[length] for length in range(2, 11)], expected) < 2.5
    assert {sum(length <= 4 for length in window) for window in windows} == {3, 4}, "0.8 of 4, to one"
    assert len({tuple(window) for window in windows if sorted(window) == sorted(windows[0])}) > 1, "shuffled"
    task, source, n = paper("sorting", repeats=0.1), random.Random(0), 20_000
    for length in (2, 3, 7, 20):
        drawn = rows(task.of_lengths(torch.full((n,), length), generator("t", length)))
        literal = [repeated(length, 100, 0.1, source) for _ in range(n)]
        found, expected = (collections.Counter(len(set(row)) for row in part) for part in (drawn, literal))
        common = [k for k in expected if expected[k] > 20]
        # Two samples of one distribution: the difference of two counts has twice their variance.
        statistic = sum((found[k] - expected[k]) ** 2 / (found[k] + expected[k]) for k in common) / len(common)
        assert statistic < 2.5, (length, found, expected)
        assert {number for row in drawn for number in row} == set(range(1, 101))


@given(st.integers(3, 25).flatmap(lambda n: st.tuples(st.just(n), st.integers(2, n - 1))), st.floats(0.01, 0.99))
def test_weights_are_the_two_shares_split_evenly(sizes, share):
    longest, short = sizes
    found = lengen.Sorting(longest=longest, short=short, skew=share).weights().tolist()
    expected = [share / (short - 1)] * (short - 1) + [(1 - share) / (longest - short)] * (longest - short)
    assert found == pytest.approx(expected) and sum(found) == pytest.approx(1)


@pytest.mark.parametrize("task", ["sorting", "successor"])
def test_numbers_are_drawn_evenly_with_replacement(task):
    drawn = rows(of(task, alphabet=5).train(6000, generator("t")))
    numbers = [number for row in drawn for number in row]
    assert set(numbers) == set(range(1, 6))
    assert chi_square([numbers.count(number) for number in range(1, 6)]) < 3
    pairs = collections.Counter(tuple(row[:2]) for row in drawn)
    assert len(pairs) == 25 and chi_square(list(pairs.values())) < 2, "neighbours know nothing of each other"


def repeated(length: int, alphabet: int, share: float, source: random.Random) -> list[int]:
    if source.random() >= share:
        return [source.randint(1, alphabet) for _ in range(length)]
    pool = source.sample(range(1, alphabet + 1), length // 2)
    return [source.choice(pool) for _ in range(length)]


def test_sequences_with_repeats_have_few_numbers_wherever_they_stand():
    """All of them, where the share is 1; every pool and every place in it is as likely."""
    task = of("sorting", 6, 5, repeats=1.0)
    drawn = rows(task.of_lengths(torch.full((20_000,), 5), generator("t")))
    pairs = collections.Counter(frozenset(row) for row in drawn)
    assert {len(pair) for pair in pairs} == {1, 2}
    two = [count for pair, count in pairs.items() if len(pair) == 2]
    assert len(two) == 10 and chi_square(two) < 2.5
    assert sum(two) / 20_000 == pytest.approx(1 - 2 * 0.5**5, abs=0.01), "both numbers are as likely at every place"
    mixed = rows(task.train(2000, generator("u")))
    assert all(len(set(row)) <= len(row) // 2 for row in mixed)


def test_the_hint_asks_about_a_number_that_has_a_successor():
    """A random position among those with a larger number; where all are equal, any."""
    problems = of("successor", 6, 4).train(20_000, generator("t"))
    asked = [one for (one,) in rows(problems, 1)]
    seen = collections.Counter()
    for sequence, one in zip(rows(problems), asked, strict=True):
        assert one in sequence
        assert (next_in_order(sequence, one) == one) == (len(set(sequence)) == 1)
        if sorted(sequence) == [1, 1, 2, 3]:
            seen[one] += 1
    total = sum(seen.values())
    assert total > 100 and seen[3] == 0
    assert seen[1] / total == pytest.approx(2 / 3, abs=4 * (2 / 9 / total) ** 0.5), "positions, not numbers"


def test_repeats_reach_the_hint_too_and_what_is_left_is_drawn_freely():
    problems = of("successor", 6, 9, repeats=1.0).train(500, generator("t"))
    assert all(len(set(row)) <= len(row) // 2 for row in rows(problems))
    single = of("successor", repeats=1.0).test(3, 1, 1, generator("t"))
    assert rows(single) == rows(single, 1)
    drawn = rows(of("sorting", 6, 6).test(6000, 5, 3, generator("t")))
    three = [next(one for one in set(row) if row.count(one) >= 3) for row in drawn]
    assert chi_square([three.count(one) for one in range(1, 7)]) < 3
    fives = sum(len(set(row)) == 1 for row in drawn)
    assert fives / 6000 == pytest.approx(1 / 36, abs=0.01), "with replacement: what is repeated may come again"
    firsts = sum(row[0] == one for row, one in zip(drawn, three, strict=True))
    assert firsts / 6000 == pytest.approx((3 + 2 / 6) / 5, abs=0.03), "the rest does not stand behind"
    task = of("sorting", 6, 4)
    assert len(rows(task.test(3, 9, 2, generator("t")))) == 3
    with pytest.raises(OperandError, match=r"rep\(10, 2\) needs 5 different numbers and the alphabet has 4") as caught:
        task.test(3, 10, 2, generator("t"))
    assert "\n" not in str(caught.value)


def test_counted_sequences_hold_two_numbers_either_of_which_may_be_rarer():
    n = 12_000
    problems = paper("count").train(n, generator("t"))
    by_length = collections.defaultdict(list)
    for row in rows(problems):
        counts = collections.Counter(row)
        assert len(counts) == 2
        by_length[len(row)].append(max(counts.values()) - min(counts.values()))
    assert set(by_length) == set(range(2, 21))
    for length, differences in by_length.items():
        valid = [d for d in range(1, 6) if d % 2 == length % 2 and d <= length - 2]
        assert set(differences) <= {0, *valid} and max(differences) <= 5
        ties = differences.count(0) / len(differences)
        if length == 2:
            assert ties == 1
        elif length % 2 == 0:
            assert ties == pytest.approx(0.5, abs=4 * 0.5 / len(differences) ** 0.5)
        rest = [differences.count(d) for d in valid]
        assert len(rest) < 2 or chi_square(rest) < 6, (length, rest)
    problems = of("count", 7, 2).of_lengths(torch.full((4000,), 5), generator("t"))
    rarer = [min((1, 2), key=row.count) for row in rows(problems)]
    assert rarer.count(1) / 4000 == pytest.approx(0.5, abs=0.03)
    ones = [row for row in rows(problems) if row.count(1) == 1]
    assert chi_square([sum(row[place] == 1 for row in ones) for place in range(5)]) < 3, "in random order"


def test_what_is_filled_in_was_begun_and_what_follows_a_copy_is_found_in_sorted_order():
    problems = paper("fill").train(12_000, generator("t"))
    by_length = collections.defaultdict(list)
    for whole, begun in zip(rows(problems), rows(problems, 1), strict=True):
        assert len(set(whole)) == 1 and set(begun) == set(whole)
        by_length[len(whole)].append(len(begun))
    for length, sizes in by_length.items():
        support = range(1, length // 2 + 1)
        assert set(sizes) == set(support)
        assert len(support) < 2 or chi_square([sizes.count(k) for k in support]) < 4
    numbers = [row[0] for row in rows(problems)]
    assert chi_square([numbers.count(one) for one in range(1, 101)]) < 2
    task = lengen.NextLarger(longest=6, alphabet=4, copies=True)
    problems = task.of_lengths(torch.randint(1, 7, (500,)), torch.Generator().manual_seed(0))
    answers = task.answer(problems)[:, 0].tolist()
    copied = 0
    for (sequence, (number, *_)), length, answer in zip(
        problems.operands.tolist(), problems.lengths[:, 0].tolist(), answers, strict=True
    ):
        ordered = sorted(sequence[:length])
        following = ordered[ordered.index(number) + 1 :]
        assert answer == (following[0] if following else number)
        assert following or len(set(ordered)) == length == 1
        copied += answer == number and length > 1
    assert copied > 100


@given(st.integers(1, 24), st.integers(2, 6))
def test_repeated_test_sequences_hold_each_number_so_often(length, count):
    drawn = rows(of("sorting", 6, 30).test(20, length, count, generator("t", length, count)))
    for row in drawn:
        counts = collections.Counter(row)
        assert len(row) == length and set(row) <= set(range(1, 31))
        assert sum(value >= count for value in counts.values()) >= length // count
        assert sum(value // count for value in counts.values()) >= length // count
    if length >= 2 * count:
        assert any(row != sorted(row, key=row.index) for row in drawn), "in random order"


@pytest.mark.parametrize("nines", [0.0, 0.1, 1.0])
def test_a_tenth_of_the_numbers_ends_in_nines(nines):
    """k of l digits, k even on 1 to l; by chance a number ends in j nines with probability 0.1 ** j."""
    n, length = 30_000, 4
    task = of("increment", 10, repeats=nines)
    drawn = rows(task.of_lengths(torch.full((n,), length), generator("t")))
    tails = [next((place for place, digit in enumerate(row) if digit != 9), length) for row in drawn]
    assert all(row[-1] > 0 for row in drawn), "no leading zeros"

    def at_least(j: int) -> float:
        def chance(places: int) -> float:  # the first digit is one of nine
            return 0.1**places if places < length else 0.1 ** (length - 1) / 9

        replaced = sum(1.0 if k >= j else chance(j) / (0.1**k) for k in range(1, length + 1)) / length
        return nines * replaced + (1 - nines) * chance(j)

    for j in range(1, length + 1):
        expected = at_least(j)
        share = sum(tail >= j for tail in tails) / n
        assert share == pytest.approx(expected, abs=4.5 * (expected * (1 - expected) / n) ** 0.5 + 1e-9), j
    tested = rows(task.test(n, length, 1, generator("u")))
    assert sum(row[0] == 9 for row in tested) / n == pytest.approx(0.1, abs=0.01), "tests are uniform"


def test_first_digits_are_one_to_nine_and_sets_to_test_are_those_of_the_task():
    drawn = rows(of("increment", 10).test(9000, 3, 1, generator("t")))
    for place, support in ((2, range(1, 10)), (1, range(10)), (0, range(10))):
        column = [row[place] for row in drawn]
        assert set(column) == set(support) and chi_square([column.count(digit) for digit in support]) < 3
    one, other = (TaskData(sized(sequences(hints=hints)), seed) for hints, seed in (((), 0), (("count",), 7)))
    assert rows(one.test(9, 1, 30)) == rows(other.test(9, 1, 30))
    assert rows(one.test(9, 1, 30)) != rows(one.test(9, 2, 30))


@pytest.mark.parametrize("task", ["sorting", "successor", "count", "fill", "increment"])
def test_a_stored_set_of_any_size_can_be_drawn(task, monkeypatch):
    """In parts: the last may be so small that no example of it has the longest length."""
    monkeypatch.setattr("lengen.tasks.base.CHUNK", 40)
    data = sequences(task, 6, examples=41, short=2, skew=0.95)
    stored = data.task.fixed_set(41, 0)
    assert len(stored.operands) == 41 and sorted(set(stored.lengths[:, 0].tolist()))[-1] == 6
    batch = TaskData(sized(data, TRAIN), 0).batch(3)
    assert len(batch.tokens) == 8


@pytest.mark.parametrize("place", PRINTED)
def test_what_is_printed_is_what_is_written(place):
    task, operands, tokens, mask = PRINTED[place]
    found = encode(sized(sequences(task, 20, 100)), operands.split())
    assert found["tokens"] == tokens.split()
    assert found["loss"] == [0, *map(int, mask.split()[:-1])] and mask.endswith("0")
    assert found["position_ids"] == []


def test_batches_of_mixed_lengths_are_padded_behind_targets_and_no_padding_is_trained():
    data = TaskData(sized(), 0)
    batch = data.writer.write(data.task.train(50, generator("t")))
    for tokens, loss in zip(batch.tokens.tolist(), batch.loss.tolist(), strict=True):
        text = data.vocab.decode(tokens)
        length = text.index("⊥")
        assert "".join(sorted(text[:length])) == text[length + 1 :]
        assert loss == [False] * (length + 1) + [True] * length + [False] * (len(tokens) - 2 * length - 1)
    with pytest.raises(SettingError, match=r"data\.vocabulary=printable: sorting is written with symbols"):
        validate(sized(replace(sequences(alphabet=12), vocabulary="printable")))
    with pytest.raises(
        SettingError, match=r"data\.format\.reverse_response=false: carries is answered from the units on"
    ):
        validate(sized(sequences("carries", reverse_response=False)))
    validate(sized(replace(sequences(), position_ids=Coupled((30,))), encoding="learned"))
    assert isinstance(sequences().format, Linear)
    assert part("successor").text(held([5, 3], 3)) == ["5"]
    assert Successor(digits=8).text(held([9, 3])) == ["40"]
    for loss, padding in (("all", 0), ("response", 2)):
        validate(sized(sequences(hints=("fill_as_drawn",) if padding else ("fill",)), replace(ONE_LENGTH, loss=loss)))
    with pytest.raises(SettingError, match=r"train\.loss=all: the 2 PAD tokens behind an answer") as caught:
        validate(sized(sequences(hints=("fill_as_drawn",)), replace(ONE_LENGTH, loss="all")))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("task", TASKS)
def test_vocabularies_are_as_large_as_printed(task):
    """Tables 4 and 5: 100 numbers, or 10 digits and the carry mark; the delimiter, PAD and an end that none needs."""
    data = sequences(task, 20, 100)
    assert len(data.vocab) == (14 if task in ("increment", "carries") else 103)
    assert not data.format.build(data.task).ends


@pytest.mark.parametrize(("task", "operands", "message"), [
    ("sorting", "", "sorting takes one number or more, got none"),
    ("sorting", "5 10", "'10' is no number of this alphabet: expected 1 to 9 (data.task.alphabet)"),
    ("sorting", "0", "'0' is no number of this alphabet"), ("sorting", "-1", "'-1' is no number of this alphabet"),
    ("sorting", "٣", "'٣' is no number of this alphabet"), ("sorting", "9" * 3000, "99' is no number of this alphabet"),
    ("successor", "5 3 4", "successor takes a sequence and then one of its numbers again"),
    ("successor", "5", "successor takes a sequence and then one of its numbers again"),
    ("successor", "x x", "'x' is no number of this alphabet"),
    ("count", "5 5", "count takes a sequence of two different numbers, got 1"),
    ("count", "5 4 3", "count takes a sequence of two different numbers, got 3"),
    ("count", "", "count takes a sequence of two different numbers, got 0"),
    ("fill", "5 3", "fill takes three numbers: the number, how often to repeat it"),
    ("fill", "5 3 x", "fill takes three numbers: the number, how often to repeat it"),
    ("fill", "5 3 3", "fill begins with 1 to 2 of 3 numbers, got 3"),
    ("fill", "5 3 0", "fill begins with 1 to 2 of 3 numbers, got 0"),
    ("fill", "10 3 1", "'10' is no number of this alphabet"), ("increment", "1 2", "increment takes one number, got 2"),
    ("increment", "", "increment takes one number, got 0"),
    ("carries", "1a", "operand '1a' is not a number: expected digits 0-9 only"),
])  # fmt: skip
def test_bad_operands_get_one_sentence(task, operands, message):
    refused(OperandError, message, encode, sized(sequences(task)), operands.split())


@pytest.mark.parametrize(("alphabet", "expected"),
    [(0, "`int` >= 1"), (1, "2 to 250 numbers"), (251, "2 to 250 numbers")])  # fmt: skip
@pytest.mark.parametrize("task", ["sorting", "successor", "count", "fill"])
def test_alphabets_that_cannot_be_held_are_refused(task, alphabet, expected):
    with pytest.raises(SettingError, match=f"data.task.alphabet={alphabet}: expected ") as caught:
        validate(sized(sequences(task, alphabet=alphabet)))
    assert expected.replace("`", "") in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("often", ["9" * 30, "9" * 5000, "999999999", "4001", "0" * 9 + "4001"])
def test_a_number_is_repeated_no_more_often_than_sequences_are_long(often):
    mathematics = part("fill")
    refused(OperandError, "fill repeats a number up to 4000 times", mathematics.parse, ["5", often, "1"])
    refused(OperandError, "fill begins with 1 to 3 of 4 numbers", mathematics.parse, ["5", "4", often])
    assert mathematics.parse(["5", "0004", "1"]).lengths.tolist() == [[4, 1]]
    assert mathematics.parse(["5", "4000", "1"]).operands.shape == (1, 2, 4000)


@pytest.mark.parametrize("task", ["count", "fill"])
def test_lengths_that_have_no_problem_are_refused_before_training(task):
    """One number leaves nothing to fill in, and no two of which one is rarer."""
    short, fine = (TaskData(sized(sequences(task), test=replace(TEST, lengths=one)), 0) for one in ((1, 2), (2, 3)))
    fine.check_all()
    refused(OperandError, r"test\.lengths=1: problems of this task have 2 numbers", short.check_all)
