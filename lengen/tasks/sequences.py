"""What tasks on sequences share: problems drawn for given lengths, so that a batch can share one; numbers of an
alphabet."""

from abc import abstractmethod

import torch
from torch import Tensor

from lengen.config import tasks as parts
from lengen.problems import OperandError, Problems
from lengen.tasks.base import Task
from lengen.tasks.length_distribution import Skew


class SkewedTask(Task):
    """A task whose problems are drawn for given lengths, from a skewed distribution of them."""

    part: parts._Skewed

    def __init__(self, part: "parts._Skewed") -> None:
        super().__init__(part)
        self.skew = Skew(part.short, part.skew)

    @abstractmethod
    def of_lengths(self, lengths: Tensor, generator: torch.Generator) -> Problems:
        """Training problems of these lengths (B,)."""

    def train(self, n: int, generator: torch.Generator) -> Problems:
        """Lengths by `Skew`, held as wide as the longest may be."""
        longest = self.part.longest
        problems = self.of_lengths(self.skew.lengths(n, longest, generator), generator)
        room = longest - problems.operands.shape[2]
        return problems._replace(operands=torch.nn.functional.pad(problems.operands, (0, room)))

    def test(self, n: int, length: int, count: int, generator: torch.Generator) -> Problems:
        """As in training, at one length."""
        return self.of_lengths(torch.full((n,), length), generator)


class NumberTask(SkewedTask):
    """A task on sequences of the numbers 1 to ``alphabet``."""

    def first(self) -> int:
        return 1


def of_two(length: int) -> int:
    """A tested length of a task whose problems have two numbers at least; raises `OperandError` for a shorter one."""
    if length < parts.SHORTEST:
        raise OperandError(
            f"test.lengths={length}: problems of this task have {parts.SHORTEST} numbers or more; test from "
            f"{parts.SHORTEST} on"
        )
    return length


def uniform_sequences(lengths: Tensor, alphabet: int, generator: torch.Generator) -> Tensor:
    """(B, W) numbers 1 to ``alphabet``, drawn independently with replacement; 0 beyond each length."""
    width = int(lengths.max())
    numbers = torch.randint(1, alphabet + 1, (len(lengths), width), generator=generator)
    return numbers * (torch.arange(width) < lengths[:, None])


def distinct(n: int, alphabet: int, width: int, generator: torch.Generator) -> Tensor:
    """(n, width) numbers 1 to ``alphabet``, drawn without replacement."""
    return torch.rand(n, alphabet, generator=generator).argsort(dim=1)[:, :width] + 1


def shuffled(sequences: Tensor, lengths: Tensor, generator: torch.Generator) -> Tensor:
    """(B, W) sequences whose first ``lengths`` numbers stand in random order."""
    order = torch.rand(sequences.shape, generator=generator)
    outside = torch.arange(sequences.shape[1]) >= lengths[:, None]
    return sequences.gather(1, order.masked_fill(outside, 2.0).argsort(dim=1))


def number(text: str, alphabet: int) -> int:
    """A typed number of the alphabet; raises `OperandError`."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= alphabet):
        raise OperandError(f"'{text}' is no number of this alphabet: expected 1 to {alphabet} (data.task.alphabet)")
    return int(text)
