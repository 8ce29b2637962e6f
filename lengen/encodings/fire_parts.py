"""Common code of FIRE and its two variants: ids as numbers, the ratio of logarithms, the network of the variants."""

import torch
from torch import Tensor, nn

HIDDEN = 32
"""Width of the networks."""


def numbers(query_ids: Tensor, key_ids: Tensor, network: nn.Module, first: int) -> tuple[Tensor, Tensor]:
    """Return query ids (B or 1, Q, 1) and key ids (B or 1, 1, K) as numbers, counted from ``first``.

    They have the network's precision, or float32 if that is lower.
    """
    dtype = torch.promote_types(next(network.parameters()).dtype, torch.float32)
    return query_ids[0, :, :, None].to(dtype) + first, key_ids[0, :, None, :].to(dtype) + first


def log_ratio(distance: Tensor, span: Tensor, c: Tensor) -> Tensor:
    """Return psi(distance) / psi(span) with psi(x) = log(1 + |c x|)."""
    return torch.log1p((c * distance).abs()) / (torch.log1p((c * span).abs()) + 1e-6)


def of_network(ratio: Tensor, network: nn.Module) -> Tensor:
    """Apply a network to each ratio (...): (..., outputs)."""
    found: Tensor = network(ratio[..., None].to(next(network.parameters()).dtype))
    return found


def plain_network(outputs: int) -> nn.Sequential:
    """Return 1 -> 32 -> 32 -> outputs without biases, every matrix N(0, 1 / fan_in)."""
    layers = nn.Sequential(
        nn.Linear(1, HIDDEN, bias=False),
        nn.ReLU(),
        nn.Linear(HIDDEN, HIDDEN, bias=False),
        nn.ReLU(),
        nn.Linear(HIDDEN, outputs, bias=False),
    )
    for module in layers:
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=module.in_features**-0.5)
    return layers
