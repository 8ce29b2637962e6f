"""The tasks of the matrix, as data: what is computed, to which length it is trained, and the tokens each may cost."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lengen.tasks.addition import Addition
from lengen.tasks.arithmetic import DigitSums, NByOne, Successor
from lengen.tasks.base import Task
from lengen.tasks.copy import Copy
from lengen.tasks.increment import Carries
from lengen.tasks.parity import Parity
from lengen.tasks.reverse import Reverse
from lengen.tasks.sorting import NextLarger, Sorting
from lengen.tasks.two_operand_addition import TwoOperandAddition

FACTORS = (1.5, 2, 3, 5)
"""Multiples of the trained length n that are tested, beside n / 2, n and n + 1."""
MOST_COUNTS = 2
"""The largest multiple of the most trained numbers that is tested, if there is a second axis."""
LARGEST = 50
"""Alphabet of sorting: more numbers than the longest tested sequence has."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A task of the matrix."""

    name: str
    """Name in pictures."""
    task: Callable[[int], Task]
    """The task, for a trained length."""
    trained: Mapping[str, int]
    """Trained length by profile."""
    tokens: int
    """Training tokens of a night, queries included: one budget for every trick."""
    hint: Callable[[int], Task] | None = None
    """The auxiliary task of the same digits, for its longest length."""
    no_hint: str = ""
    """Why there is none."""

    def lengths(self, profile: str) -> tuple[int, ...]:
        """Return tested lengths: n / 2 and n are trained, then n + 1 and the `FACTORS`."""
        n = self.trained[profile]
        return tuple(sorted({max(2, n // 2), n, n + 1, *(math.ceil(factor * n) for factor in FACTORS)}))

    def counts(self, profile: str) -> tuple[int, ...]:
        """Return tested values of the second axis: the trained ones, one more, and `MOST_COUNTS` times as many."""
        task = self.task(self.trained[profile])
        return (2, task.most, task.most + 1, MOST_COUNTS * task.most) if task.most > 2 else task.counts


THREE = {"smoke": 3, "cpu": 3, "night": 3}
SHORT = {"smoke": 3, "cpu": 4, "night": 4}
LONG = {"smoke": 4, "cpu": 8, "night": 8}
TASKS: dict[str, Row] = {
    "parity": Row(
        name="parity", task=Parity, trained=LONG, tokens=700_000,
        no_hint="the exclusive or of the bits so far is answered from the last bit on, and both tasks of a run share "
        "an order of answers, which one bit has not",
    ),
    "successor": Row(
        name="successor", task=Successor, trained=SHORT, tokens=700_000, hint=lambda n: Carries(longest=n),
    ),
    "n-by-one": Row(
        name="N × 1", task=NByOne, trained=SHORT, tokens=1_400_000,
        no_hint="products digit by digit, what digit sums are to an addition, are no task of this suite",
    ),
    "addition": Row(
        name="addition",
        task=lambda n: TwoOperandAddition(tuple(range(1, n + 1))), trained=THREE, tokens=1_800_000, hint=DigitSums,
    ),
    "sums": Row(
        name="sums of several",
        task=lambda n: Addition(digits=n, operands=3),
        trained={"smoke": 2, "cpu": 3, "night": 3},
        tokens=2_000_000,
        hint=DigitSums,
    ),
    "copy": Row(name="copy", task=Copy, trained=LONG, tokens=900_000, hint=Reverse),
    "reverse": Row(name="reverse", task=Reverse, trained=LONG, tokens=900_000, hint=Copy),
    "sorting": Row(
        name="sorting",
        task=lambda n: Sorting(longest=n, alphabet=LARGEST), trained=LONG, tokens=1_400_000,
        hint=lambda n: NextLarger(longest=n, alphabet=LARGEST),
    ),
}  # fmt: skip
"""Rows by their names in experiments; `RECIPES.md` has the origin of the budgets."""
