"""The community's check of small transformers that add two numbers of ten digits: its problems and its count.

A model enters, counts leave. The rules are those of AdderBoard (github.com/anadim/AdderBoard, its README.md and
verify.py as of commit 525088b, 2026-03-04): ten edge cases, then 10,000 pairs drawn with seed 2025 from all numbers of
up to ten digits; 99 % of them all qualify. Answers are written token by token, and an error counts as a wrong one.
"""

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from torch import Tensor, nn

from lengen.data.task_data import TaskData
from lengen.digits.problems import OperandError
from lengen.inspection.answers import answers
from lengen.models import Transformer
from lengen.part import SettingError

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
"""The edge cases as printed there; one of them twice."""
Pair = tuple[int, int]


class Wrong(NamedTuple):
    """A wrong sum."""

    first: int
    second: int
    answer: str | None

    def text(self) -> str:
        """Return the sum, the answer, and the places that are wrong, from the units: digits, and the carries into them.

        >>> Wrong(57, 48, "95").text()
        '57 + 48 = 105, not 95; wrong places 2, 3; carries go into 2, 3'
        """
        true = str(self.first + self.second)
        said = f"{self.first} + {self.second} = {true}, " + ("no sum" if self.answer is None else f"not {self.answer}")
        if self.answer is None or not self.answer.isdigit():
            return said
        size = max(len(true), len(self.answer))
        pairs = zip(true.zfill(size)[::-1], self.answer.zfill(size)[::-1], strict=True)
        places = [place for place, (a, b) in enumerate(pairs, start=1) if a != b]
        carried = [
            p for p in places if p > 1 and (self.first % 10 ** (p - 1) + self.second % 10 ** (p - 1)) >= 10 ** (p - 1)
        ]
        into = f"; carries go into {', '.join(map(str, carried))}" if carried else "; no carry goes into them"
        return f"{said}; wrong places {', '.join(map(str, places))}{into}"


class Sums(NamedTuple):
    """Counts of right sums by kind."""

    edges: int
    """Of the ten edge cases."""
    pairs: int
    """Of the drawn pairs."""
    drawn: int
    """Pairs that were drawn."""
    refused: int
    """Problems, of both kinds, that do not fit the model: they count as wrong."""
    why: str
    """Why not: the sentence of the first of them."""
    wrong: "tuple[Wrong, ...]" = ()
    """The wrong ones."""

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


def drawn(pairs: int = PAIRS) -> list[Pair]:
    """Return the random pairs, first and second number in turn from Python's own generator.

    >>> drawn(1)
    [(2395527356, 9334186774)]
    """
    source = random.Random(SEED)
    return [(source.randint(0, LARGEST), source.randint(0, LARGEST)) for _ in range(pairs)]


def adds(data: TaskData) -> bool:
    """Return True if the task of a setting is the addition of two numbers."""
    task, _ = data.trained(data.spec.data.task.name)
    try:
        return task.text(task.parse(["12", "34"])) == ["46"]
    except (OperandError, SettingError):
        return False


def sums(
    data: TaskData,
    model: Transformer,
    pairs: int = PAIRS,
    report: Callable[[int, int], None] = lambda done, of: None,
) -> Sums:
    """Let a model add the edge cases and the drawn pairs.

    ``report`` is called with the numbers of answered and of all.
    """
    asked = [*EDGES, *drawn(pairs)]
    found = answers(data, model, [[str(number) for number in pair] for pair in asked], report)
    return _of(asked, found.texts, found.why)


def summed(
    add: Callable[[int, int], object],
    pairs: int = PAIRS,
    report: Callable[[int, int], None] = lambda done, of: None,
) -> Sums:
    """Let a function add the edge cases and the drawn pairs; a sum for which it raises an error is refused."""
    asked, why = [*EDGES, *drawn(pairs)], ""
    texts: list[str | None] = []
    for done, pair in enumerate(asked, start=1):
        try:
            texts.append(str(add(*pair)))
        except Exception as error:  # a foreign function may raise anything
            texts.append(None)
            why = why or f"{pair[0]} + {pair[1]}: {type(error).__name__}: {error}"
        report(done, len(asked))
    return _of(asked, texts, why)


def _of(asked: Sequence[Pair], texts: Sequence[str | None], why: str) -> Sums:
    right = [text == str(sum(pair)) for text, pair in zip(texts, asked, strict=True)]
    wrong = tuple(Wrong(*pair, text) for pair, text, good in zip(asked, texts, right, strict=True) if not good)
    edges = len(EDGES)
    return Sums(sum(right[:edges]), sum(right[edges:]), len(asked) - edges, list(texts).count(None), why, wrong)


def tensors(model: object) -> list[Tensor]:
    """Return the parameters of a submission's model, if it is a module."""
    return list(model.parameters()) if isinstance(model, nn.Module) else []


def counted(model: object, declared: int) -> Parameters:
    """Count the parameters of a submission's model; those that it declares if it is no module."""
    found = tensors(model)
    zeros = sum(int((tensor == 0).sum()) for tensor in found)
    return Parameters(sum(tensor.numel() for tensor in found) if found else declared, 0, zeros)


def parameters(model: Transformer) -> Parameters:
    """Return the parameters of a model; tensors that are shared are one."""
    return counted(model, 0)._replace(positions=sum(tensor.numel() for tensor in model.encoding.parameters()))
