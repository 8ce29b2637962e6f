"""Explicit randomness: every stream has a generator derived from what it is for.

Streams of different purposes are different by construction, so test examples are never drawn from a training
stream, whatever the seed, and a batch is a function of (seed, step) alone: nothing has to be remembered to resume.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from lengen.digits.lazy import torch

if TYPE_CHECKING:
    from torch import Generator, Tensor


def generator(purpose: str, *numbers: int) -> Generator:
    """Return a CPU generator for one purpose and its numbers (seed, step, cell ...); equal arguments, equal stream."""
    text = ":".join([purpose, *map(str, numbers)])
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
    return torch.Generator().manual_seed(seed)


def mix(values: Tensor) -> Tensor:
    """Return a one-to-one scrambling of 64-bit integers (the finaliser of SplitMix64, Steele et al. 2014)."""
    values = values + -7046029254386353131
    values = (values ^ _shifted(values, 30)) * -4658895280553007687
    values = (values ^ _shifted(values, 27)) * -7723592293110705685
    return values ^ _shifted(values, 31)


def _shifted(values: Tensor, bits: int) -> Tensor:
    return (values >> bits) & ((1 << (64 - bits)) - 1)  # a logical shift: torch keeps the sign
