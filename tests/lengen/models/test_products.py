"""Products of operands rounded to bfloat16: what is rounded, where, and that two ways of computing them agree."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from lengen import EncoderDecoder, SequenceModule, build_model
from lengen.models.products import Rounds, round_products, rounded, rounded_products
from lengen.settings.spec import replace
from tests.fixtures.models import data_for, encoder_decoder
from tests.fixtures.settings import TRAIN, data_spec, spec

ULP = 2.0**-7
"""Spacing of bfloat16 numbers at 1, and so the largest relative difference of neighbours."""


def gradients(x, layers, rounding, upstream):
    """Outputs and gradients with respect to the tokens and all weights."""
    x = x.clone().requires_grad_()
    outs = rounded_products(x, layers, rounding)
    weights = [parameter for layer in layers for parameter in layer.parameters()]
    return [
        *outs,
        *torch.autograd.grad(sum((out * g).sum() for out, g in zip(outs, upstream, strict=True)), [x, *weights]),
    ]


@given(
    rows=st.integers(1, 20),
    width=st.integers(1, 40),
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=3),
    bias=st.booleans(),
    seed=st.integers(0, 99),
)
def test_both_ways_are_the_products_of_rounded_operands(rows, width, sizes, bias, seed):
    torch.manual_seed(seed)
    x, layers = torch.randn(2, rows, width), [nn.Linear(width, size, bias=bias) for size in sizes]
    upstream = [torch.randn(2, rows, size) for size in sizes]
    native, emulated = (gradients(x, layers, rounding, upstream) for rounding in ("native", "emulated"))
    for one, other in zip(native, emulated, strict=True):  # sums in another order, then one rounding
        assert one.dtype == torch.float32
        torch.testing.assert_close(one, other, rtol=2 * ULP, atol=1e-4 * max(1.0, float(other.abs().max())))
    for out, layer in zip(native, layers, strict=False):
        exact = rounded(x).double() @ rounded(layer.weight).double().T
        exact = exact if layer.bias is None else exact + layer.bias.double()
        torch.testing.assert_close(
            out.double(), exact.detach(), rtol=ULP, atol=ULP * max(1.0, float(exact.abs().max()))
        )


def test_rounding_is_to_the_nearest_bfloat16_number_and_keeps_the_precision():
    x = torch.tensor([1.0, 1.0 + ULP / 2 + 1e-4, 1.0 + ULP / 2 - 1e-4, -3.14159265, 1e-30])
    assert rounded(x).tolist() == [1.0, 1.0078125, 1.0, -3.140625, x[4].bfloat16().item()]
    assert rounded(x).dtype == torch.float32


@pytest.mark.parametrize("encoding", ["learned", "fire", "rope"])
def test_only_training_rounds(encoding):
    """Evaluation is in the precision of the weights, whatever the precision of the training."""
    setting = spec(data_spec("parity"), replace(TRAIN, precision="bf16-products"), encoding=encoding)
    module, exact = SequenceModule(setting), build_model(setting, 0)
    batch = module.data.validation()
    module.model.eval(), exact.eval()
    assert torch.equal(module.model.predict(batch), exact.predict(batch))
    module.model.train(), exact.train()
    near, exactly = module.model.predict(batch), exact.predict(batch)
    assert not torch.equal(near, exactly)
    assert (near - exactly).abs().max() < 0.1 * exactly.abs().max()


def test_every_block_of_every_stack_rounds():
    setting = encoder_decoder(data_for("none"), architecture=EncoderDecoder(1))
    model = build_model(setting, 0)
    round_products(model, "emulated")
    found = [module for module in model.modules() if isinstance(module, Rounds)]
    blocks = len(model.blocks) * 3 + len(model.encoder) * 2
    assert len(found) == blocks and {module.rounding for module in found} == {"emulated"}
