"""Abacus, randomised and coupled ids."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import lengen
from lengen import Abacus as AbacusIds
from lengen import ArithmeticData, Consecutive, Coupled, NoPositionIds, Randomised, RandomSpaces, validate
from lengen import Randomised as RandomisedIds
from lengen.digits import OperandError, generator
from lengen.formats.base import FIRST, PAD
from tests.fixtures import written as thesis
from tests.fixtures.decoding import check_decoding, reading_again
from tests.fixtures.models import random_model
from tests.fixtures.refusals import refused
from tests.fixtures.settings import data_spec, fixed_data, problems, spec, two_operands, writer
from tests.lengen.data.test_random_spaces import abacus, texts
from tests.lengen.tasks.test_base import chi_square

FORMATS = {
    "plain": {}, "reversed": {"reverse_query": True, "reverse_response": True}, "padded": {"pad_to": 6},
    "scratchpad": {"scratchpad": True}, "mix": {"subtasks": lengen.SUBTASKS},
    "codes": {"subtasks": ("car", "ali"), "carries": "code", "vocabulary": "printable"},
}  # fmt: skip
IDS = {"abacus": {"position_ids": AbacusIds(40, 7)}, "randomised": {"position_ids": RandomisedIds(150)}}
rows = st.lists(st.tuples(thesis.number(), thesis.number()).map(list), min_size=1, max_size=6)
UNUSED = -1
SIZES = torch.tensor([9])
"""Tokens of sequences, which these schemes do not need."""


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=12)
@given(rows, st.integers(0, 99))
def test_abacus_ids_of_whole_batches(name, split, operands, seed):
    """Testing counts from 1; training moves all digits of an example, of source and response, by one shift."""
    data = two_operands(9, **FORMATS[name], **IDS["abacus"])
    own, drawn = writer(data, split), problems(data.task, operands)
    for stream in (None, generator("s", seed)):
        batch = own.write(drawn, stream)
        sides = [batch] if batch.source is None else [batch.source, batch]
        for row in range(len(operands)):
            shifts = set()
            for side in sides:
                text, ids = texts(own, side.tokens[row : row + 1])[0], side.ids[0, row].tolist()
                expected = abacus(text)
                shifts |= {i - k for i, k in zip(ids, expected, strict=False) if k}
                assert [i > 0 for i in ids] == [k > 0 for k in expected] + [False] * (len(ids) - len(text))
            assert len(shifts) <= 1 and shifts <= (set(range(8)) if stream else {0})


def test_shifts_are_uniform_and_spaces_have_randomised_ids_of_their_own():
    data = two_operands(9, **IDS["abacus"])
    drawn = problems(data.task, [["12345", "1"]]).select(torch.zeros(16_000, dtype=torch.long))
    for room, most in ((40, 7), (12, 7), (9, 4), (5, 0)):  # 5 digits, and the same of the sum
        own = writer(two_operands(9, position_ids=AbacusIds(room, 7)))
        shifts = (own.write(drawn, generator("u")).ids[0].amax(dim=1) - 5).tolist()
        assert set(shifts) == set(range(most + 1))
        assert most == 0 or chi_square([shifts.count(k) for k in range(most + 1)]) < 3
    still = writer(two_operands(9, position_ids=AbacusIds(40)))
    assert int(still.write(drawn, generator("u")).ids.max()) == 5
    data = two_operands(9, spaces=RandomSpaces(ratio=1.0), **IDS["randomised"])
    own = ArithmeticData(spec(data, encoding="sinusoidal"), 0).writer
    batch = own.write(problems(data.task, [["123456789", "987654321"]] * 64), generator("s"))
    sizes = (batch.tokens != PAD).sum(dim=1)
    assert len(set(sizes.tolist())) > 10
    for ids, size in zip(batch.ids[0], sizes, strict=True):
        assert bool((ids[:size].diff() > 0).all())


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_randomised_ids_rise_within_range_and_differ_in_training(name, split):
    data = two_operands(9, **FORMATS[name], **IDS["randomised"])
    own = writer(data, split)
    drawn = problems(data.task, [["12", "34"], ["56", "78"], ["1", "2"], ["99", "99"]] * 8)
    batch = own.write(drawn, generator("s"))
    longest = batch if batch.source is None or batch.tokens.shape[1] >= batch.source.tokens.shape[1] else batch.source
    for row in range(32):
        size = int((longest.tokens[row] != PAD).sum())
        ids = longest.ids[0, row, :size].tolist()
        assert ids == sorted(set(ids)) and ids[0] >= 0 and ids[-1] <= 150
    assert len({tuple(row) for row in batch.ids[0].tolist()}) == 32, "every example has its own"
    if batch.source is not None:
        width = min(batch.tokens.shape[1], batch.source.tokens.shape[1])
        both = torch.minimum((batch.tokens != PAD).sum(dim=1), (batch.source.tokens != PAD).sum(dim=1))[:, None]
        inside = torch.arange(width) < both
        assert torch.equal(batch.ids[0, :, :width][inside], batch.source.ids[0, :, :width][inside])
    one, two = own.write(drawn), own.write(drawn)
    assert torch.equal(one.ids, two.ids) and torch.equal(one.ids, writer(data, split).write(drawn).ids)
    first = own.write(drawn.select(torch.arange(4))).ids[0]
    assert len({tuple(row) for row in first.tolist()}) == 4, "in testing, too, every problem has its own"
    assert torch.equal(one.ids[0, 0], one.ids[0, 4]), "and always the same"
    alone = own.write(drawn.select(torch.tensor([2]))).ids[0, 0]
    assert torch.equal(alone, one.ids[0, 2, : len(alone)]), "whatever else is in the batch"


@pytest.mark.parametrize("training", [True, False])
def test_every_id_is_drawn_equally_often(training):
    scheme, sizes, n = Randomised(19), torch.full((20_000,), 5), 20_000
    offsets = scheme.offsets(torch.zeros(1, n), sizes, *((generator("e"),) if training else (None, torch.arange(n))))
    counts = torch.bincount(offsets.flatten(), minlength=20).tolist()
    assert len(counts) == 20 and chi_square(counts) < 2
    assert bool((offsets.diff(dim=0) > 0).all())
    assert Randomised(4).offsets(torch.zeros(1, 1), torch.tensor([5]), generator("e")).T.tolist() == [[0, 1, 2, 3, 4]]


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("scheme", IDS)
@pytest.mark.parametrize("name", FORMATS)
def test_following_a_true_response_gives_its_ids(name, scheme, split):
    data = two_operands(9, **FORMATS[name], **IDS[scheme])
    own, drawn = writer(data, split), problems(data.task, [["12", "34"], ["99", "1"], ["1", "2"], ["999", "999"]])
    batch = own.write(drawn)
    planned, slots, offsets = own.plan(drawn)
    start, sizes = batch.loss.int().argmax(dim=1), batch.loss.sum(dim=1)
    written = torch.full((len(start), int(slots.max())), PAD)
    for slot in range(int(sizes.max())):
        inside = slot < sizes
        place = start + torch.full_like(start, slot).minimum(sizes - 1)
        written[inside, slot] = batch.tokens.gather(1, place[:, None])[:, 0][inside]
        coordinates = own.follow(planned, written, torch.full_like(start, slot))
        ids = own.scheme.ids(coordinates[:, :, None], offsets, place[:, None])[0, :, 0]
        assert torch.equal(ids[inside], batch.ids[0].gather(1, place[:, None])[:, 0][inside])


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_decoding_counts_digits_as_they_are_written(name):
    """A random model writes anything: numbers that are too long, broken by symbols, or no number."""
    data = two_operands(3, **FORMATS[name], **IDS["abacus"])
    model, made_data = random_model(spec(data, encoding="learned", norm_place="pre", tied=False), 3)
    drawn = problems(data.task, [["12", "34"], ["99", "1"], ["1", "2"], ["999", "999"], ["7", "80"]])
    each = [drawn.select(torch.tensor([row])) for row in range(5)]
    expected = [reading_again(model, made_data, one, lambda text: [[min(k, 40) for k in abacus(text)]]) for one in each]
    check_decoding(model, made_data, drawn, expected)
    assert any(FIRST <= token < FIRST + 10 for row in expected for token in row), "digits are written"


def test_what_the_tables_do_not_hold_is_refused():
    for ids, message in [
        (AbacusIds(4), "need position ids up to 6 in level 1, and the model has 4"),
        (
            RandomisedIds(18),
            "these operands make a sequence of up to 22 tokens, and randomised ids go up to 18 "
            "(data.position_ids.max_position): "
            "shorten them or raise it",
        ),
    ]:
        data = two_operands(9, position_ids=ids)
        own, drawn = writer(data), problems(data.task, [["1234", "5"], ["12345", "99999"]])
        for call in (lambda o=own, d=drawn: o.write(d), lambda o=own, d=drawn: o.write(d, generator("s"))):
            refused(OperandError, message, call)
        fits = problems(data.task, [["1234", "1234"]])
        assert own.write(fits).ids.max() <= ids.max_position
        own.plan(fits)  # and is not refused when it is decoded


def test_digits_come_first_in_every_vocabulary_and_runs_of_them_are_told_apart():
    """What `Abacus` takes for digits."""
    for options in FORMATS.values():
        vocab = two_operands(9, **options).vocab
        assert [vocab.id(str(digit)) for digit in range(10)] == list(range(FIRST, FIRST + 10))
    task = lengen.ListOps(digits=6)
    ids = lengen.DataSpec(task=task, format=lengen.Linear(), position_ids=AbacusIds(40))
    data = lengen.TaskData(spec(ids, encoding="learned"), 0)
    batch = data.writer.write(task.parse(["[MAX", "2", "9", "[MIN", "4", "7", "]", "0", "]"]))
    text = data.vocab.decode(batch.tokens[0]).split()
    assert dict(zip(range(len(text)), batch.ids[0, 0].tolist(), strict=True)) == {
        place: int(symbol.isdigit()) * (2 if text[place - 1].isdigit() else 1) for place, symbol in enumerate(text)
    }
    for task in ("addition", "n_by_one"):
        validate(spec(fixed_data(task, position_ids=AbacusIds(40)), encoding="learned"))
        with pytest.raises(
            lengen.SettingError, match=r"data\.position_ids=abacus: the digits of both operands"
        ) as caught:
            validate(spec(fixed_data(task, aligned=True, position_ids=AbacusIds(40)), encoding="learned"))
        assert "\n" not in str(caught.value)
    validate(spec(fixed_data("addition", aligned=True, position_ids=Coupled((40,))), encoding="learned"))


def test_coupled_offsets_are_uniform_and_ids_are_those_of_the_scheme():
    highest = torch.tensor([[3], [7]]).expand(2, 40_000)
    offsets = Coupled((8, 16)).offsets(highest, SIZES, torch.Generator().manual_seed(0))
    for level, largest in enumerate([8 - 3, 16 - 7]):
        drawn = offsets[level].tolist()
        assert set(drawn) == set(range(1, largest + 1))
        assert chi_square([drawn.count(k) for k in range(1, largest + 1)]) < 2.5
    assert abs(float(torch.corrcoef(offsets.double())[0, 1])) < 0.03, "levels move independently"
    coordinates = torch.tensor([[[UNUSED, 2, 0, 9]]])
    offsets, places = torch.tensor([[3]]), torch.arange(4)[None]
    assert Coupled((7,)).ids(coordinates, offsets, places).tolist() == [[[0, 5, 3, 7]]], "never above the maximum"
    assert Consecutive().ids(coordinates, offsets, places).tolist() == [[[0, 1, 2, 3]]]
    assert NoPositionIds().ids(coordinates, offsets, places).shape == (0, 1, 4)
    assert Consecutive().offsets(torch.zeros(3, 5), SIZES, None).shape == (1, 5)
    assert NoPositionIds().offsets(torch.zeros(3, 5), SIZES, None).shape == (0, 5)


def test_operands_that_need_more_ids_are_refused_and_the_largest_just_fit():
    with pytest.raises(OperandError) as caught:
        writer(data_spec("addition", room=4)).write(problems(data_spec("addition").task, [["1234", "56"]]))
    assert str(caught.value) == (
        "these operands need position ids up to 6 in level 1, and the model has 4 (data.position_ids.max_position): "
        "shorten them or "
        "raise it"
    )
    with pytest.raises(OperandError, match="up to 5 in level 2"):
        writer(data_spec("addition", room=4)).write(problems(data_spec("addition").task, [["1", "2", "3", "4"]]))
    with pytest.raises(OperandError, match="level 1"):
        writer(data_spec("parity", room=5)).write(problems(data_spec("parity").task, [["01010"]]), torch.Generator())
    parity = data_spec("parity", room=101)
    assert int(writer(parity).write(problems(parity.task, [["1" * 100]]), torch.Generator()).ids.max()) == 101
    refused(OperandError, "up to 102", writer(parity).write, problems(parity.task, [["1" * 101]]))
    addition = data_spec("addition", room=40)
    batch = writer(addition).write(problems(addition.task, [["9" * 30] * 30]))
    assert batch.ids.amax(dim=(1, 2)).tolist() == [33, 31]
    assert int(batch.loss.sum()) == 1023, "Section 4.3: a total of 1023 consecutive tokens"
