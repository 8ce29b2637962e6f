"""Settings of the matrix: its tasks, the model they start from, learning rates, and when to train longer.

It has a setting, its learning rates, the condition for a longer training, and the making of a calibrated bias.
"""

import math
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated, Any

from msgspec import Meta, structs

from lengen.formats.linear import Linear
from lengen.metrics.measures import LEARNED
from lengen.part import Count, NotNegative, SettingError, Share, Size
from lengen.position_ids.places import Consecutive, NoPositionIds
from lengen.settings.attention_biases import Lines
from lengen.settings.changes import overlay
from lengen.settings.model import Decoder, Encoding, Learned, ModelSpec, NoEncoding, Sinusoidal
from lengen.settings.sections import DataSpec, Section, TestSpec, TrainSpec
from lengen.settings.spec import Spec, validate
from lengen.tasks.addition import Addition
from lengen.tasks.arithmetic import DigitSums, NByOne, Successor
from lengen.tasks.base import Task
from lengen.tasks.increment import Carries
from lengen.tasks.sequences import Skewed
from lengen.tasks.sorting import NextLarger, Sorting
from lengen.tasks.strings import Copy, Parity, Reverse
from lengen.tasks.two_operand_addition import TwoOperandAddition


class ChoiceSpec(Section, frozen=True):
    """Choice of the learning rate, and the remedy if the trained range is not learned."""

    rates: Annotated[tuple[NotNegative, ...], Meta(min_length=1)]
    """Peak learning rates in the order in which they are tried, each with a whole budget, until one has taught the
    trained range."""
    learned: Share = LEARNED
    """Exact match at the longest trained length from which a rate is kept."""
    retry: Size = 4
    """Times the steps of the one further training, with the best of the rates, where none has; 1: there is none."""


def untested(spec: Spec) -> TestSpec:
    """Return the test of a training of which nothing but its validation is read."""
    task = spec.data.task
    return TestSpec(lengths=(task.longest,), counts=(task.most,), examples=1, free_running=False)


class ChosenSpec(Spec, frozen=True, kw_only=True):
    """A specification whose learning rate each run chooses itself (`papers.matrix.procedures`).

    It does so by exact match at the longest trained length: on the test problems of that length, none of which is
    beyond the trained range.
    """

    choice: ChoiceSpec

    def read(self) -> tuple[DataSpec, ...]:
        """Return the data of the trainings that share one budget and have equal steps."""
        return (self.data,)

    def trained(self, rate: float, times: int = 1) -> Spec:
        """Return a training with one rate, for so many times the steps, and its test."""
        train = structs.replace(self.train, lr=rate, steps=times * self.train.steps)
        return Spec(data=self.data, model=self.model, train=train, test=self.test)

    def trainings(self) -> tuple[Spec, ...]:
        """Return the trainings that a plan counts with: of the first rate, and longer.

        How many rates are tried, and whether there is a further training, is not known before; RECIPES.md says what
        cells took.
        """
        first, *others = self.choice.rates
        more = [(first, self.choice.retry)] if self.choice.retry > 1 else [(rate, 1) for rate in others[:1]]
        return tuple(part for rate, times in [(first, 1), *more] for part in self.trained(rate, times).trainings())

    def check(self) -> None:
        """Raise `SettingError` for a choice that cannot be made."""
        if self.train.lr not in self.choice.rates:
            raise SettingError(f"train.lr={self.train.lr}: expected one of choice.rates={list(self.choice.rates)}")
        if self.train.steps < 1:
            raise SettingError(f"train.steps={self.train.steps}: expected at least 1")


class CalibrationSpec(Section, frozen=True):
    """The model whose attention is calibrated, and the lines that open."""

    encoding: Encoding = Sinusoidal()
    """Its position encoding; ids are consecutive. All else of the model is as in the one that gets the bias."""
    width: Count = 0
    """Digits that numbers are padded to in its training; 0: problems are written as for the other model."""
    sigma_own: NotNegative = 0.9
    """Standard deviations above the mean at which a line of the response opens, of few lines."""
    sigma_cross: NotNegative = 2.0
    """The same of the lines of one direction in the prompt."""
    examples: Size = 300
    """Training problems, all operands of the trained length, that attention is averaged over."""


class CalibratedSpec(Spec, frozen=True, kw_only=True):
    """A model that is trained with the calibrated lines of another: two trainings of as many steps."""

    calibration: CalibrationSpec

    @property
    def lines(self) -> Lines:
        """The lines that it has room for."""
        bias = self.model.attention_bias
        assert isinstance(bias, Lines)
        return bias

    def trainings(self) -> tuple[Spec, Spec]:
        """Return the model that is calibrated from, all of whose lines are open, and the one that is measured."""
        data = structs.replace(self.data, position_ids=Consecutive())
        if self.calibration.width:
            data = overlay(data, {"format.width": self.calibration.width})
        model = structs.replace(self.model, encoding=self.calibration.encoding)
        first = Spec(data=data, model=model, train=self.train, test=untested(self))
        return first, Spec(data=self.data, model=self.model, train=self.train, test=self.test)


class CalibratedChoice(ChosenSpec, frozen=True, kw_only=True):
    """A cell with a calibrated bias: a rate is tried for both of its trainings."""

    calibration: CalibrationSpec

    def read(self) -> tuple[DataSpec, ...]:
        return tuple(training.data for training in self.trained(self.train.lr).trainings())

    def trained(self, rate: float, times: int = 1) -> CalibratedSpec:
        spec = super().trained(rate, times)
        parts = {name: getattr(spec, name) for name in spec.__struct_fields__}
        return CalibratedSpec(**parts, calibration=self.calibration)

    def check(self) -> None:
        super().check()
        if not isinstance(self.model.attention_bias, Lines):
            fault = "model.architecture.attention_bias: a calibrated bias is made of lines"
            raise SettingError(f"{fault}; set model.architecture.attention_bias=lines")
        for training in self.trained(self.train.lr).trainings():
            validate(training)


def step_tokens(spec: ChosenSpec) -> float:
    """Return the tokens of a step, of all the trainings that share a budget: batch times an example of each.

    As the budget counts: lengths and counts as often as each other, numbers with their leading zeros, no padding of a
    batch. It is the same for all seeds, and so are the steps.
    """
    written = (structs.replace(data, position_ids=NoPositionIds()) for data in spec.read())
    return sum(spec.train.batch * mean_tokens(data) for data in written)


@cache  # most tricks write alike
def mean_tokens(data: DataSpec) -> float:
    """Return the mean tokens of a training example, over all trained lengths and counts, auxiliary tasks in turn."""
    pairs = []
    for task in (data.task, *data.hints):
        written = structs.replace(data, task=task, hints=())
        counts = range(min(2, task.most), task.most + 1)
        pairs.append(statistics.fmean(sum(written.tokens(n, m)) for n in task.trained_lengths for m in counts))
    return statistics.fmean(pairs)


FACTORS = (1.5, 2, 3, 5)
"""Multiples of the trained length n that are tested, beside n / 2, n and n + 1."""
MOST_COUNTS = 2
"""The largest multiple of the most trained numbers that is tested, if there is a second axis."""
LARGEST = 50
"""Alphabet of sorting: more numbers than the longest tested sequence has."""


@dataclass(frozen=True)
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
NO_PARITY = (
    "the exclusive or of the bits so far is answered from the last bit on, and both tasks of a run share an order of "
    "answers, which one bit has not"
)
NO_PRODUCTS = "products digit by digit, what digit sums are to an addition, are no task of this suite"


def _of_largest(task: Callable[..., Task]) -> Callable[[int], Task]:
    return partial(task, alphabet=LARGEST)


def _two(n: int) -> Task:
    return TwoOperandAddition(tuple(range(1, n + 1)))


TASKS: dict[str, Row] = {
    "parity": Row("parity", Parity, LONG, 700_000, no_hint=NO_PARITY),
    "successor": Row("successor", Successor, SHORT, 700_000, Carries),
    "n-by-one": Row("N × 1", NByOne, SHORT, 1_400_000, no_hint=NO_PRODUCTS),
    "addition": Row("addition", _two, THREE, 1_800_000, DigitSums),
    "sums": Row("sums of several", partial(Addition, operands=3), THREE | {"smoke": 2}, 2_000_000, DigitSums),
    "copy": Row("copy", Copy, LONG, 900_000, Reverse),
    "reverse": Row("reverse", Reverse, LONG, 900_000, Copy),
    "sorting": Row("sorting", _of_largest(Sorting), LONG, 1_400_000, _of_largest(NextLarger)),
}
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
            layers=layers, heads=heads, width=heads * head_dim, head_dim=head_dim, ff_width=2 * heads * head_dim,
            encoding=NoEncoding(), architecture=Decoder(), tied=False,
        ),
        train=TrainSpec(
            steps=1, batch=BATCH[profile], lr=RATES[0], betas=(0.9, 0.99), warmup=0.05, bucket=2 if small else 16,
            evaluations=1 if small else 5, one_length=isinstance(task, Skewed),
            precision="32-true" if small else "bf16-products",
        ),
        test=TestSpec(
            lengths=row.lengths(profile), counts=row.counts(profile), examples=4 if small else 200, free_running=False,
        ),
        choice=ChoiceSpec(rates=RATES),
    )  # fmt: skip
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
