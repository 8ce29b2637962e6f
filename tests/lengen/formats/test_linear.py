"""Problems in one line, with and without index hints, and numbers of one width."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import lengen
from lengen import (
    Aligned,
    ArithmeticData,
    Consecutive,
    Coupled,
    Cyclic,
    DataSpec,
    Linear,
    Multiplication,
    NoPositionIds,
    Parity,
    SettingError,
    TaskData,
    build_model,
    validate,
)
from lengen.data.reading_responses import can_run_free, final_answer
from lengen.decoding.decoding import go_on, read
from lengen.digits import OperandError, generator
from lengen.formats.base import END, PAD
from lengen.formats.linear import index_hints
from lengen.solve import encode
from tests.cases import CASES
from tests.fixtures import plain
from tests.fixtures import written as reference
from tests.fixtures.refusals import refused
from tests.fixtures.settings import case_spec, data_spec, fixed_data, problems, spec, writer, written
from tests.lengen.data.test_writer import typed

ONE_LEVEL = Coupled((9,))
MARKS = 24
"""Marks of most settings here: more than 26 places would need letters beyond Z."""
LINES = [
    (lengen.Addition(4, 3), {"pad_query": True, "pad_response": True, "reverse_response": True}),
    (lengen.Addition(4, 3), {"reverse_query": True, "reverse_response": True, "scratchpad": True}),
    (lengen.Addition(4, 3), {}), (lengen.NByOne(5), {"reverse_response": True}),
    (lengen.Successor(5), {"scratchpad": True, "width": 8}), (lengen.Parity(8), {"scratchpad": True}),
    (lengen.Copy(8), {}), (lengen.Reverse(8), {}),
]  # fmt: skip


def padded(data: DataSpec) -> bool:
    return data.task.kind != "addition" or data.format.pad_response


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_worked_examples(case):
    """Task, format, ids, mask and final answer of every row of the table, also as ``encode`` shows them."""
    made, operands = writer(case.data), list(case.operands)
    shown = {"tokens": case.tokens, "position_ids": case.rows, "loss": case.loss}
    assert encode(case_spec(case), operands) == shown
    assert made.task.text(made.task.parse(operands)) == [case.answer]
    batch = made.write(made.task.parse(operands))
    assert made.vocab.decode(batch.tokens[0]) == case.text
    assert [made.vocab.decode([token]) or "PAD" for token in batch.tokens[0]] == case.tokens
    assert batch.ids[:, 0].tolist() == case.rows
    assert batch.loss[0].int().tolist() == case.loss
    response = torch.tensor([made.vocab.id(token) for token in case.written])
    assert made.vocab.decode(final_answer(made.format, made.vocab, response[None])[0]) == case.final
    assert batch.tokens.dtype == batch.ids.dtype == torch.int64 and batch.loss.dtype == torch.bool


def check_rows(data, batch, expected, offsets_of):
    for i, tokens in enumerate(expected):
        size, vocab = len(tokens), data.vocab
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
    format, vocab = data.format.build(data.task), data.vocab
    texts = more.draw(st.lists(st.text("".join(vocab.symbols) + "$", min_size=1, max_size=12), min_size=1, max_size=5))
    tokens = torch.zeros(len(texts), max(map(len, texts)), dtype=torch.long)
    for i, text in enumerate(texts):
        tokens[i, : len(text)] = vocab.encode(text)
    found = final_answer(format, vocab, tokens)
    assert [vocab.decode(row) for row in found] == [final_of_text(data, text) for text in texts]
    assert not (found == END).any()


@pytest.mark.parametrize(
    ("task", "format", "ids", "message"),
    [
        (Parity(3), Linear(), Coupled((4, 4, 4)), "data.position_ids.max_position=[4, 4, 4]: expected 1 to 2 values"),
        (Parity(3), Linear(), Coupled(()), "data.position_ids.max_position=[]: expected 1 to 2 values"),
        (Parity(3), Linear(pad_to=5), ONE_LEVEL, "data.format.pad_to=5: the digits of parity are no numbers"),
        *((lengen.Copy(3), Linear(**{name: value}), ONE_LEVEL, f"{name}={str(value).lower()}: the digits of copy ")
          for name, value in (("width", 9), ("reverse_response", True), ("pad_query", True))),
        (lengen.Reverse(3), Linear(scratchpad=True), ONE_LEVEL, "reverse has no intermediate results to write"),
        (Parity(3), lengen.Subtasks(), ONE_LEVEL,
         "data.format=subtasks: it writes sums of exactly two numbers, and parity"),
        (Multiplication(3, 3), Linear(width=5, pad_to=5), ONE_LEVEL,
         "data.format.pad_to=5: data.format.width=5 already"),
        (Multiplication(3, 3), Linear(scratchpad=True, end=False), ONE_LEVEL,
         "data.format.end=false: numbers of multiplication end where the model ends them"),
        (Parity(3), Linear(begin=False, end=False, separator="$"), ONE_LEVEL, "data.format.separator=$: with neither"),
    ],
)  # fmt: skip
def test_ways_of_writing_that_do_not_exist_are_refused(task, format, ids, message):
    refused(SettingError, message, validate, spec(DataSpec(task=task, format=format, position_ids=ids)))


def test_text_of_ones_own_has_ids_unless_a_length_must_be_known_before():
    for data, free in [
        (data_spec("addition"), True),
        (data_spec("addition", pad=False), True),
        (data_spec("addition", reverse_response=False), True),
        (data_spec("addition", pad=False, reverse_response=False), False),
        (data_spec("addition", pad=False, reverse_response=False, position_ids="none"), True),
    ]:
        assert can_run_free(data) is free


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
    operands, settings = data.draw(typed(task, 5)), hinted(task, **options)
    query, response = plain.line(task, settings.format, operands)
    strings = not task.ROWS.numbers
    expected = marked(query, strings or settings.format.reverse_query)
    expected += marked(response, (strings or settings.format.reverse_response) and task.kind != "reverse")
    made = writer(settings)
    batch = made.write(made.task.parse(operands))
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


def test_marks_are_letters_that_no_task_writes_and_every_one_begins_some_example():
    made = writer(hinted(lengen.Copy(2)))
    problems = made.task.test(4000, 2, 1, generator("p"))
    firsts = made.write(problems, generator("w")).tokens[:, 1]
    assert sorted(set(firsts.tolist())) == [made.vocab.id(mark) for mark in made.format.index_hints[:-1]]
    assert set(made.write(problems).tokens[:, 1].tolist()) == {made.vocab.id("A")}, "the first one in testing"
    marks = index_hints(200)
    assert len(set(marks)) == 200 and all(len(mark) == 1 and mark.isalpha() for mark in marks)
    assert not set(marks) & set("0123456789abcdef+*=%<>⊥↑$, ;c|")
    made = writer(
        lengen.DataSpec(task=lengen.Copy(5), format=lengen.Linear(index_hints=6), position_ids=lengen.Consecutive())
    )
    assert made.write(made.task.parse(["123456"])).tokens.shape[1] == 3 + 24
    with pytest.raises(OperandError, match=r"need 7 index hints, and the format has 6 \(data.format.index_hints\)"):
        made.write(made.task.parse(["1234567"]))


@pytest.mark.parametrize("architecture", ["decoder", "encoder_decoder"])
def test_query_and_response_have_the_same_marks_in_training(architecture):
    made = writer(hinted(lengen.Copy(6)), split=architecture == "encoder_decoder")
    batch = made.write(made.task.train(32, generator("p")), generator("w"))
    for i, row in enumerate(batch.tokens):
        query = batch.source.tokens[i] if batch.source else row[~batch.loss[i]]
        text, response = made.vocab.decode(query), made.vocab.decode(row[batch.loss[i]])
        assert text.strip("$=") == response.strip("$")


def test_answers_with_marks_are_read_without_and_an_encoder_decoder_is_built_for_them():
    data = hinted(lengen.Addition(3), reverse_response=True)
    made = writer(data)
    response = made.vocab.encode("A5B0C1$")[None]
    assert made.vocab.decode(final_answer(made.format, made.vocab, response)[0]) == "501"
    wrong = made.vocab.encode("A5A0BB1$")[None]
    assert made.vocab.decode(final_answer(made.format, made.vocab, wrong)[0]) == "501", "whatever the marks say"
    setting = spec(hinted(lengen.Copy(4)), architecture=lengen.EncoderDecoder(), encoding="sinusoidal")
    batch = TaskData(setting, 0).batch(0)
    assert build_model(setting, 0).predict(batch).shape[:2] == (len(batch.tokens), batch.tokens.shape[1] - 1)
    setting = spec(hinted(lengen.Addition(3), reverse_response=True), encoding="rope")
    data, model = TaskData(setting, 0), build_model(setting, 0).double().eval()
    problems = data.test(3, 2, 8)
    reading = read(model, data.writer, problems)
    verified = reading.verified
    written = lengen.generate(model, data.writer, problems)
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


@pytest.mark.parametrize(("data", "said"), [
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
], ids=["parity", "count", "coupled", "abacus", "bytes", "printable"])  # fmt: skip
def test_what_makes_no_sense_is_refused(data, said):
    with pytest.raises(lengen.SettingError, match=said):
        validate(spec(data, lengen.TrainSpec(steps=1, batch=2, lr=0.1), lengen.TestSpec(lengths=(3,)), encoding="none"))


def test_ids_by_scheme_share_one_training_offset_with_room_for_the_higher_side():
    """Consecutive and cyclic ids count from the beginning of each side; the source begins and ends with ``$``."""
    base = {"task": "addition", "width": 3}
    problem = fixed_data(**base).task.parse(["12", "99"])
    whole, source, target = "$012+099$111$", "$012+099$", "$111$"

    def ids(**options):
        apart = writer(fixed_data(**base, **options), split=True).write(problem)
        together = writer(fixed_data(**base, **options)).write(problem)
        return together.ids[:, 0].tolist(), apart.source.ids[:, 0].tolist(), apart.ids[:, 0].tolist()

    sizes = [len(text) for text in (whole, source, target)]
    assert ids() == tuple([list(range(size))] for size in sizes)
    assert ids(position_ids=Cyclic(3)) == tuple([[place % 3 for place in range(size)]] for size in sizes)
    assert ids(position_ids=NoPositionIds()) == ([], [], [])
    coupled = ids(position_ids=Coupled((9,)))
    assert coupled[0] == [[0, 4, 3, 2, 1, 4, 3, 2, 0, 2, 3, 4, 0]], "offset 1: the digit of significance k has k + 1"
    assert coupled[1:] == ([[0, 4, 3, 2, 1, 4, 3, 2, 0]], [[0, 2, 3, 4, 0]])
    data = fixed_data("addition", position_ids=Coupled((30,)))
    drawn = data.task.train(200, torch.Generator().manual_seed(0))
    batch = writer(data, split=True).write(drawn, torch.Generator().manual_seed(1))
    offsets = batch.source.ids[0, :, 5]  # the operator has coordinate 0
    assert torch.equal(batch.ids[0, :, 1], offsets + 1) and torch.equal(batch.source.ids[0, :, 4], offsets + 1)
    assert set(offsets.tolist()) == set(range(1, 27)), "1 to 30 - 4"
    with pytest.raises(OperandError, match="need position ids up to 5 in level 1, and the model has 4"):
        writer(fixed_data("addition", position_ids=Coupled((4,))), split=True).write(drawn)
    data = data_spec("parity", room=3, scratchpad=False)
    drawn = Parity(5).train(200, torch.Generator().manual_seed(0))
    batch = writer(data, split=True).write(drawn, torch.Generator().manual_seed(1))
    assert set(batch.ids[0, :, 1].tolist()) == {1, 2} and int(batch.source.ids.max()) == 3


@pytest.mark.parametrize(("task", "aligned", "rows"), [
    ("addition", True, ["$+00172438$", "01554433220"]), ("n_by_one", True, ["$*06162636$", "01554433220"]),
    ("n_by_one", False, ["$0123*6$", "05432120"]), ("listops_max", False, ["$>2935$", "0154320"]),
])  # fmt: skip
def test_coupled_ids_are_significance_also_where_operands_are_aligned(task, aligned, rows):
    """N x 1 aligned repeats its one digit beside digits of every significance."""
    data = fixed_data(task, aligned=aligned, position_ids=Coupled((9,)))
    operands = {"addition": ["0123", "0748"], "n_by_one": ["0123", "6"], "listops_max": ["2935"]}[task]
    batch = writer(data, split=True).write(data.task.parse(operands))
    assert data.vocab.decode(batch.source.tokens[0]) == rows[0]
    assert batch.source.ids[0, 0].tolist() == [int(c) for c in rows[1]]


@given(written(), st.one_of(st.none(), st.integers(0, 99)))
def test_every_format_can_be_written_apart(drawn, seed):
    """Source and target join to what is written together: tokens, coupled ids and training targets."""
    data, operands = drawn
    streams = [None if seed is None else torch.Generator().manual_seed(seed) for _ in range(2)]
    together = writer(data).write(problems(data.task, operands), streams[0])
    apart = writer(data, split=True).write(problems(data.task, operands), streams[1])
    for i in range(len(operands)):
        whole, mask = together.tokens[i], together.tokens[i] != PAD
        read, answered = apart.source.tokens[i] != PAD, apart.tokens[i] != PAD
        assert apart.tokens[i, 0] == whole[0] and not apart.ids[:, i, 0].any() and not apart.loss[i, 0]
        joined = torch.cat([apart.source.tokens[i, read], apart.tokens[i, answered][1:]])
        assert torch.equal(joined, whole[mask])
        ids = torch.cat([apart.source.ids[:, i, read], apart.ids[:, i, answered][:, 1:]], dim=1)
        assert torch.equal(ids, together.ids[:, i, mask])
        assert int(apart.loss[i].sum()) == int(answered.sum()) - 1 == int(together.loss[i].sum())
        assert torch.equal(apart.loss[i, answered][1:], together.loss[i, mask][int(read.sum()) :])
        assert not apart.loss[i, ~answered].any()
    asked, one, two = problems(data.task, operands), writer(data), writer(data, split=True)
    assert all(torch.equal(a, b) for a, b in zip(one.plan(asked), two.plan(asked), strict=True))
    assert torch.equal(one.lengths(asked) + 1, two.lengths(asked))


def test_encoding_shows_both_sides_of_two_operands_of_one_width_and_vocabulary():
    """The contract of ``encode``: the same three keys under source and target."""
    apart = spec(fixed_data("addition"), encoding="sinusoidal", architecture="encoder_decoder")
    assert encode(apart, ["123", "748"]) == {
        "source": {"tokens": list("$0123+0748$"), "position_ids": [list(range(11))], "loss": [0] * 11},
        "target": {"tokens": list("$1780$"), "position_ids": [list(range(6))], "loss": [0, 1, 1, 1, 1, 1]},
    }
    together = encode(spec(fixed_data("addition", position_ids=NoPositionIds()), encoding="none"), ["123", "748"])
    assert together == {"tokens": list("$0123+0748$1780$"), "position_ids": [], "loss": [0] * 11 + [1] * 5}
    refused(OperandError, "an operand has 5 digits", encode, apart, ["12345", "1"])
    for task in (lengen.TwoOperandAddition((1, 2)), fixed_data("successor").task):
        with pytest.raises(
            lengen.SettingError, match=r"data\.format=aligned: the digits of two operands stand side by side"
        ) as caught:
            data = DataSpec(task=task, format=Aligned(width=4), position_ids=Consecutive())
            lengen.validate(spec(data, encoding="sinusoidal"))
        assert "\n" not in str(caught.value)
    assert isinstance(fixed_data("addition").format, Linear)
    made = fixed_data("addition", 7, base=12)
    assert "".join(made.vocab.symbols) == "0123456789ab+" and made.format.build(made.task).width == 7
    data = ArithmeticData(spec(fixed_data("addition"), encoding="sinusoidal", architecture="encoder_decoder"), 0)
    batch = data.batch(0)
    assert batch.source.tokens.shape == (8, 11) and batch.tokens.shape == (8, 6)
    assert data.validation().to(torch.device("cpu")).source.tokens.shape == (256, 11)
