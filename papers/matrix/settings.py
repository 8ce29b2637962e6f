"""The tasks of the matrix, the model they start from, and changes that several tricks share."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lengen.formats.linear import Linear
from lengen.part import SettingError
from lengen.position_ids.consecutive import Consecutive, NoPositionIds
from lengen.settings.changes import overlay
from lengen.settings.model import Decoder, Learned, ModelSpec, NoEncoding
from lengen.settings.sections import DataSpec, TestSpec, TrainSpec
from lengen.tasks.addition import Addition
from lengen.tasks.arithmetic import DigitSums, NByOne, Successor
from lengen.tasks.base import Task
from lengen.tasks.increment import Carries
from lengen.tasks.sequences import Skewed
from lengen.tasks.sorting import NextLarger, Sorting
from lengen.tasks.strings import Copy, Parity, Reverse
from lengen.tasks.two_operand_addition import TwoOperandAddition
from papers.matrix.spec import ChoiceSpec, ChosenSpec, step_tokens

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
        """Return the tested lengths: n / 2 and n are trained, then n + 1 and the `FACTORS`."""
        n = self.trained[profile]
        return tuple(sorted({max(2, n // 2), n, n + 1, *(math.ceil(factor * n) for factor in FACTORS)}))

    def counts(self, profile: str) -> tuple[int, ...]:
        """Return the tested values of the second axis: the trained ones, one more, and `MOST_COUNTS` times as many."""
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


RATES = (1.5e-3, 4e-3, 5e-4)
"""Peak learning rates that every cell may choose from, in the order in which they are tried."""
BATCH = {"smoke": 4, "cpu": 64, "night": 64}
ROOM = 1.5
"""Table rows per token of the longest tested problem."""


class Refused(SettingError):
    """A trick that makes no sense for a task; the message has the reason."""


def plain(row: Row, profile: str) -> ChosenSpec:
    """Return the plain decoder: no positions, the most significant digit first; what every trick changes."""
    small = profile == "smoke"
    task = row.task(row.trained[profile])
    size = (1, 2, 8) if small else (2, 4, 16)
    layers, heads, head_dim = size
    spec = ChosenSpec(
        data=DataSpec(task=task, format=Linear(), position_ids=NoPositionIds()),
        model=ModelSpec(
            layers=layers,
            heads=heads,
            width=heads * head_dim,
            head_dim=head_dim,
            ff_width=2 * heads * head_dim,
            encoding=NoEncoding(),
            architecture=Decoder(),
            tied=False,
        ),
        train=TrainSpec(
            steps=1,
            batch=BATCH[profile],
            lr=RATES[0],
            betas=(0.9, 0.99),
            warmup=0.05,
            bucket=2 if small else 16,
            evaluations=1 if small else 5,
            one_length=isinstance(task, Skewed),
            precision="32-true" if small else "bf16-products",
        ),
        test=TestSpec(
            lengths=row.lengths(profile), counts=row.counts(profile), examples=4 if small else 200, free_running=False
        ),
        choice=ChoiceSpec(rates=RATES),
    )
    if small:  # a smoke run tries two rates and makes no further training, which could only fail in the same way
        spec = overlay(spec, {"choice": {"rates": RATES[:2], "retry": 1}})
    return spec


def budgeted(spec: ChosenSpec, tokens: int) -> ChosenSpec:
    """Train as many steps as the tokens of a budget allow, of all the trainings that share it."""
    return overlay(spec, {"train.steps": max(2, round(tokens / step_tokens(spec)))})


def longest(spec: ChosenSpec) -> int:
    """Return tokens of the longest tested problem, and room."""
    test = spec.test
    most = sum(spec.data.tokens(max(test.lengths), max(test.counts)))
    return math.ceil(ROOM * most) + 8


def encoded(spec: ChosenSpec, encoding: Any, ids: Any = None) -> ChosenSpec:
    """Give a setting an encoding, and consecutive ids if no others are given."""
    return overlay(spec, {"model.encoding": encoding, "data.position_ids": ids or Consecutive()})


def learned(spec: ChosenSpec) -> ChosenSpec:
    """Give a setting a table of positions, as long as the longest tested problem."""
    return encoded(spec, Learned(), Consecutive(longest(spec)))


def lowest_first(spec: ChosenSpec) -> ChosenSpec:
    """Let answers of numbers begin with the units; those of other tasks stay as they are."""
    return overlay(spec, {"data.format.reverse_response": True}) if spec.data.task.ROWS.numbers else spec
