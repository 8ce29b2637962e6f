"""Index hints: which mark stands before which digit, that answers are read without them, and what is refused."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import lengen
from lengen import TaskData, build_model, generate, validate
from lengen.data.reading import final_answer
from lengen.decoding.decoding import go_on, read
from lengen.digits import OperandError, generator
from lengen.formats.base import PAD
from lengen.formats.linear import index_hints
from tests.fixtures import plain
from tests.fixtures.settings import spec, writer

MARKS = 24
"""Marks of most settings here: more than 26 places would need letters beyond Z."""
LINES = [
    (lengen.Addition(4, 3), {"pad_query": True, "pad_response": True, "reverse_response": True}),
    (lengen.Addition(4, 3), {"reverse_query": True, "reverse_response": True, "scratchpad": True}),
    (lengen.Addition(4, 3), {}),
    (lengen.NByOne(5), {"reverse_response": True}),
    (lengen.Successor(5), {"scratchpad": True, "width": 8}),
    (lengen.Parity(8), {"scratchpad": True}),
    (lengen.Copy(8), {}),
    (lengen.Reverse(8), {}),
]
TYPED = {
    "addition": lambda draw: [str(draw(st.integers(0, 9999))) for _ in range(draw(st.integers(2, 4)))],
    "n_by_one": lambda draw: [str(draw(st.integers(0, 99999))), str(draw(st.integers(0, 9)))],
    "successor": lambda draw: [str(draw(st.integers(0, 99999)))],
    "parity": lambda draw: [draw(st.text("01", min_size=1, max_size=9))],
    "copy": lambda draw: [draw(st.text("0123456789", min_size=1, max_size=9))],
    "reverse": lambda draw: [draw(st.text("0123456789", min_size=1, max_size=9))],
}


def hinted(task: lengen.Task, **options) -> lengen.DataSpec:
    return lengen.DataSpec(
        task=task, format=lengen.Linear(index_hints=MARKS, **options), position_ids=lengen.Consecutive()
    )


def marked(tokens: list[str], rising: bool, first: int = 0) -> list[str]:
    """Marks before every digit of a line, run of digits by run, places counted from its left end or from its right."""
    found = []
    for digits, run in itertools.groupby(tokens, str.isdigit):
        held = list(run)
        for i, token in enumerate(held):
            place = i if rising else len(held) - 1 - i
            found += [chr(ord("A") + first + place), token] if digits else [token]
    return found


@pytest.mark.parametrize(("task", "options"), LINES, ids=lambda value: getattr(value, "kind", ""))
@given(data=st.data())
def test_marks_are_those_of_a_line_without_them_counted_by_hand(task, options, data):
    """Sums, products, carries, prefix parities and strings; also that leading zeros take their marks with them."""
    typed, settings = TYPED[task.kind](data.draw), hinted(task, **options)
    query, response = plain.line(task, settings.format, typed)
    strings = not task.ROWS.numbers
    expected = marked(query, strings or settings.format.reverse_query)
    expected += marked(response, (strings or settings.format.reverse_response) and task.kind != "reverse")
    made = writer(settings)
    batch = made.write(made.task.parse(typed))
    assert [made.vocab.decode([token]) for token in batch.tokens[0]] == expected
    assert int(batch.loss.sum()) == len(marked(response, True)), "marks of a response are trained"


@given(st.integers(0, 2**31), st.sampled_from(LINES))
def test_without_its_marks_a_training_example_is_a_plain_one_and_marks_begin_anywhere(seed, line):
    task, options = line
    made = writer(hinted(task, **options))
    without = writer(lengen.DataSpec(task=task, format=lengen.Linear(**options), position_ids=lengen.Consecutive()))
    problems = made.task.train(16, generator("p", seed))
    tokens = made.write(problems, generator("w", seed)).tokens
    marks = torch.tensor([made.vocab.id(mark) for mark in made.format.index_hints])
    rows = [[int(token) for token in row if token not in marks] for row in tokens]
    plain_rows = without.write(problems).tokens
    assert [made.vocab.decode(row) for row in rows] == [without.vocab.decode(row) for row in plain_rows]
    for row in tokens.tolist():
        used = sorted({token for token in row if token in marks})
        assert used == list(range(used[0], used[-1] + 1)), "consecutive marks"


def test_every_mark_begins_some_example_and_none_is_beyond_the_last():
    made = writer(hinted(lengen.Copy(2)))
    problems = made.task.test(4000, 2, 1, generator("p"))
    firsts = made.write(problems, generator("w")).tokens[:, 1]
    assert sorted(set(firsts.tolist())) == [made.vocab.id(mark) for mark in made.format.index_hints[:-1]]
    assert set(made.write(problems).tokens[:, 1].tolist()) == {made.vocab.id("A")}, "the first one in testing"


@pytest.mark.parametrize("architecture", ["decoder", "encoder_decoder"])
def test_query_and_response_have_the_same_marks_in_training(architecture):
    made = writer(hinted(lengen.Copy(6)), split=architecture == "encoder_decoder")
    batch = made.write(made.task.train(32, generator("p")), generator("w"))
    for i, row in enumerate(batch.tokens):
        query = batch.source.tokens[i] if batch.source else row[~batch.loss[i]]
        text, response = made.vocab.decode(query), made.vocab.decode(row[batch.loss[i]])
        assert text.strip("$=") == response.strip("$")


def test_a_written_answer_is_read_without_marks():
    data = hinted(lengen.Addition(3), reverse_response=True)
    made = writer(data)
    response = made.vocab.encode("A5B0C1$")[None]
    assert made.vocab.decode(final_answer(made.format, made.vocab, response)[0]) == "501"
    wrong = made.vocab.encode("A5A0BB1$")[None]
    assert made.vocab.decode(final_answer(made.format, made.vocab, wrong)[0]) == "501", "whatever the marks say"


def test_a_model_that_writes_by_itself_writes_what_it_would_predict():
    setting = spec(hinted(lengen.Addition(3), reverse_response=True), encoding="rope")
    data, model = TaskData(setting, 0), build_model(setting, 0).double().eval()
    problems = data.test(3, 2, 8)
    reading = read(model, data.writer, problems)
    verified = reading.verified
    written = generate(model, data.writer, problems)
    first = verified.agreed.clamp(max=verified.predicted.shape[1] - 1)[:, None]
    assert torch.equal(written.gather(1, first), verified.predicted.gather(1, first))
    assert torch.equal(go_on(model, data.writer, problems, reading), written)
    assert not (verified.reference == PAD).all()


@pytest.mark.parametrize(("task", "options"), LINES, ids=lambda value: getattr(value, "kind", ""))
def test_tokens_are_counted_with_marks(task, options):
    format = lengen.Linear(index_hints=MARKS, **options).build(task)
    for length in (1, 3, 5):
        count = task.counts[0]
        prompt, response = format.tokens(length, count)
        layout = format.layout(task.shape(length, count))
        shorter = {"addition": count * 2}.get(task.kind, 0) if not options.get("pad_query") else 0
        assert layout.response - shorter <= prompt <= layout.response
        assert len(layout.symbols) - layout.response == response


def test_marks_are_letters_that_no_task_writes():
    marks = index_hints(200)
    assert len(set(marks)) == 200 and all(len(mark) == 1 and mark.isalpha() for mark in marks)
    assert not set(marks) & set("0123456789abcdef+*=%<>⊥↑$, ;c|")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (hinted(lengen.Parity(5)), r"data.format.index_hints=24: the answer of parity .*data.format.scratchpad=true"),
        (hinted(lengen.Counting(longest=5)), r"data.format.index_hints=24: the answer of count .*index_hints=0$"),
        (lengen.DataSpec(task=lengen.Copy(5), format=lengen.Linear(index_hints=9), position_ids=lengen.Coupled((20,))),
         r"data.format.index_hints=9: with data.position_ids=coupled digits of one place already share an id"),
        (lengen.DataSpec(task=lengen.Copy(5), format=lengen.Linear(index_hints=9), position_ids=lengen.Abacus(20)),
         r"data.format.index_hints=9: with data.position_ids=abacus the marks between"),
        (lengen.DataSpec(task=lengen.Sorting(alphabet=240, longest=5), format=lengen.Linear(index_hints=9)),
         r"data.format.index_hints=9: token ids are bytes, .* room for 2 marks"),
        (lengen.DataSpec(task=lengen.Copy(5), format=lengen.Linear(index_hints=40), vocabulary="printable"),
         r"data.vocabulary=printable: copy is written with symbols that are no printable ASCII"),
    ],
    ids=["parity", "count", "coupled", "abacus", "bytes", "printable"],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(data, said):
    with pytest.raises(lengen.SettingError, match=said):
        validate(spec(data, lengen.TrainSpec(steps=1, batch=2, lr=0.1), lengen.TestSpec(lengths=(3,)), encoding="none"))


def test_a_longer_problem_than_there_are_marks_is_refused():
    made = writer(
        lengen.DataSpec(task=lengen.Copy(5), format=lengen.Linear(index_hints=6), position_ids=lengen.Consecutive())
    )
    assert made.write(made.task.parse(["123456"])).tokens.shape[1] == 3 + 24
    with pytest.raises(OperandError, match=r"need 7 index hints, and the format has 6 \(data.format.index_hints\)"):
        made.write(made.task.parse(["1234567"]))


def test_an_encoder_decoder_is_built_for_sequences_with_marks():
    setting = spec(hinted(lengen.Copy(4)), architecture=lengen.EncoderDecoder(), encoding="sinusoidal")
    batch = TaskData(setting, 0).batch(0)
    assert build_model(setting, 0).predict(batch).shape[:2] == (len(batch.tokens), batch.tokens.shape[1] - 1)
