"""Activations of feed-forward networks, and the forms of them that a compiled model takes.

Each form is the same function, written so that what torch's compiler makes of it for a processor is fast.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional


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
