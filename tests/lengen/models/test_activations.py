"""The forms of activations and of attention that compiled models take against torch's own."""

import pytest
import torch
from torch.nn import functional

from lengen.models.activations import gelu_by_sigmoid, gelu_tanh, relu, relu_by_sign
from lengen.models.attention import SHORT, attend, causal_mask

POINTS = torch.cat([torch.linspace(-30, 30, 2001), torch.tensor([0.0, -0.0, 1e-30, -1e-30, 1e4, -1e4])]).double()


@pytest.mark.parametrize(
    ("form", "plain"),
    [(gelu_by_sigmoid, lambda x: functional.gelu(x, approximate="tanh")), (relu_by_sign, functional.relu)],
)
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


def test_uncompiled_models_take_torchs_own():
    x = torch.randn(100)
    assert torch.equal(gelu_tanh(x), functional.gelu(x, approximate="tanh")) and torch.equal(
        relu(x), functional.relu(x)
    )


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
