"""Products of tokens and weight matrices: in the precision of the weights, or of operands rounded to bfloat16.

``train.precision=bf16-products`` means: the operands of every product of a block, forward and backward, are rounded to
bfloat16, sums are float32, and what comes out is rounded once. Softmax, norms, residual stream, output head, loss and
optimizer stay float32. Two ways give that, up to the order of sums: `NATIVE` leaves it to the processor (AMX,
AVX512-bf16), `EMULATED` multiplies the rounded operands in float32, if there are no such instructions.
"""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

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
