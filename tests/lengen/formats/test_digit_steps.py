"""Formats of "Length Generalization on Multi-Digit Integer Addition with Transformers": what is printed there, and
whole batches against literal strings."""

import string

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import lengen
from lengen import replace, validate
from lengen.data.reading_responses import final_answer
from lengen.digits import Problems
from lengen.formats.base import END, FIRST, PAD, PRINTABLE
from tests.fixtures import written as thesis
from tests.fixtures.refusals import refused
from tests.fixtures.settings import data_spec, fixed_data, problems, spec, two_operands, writer

SCRATCHPAD, CODE = {"scratchpad": True}, {"subtasks": ("car",), "carries": "code"}
MIX = {"subtasks": lengen.SUBTASKS}
STEPS = "$123+456=3 2 1 + 6 5 4;c=0,3+6+0=9,c=0;2+5+0=7,c=0;1+4+0=5,c=0|579$"
PRINTED = [
    ("Table 4.1, plain", {}, "123 456", "$123+456=579$"),
    ("Table 4.1, zero padding (to length 5)", {"pad_to": 5}, "123 456", "$00123+00456=00579$"),
    ("Table 4.1, reversed operands", {"reverse_query": True}, "123 456", "$321+654=579$"),
    ("Table 4.1, reversed answer", {"reverse_response": True}, "123 456", "$123+456=975$"),
    ("Table 4.1, both reversed", {"reverse_query": True, "reverse_response": True}, "123 456", "$321+654=975$"),
    # The printed row shows the steps of 567 + 7890, with spaces after commas and without the bar.
    ("Table 4.1, scratchpad, mended", SCRATCHPAD, "567 789",
     "$567+789=7 6 5 + 9 8 7;c=0,7+9+0=6,c=1;6+8+1=5,c=1;5+7+1=3,c=1|1356$"),
    ("Section 4.2.1, the four printed steps", SCRATCHPAD, "567 7890",
     "$567+7890=7 6 5 + 0 9 8 7;c=0,7+0+0=7,c=0;6+9+0=5,c=1;5+8+1=4,c=1;0+7+1=8,c=0|8457$"),
    ("by its rule", SCRATCHPAD, "123 456", STEPS),
    ("by its rule", {**SCRATCHPAD, "reverse_response": True}, "123 456", STEPS.replace("579", "975")),
    ("Table 4.1, sub-task prefix", {"subtasks": ("rev",)}, "123 456", "rev$123+456=321+654$"),
    *(("Section 4.2.2", {"subtasks": (name,)}, "1234 4567", f"{name}$1234+4567={response}$") for name, response in (
        ("ali", "1+4,2+5,3+6,4+7"), ("rev", "4321+7654"), ("car", "---c"), ("mad", "5791"), ("add", "5801"),
    )),
    *(("author's code", CODE, operands, f"car${operands.replace(' ', '+')}={response}$") for operands, response in (
        ("1234 4567", "---c-"), ("95 5", "c-"), ("7 95", "c-"), ("999 1", "ccc-"), ("123 99", "cc-"),
    )),
    ("author's code", {**SCRATCHPAD, "pad_operands": True}, "95 5", "$95+5=5 9 + 5 0;c=0,5+5+0=0,c=1;9+0+1=0,c=1|100$"),
    ("author's code", {**SCRATCHPAD, "pad_operands": True}, "567 7890",
     "$567+7890=7 6 5 0 + 0 9 8 7;c=0,7+0+0=7,c=0;6+9+0=5,c=1;5+8+1=4,c=1;0+7+1=8,c=0|8457$"),
    ("carries of the sum", {**CODE, "carries": "true"}, "1234 4567", "car$1234+4567=--cc$"),
    ("carries of the sum", {**CODE, "carries": "true"}, "95 5", "car$95+5=cc$"),
    ("by hand", {"pad_to": 3}, "45 7890", "$045+7890=7935$"),
    ("by hand", {"pad": True, "pad_to": 3}, "45 7890", "$00045+07890=07935$"),
    ("by hand", {"subtasks": ("ali",)}, "45 7890", "ali$45+7890=0+7,0+8,4+9,5+0$"),
    ("by hand", {"subtasks": ("mad",)}, "5000 5000", "mad$5000+5000=0000$"),
    ("by hand", {"subtasks": ("rev",)}, "10 200", "rev$10+200=01+002$"),
]  # fmt: skip
rows = st.lists(st.tuples(thesis.number(), thesis.number()).map(list), min_size=1, max_size=8)


def data(**options) -> lengen.DataSpec:
    return two_operands(*range(1, 8), **options)


def batch_of(given: lengen.DataSpec, rows: list[list[str]], kinds: list[int] | None = None):
    own, made = writer(given), problems(given.task, rows)
    batch = own.write(Problems(made.operands, made.lengths, None if kinds is None else torch.tensor(kinds)))
    return batch, [own.vocab.decode(row) for row in batch.tokens]


@pytest.mark.parametrize("vocabulary", ["task", "printable"])
@pytest.mark.parametrize(("place", "options", "operands", "text"), PRINTED)
def test_what_is_printed(place, options, operands, text, vocabulary):
    made = data(**options, vocabulary=vocabulary)
    batch, (written,) = batch_of(made, [operands.split()])
    assert written == text, place
    query = text.index("=") + 1
    assert batch.loss[0].tolist() == [False] * query + [True] * (len(text) - query)
    vocab = made.vocab
    assert len(vocab) == 100 or vocabulary == "task"
    answer = final_answer(made.format.build(made.task), vocab, vocab.encode(text[query:])[None])[0]
    assert (
        vocab.decode(answer) == text[query:-1].rpartition("|" if isinstance(made.format, lengen.DigitSteps) else "=")[2]
    )


def check_batch(given: lengen.DataSpec, operands: list[list[str]], expected: list[str], kinds: list[int] | None = None):
    batch, texts = batch_of(given, operands, kinds)
    assert texts == expected
    assert batch.tokens.shape[1] == max(map(len, expected))
    for tokens, loss, text in zip(batch.tokens, batch.loss, expected, strict=True):
        assert tokens[len(text) :].eq(PAD).all(), "padding stands on the right only"
        assert int(loss.sum()) == len(text) - text.index("=") - 1 and bool(loss[text.index("=") + 1])


@given(rows, st.sampled_from(["task", "printable"]))
def test_batches_of_scratchpads(operands, vocabulary):
    expected = [f"${a}+{b}={thesis.steps(a, b)}" for a, b in operands]
    check_batch(data(**SCRATCHPAD, vocabulary=vocabulary), operands, expected)


@given(
    st.lists(st.tuples(thesis.number(), thesis.number(), st.integers(0, 4)), min_size=1, max_size=8),
    st.permutations(lengen.SUBTASKS),
    st.sampled_from(list(thesis.CARRIES)),
    st.sampled_from(["task", "printable"]),
)
def test_batches_of_mixed_subtasks(drawn, names, carries, vocabulary):
    operands, kinds = [[a, b] for a, b, _ in drawn], [kind for *_, kind in drawn]
    made = data(subtasks=tuple(names), carries=carries, vocabulary=vocabulary)
    expected = [thesis.subtask(names[kind], a, b, carries) for a, b, kind in drawn]
    check_batch(made, operands, expected, kinds)
    check_batch(made, operands, [thesis.subtask(names[0], a, b, carries) for a, b in operands])


@given(rows, st.sampled_from([{}, SCRATCHPAD, *({"subtasks": (name,)} for name in lengen.SUBTASKS)]))
def test_decoding_plans_room_for_the_longest_response_from_the_operands_alone(operands, options):
    made, drawn = writer(data(**options)), problems(data().task, operands)
    _, slots, _ = made.plan(drawn)
    responses = made.write(drawn).loss.sum(dim=1)
    assert bool((slots >= responses).all()) and bool((slots <= responses + 1).all())
    nines = drawn._replace(operands=9 * (torch.arange(drawn.operands.shape[2]) < drawn.lengths[:, :, None]))
    assert torch.equal(made.plan(nines)[1], slots)


def test_the_printable_vocabulary_has_100_ids_and_digits_first():
    assert len(PRINTABLE) == 100 and [PRINTABLE.id(str(d)) for d in range(10)] == list(range(FIRST, FIRST + 10))
    characters = [PRINTABLE.decode([i]) for i in range(1, 100)]
    assert set(characters) == set(string.printable) - {"\f"}, "the form feed is the padding"
    assert [PRINTABLE.id(character) for character in characters] == list(range(1, 100))
    assert PRINTABLE.id("$") == END and PRINTABLE.decode([PAD]) == ""


@pytest.mark.parametrize("made",
    [data(), data(**SCRATCHPAD), data(**MIX), data_spec("parity"), fixed_data("n_by_one", base=16)])  # fmt: skip
def test_every_format_takes_spaces_and_the_printable_vocabulary(made):
    own = "".join(made.vocab.symbols)
    spaced = "".join(replace(made, spaces=lengen.RandomSpaces(ratio=0.5)).vocab.symbols)
    assert spaced == (own if " " in own else own + " ") and spaced.count(" ") == 1
    assert replace(made, vocabulary="printable").vocab is PRINTABLE
    assert set(spaced) <= set(PRINTABLE.symbols)
    digits = "".join(made.task.symbols)
    assert all(PRINTABLE.id(d) == made.vocab.id(d) for d in digits)


@pytest.mark.parametrize(("made", "message"), [
    (data(vocabulary="printabel"), 'data.vocabulary="printabel": expected one of task, printable'),
    (data(subtasks=("add", "rve")), "data.format.names=['add', 'rve']: unknown sub-task rve; nearest: rev"),
    (data(**MIX, carries="pair"), 'data.format.carries="pair": expected one of pairs, code, true'),
    (replace(data(), format=lengen.Subtasks(names=())), "data.format.names=[]: expected at least one sub-task"),
    (data(**SCRATCHPAD, position_ids=lengen.Coupled((9,))),
     "data.position_ids=coupled: the digits of data.format=digit_steps have no coordinates"),
    (data(**MIX, position_ids=lengen.Coupled((9,))),
     "data.position_ids=coupled: the digits of data.format=subtasks have no coordinates"),
    (replace(data_spec("addition", position_ids="consecutive"), format=lengen.Subtasks()),
     "data.format=subtasks: it writes sums of exactly two numbers, and addition is another task"),
    (replace(data_spec("parity", position_ids="consecutive"), format=lengen.DigitSteps()),
     "data.format=digit_steps: it writes sums of exactly two numbers, and parity is another task"),
])  # fmt: skip
def test_ways_of_writing_that_do_not_exist_are_refused(made, message):
    refused(lengen.SettingError, message, validate, spec(made, encoding="sinusoidal"))
