"""Explicit randomness: every stream has a generator derived from what it is for.

Streams of different purposes are different by construction, so test examples are never drawn from a training
stream, whatever the seed, and a batch is a function of (seed, step) alone: nothing has to be remembered to resume.
"""

import hashlib

import torch


def generator(purpose: str, *numbers: int) -> torch.Generator:
    """A CPU generator for one purpose and its numbers (seed, step, cell ...); equal arguments, equal stream."""
    text = ":".join([purpose, *map(str, numbers)])
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
    return torch.Generator().manual_seed(seed)
