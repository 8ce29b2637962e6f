"""What the authors' code gives, as literals: made by running it (AttentionBiasCalibration, commit 1d3a21d) on what
stands here.

The two calibrating functions of its src/calcBias.py ran on `attention`, 6 of 10 rows, with their thresholds (0.87 and
4.5). They leave a line's value as it is, where ours is its difference from the largest: values differ by one number
per head.
"""

import pytest
import torch
from torch import Tensor

from lengen import NByOne, PairAddition, SettingError, TaskData, build_model
from lengen.settings.changes import overlay
from lengen.solve import encode
from lengen.training.module import build_optimizer
from papers.bias_calibration import settings
from papers.bias_calibration.procedures import average_attention, calibrate, readable
from papers.bias_calibration.profiles import profile
from tests.fixtures.refusals import refused

HEADS, ROWS, PLACES, COLUMNS = 8, 6, 10, 25
CLOSED = float("-inf")
SPEC = overlay(
    settings.calibrated(profile("smoke", PairAddition), calibration=settings.CODE), {"calibration.rows": ROWS}
)


def attention(columns: int) -> Tensor:
    """(8, 10, columns): of a decoder with 10 columns, cross-attention with 25; in head 3 of the latter no line."""
    h, i = torch.arange(HEADS)[:, None, None], torch.arange(PLACES)[None, :, None]
    j = torch.arange(columns)[None, None, :]
    if columns == PLACES:
        weights = 1.0 + (3 * h + 5 * i + 7 * j + h * i * j) % 11 + 40.0 * (i - j == h % 3)
        weights = weights.masked_fill(j > i, 0.0)
    else:
        weights = 1.0 + (17 * h + 13 * i * i + 7 * j * j + 3 * i * j) % 97
        weights = weights + 90000.0 * (j + i == COLUMNS - 2 - h) * (h != 3)
    return weights / weights.sum(dim=2, keepdim=True)


def seen(own: Tensor) -> Tensor:
    """Without what no softmax sees, as `average_attention` gives it."""
    return own.masked_fill(torch.ones(PLACES, PLACES).triu(1).bool(), CLOSED)


def lines(bias: Tensor, slope: int) -> list[int]:
    """Lines of a head with an open element, by row minus slope times column."""
    return sorted({i - slope * j for i, j in (bias > CLOSED).nonzero().tolist()})


def test_attention_opens_the_lines_of_the_code_and_closed_rows_read_everything():
    own, _ = calibrate({"self": seen(attention(PLACES)), "cross": attention(COLUMNS)}, SPEC)
    assert [lines(head, 1) for head in own] == [[0], [1], [0, 2], [0], [1], [2], [0], [1]]
    assert own[2, 5, 3] - own[2, 5, 5] == pytest.approx(2.618103504180908 - 2.3341665267944336, abs=1e-6)
    _, cross = calibrate({"self": seen(attention(PLACES)), "cross": attention(COLUMNS)}, SPEC)
    read = readable(cross)
    assert bool((read[3, 1:] == 0).all()) and lines(read[3, :1], -1) == [24]
    assert torch.equal(read[0], cross[0]), "every row of it has an open place"
    corner = COLUMNS - 1
    expected = [[23, 24], [22, 24], [21, 24], [24], [19, 24], [18, 24], [17, 24], [16, 24]]
    assert [lines(head, -1) for head in cross] == expected
    assert [int((head > CLOSED).sum()) for head in cross] == [11, 11, 11, 1, 11, 11, 11, 11]
    values = [5.9213, 5.9213, 5.9232, 0.0, 5.9246, 5.9219, 5.9201, 5.9182]
    assert (-cross[:, 0, corner]).tolist() == pytest.approx(values, abs=1e-4), "below the line, whose value it lacks"
    assert all(cross[h, 3, corner - 1 - h - 3] == 0 for h in range(HEADS) if h != 3)


def test_lines_of_zeros_would_open_others():
    """The code leaves them out of the mean and deviation; with them three of the eight heads had a line more."""
    own, _ = calibrate({"self": attention(PLACES), "cross": attention(COLUMNS)}, SPEC)
    assert [lines(head, 1) for head in own] == [[0], [1], [0, 2], [0], [0, 1], [0, 2], [0], [0, 1]]


def test_the_ways_of_the_code_are_chosen_by_name_and_close_what_no_softmax_sees():
    """generate_singmult_data of src/utility.py with FIXED_LEN = 9: source 0000123*6, target 000000738, reversed."""
    spec = overlay(settings.plain(profile("smoke", NByOne)), {"data.format.width": 7})
    written = encode(spec, ["123", "6"])
    assert "".join(written["source"]["tokens"]) == "$0000123*6$"
    assert "".join(written["target"]["tokens"]) == "$837000000$"
    code, ours = SPEC.calibration, settings.calibrated(profile("night", PairAddition)).calibration
    assert (code.corner, code.closed_row, ours.corner, ours.closed_row) == (True, "everything", False, "nothing")
    first = SPEC.first()
    model, data = build_model(first, 0).eval(), TaskData(first, 0)
    own = average_attention(model, data, overlay(SPEC.calibration, {"rows": 2}), 0)["self"]
    above = torch.ones(own.shape[1:]).triu(1).bool()
    assert bool((own[:, above] == CLOSED).all()) and bool((own[:, ~above] > 0).all())


def test_tests_multiply_by_1_to_9_and_training_by_0_as_well():
    """The code draws random.randint(1, 9); the text has x_2 in {0, ..., 9}."""
    data = TaskData(settings.plain(profile("smoke", NByOne)), 0)
    drawn = data.task.test(1000, 3, 1, torch.Generator().manual_seed(0)).operands[:, 1, 0]
    trained = data.task.train(1000, torch.Generator().manual_seed(0)).operands[:, 1, 0]
    assert sorted(set(drawn.tolist())) == list(range(1, 10)) and sorted(set(trained.tolist())) == list(range(10))


@pytest.mark.parametrize(("size", "epsilon"), [("paper", 1e-9), ("night", 1e-9), ("smoke", 1e-8)])
def test_adam_has_the_rate_and_epsilon_of_the_code(size, epsilon):
    """src/train.py: Adam(lr=0.0001, betas=(0.9, 0.98), eps=1e-9)."""
    train = settings.plain(profile(size, PairAddition)).train
    optimizer, _ = build_optimizer(torch.nn.Linear(2, 2), train)
    assert {group["eps"] for group in optimizer.param_groups} == {epsilon}
    if size == "paper":
        assert (train.lr, train.betas) == (1e-4, (0.9, 0.98))


@pytest.mark.parametrize(("change", "said"), [
    ("data.format.more_zeros=2", "data.format.more_zeros=2: more zeros pad an answer"),
    ("data.task.tested_from=10", "data.task.tested_from=10: expected a digit below 10"),
])  # fmt: skip
def test_what_makes_no_sense_is_refused(change, said):
    spec = settings.plain(profile("smoke", NByOne))
    changes = (change, "data.format.width=0") if "more_zeros" in change else (change,)
    refused(SettingError, said, spec.override, *changes)
