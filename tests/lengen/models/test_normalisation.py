"""RMSNorm's own backward against the definition, differentiated by torch, and torch's kernel."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck
from torch.nn.functional import rms_norm

from lengen.models.normalisation import RMSNorm, fast_rms_norm, plain_rms_norm


@given(
    rows=st.integers(1, 9), width=st.integers(1, 33), size=st.sampled_from((1e-3, 1.0, 1e3)), seed=st.integers(0, 99)
)
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


def test_gradients_are_those_of_finite_differences():
    torch.manual_seed(0)
    inputs = torch.randn(3, 5).double().requires_grad_(), torch.randn(5).double().requires_grad_()
    assert gradcheck(lambda x, scale: fast_rms_norm(x, scale, 1e-6)[0], inputs)


def test_a_row_of_zeros_and_a_scale_of_zero_have_finite_gradients():
    norm = RMSNorm(4)
    with torch.no_grad():
        norm.scale[1] = 0.0
    x = torch.zeros(2, 3, 4, requires_grad=True)
    norm(x).sum().backward()
    assert x.grad.isfinite().all() and norm.scale.grad.isfinite().all()


def test_training_and_evaluation_normalise_alike():
    torch.manual_seed(0)
    norm, x = RMSNorm(128), torch.randn(4, 7, 128)
    trained = norm(x)
    with torch.no_grad():
        torch.testing.assert_close(norm(x), trained)
    assert trained.shape == x.shape and trained.requires_grad
