"""Offsets and limits of position ids."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lengen.digits import OperandError
from lengen.position_ids.digit_places import Coupled
from lengen.position_ids.places import Consecutive, NoPositionIds
from tests.fixtures.settings import data_spec, problems, writer
from tests.lengen.tasks.test_base import chi_square

UNUSED = -1
SIZES = torch.tensor([9])
"""Tokens of sequences, which these schemes do not need."""


def test_training_offsets_are_uniform_from_one_to_the_last_that_fits():
    highest = torch.tensor([[3], [7]]).expand(2, 40_000)
    offsets = Coupled((8, 16)).offsets(highest, SIZES, torch.Generator().manual_seed(0))
    for level, largest in enumerate([8 - 3, 16 - 7]):
        drawn = offsets[level].tolist()
        assert set(drawn) == set(range(1, largest + 1))
        assert chi_square([drawn.count(k) for k in range(1, largest + 1)]) < 2.5
    assert abs(float(torch.corrcoef(offsets.double())[0, 1])) < 0.03, "levels move independently"


@given(st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), min_size=1, max_size=20), st.integers(0, 99))
def test_no_training_id_exceeds_its_level(pairs, seed):
    highest = torch.tensor(pairs).T
    offsets = Coupled((40, 40)).offsets(highest, SIZES, torch.Generator().manual_seed(seed))
    assert int(offsets.min()) >= 1 and int((offsets + highest).max()) <= 40
    assert bool((Coupled((40, 40)).offsets(highest, SIZES, None) == 1).all()), "in testing"


def test_operands_that_need_more_ids_than_there_are_are_refused():
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


def test_the_largest_operands_of_table_1_just_fit():
    """max_pos 101 is exactly 100 bits; 40 levels of ids are 30 operands of 30 digits."""
    parity = data_spec("parity", room=101)
    assert int(writer(parity).write(problems(parity.task, [["1" * 100]]), torch.Generator()).ids.max()) == 101
    with pytest.raises(OperandError, match="up to 102"):
        writer(parity).write(problems(parity.task, [["1" * 101]]))
    addition = data_spec("addition", room=40)
    batch = writer(addition).write(problems(addition.task, [["9" * 30] * 30]))
    assert batch.ids.amax(dim=(1, 2)).tolist() == [33, 31]
    assert int(batch.loss.sum()) == 1023, "Section 4.3: a total of 1023 consecutive tokens"


def test_ids_by_scheme():
    coordinates = torch.tensor([[[UNUSED, 2, 0, 9]]])
    offsets, places = torch.tensor([[3]]), torch.arange(4)[None]
    assert Coupled((7,)).ids(coordinates, offsets, places).tolist() == [[[0, 5, 3, 7]]], "never above the maximum"
    assert Consecutive().ids(coordinates, offsets, places).tolist() == [[[0, 1, 2, 3]]]
    assert NoPositionIds().ids(coordinates, offsets, places).shape == (0, 1, 4)
    assert Consecutive().offsets(torch.zeros(3, 5), SIZES, None).shape == (1, 5)
    assert NoPositionIds().offsets(torch.zeros(3, 5), SIZES, None).shape == (0, 5)
