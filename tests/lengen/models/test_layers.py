"""Activations, RMSNorm and products."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.autograd import gradcheck
from torch.nn import functional
from torch.nn.functional import rms_norm

from lengen import EncoderDecoder, SequenceModule, build_model, replace
from lengen.models.activations_and_norms import (
    RMSNorm,
    Rounds,
    fast_rms_norm,
    gelu_by_sigmoid,
    gelu_tanh,
    plain_rms_norm,
    relu,
    relu_by_sign,
    round_products,
    rounded,
    rounded_products,
)
from lengen.models.attention import SHORT, attend, causal_mask
from tests.fixtures.models import data_for, encoder_decoder
from tests.fixtures.settings import TRAIN, data_spec, spec

POINTS = torch.cat([torch.linspace(-30, 30, 2001), torch.tensor([0.0, -0.0, 1e-30, -1e-30, 1e4, -1e4])]).double()
ULP = 2.0**-7
"""Spacing of bfloat16 numbers at 1, and so the largest relative difference of neighbours."""


@pytest.mark.parametrize(("form", "plain"),
    [(gelu_by_sigmoid, lambda x: functional.gelu(x, approximate="tanh")), (relu_by_sign, functional.relu)])  # fmt: skip
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_a_form_has_the_values_and_derivatives_of_the_function(form, plain, dtype):
    found = []
    for function in (form, plain):
        x = POINTS.to(dtype).requires_grad_()
        out = function(x)
        found += [(out.detach(), *torch.autograd.grad(out.sum(), x))]
    near = {torch.float64: 1e-12, torch.float32: 1e-5, torch.bfloat16: 0.02}[dtype]
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=near, atol=near)


def test_every_block_rounds_to_bfloat16_and_uncompiled_models_take_torchs_own():
    x = torch.randn(100)
    assert torch.equal(gelu_tanh(x), functional.gelu(x, approximate="tanh")) and torch.equal(
        relu(x), functional.relu(x)
    )
    x = torch.tensor([1.0, 1.0 + ULP / 2 + 1e-4, 1.0 + ULP / 2 - 1e-4, -3.14159265, 1e-30])
    assert rounded(x).tolist() == [1.0, 1.0078125, 1.0, -3.140625, x[4].bfloat16().item()]
    assert rounded(x).dtype == torch.float32
    setting = encoder_decoder(data_for("none"), architecture=EncoderDecoder(1))
    model = build_model(setting, 0)
    round_products(model, "emulated")
    found = [module for module in model.modules() if isinstance(module, Rounds)]
    blocks = len(model.blocks) * 3 + len(model.encoder) * 2
    assert len(found) == blocks and {module.rounding for module in found} == {"emulated"}


@pytest.mark.parametrize("queries", [1, 5, SHORT])
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_attention_as_it_is_compiled_is_the_fused_one(monkeypatch, queries, biased, masked):
    torch.manual_seed(0)
    keys = 7 if masked else queries
    query, key, value = (torch.randn(2, 3, size, 8).double().requires_grad_() for size in (queries, keys, keys))
    bias = torch.randn(1, 3, queries, keys).double() if biased else None
    mask = torch.rand(2, 1, queries, keys) < 0.7 if masked else None
    if mask is not None:
        mask[..., 0] = True
    found = []
    for compiling in (False, True):
        monkeypatch.setattr(torch.compiler, "is_compiling", lambda compiling=compiling: compiling)
        out = attend(query, key, value, 0.3, bias, mask)
        found.append((out.detach(), *torch.autograd.grad(out.square().sum(), (query, key, value))))
    for fused, plain in zip(*found, strict=True):
        torch.testing.assert_close(plain, fused, rtol=1e-5, atol=1e-5)


def test_long_sequences_take_the_fused_kernel_compiled_or_not(monkeypatch):
    called, fused = [], functional.scaled_dot_product_attention
    monkeypatch.setattr(
        "lengen.models.attention.scaled_dot_product_attention",
        lambda *given, **options: called.append(1) or fused(*given, **options),
    )
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    for size, expected in ((SHORT, 0), (SHORT + 1, 1)):
        tokens = torch.randn(1, 1, size, 4)
        out = attend(tokens, tokens, tokens, 1.0, None)
        assert len(called) == expected
        mask = causal_mask(size)
        weights = (tokens @ tokens.mT).masked_fill(~mask, -torch.inf).softmax(dim=-1)
        torch.testing.assert_close(out, weights @ tokens)


@given(rows=st.integers(1, 9), width=st.integers(1, 33), size=st.sampled_from((1e-3, 1.0, 1e3)),
       seed=st.integers(0, 99))  # fmt: skip
def test_forward_and_both_gradients_are_those_of_the_definition(rows, width, size, seed):
    torch.manual_seed(seed)
    x, scale = size * torch.randn(rows, width).double(), torch.randn(width).double()
    gradient, found = torch.randn(rows, width).double(), []
    for norm in (plain_rms_norm, lambda *given: fast_rms_norm(*given)[0]):
        inputs = x.clone().requires_grad_(), scale.clone().requires_grad_()
        out = norm(*inputs, 1e-12)
        found.append((out.detach(), *torch.autograd.grad(out, inputs, gradient)))
    for plain, fast in zip(*found, strict=True):
        torch.testing.assert_close(fast, plain, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(found[0][0], rms_norm(x, (width,), scale, 1e-12))


def test_rms_norm_has_the_gradients_of_finite_differences_and_trains_as_it_evaluates():
    torch.manual_seed(0)
    inputs = torch.randn(3, 5).double().requires_grad_(), torch.randn(5).double().requires_grad_()
    assert gradcheck(lambda x, scale: fast_rms_norm(x, scale, 1e-6)[0], inputs)
    norm = RMSNorm(4)
    with torch.no_grad():
        norm.scale[1] = 0.0
    x = torch.zeros(2, 3, 4, requires_grad=True)
    norm(x).sum().backward()
    assert x.grad.isfinite().all() and norm.scale.grad.isfinite().all()
    torch.manual_seed(0)
    norm, x = RMSNorm(128), torch.randn(4, 7, 128)
    trained = norm(x)
    with torch.no_grad():
        torch.testing.assert_close(norm(x), trained)
    assert trained.shape == x.shape and trained.requires_grad


def gradients(x, layers, rounding, upstream):
    """Outputs and gradients with respect to the tokens and all weights."""
    x = x.clone().requires_grad_()
    outs = rounded_products(x, layers, rounding)
    weights = [parameter for layer in layers for parameter in layer.parameters()]
    return [
        *outs,
        *torch.autograd.grad(sum((out * g).sum() for out, g in zip(outs, upstream, strict=True)), [x, *weights]),
    ]


@given(rows=st.integers(1, 20), width=st.integers(1, 40), sizes=st.lists(st.integers(1, 30), min_size=1, max_size=3),
       bias=st.booleans(), seed=st.integers(0, 99))  # fmt: skip
def test_both_ways_are_the_products_of_rounded_operands(rows, width, sizes, bias, seed):
    torch.manual_seed(seed)
    x, layers = torch.randn(2, rows, width), [nn.Linear(width, size, bias=bias) for size in sizes]
    upstream = [torch.randn(2, rows, size) for size in sizes]
    native, emulated = (gradients(x, layers, rounding, upstream) for rounding in ("native", "emulated"))
    for one, other in zip(native, emulated, strict=True):  # sums in another order, then one rounding
        assert one.dtype == torch.float32
        torch.testing.assert_close(one, other, rtol=2 * ULP, atol=1e-4 * max(1.0, float(other.detach().abs().max())))
    for out, layer in zip(native, layers, strict=False):
        exact = rounded(x).double() @ rounded(layer.weight).double().T
        exact = exact if layer.bias is None else exact + layer.bias.double()
        torch.testing.assert_close(
            out.double(), exact.detach(), rtol=ULP, atol=ULP * max(1.0, float(exact.detach().abs().max()))
        )


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
