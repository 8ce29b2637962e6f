"""What every task provides: problems as digit arrays, drawn from the published distributions."""

from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from lengen.randomness import generator as stream
from lengen.randomness import mix

PART = 100_000
"""Problems of a fixed set that are drawn at once."""


class Problems(NamedTuple):
    """A batch of problems of one task."""

    operands: Tensor
    """(B, K, W) int64 digits, least significant first, 0 beyond the length; parity: bits, first bit first; sequences:
    numbers from 1 on, first number first."""
    lengths: Tensor
    """(B, K) digits (or numbers) of each operand; 0 for an operand that is absent."""
    kinds: Tensor | None = None
    """(B,) which of a task's sub-tasks each problem asks for, where it has any."""

    def select(self, index: Tensor) -> "Problems":
        """The problems at the given positions, in that order."""
        return Problems(self.operands[index], self.lengths[index], None if self.kinds is None else self.kinds[index])


class OperandError(ValueError):
    """Operands a task cannot take; the message is one sentence for the user."""


class Task(Protocol):
    """The mathematics: which problems exist, how they are drawn, what their true answer is."""

    def train(self, n: int, length: int, count: int, generator: torch.Generator) -> Problems:
        """``n`` problems of the training distribution S(length, count)."""
        ...

    def fixed_set(self, examples: int, length: int, count: int, seed: int) -> Problems:
        """A training set of that many problems, drawn in parts, so that its size is what limits memory."""
        parts = []
        for start in range(0, examples, PART):
            drawn = self.train(min(PART, examples - start), length, count, stream("set", seed, start))
            parts.append(Problems(drawn.operands.to(torch.uint8), drawn.lengths.to(torch.uint8)))
        return Problems(torch.cat([p.operands for p in parts]), torch.cat([p.lengths for p in parts]))

    def validation(self, n: int, length: int, count: int, generator: torch.Generator) -> Problems:
        """``n`` problems of the training distribution that validate; held-out ones where a task has such."""
        return self.train(n, length, count, generator)

    def test(self, n: int, length: int, count: int, generator: torch.Generator) -> Problems:
        """At most ``n`` problems of the test distribution T(length, count): lengths and count exactly as given."""
        ...

    def parse(self, operands: list[str]) -> Problems:
        """One problem from what a user typed; raises `OperandError`."""
        ...

    def answer(self, problems: Problems) -> list[str]:
        """True answers as text, most significant digit first."""
        ...


def decimal(text: str) -> str:
    """A typed operand as a plain non-negative decimal number without leading zeros; raises `OperandError`."""
    if not (text.isascii() and text.isdigit()):
        raise OperandError(f"operand '{text}' is not a number: expected digits 0-9 only")
    return text.lstrip("0") or "0"


def keys(operands: Tensor) -> Tensor:
    """(B,) int64 keys of problems (B, K, W): equal problems of K operands have equal keys, whatever W.

    Different ones share a key with a chance of about 2**-64, and then one is left out that need not be: what keys
    promise, that no trained problem is tested, holds without exception.
    """
    _, rows, width = operands.shape
    places = torch.arange(width) * rows + torch.arange(rows)[:, None]
    return mix((operands.long() * (mix(places) | 1)).sum(dim=(1, 2)))
