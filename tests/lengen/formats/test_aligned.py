"""Numbers of one width: worked examples of the paper, ids, and the query apart from the response."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import lengen
from lengen import Aligned, ArithmeticData, Consecutive, Coupled, Cyclic, DataSpec, Linear, NoPositionIds, Parity
from lengen.digits import OperandError
from lengen.formats.base import PAD
from lengen.solve import encode
from tests.fixtures.refusals import refused
from tests.fixtures.settings import data_spec, fixed_data, problems, spec, writer, written


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
    moved = data.validation().to(torch.device("cpu"))
    assert moved.source.tokens.shape == (256, 11)
