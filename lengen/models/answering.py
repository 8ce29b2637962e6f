"""Networks that answer: without dropout, and afterwards in their own mode again."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn


@contextmanager
def answering(network: nn.Module) -> Iterator[None]:
    """Let a network answer in evaluation mode and without gradients; each of its parts has its own mode back then."""
    modes = {part: part.training for part in network.modules()}
    network.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for part, mode in modes.items():
            part.training = mode
