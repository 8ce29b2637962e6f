"""Layers of a block as functions: activations, RMSNorm, products of tokens and weight matrices."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.nn import functional
from torch.nn.functional import linear, rms_norm

# Each form is the same function, written so that what torch's compiler makes of it for a processor is fast.


def gelu_tanh(x: Tensor) -> Tensor:
    """Return GELU in its tanh approximation, as T5's gated variant uses it."""
    return gelu_by_sigmoid(x) if torch.compiler.is_compiling() else functional.gelu(x, approximate="tanh")


def gelu_by_sigmoid(x: Tensor) -> Tensor:
    """Return x (1 + tanh u) / 2 = x sigmoid(2 u): one exponential.

    The tanh of compiled code takes five times as long.
    """
    return x * torch.sigmoid(2 * (2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3))


def relu(x: Tensor) -> Tensor:
    """Return max(x, 0), with derivative 0 at 0."""
    return relu_by_sign(x) if torch.compiler.is_compiling() else functional.relu(x)


def relu_by_sign(x: Tensor) -> Tensor:
    """Return x times 1 where x > 0: its gradient needs no mask of bools, which compiled code writes byte by byte."""
    return x * torch.sign(x.detach()).clamp(min=0)


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"geglu": gelu_tanh, "gelu": gelu_tanh, "relu": relu}
"""By ``model.activation``; geglu multiplies what it gives with a second product."""


# torch takes the backward of `rms_norm` apart into some twenty element-wise kernels on a processor: 4 ms for 3,000
# tokens of width 128 where 0.6 suffice. `FastRMSNorm` writes the derivative down instead; `plain_rms_norm` is the
# definition, which a compiler fuses by itself and tests compare with.


def plain_rms_norm(x: Tensor, scale: Tensor, eps: float) -> Tensor:
    """Return x / sqrt(mean(x^2) + eps) * scale over the last axis of ``x`` (..., C), with ``scale`` (C,)."""
    return x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + eps) * scale


class FastRMSNorm(Function):
    """`plain_rms_norm` of rows (N, C), with y_i = n_i s_i, n = x r, r = 1 / sqrt(mean(x^2) + eps).

    For a gradient g: ds_i = sum over rows of g_i n_i, and dx = r (g s - n mean(g n s)).
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, scale: Tensor, eps: float) -> tuple[Tensor, Tensor, Tensor]:
        length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        inverse = torch.rsqrt(length.square() / x.shape[-1] + eps)
        normal = x * inverse
        return normal * scale, normal, inverse

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        _, normal, inverse = output
        ctx.save_for_backward(normal, inverse, inputs[1])
        ctx.mark_non_differentiable(normal, inverse)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Tensor, Tensor, None]:
        normal, inverse, scale = ctx.saved_tensors
        gradient = gradients[0]
        product = gradient * normal
        mean = (product @ scale)[:, None] / normal.shape[-1]
        return torch.addcmul(gradient * scale, normal, mean, value=-1) * inverse, product.sum(dim=0), None


fast_rms_norm: Callable[[Tensor, Tensor, float], tuple[Tensor, Tensor, Tensor]] = FastRMSNorm.apply
"""Rows (N, C) normalised, and what their gradient needs."""


class RMSNorm(nn.Module):
    """x / rms(x) * scale (Zhang & Sennrich 2019).

    The papers' code adds eps = 1e-6 outside the root; torch's kernel, 1.5 to 2 times faster here, adds it inside,
    so it gets the square: the two differ by less than float32 resolves unless x itself is that small.
    """

    def __init__(self, width: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.eps = eps**2

    def forward(self, x: Tensor) -> Tensor:
        if torch.compiler.is_compiling():
            return plain_rms_norm(x, self.scale, self.eps)
        if x.device.type == "cpu" and torch.is_grad_enabled():
            return fast_rms_norm(x.flatten(0, -2), self.scale, self.eps)[0].view(x.shape)
        return rms_norm(x, self.scale.shape, self.scale, self.eps)


# ``train.precision=bf16-products`` means: the operands of every product of a block, forward and backward, are rounded
# to bfloat16, sums are float32, and what comes out is rounded once. Softmax, norms, residual stream, output head, loss
# and optimizer stay float32. Two ways give that, up to the order of sums: `NATIVE` leaves it to the processor (AMX,
# AVX512-bf16), `EMULATED` multiplies the rounded operands in float32, if there are no such instructions.


Rounding = Literal["none", "native", "emulated"]
"""Rounding of the operands of products, by `Rounds.rounding`."""


class Rounds(nn.Module):
    """A module whose products may be rounded in training; evaluation is always in the precision of the weights."""

    def __init__(self) -> None:
        super().__init__()
        self.rounding: Rounding = "none"

    def products(self, x: Tensor, *layers: nn.Linear) -> tuple[Tensor, ...]:
        """Return the outputs of several linear layers for the same tokens ``x`` (..., C)."""
        rounding = self.rounding if self.training else "none"
        return tuple(layer(x) for layer in layers) if rounding == "none" else rounded_products(x, layers, rounding)


def rounded_products(x: Tensor, layers: Sequence[nn.Linear], rounding: Rounding) -> tuple[Tensor, ...]:
    """Return the products of ``x`` (..., C) with the layers as one product, whose weights are rounded and read once."""
    weight = layers[0].weight if len(layers) == 1 else torch.cat([layer.weight for layer in layers])
    if rounding == "native":
        joint = linear(x.bfloat16(), weight.bfloat16()).to(x.dtype)
    else:
        joint = rounded(linear(rounded(x), rounded(weight)))
    parts = torch.split(joint, [len(layer.weight) for layer in layers], dim=-1)
    return tuple(part if layer.bias is None else part + layer.bias for part, layer in zip(parts, layers, strict=True))


def rounded(x: Tensor) -> Tensor:
    """Return the nearest bfloat16 numbers, in the precision of ``x``; gradients are rounded likewise."""
    return x.bfloat16().to(x.dtype)


def round_products(model: nn.Module, rounding: Rounding) -> None:
    """Set how all blocks of a model round in training."""
    for module in model.modules():
        if isinstance(module, Rounds):
            module.rounding = rounding
