"""Writing problems: the worked examples, a slow independent writer, and what batches must not change."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lengen import Coupled, DataSpec, Linear, Multiplication, Parity, SettingError, Subtasks, validate
from lengen.data.reading import can_run_free, final_answer
from lengen.formats.base import END, PAD
from lengen.tasks.addition import padded_length
from tests.cases import CASES
from tests.fixtures import written as reference
from tests.fixtures.settings import data_spec, problems, spec, vocab_of, writer, written


def padded(data: DataSpec) -> bool:
    """Every number is as long as its layout says."""
    return data.task.kind != "addition" or data.format.pad_response


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_worked_examples(case):
    """Task, format, ids, mask and final answer of every row of the table."""
    made = writer(case.data)
    batch = made.write(made.task.parse(list(case.operands)))
    assert made.vocab.decode(batch.tokens[0]) == case.text
    assert [made.vocab.decode([token]) or "PAD" for token in batch.tokens[0]] == case.tokens
    assert batch.ids[:, 0].tolist() == case.rows
    assert batch.loss[0].int().tolist() == case.loss
    response = torch.tensor([made.vocab.id(token) for token in case.written])
    assert made.vocab.decode(final_answer(made.format, made.vocab, response[None])[0]) == case.final
    assert batch.tokens.dtype == batch.ids.dtype == torch.int64 and batch.loss.dtype == torch.bool


def check_rows(data, batch, expected, offsets_of):
    for i, tokens in enumerate(expected):
        size, vocab = len(tokens), vocab_of(data)
        assert vocab.decode(batch.tokens[i]) == "".join(token.character for token in tokens)
        assert batch.tokens[i, size:].tolist() == [PAD] * (batch.tokens.shape[1] - size)
        assert batch.loss[i, :size].tolist() == [token.target for token in tokens]
        assert not batch.loss[i, size:].any() and not batch.ids[:, i, size:].any()
        assert batch.ids[:, i, :size].tolist() == reference.ids(tokens, offsets_of(i, tokens))


@given(written())
def test_writing_agrees_with_the_slow_reference(drawn):
    data, operands = drawn
    expected = [reference.write(data, row) for row in operands]
    batch = writer(data).write(problems(data.task, operands))
    levels = data.position_ids.levels
    assert batch.tokens.shape == batch.loss.shape == (len(operands), max(map(len, expected)))
    foreseen, sizes = writer(data).lengths(problems(data.task, operands)), torch.tensor([*map(len, expected)])
    assert torch.equal(foreseen, sizes) if padded(data) else bool((foreseen >= sizes).all())
    check_rows(data, batch, expected, lambda i, tokens: [1] * levels)


@given(written(), st.integers(0, 99))
def test_training_offsets_move_each_level_of_each_example_as_a_whole(drawn, seed):
    data, operands = drawn
    expected = [reference.write(data, row) for row in operands]
    batch = writer(data).write(problems(data.task, operands), torch.Generator().manual_seed(seed))

    def offsets(i, tokens):
        found = []
        for level, limit in enumerate(data.position_ids.max_position):
            place = next(t for t, token in enumerate(tokens) if token.coordinates[level] is not None)
            found.append(int(batch.ids[level, i, place]) - tokens[place].coordinates[level])
            assert 1 <= found[-1] <= limit - reference.highest(tokens, level)
        return found

    check_rows(data, batch, expected, offsets)


@given(written())
def test_what_decoding_plans_is_where_the_reference_stands(drawn):
    data, operands = drawn
    if not padded(data):
        return
    coordinates, slots, offsets = writer(data).plan(problems(data.task, operands))
    assert bool((offsets == 1).all())
    for i, row in enumerate(operands):
        response = [token for token in reference.write(data, row) if token.target]
        assert int(slots[i]) == len(response)
        expected = [[-1 if c is None else c for c in token.coordinates] for token in response]
        assert coordinates[: data.position_ids.levels, i, : len(response)].T.tolist() == expected


@given(st.integers(1, 30), st.integers(2, 200))
def test_padded_length_is_that_of_the_largest_sum(length, count):
    assert padded_length(length, count) == len(str(int("9" * length) * count))


def final_of_text(data, text: str) -> str:
    """The rule in words: cut at the first end, then take what follows the last separator (parity: the last bit)."""
    text = text.split("$")[0]
    if data.task.kind == "parity":
        return text[-1:]
    if data.format.kind != "linear" or data.format.scratchpad:
        for separator in {"addition": ">", "multiplication": "=>"}[data.task.kind]:
            text = text.rpartition(separator)[2]
    return text


@given(written(), st.data())
def test_final_answers_of_any_text(drawn, more):
    """A model may write anything: no end, several ends, no separator."""
    data, _ = drawn
    format, vocab = data.format.build(data.task), vocab_of(data)
    texts = more.draw(st.lists(st.text("".join(vocab.symbols) + "$", min_size=1, max_size=12), min_size=1, max_size=5))
    tokens = torch.zeros(len(texts), max(map(len, texts)), dtype=torch.long)
    for i, text in enumerate(texts):
        tokens[i, : len(text)] = vocab.encode(text)
    found = final_answer(format, vocab, tokens)
    assert [vocab.decode(row) for row in found] == [final_of_text(data, text) for text in texts]
    assert not (found == END).any()


ONE_LEVEL = Coupled((9,))


@pytest.mark.parametrize(
    ("task", "format", "ids", "message"),
    [
        (Parity(3), Linear(), Coupled((4, 4, 4)), "data.position_ids.max_position=[4, 4, 4]: expected 1 to 2 values"),
        (Parity(3), Linear(), Coupled(()), "data.position_ids.max_position=[]: expected 1 to 2 values"),
        (Parity(3), Linear(pad_to=5), ONE_LEVEL, "data.format.pad_to=5: the digits of parity are no numbers"),
        (Parity(3), Subtasks(), ONE_LEVEL, "data.format=subtasks: it writes sums of exactly two numbers, and parity"),
        (Multiplication(3, 3), Linear(width=5, pad_to=5), ONE_LEVEL,
         "data.format.pad_to=5: data.format.width=5 already"),
        (Multiplication(3, 3), Linear(scratchpad=True, end=False), ONE_LEVEL,
         "data.format.end=false: numbers of multiplication end where the model ends them"),
        (Parity(3), Linear(begin=False, end=False, separator="$"), ONE_LEVEL, "data.format.separator=$: with neither"),
    ],
)  # fmt: skip
def test_ways_of_writing_that_do_not_exist_are_refused(task, format, ids, message):
    with pytest.raises(SettingError) as caught:
        validate(spec(DataSpec(task=task, format=format, position_ids=ids)))
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_text_of_ones_own_has_ids_unless_a_length_must_be_known_before():
    for data, free in [
        (data_spec("addition"), True),
        (data_spec("addition", pad=False), True),
        (data_spec("addition", reverse_response=False), True),
        (data_spec("addition", pad=False, reverse_response=False), False),
        (data_spec("addition", pad=False, reverse_response=False, position_ids="none"), True),
    ]:
        assert can_run_free(data) is free
