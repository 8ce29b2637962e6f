"""Sorting, adding one and their auxiliary tasks: the printed examples, true answers, and what is refused."""

import pytest

from lengen import Coupled, Linear, SettingError, Successor, TaskData, replace, validate
from lengen.digits import OperandError, generator
from lengen.solve import encode
from tests.fixtures.refusals import refused
from tests.fixtures.settings import ONE_LENGTH, TASKS, TEST, held, part, sequences, sized, vocab_of

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
}


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
    assert len(vocab_of(data)) == (14 if task in ("increment", "carries") else 103)
    assert not data.format.build(data.task).ends


@pytest.mark.parametrize(("task", "operands", "message"), [
    ("sorting", "", "sorting takes one number or more, got none"),
    ("sorting", "5 10", "'10' is no number of this alphabet: expected 1 to 9 (data.task.alphabet)"),
    ("sorting", "0", "'0' is no number of this alphabet"),
    ("sorting", "-1", "'-1' is no number of this alphabet"),
    ("sorting", "٣", "'٣' is no number of this alphabet"),
    ("sorting", "9" * 3000, "99' is no number of this alphabet"),
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
    ("fill", "10 3 1", "'10' is no number of this alphabet"),
    ("increment", "1 2", "increment takes one number, got 2"),
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
