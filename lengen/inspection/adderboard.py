"""The community's check of small transformers that add two numbers of ten digits: its problems and its count.

A model enters, counts leave. The rules are those of AdderBoard (github.com/anadim/AdderBoard, its README.md and
verify.py as of commit 525088b, 2026-03-04): ten edge cases, then 10,000 pairs drawn with seed 2025 from all numbers of
up to ten digits; 99 % of them all qualify. Answers are written token by token, and an error counts as a wrong one.
"""

import random
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

import torch

from lengen.config.part import SettingError
from lengen.data.task_data import TaskData
from lengen.decoding import write
from lengen.inspection.problem import read
from lengen.models import Transformer
from lengen.problems import OperandError, Problems

DIGITS = 10
LARGEST = 10**DIGITS - 1
SEED, PAIRS = 2025, 10_000
QUALIFIES = 0.99
"""Share of right answers, edge cases included, from which on a model is listed."""
EDGES = (
    (0, 0),
    (0, 1),
    (LARGEST, 0),
    (LARGEST, 1),
    (LARGEST, LARGEST),
    (5_000_000_000, 5_000_000_000),
    (1_111_111_111, 8_888_888_889),
    (1_234_567_890, 9_876_543_210),
    (LARGEST, LARGEST),
    (1, LARGEST),
)
"""The edge cases as they stand there; one of them twice."""
AT_ONCE = 500
"""Problems of one batch."""

Pair = tuple[int, int]


class Sums(NamedTuple):
    """How many sums of which kind were right."""

    edges: int
    """Of the ten edge cases."""
    pairs: int
    """Of the drawn pairs."""
    drawn: int
    """Pairs that were drawn."""
    refused: int
    """Problems, of both kinds, that the model cannot be asked: they count as wrong."""
    why: str
    """Why not: the sentence of the first of them."""

    @property
    def share(self) -> float:
        """Right ones among all problems, as the check counts them."""
        return (self.edges + self.pairs) / (len(EDGES) + self.drawn)


class Parameters(NamedTuple):
    """Parameters of a model as the rules count them: entries of every trained or set tensor, shared ones once."""

    unique: int
    positions: int
    """Of these in the encoding of positions: fixed ones, which are no parameters, would not count."""
    zeros: int
    """Of these that are zero; the rules have no word for them, and count whatever a submission declares."""


def drawn(pairs: int = PAIRS, seed: int = SEED) -> list[Pair]:
    """The random pairs, first and second number in turn from Python's own generator.

    >>> drawn(1)
    [(2395527356, 9334186774)]
    """
    source = random.Random(seed)
    return [(source.randint(0, LARGEST), source.randint(0, LARGEST)) for _ in range(pairs)]


def adds(data: TaskData) -> bool:
    """Whether the task of a setting is the addition of two numbers."""
    task, _ = data.trained(data.spec.data.task.name)
    try:
        return task.text(task.parse(["12", "34"])) == ["46"]
    except (OperandError, SettingError):
        return False


def sums(
    data: TaskData,
    model: Transformer,
    pairs: int = PAIRS,
    seed: int = SEED,
    report: Callable[[int, int], None] = lambda done, of: None,
) -> Sums:
    """Let a model add the edge cases and the drawn pairs; ``report`` is told how many of how many are answered."""
    asked = [*EDGES, *drawn(pairs, seed)]
    right, why = [False] * len(asked), ""
    refused = done = 0

    def digits(place: int) -> tuple[int, int]:
        first, second = asked[place]
        return len(str(first)), len(str(second))

    # numbers of the same lengths are laid out alike: a model can be asked all of them, or none
    for _, group in groupby(sorted(range(len(asked)), key=digits), digits):
        places = list(group)
        for start in range(0, len(places), AT_ONCE):
            some = places[start : start + AT_ONCE]
            try:
                answers = _answers(data, model, [asked[place] for place in some])
            except (OperandError, SettingError) as error:
                refused, why = refused + len(some), why or str(error)
                answers = [""] * len(some)
            for place, answer in zip(some, answers, strict=True):
                right[place] = answer == str(sum(asked[place]))
            done += len(some)
            report(done, len(asked))
    return Sums(sum(right[: len(EDGES)]), sum(right[len(EDGES) :]), pairs, refused, why)


def _answers(data: TaskData, model: Transformer, pairs: Sequence[Pair]) -> list[str]:
    """What a model writes and reads off as the sums of pairs of equally long numbers."""
    task, writer = data.trained(data.spec.data.task.name)
    parsed = [task.parse([str(number) for number in pair]) for pair in pairs]
    data.spec.admit(tuple(parsed[0].lengths[0].tolist()))
    problems = Problems(torch.cat([one.operands for one in parsed]), torch.cat([one.lengths for one in parsed]))
    return read(writer, task, write(model, writer, problems))


def parameters(model: Transformer) -> Parameters:
    """The parameters of a model; tensors that are shared are one."""
    found = list(model.parameters())
    return Parameters(
        sum(tensor.numel() for tensor in found),
        sum(tensor.numel() for tensor in model.encoding.parameters()),
        sum(int((tensor == 0).sum()) for tensor in found),
    )
