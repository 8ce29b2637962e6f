"""Transformers of Theorem 5.1 with weights of any variant, and what they write."""

import math
import random
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from lengen import TaskData, build_model, generate
from lengen.digits import Problems
from lengen.formats.base import FIRST
from lengen.models import Decoder
from lengen.training.model_building import load, set_by_hand
from papers.task_hinting.construction import set_weights
from papers.task_hinting.theorem_spec import TheoremSpec, theorem

Lists = list[list[int]]


class Sorter(NamedTuple):
    model: Decoder
    data: TaskData
    spec: TheoremSpec

    def answers(self, lists: Lists) -> Lists:
        """What the model writes, free-running, for sequences of any lengths."""
        written = generate(self.model, self.data.writer, problems(lists))
        return [(row[: len(one)] - FIRST + 1).tolist() for row, one in zip(written, lists, strict=True)]

    def sorts(self, lists: Lists) -> list[bool]:
        return [written == sorted(one) for written, one in zip(self.answers(lists), lists, strict=True)]

    @torch.no_grad()
    def readouts(self, lists: Lists) -> Tensor:
        """(B, n, q) <x, hat-e_a + hat-e'_a> at the delimiter and the true outputs, for sequences of one length."""
        batch = self.data.writer.write(problems(lists))
        return self.model.predict(batch)[:, len(lists[0]) :, FIRST : FIRST + self.spec.data.task.alphabet]

    def margin(self, lists: Lists) -> float:
        """The least lead of a correct readout over the best other one, for sequences of one length."""
        read = self.readouts(lists).float()
        right = torch.tensor([sorted(one) for one in lists])[:, :, None] - 1
        others = read.scatter(2, right, -math.inf).clamp(min=0).amax(dim=2)  # the rows of PAD, $ and delimiter read 0
        return float((read.gather(2, right)[:, :, 0] - others).min())


def problems(lists: Lists) -> Problems:
    width = max(map(len, lists))
    rows = torch.tensor([one + [0] * (width - len(one)) for one in lists])
    return Problems(rows[:, None], torch.tensor([[len(one)] for one in lists]))


@lru_cache(maxsize=64)
def repaired(alphabet: int, longest: int, precision: str = "32-true") -> Sorter:
    """The construction that sorts sequences of every length up to ``longest``."""
    spec = theorem(alphabet, longest, precision=precision)
    return Sorter(load(spec, None), TaskData(spec, 0), spec)


def variant(alphabet: int, longest: int, *, tau_of: int = 0, **weights: float) -> Sorter:
    """Other weights, as `set_weights` takes them; the printed W and kappa unless told otherwise.

    ``tau_of`` n makes tau 3 ln n for inputs of that length, as the proof has it.
    """
    spec = theorem(alphabet, longest, variant="printed" if weights.get("printed") else "repaired")
    model = build_model(spec, 0)
    slope = 3 * math.log(tau_of) / math.log(tau_of + 1) if tau_of else 3.0
    chosen = {"gain": 1, "sharpness": 1, "slope": slope, **weights}
    set_by_hand(model, lambda model: set_weights(model, alphabet, **chosen))
    return Sorter(model.eval(), TaskData(spec, 0), spec)


def of_length(alphabet: int, n: int, **weights: float) -> Sorter:
    """The smallest repair, for one length: tau = 3 ln n, W = 2 n, eps = 1/2."""
    return variant(alphabet, n, tau_of=n, **{"gain": 2 * n, **weights})


def drawn(q: int, n: int, count: int, seed: int = 0) -> Lists:
    draw = random.Random(seed)
    return [[draw.randint(1, q) for _ in range(n)] for _ in range(count)]


def families(q: int, n: int, seed: int = 0) -> Lists:
    """Sequences in which a count, a minimum or a successor is hard to find."""
    draw = random.Random(seed)
    return [
        [draw.randint(1, q) for _ in range(n)],
        [1] * n,
        [q] * n,
        [1] * (n // 2) + [2] * (n - n // 2),
        [1, 2] + [q] * (n - 2),  # the minimum and its successor once, ascending
        [q] * (n - 2) + [2, 1],  # and descending
        [1] * (n - 1) + [q],  # a far successor
        [q - i * q // n for i in range(n)],  # descending runs
    ]
