"""Threads for small work: one, since sharing it among several takes longer than doing it.

Threads meet at a barrier after every operation. Those of a small model take microseconds; when another process has a
core, all wait for the one that does not run.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

SMALL = 200_000
"""Parameters of a model whose training one thread does best."""
SINGLE = 10_000_000
"""Parameters of a model that answers a single problem, a token at a time, with one thread best."""
CHOSEN_BY = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Environment variables by which a user chooses threads: then nothing is changed."""


def one_is_best(model: nn.Module, most: int) -> bool:
    """Return the model is on a CPU, has at most so many parameters, and the user has not chosen the threads."""
    if any(name in os.environ for name in CHOSEN_BY):
        return False
    parameters = list(model.parameters())
    return sum(each.numel() for each in parameters) <= most and all(each.device.type == "cpu" for each in parameters)


@contextmanager
def few_threads(model: nn.Module, most: int = SINGLE) -> Iterator[None]:
    """Use one thread within, if that is best for this model; as many as before after it."""
    before = torch.get_num_threads()
    if before == 1 or not one_is_best(model, most):
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
