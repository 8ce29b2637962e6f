"""Writing problems: the worked examples, a slow independent writer, and what batches must not change."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lengen.config.spec import DataSpec, SpecError
from lengen.data.datamodule import ArithmeticData
from lengen.data.writer import Writer
from lengen.formats import build_format, can_run_free, final_answer
from lengen.formats.addition import padded_length
from lengen.position_ids import build_position_ids
from lengen.tasks import TASKS
from lengen.vocab import END, PAD, Vocab
from tests.cases import CASES
from tests.lengen import reference
from tests.lengen.helpers import LEVELS, data_spec, problems, spec, strings, written


def writer(data) -> Writer:
    format = build_format(data)
    return Writer(format, build_position_ids(data, format.levels))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_worked_examples(case):
    """Task, format, ids and mask of every row of the table."""
    made = writer(case.data)
    batch = made.write(TASKS[case.data.task]().parse(list(case.operands)))
    assert made.format.vocab.decode(batch.tokens[0]) == case.text
    assert batch.ids[:, 0].tolist() == case.rows
    assert batch.loss[0].int().tolist() == case.loss
    assert batch.tokens.dtype == batch.ids.dtype == torch.int64 and batch.loss.dtype == torch.bool


@pytest.mark.parametrize("case", [c for c in CASES if c.data.position_ids == "coupled"], ids=lambda case: case.name)
def test_the_slow_reference_agrees_with_the_worked_examples(case):
    tokens = reference.write(case.data, [str(int(t)) if case.data.task != "parity" else t for t in case.operands])
    assert "".join(token.character for token in tokens) == case.text
    assert reference.ids(tokens, [1] * len(case.ids)) == case.rows
    assert [int(token.target) for token in tokens] == case.loss


def check_rows(data, batch, expected, offsets_of):
    for i, tokens in enumerate(expected):
        size, vocab = len(tokens), build_format(data).vocab
        assert vocab.decode(batch.tokens[i]) == "".join(token.character for token in tokens)
        assert batch.tokens[i, size:].tolist() == [PAD] * (batch.tokens.shape[1] - size)
        assert batch.loss[i, :size].tolist() == [token.target for token in tokens]
        assert not batch.loss[i, size:].any() and not batch.ids[:, i, size:].any()
        assert batch.ids[:, i, :size].tolist() == reference.ids(tokens, offsets_of(i, tokens))


@given(written())
def test_writing_agrees_with_the_slow_reference(drawn):
    data, operands = drawn
    expected = [reference.write(data, row) for row in operands]
    batch = writer(data).write(problems(data, operands))
    levels = LEVELS[data.task, data.scratchpad]
    assert batch.tokens.shape == batch.loss.shape == (len(operands), max(map(len, expected)))
    check_rows(data, batch, expected, lambda i, tokens: [1] * levels)


@given(written(), st.integers(0, 99))
def test_training_offsets_move_each_level_of_each_example_as_a_whole(drawn, seed):
    data, operands = drawn
    expected = [reference.write(data, row) for row in operands]
    batch = writer(data).write(problems(data, operands), torch.Generator().manual_seed(seed))

    def offsets(i, tokens):
        found = []
        for level, limit in enumerate(data.max_position):
            place = next(t for t, token in enumerate(tokens) if token.coordinates[level] is not None)
            found.append(int(batch.ids[level, i, place]) - tokens[place].coordinates[level])
            assert 1 <= found[-1] <= limit - reference.highest(tokens, level)
        return found

    check_rows(data, batch, expected, offsets)


@given(written())
def test_a_batch_writes_each_problem_as_if_it_were_alone(drawn):
    data, operands = drawn
    made, together = writer(data), problems(data, operands)
    batch = made.write(together)
    for i in range(len(operands)):
        fresh = writer(data).write(problems(data, [operands[i]]))
        for alone in (made.write(together.select(torch.tensor([i]))), fresh):
            size = alone.tokens.shape[1]
            assert torch.equal(batch.tokens[i, :size], alone.tokens[0])
            assert torch.equal(batch.ids[:, i, :size], alone.ids[:, 0])
            assert torch.equal(batch.loss[i, :size], alone.loss[0])
            assert not batch.loss[i, size:].any()


@given(written())
def test_lengths_are_those_of_the_padded_sequences(drawn):
    data, operands = drawn
    made, together = writer(data), problems(data, operands)
    sizes = (made.write(together).tokens != PAD).sum(dim=1)
    if data.pad:
        assert torch.equal(made.lengths(together), sizes)
    else:
        assert bool((made.lengths(together) >= sizes).all())


@given(written())
def test_what_decoding_plans_is_where_the_reference_stands(drawn):
    data, operands = drawn
    if not data.pad:
        return
    coordinates, slots, offsets = writer(data).plan(problems(data, operands))
    assert bool((offsets == 1).all())
    for i, row in enumerate(operands):
        response = [token for token in reference.write(data, row) if token.target]
        assert int(slots[i]) == len(response)
        expected = [[-1 if c is None else c for c in token.coordinates] for token in response]
        assert coordinates[:, i, : len(response)].T.tolist() == expected


@given(st.integers(1, 30), st.integers(2, 200))
def test_padded_length_is_that_of_the_largest_sum(length, count):
    assert padded_length(length, count) == len(str(int("9" * length) * count))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_final_answers_of_the_worked_examples(case):
    format = build_format(case.data)
    response = case.text[case.text.index("=") + 1 :]
    assert format.vocab.decode(final_answer(format, format.vocab.encode(response)[None])[0]) == case.final


def final_of_text(data, text: str) -> str:
    """The rule in words: cut at the first end, then take what follows the last separator (parity: the last bit)."""
    text = text.split("$")[0]
    if data.task == "parity":
        return text[-1:]
    if data.scratchpad:
        for separator in {"addition": ">", "multiplication": "=>"}[data.task]:
            text = text.rpartition(separator)[2]
    return text


@given(written(), st.data())
def test_final_answers_of_any_text(drawn, more):
    """A model may write anything: no end, several ends, no separator."""
    data, _ = drawn
    format = build_format(data)
    texts = more.draw(st.lists(st.text(format.vocab.symbols + "$", min_size=1, max_size=12), min_size=1, max_size=5))
    tokens = torch.zeros(len(texts), max(map(len, texts)), dtype=torch.long)
    for i, text in enumerate(texts):
        tokens[i, : len(text)] = format.vocab.encode(text)
    found = final_answer(format, tokens)
    assert [format.vocab.decode(row) for row in found] == [final_of_text(data, text) for text in texts]
    assert not (found == END).any()


@given(written())
def test_problems_survive_the_helpers_that_build_them(drawn):
    data, operands = drawn
    assert strings(data, problems(data, operands)) == operands


@given(st.text("0123456789+>=$", max_size=20))
def test_the_vocabulary_goes_there_and_back(text):
    vocab = Vocab("0123456789+>=")
    assert vocab.decode([*(vocab.encode(text).tolist()), PAD]) == text
    assert [vocab.id(str(d)) for d in range(10)] == list(range(2, 12))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (data_spec("multiplication", pad=False), "data.pad=false: multiplication has no format without padding"),
        (data_spec("parity", pad=False), "data.pad=false: parity has no format without padding"),
        (
            data_spec("addition", position_ids="couple"),
            "data.position_ids=couple: expected coupled, consecutive, cyclic, abacus, randomised or none",
        ),
        (DataSpec(task="parity", length=3, max_position=(4, 4)), "data.max_position=[4, 4]: expected 1 values"),
        (DataSpec(task="pairty", length=3), "data.task=pairty: unknown task; nearest: parity"),
    ],
)
def test_ways_of_writing_that_do_not_exist_are_refused(data, message):
    with pytest.raises(SpecError) as caught:
        ArithmeticData(spec(data), 0)
    assert message in str(caught.value)


def test_text_of_ones_own_has_ids_unless_a_length_must_be_known_before():
    for data, free in [
        (data_spec("addition"), True),
        (data_spec("addition", pad=False), True),
        (data_spec("addition", reverse_response=False), True),
        (data_spec("addition", pad=False, reverse_response=False), False),
        (data_spec("addition", pad=False, reverse_response=False, position_ids="none"), True),
    ]:
        assert can_run_free(build_format(data), data) is free
