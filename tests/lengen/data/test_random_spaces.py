"""Random spaces against the loop that inserts them one after another, and everything that moves with them."""

import collections
import math
from fractions import Fraction

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from lengen import SUBTASKS, Abacus, ArithmeticData, Coupled, DataSpec, RandomSpaces, TrainSpec, TwoOperandAddition
from lengen.data.batch_and_random_spaces import Spaces, spread
from lengen.data.batch_writer import Writer
from lengen.digits import Problems, generator
from lengen.formats.base import PAD
from tests.fixtures import settings as helpers
from tests.fixtures.settings import data_spec, problems, spec, two_operands
from tests.lengen.tasks.test_base import chi_square

FRESH, KEPT = Spaces(0.5, 7, True, 0), Spaces(0.5, 7, False, 0)
HALF, WHOLE = RandomSpaces(ratio=0.5), RandomSpaces(ratio=1.0)
MIX = {"subtasks": SUBTASKS}
WRITTEN: dict[str, DataSpec] = {
    "plain": two_operands(9, spaces=HALF),
    "reversed": two_operands(9, spaces=HALF, reverse_query=True, reverse_response=True),
    "padded": two_operands(9, spaces=HALF, pad_to=13), "scratchpad": two_operands(9, spaces=HALF, scratchpad=True),
    "printable": two_operands(9, spaces=HALF, vocabulary="printable"), "mix": two_operands(9, spaces=HALF, **MIX),
    "mix, many": two_operands(9, spaces=WHOLE, **MIX),
    "abacus": two_operands(9, spaces=HALF, position_ids=Abacus(60, 30)),
    "coupled": two_operands(9, spaces=HALF, position_ids=Coupled((40,)), reverse_response=True),
    "addition": data_spec("addition", 4, 3, room=40, spaces=HALF),
}  # fmt: skip


def inserted(size: int, spaces: int) -> dict[tuple[bool, ...], Fraction]:
    """Chances of every arrangement when spaces enter a text of ``size`` tokens one after another, at any place of what
    is there by then: the author's loop, followed along all its ways."""
    chances = {(False,) * size: Fraction(1)}
    for _ in range(spaces):
        after: dict[tuple[bool, ...], Fraction] = collections.defaultdict(Fraction)
        for text, chance in chances.items():
            for place in range(len(text) + 1):
                after[(*text[:place], True, *text[place:])] += chance / (len(text) + 1)
        chances = after
    return chances


def different(n: int) -> Problems:
    numbers = torch.arange(n)
    operands = torch.stack([numbers // 10**k % 10 for k in range(6)], dim=1).view(n, 2, 3)
    return Problems(operands, torch.full((n, 2), 3))


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("rule", [FRESH, KEPT], ids=["fresh", "kept"])
def test_arrangements_have_the_chances_of_inserting_one_by_one(size, rule):
    n = 20_000
    drawn = rule._replace(ratio=1.0).arrange(different(n), torch.full((n,), size), generator("a"))
    counts = drawn.sum(dim=1)
    assert chi_square([int((counts == k).sum()) for k in range(size + 1)]) < 4, "the number is uniform from 0"
    for spaces in range(1, size + 1):
        chances = inserted(size, spaces)
        assert set(chances.values()) == {Fraction(1, math.comb(size + spaces, spaces))}, "all are equally likely"
        found = collections.Counter(tuple(row[: size + spaces]) for row in drawn[counts == spaces].tolist())
        assert set(found) == set(chances) and not drawn[counts == spaces, size + spaces :].any()
        assert chi_square([found[row] for row in chances]) < 5


@pytest.mark.parametrize("rule", [FRESH, KEPT], ids=["fresh", "kept"])
def test_queries_of_many_lengths_at_once(rule):
    """Each has its own number of places and of spaces, whatever the others are."""
    n = 24_000
    lengths = torch.tensor([3, 7, 19]).repeat(n // 3)
    drawn = rule.arrange(different(n), lengths, generator("b"))
    for length in (3, 7, 19):
        rows = drawn[lengths == length]
        counts = rows.sum(dim=1).tolist()
        most = (length + 1) // 2
        assert set(counts) == set(range(most + 1)) and chi_square([counts.count(k) for k in range(most + 1)]) < 3.5
        most_places = rows[torch.tensor(counts) == most].sum(dim=0)
        assert not most_places[length + most :].any()
        assert chi_square(most_places[: length + most].tolist()) < 2.5, "every place alike, both ends included"


@given(st.integers(1, 100), st.integers(1, 60))
@example(53, 100)  # 53.0 in double, 52.999... in single precision
def test_the_largest_number_is_the_ratio_times_the_length_rounded_down(hundredths, length):
    ratio = hundredths / 100
    drawn = Spaces(ratio, 7, True, 0).arrange(different(600), torch.full((600,), length), generator("c"))
    most = int(ratio * (length + 1))
    assert int(drawn.sum(dim=1).max()) == most
    assert int(drawn.sum(dim=1).max()) <= most


def writer(data: DataSpec, split: bool = False, fresh: bool = True, seed: int = 0) -> Writer:
    return helpers.writer(data, split, Spaces(data.spaces.ratio, data.vocab.id(" "), fresh, seed))


def drawn(data: DataSpec, n: int = 300) -> Problems:
    part = TwoOperandAddition((1, 2, 5, 9)) if isinstance(data.task, TwoOperandAddition) else data.task
    return part.with_subtasks(data.format.build(part).kinds).train(n, generator("p"))


def texts(made: Writer, tokens: torch.Tensor) -> list[str]:
    return [made.vocab.decode(row) for row in tokens]


def abacus(text: str) -> list[int]:
    found: list[int] = []
    for character in text:
        found.append((found[-1] if found else 0) + 1 if character.isdigit() else 0)
    return found


@pytest.mark.parametrize("name", WRITTEN)
def test_spaces_stand_among_the_operands_and_nothing_else_changes(name):
    data = WRITTEN[name]
    made, given_ = writer(data), drawn(data)
    plain, spaced = made.write(given_), made.write(given_, generator("s"))
    some = 0
    pairs = zip(texts(made, plain.tokens), texts(made, spaced.tokens), strict=True)
    for row, (text, found) in enumerate(pairs):
        query, _, response = text.partition("=")
        opening = query.index("$") + 1
        place, size = found.index("="), query.index("$") + 1
        assert found[:opening] == text[:opening] and found[place + 1 :] == response
        assert found[:place].replace(" ", "") == query and " " not in query
        assert place - len(query) <= int(data.spaces.ratio * (len(query) - size + 1))
        some += place > len(query)
        target = [False] * (place + 1) + [True] * len(response)
        assert spaced.loss[row].tolist() == target + [False] * (spaced.tokens.shape[1] - len(found))
        assert bool((spaced.tokens[row, len(found) :] == PAD).all())
        kept = torch.tensor([not (c == " " and i < place) for i, c in enumerate(found)])
        ids, own = (
            spaced.ids[:, row if spaced.ids.shape[1] > 1 else 0],
            plain.ids[:, row if plain.ids.shape[1] > 1 else 0],
        )
        if data.position_ids.kind == "consecutive":
            assert ids[0, : len(found)].tolist() == list(range(len(found)))
        elif data.position_ids.kind == "abacus":
            shift = int(ids.max()) - max(abacus(found))
            assert 0 <= shift <= 30
            assert ids[0, : len(found)].tolist() == [k and k + shift for k in abacus(found)]
        else:
            assert not ids[:, : len(found)][:, ~kept].any(), "a space has no coordinate"
            for level, before in zip(ids[:, : len(found)][:, kept], own[:, : len(text)], strict=True):
                moved = (level - before)[before > 0]
                assert bool((moved == moved[0]).all()) and not level[before == 0].any()
        assert not ids[:, len(found) :].any() or data.position_ids.kind == "consecutive"
    assert 0.5 < some / len(given_.lengths) < 0.97


@pytest.mark.parametrize("name", ["plain", "mix", "abacus", "coupled"])
def test_beside_an_encoder_spaces_are_in_the_source(name):
    data = WRITTEN[name]
    made, whole, given_ = writer(data, split=True), writer(data), drawn(data)
    plain, spaced = made.write(given_), made.write(given_, generator("s"))
    expected = texts(whole, whole.write(given_).tokens)
    sources = texts(made, spaced.source.tokens)
    assert torch.equal(spaced.tokens, plain.tokens) and torch.equal(spaced.loss, plain.loss)
    assert any(" " in source for source in sources)
    for text, source, target in zip(expected, sources, texts(made, spaced.tokens), strict=True):
        query, _, response = text.partition("=")
        opening = query.index("$") + 1
        assert source.replace(" ", "") == f"{query}=" and source.endswith("=") and target == f"${response}"
        assert source[:opening] == query[:opening]
        assert len(source) - 1 - len(query) <= int(0.5 * (len(query) - opening + 1))
    assert spaced.source.ids.shape[2] == spaced.source.tokens.shape[1]
    if name == "abacus":
        shifts = [
            int(spaced.ids[0, row].max()) - max(abacus(text)) for row, text in enumerate(texts(made, spaced.tokens))
        ]
        for row, (source, shift) in enumerate(zip(sources, shifts, strict=True)):
            assert spaced.source.ids[0, row, : len(source)].tolist() == [k and k + shift for k in abacus(source)]


def test_the_row_of_table_4_1_is_drawn_as_often_as_it_should():
    """Three of at most four spaces, and one of the 120 ways to place them; the text's example has four (one of 330)."""
    made = writer(WRITTEN["plain"])
    given_ = problems(WRITTEN["plain"].task, [["123", "456"]]).select(torch.zeros(20_000, dtype=torch.long))
    found = collections.Counter(texts(made, made.write(given_, generator("t")).tokens))
    assert abs(found["$12 3 +45 6=579$"] - 20_000 / 600) < 4.5 * math.sqrt(20_000 / 600)
    assert 0 < found["$1 23 +4 5 6=579$"] < 20_000 / 1650 + 4.5 * math.sqrt(20_000 / 1650)
    assert abs(found["$123+456=579$"] - 4000) < 300
    ways = [math.comb(7 + n, n) for n in range(5)]
    assert max(text.count(" ") for text in found) == 4 and len(found) == sum(ways)


def test_spaces_are_fresh_or_a_function_of_problem_and_seed_and_none_where_it_is_tested():
    given_ = drawn(WRITTEN["plain"])

    def written(fresh: bool, seed: int, purpose: str, order=slice(None)) -> list[str]:
        made = writer(WRITTEN["plain"], fresh=fresh, seed=seed)
        chosen = Problems(given_.operands[order], given_.lengths[order])
        return texts(made, made.write(chosen, generator(purpose)).tokens)

    one = written(False, 0, "a")
    assert written(False, 0, "b") == one
    assert written(False, 0, "b", slice(40, 60)) == one[40:60], "whatever else is in the batch"
    assert sum(a != b for a, b in zip(one, written(False, 1, "a"), strict=True)) > 150
    fresh = [written(True, 0, purpose) for purpose in "aab"]
    assert fresh[0] == fresh[1] != fresh[2]
    assert sum(a != b for a, b in zip(fresh[0], fresh[2], strict=True)) > 150
    arranged = torch.tensor([[True, False, False, True, False], [False, False, False, False, False]])
    assert spread(arranged, torch.tensor([1, 4]), 4).tolist() == [[0, -1, 1, 2, -1, 3], [0, 1, 2, 3, 4, 5]]
    data = ArithmeticData(spec(WRITTEN["printable"], encoding="sinusoidal"), 0)
    space = data.vocab.id(" ")
    assert bool((data.batch(0).tokens == space).any())
    for batch in (data.validation(), data.writer.write(data.test(9, 2, 100))):
        assert not (batch.tokens == space).any()


@pytest.mark.parametrize("fresh", [False, True])
def test_a_run_keeps_or_draws_anew_its_spaces_epoch_by_epoch(fresh):
    train = TrainSpec(steps=9, batch=16, bucket=2, lr=1e-3)
    data = two_operands(3, 5, spaces=RandomSpaces(ratio=0.5, fresh=fresh), examples=32)
    one, two = (ArithmeticData(spec(data, train, encoding="sinusoidal"), seed) for seed in (0, 0))
    epochs = [
        sorted(t for step in (2 * k, 2 * k + 1) for t in texts(one.writer, one.batch(step).tokens)) for k in range(3)
    ]
    assert (epochs[0] == epochs[1] == epochs[2]) == (not fresh)
    assert len({text.replace(" ", "") for epoch in epochs for text in epoch}) == 32
    again = [text for step in (5, 1, 0) for text in texts(two.writer, two.batch(step).tokens)]
    assert again == [text for step in (5, 1, 0) for text in texts(one.writer, one.batch(step).tokens)]
