"""Windowed and given attention biases: Appendix A.4 as loops and as pictures, sizes that are refused, closed rows."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lengen import ArithmeticData, Given, SettingError, Window, build_model
from lengen.digits import OperandError
from lengen.encodings.base import module
from lengen.models import Record
from lengen.models.attention import attend, causal_mask, closed_rows
from lengen.models.blocks import Attention, Context, biased
from lengen.models.calibrated_bias import FixedBias, beside_encoder, closed
from lengen.models.window_masks import window_cross, window_self
from tests.fixtures.refusals import refused
from tests.fixtures.settings import MODEL, data_spec, fixed_data, model_spec, spec

SIZES = st.integers(1, 12)
# Figure 11, w = 1, for four digits: rows are the decoder's input, the row of "$" writes y1; # is open.
SELF = """
    #....
    ##...
    .##..
    ..##.
    ...##
"""
UNARY = """
    ....##
    ...###
    ..###.
    .###..
    ###...
"""  # columns $ x4 x3 x2 x1 $
BINARY = """
    ........###
    ......####.
    ....####...
    ..####.....
    ####.......
"""  # columns $ + a4 b4 a3 b3 a2 b2 a1 b1 $


@given(SIZES, st.integers(0, 4))
def test_the_window_of_self_attention_is_the_formula_of_appendix_a_4(size, width):
    """B_w is 0 if i - k = j for i, j = 1..L, k = 0..w, and -inf otherwise."""
    bias = torch.full((size, size), -math.inf)
    for i in range(1, size + 1):
        for j in range(1, size + 1):
            for k in range(width + 1):
                if i - k == j:
                    bias[i - 1, j - 1] = 0
    assert torch.equal(closed(window_self(size, width)), bias)


@given(SIZES, st.integers(1, 24), st.integers(0, 4), st.integers(1, 3))
def test_the_window_of_cross_attention_goes_along_the_anti_diagonal(rows, columns, width, stride):
    """It spans and steps over ``stride`` places, and extends to both left and right w positions."""
    window = np.zeros((rows, columns), bool)
    last = columns - 1
    for row in range(rows):
        for step in range(stride):
            for aside in range(-width, width + 1):
                column = last - stride * row - step + aside
                if 0 <= column <= last:
                    window[row, column] = True
    assert np.array_equal(window_cross(rows, columns, width, stride), window)


def picture(window: np.ndarray) -> list[str]:
    return ["".join("#" if cell else "." for cell in row) for row in window.tolist()]


def test_the_pictures_of_figure_11():
    assert picture(window_self(5, 1)) == SELF.split()
    assert picture(window_cross(5, 6, 1, 1)) == UNARY.split()
    assert picture(window_cross(5, 11, 1, 2)) == BINARY.split()


def test_a_model_gets_a_copy_of_the_bias_that_its_specification_names():
    assert MODEL.attention_bias is None and model_spec(architecture="encoder_decoder").attention_bias is None
    given_ = beside_encoder(Given(), MODEL.heads, 3, 5)
    assert given_.own.shape == (2, 3, 3) and given_.cross.shape == (2, 3, 5)
    assert not given_.own.any() and not given_.cross.any(), "open until it is set"
    window = beside_encoder(Window(2, 2), MODEL.heads, 7, 12)
    for head in range(2):
        assert torch.equal(window.own[head], closed(window_self(7, 2)))
        assert torch.equal(window.cross[head], closed(window_cross(7, 12, 2, 2)))
    assert set(window.state_dict()) == {"own", "cross"} and not list(window.parameters())
    bias = FixedBias(torch.zeros(2, 3, 3), torch.zeros(2, 3, 5))
    own, cross = ones(2, 3, 3), ones(2, 3, 5)
    bias.set(own, cross)
    assert torch.equal(bias.own, own) and torch.equal(bias.cross, cross) and bias.own is not own
    for other, message in [
        ((ones(2, 4, 4), cross), r"a self-attention bias of shape \(2, 4, 4\) does not fit a model of \(2, 3, 3\)"),
        ((own, ones(2, 3, 4)), r"a cross-attention bias of shape \(2, 3, 4\) does not fit a model of \(2, 3, 5\)"),
        ((own[:1], cross), r"a self-attention bias of shape \(1, 3, 3\)"),
    ]:
        refused(SettingError, message, bias.set, *other)
    assert torch.equal(bias.own, own) and torch.equal(bias.cross, cross), "as before"


def ones(*shape) -> torch.Tensor:
    return torch.arange(math.prod(shape), dtype=torch.float32).view(shape)


@pytest.mark.parametrize(("rows", "columns"), [(4, 5), (3, 6), (9, 9)])
def test_a_longer_problem_is_refused_and_never_cropped(rows, columns):
    bias = FixedBias(torch.zeros(2, 3, 3), torch.zeros(2, 3, 5))
    bias.check(3, 5)
    bias.check(1, 2)
    with pytest.raises(OperandError) as caught:
        bias.check(rows, columns)
    assert str(caught.value) == (
        "this model's attention bias is built for 3 response and 5 source places, and the problem has "
        f"{rows} and {columns}: shorten it, or calibrate for a larger data.format.width"
    )


def test_models_refuse_what_their_bias_was_not_built_for():
    """Teacher-forced and writing alike."""

    def sized(width):
        return spec(
            fixed_data("successor", width), encoding="sinusoidal", architecture="encoder_decoder",
            attention_bias=Given(),
        )  # fmt: skip

    model = build_model(sized(4), 0)
    assert model.attention_bias.cross.shape == (2, 5, 6)
    longer = ArithmeticData(sized(5), 0).validation()
    for use in (model.predict, model.attention, lambda batch: model.cache(batch, 9)):
        refused(OperandError, "is built for 5 response and 6 source places", use, longer)
    assert model.predict(ArithmeticData(sized(3), 0).validation()).shape[:2] == (256, 4), "a shorter one is fine"


def test_rows_are_those_of_each_example_and_closed_ones_have_no_visible_key():
    bias = FixedBias(ones(2, 3, 3), ones(2, 3, 5))
    places = torch.tensor([[0, 2], [1, 7]])
    own, cross = bias.rows(places, 5, 4)
    assert own.shape == (2, 2, 2, 5) and cross.shape == (2, 2, 2, 4)
    for b, h, t in torch.cartesian_prod(*map(torch.arange, (2, 2, 2))).tolist():
        place = min(int(places[b, t]), 2)
        assert own[b, h, t].tolist() == [*bias.own[h, place].tolist(), 0, 0]
        assert cross[b, h, t].tolist() == bias.cross[h, place, :4].tolist()
    shorter, _ = bias.rows(places[:1, :1], 2, 5)
    assert shorter[0, :, 0].tolist() == bias.own[:, 0, :2].tolist()
    bias = torch.tensor([[0.0, -math.inf, 1.0], [-math.inf] * 3, [-math.inf, -math.inf, -5.0]])
    everything = torch.ones(3, 3, dtype=torch.bool)
    assert closed_rows(bias, everything)[:, 0].tolist() == [False, True, False]
    assert closed_rows(bias, causal_mask(3))[:, 0].tolist() == [False, True, False]
    only_last = torch.tensor([False, False, True]).expand(3, 3)
    only_first = torch.tensor([True, False, False])[None, None].expand(2, 1, 3)
    assert closed_rows(bias, only_last)[:, 0].tolist() == [False, True, False]
    assert closed_rows(bias, only_first)[..., 0].tolist() == [[False, True, True]] * 2


@pytest.mark.parametrize("encoding", ["none", "alibi"])
def test_closed_rows_read_nothing_and_give_no_nan(encoding):
    """Neither in outputs nor in gradients; the other rows are as a softmax over their open keys."""
    torch.manual_seed(0)
    model = spec(data_spec("parity"), encoding=encoding, linear_bias=True).model
    attention, ids = Attention(model).double(), torch.arange(5)[None, None]
    torch.nn.init.normal_(attention.out.bias)
    positions = module(model.encoding, model, ())
    x = torch.randn(3, 5, model.width, dtype=torch.float64, requires_grad=True)
    fixed = torch.randn(1, 2, 5, 5)
    fixed[0, :, 1] = -math.inf  # closed for all heads
    fixed[0, 1, 3, :4] = -math.inf  # closed for one head, because the mask closes the rest
    fixed[0, 0, 4, :3] = -math.inf
    mask = causal_mask(5)
    plain = Context(positions, ids, ids, positions.bias(ids, ids), mask)
    context = biased(plain, fixed, mask)
    record = Record("attention")
    found = attention(x, context, record=record)
    found.square().sum().backward()
    assert found.isfinite().all() and x.grad.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in attention.parameters())
    weights = record.attention[0]["self"]
    assert torch.equal(weights[:, 0, [0, 2, 3, 4]].sum(dim=-1).round(decimals=5), torch.ones(3, 4))
    assert not weights[:, :, 1].any() and not weights[:, 1, 3].any() and not weights[:, 0, 4, :3].any()
    assert torch.equal(found[:, 1], attention.out.bias.expand(3, -1)), "nothing is read"
    with torch.no_grad():
        query = attention._queries(attention.query(x), plain)
        key, value = attention.memory(x, positions, ids)
        added = fixed if plain.score_bias is None else fixed + plain.score_bias
        expected = attend(query, key, value, attention.scale, added.double(), mask).nan_to_num(0.0)
        assert torch.allclose(found, attention.out(expected.transpose(1, 2).flatten(-2)), atol=1e-5)
    open_everywhere = biased(plain, torch.zeros(1, 2, 5, 5), mask)
    assert torch.allclose(attention(x, open_everywhere), attention(x, plain), atol=1e-5), "no bias, no change"
