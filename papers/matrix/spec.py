"""Specification of a run of the matrix.

It has a setting, its learning rates, the condition for a longer training, and the making of a calibrated bias.
"""

import statistics
from functools import cache
from typing import Annotated

from msgspec import Meta, structs

from lengen.metrics.measures import LEARNED
from lengen.part import Count, NotNegative, SettingError, Share, Size
from lengen.position_ids.consecutive import Consecutive, NoPositionIds
from lengen.settings.attention_biases import Lines
from lengen.settings.changes import overlay
from lengen.settings.model import Encoding, Sinusoidal
from lengen.settings.sections import DataSpec, Section, TestSpec
from lengen.settings.spec import Spec, validate


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
        return (
            Spec(data=data, model=model, train=self.train, test=untested(self)),
            Spec(data=self.data, model=self.model, train=self.train, test=self.test),
        )


class CalibratedChoice(ChosenSpec, frozen=True, kw_only=True):
    """A cell with a calibrated bias: a rate is tried for both of its trainings."""

    calibration: CalibrationSpec

    def read(self) -> tuple[DataSpec, ...]:
        return tuple(training.data for training in self.trained(self.train.lr).trainings())

    def trained(self, rate: float, times: int = 1) -> CalibratedSpec:
        spec = super().trained(rate, times)
        return CalibratedSpec(
            data=spec.data, model=spec.model, train=spec.train, test=spec.test, calibration=self.calibration
        )

    def check(self) -> None:
        super().check()
        if not isinstance(self.model.attention_bias, Lines):
            raise SettingError(
                "model.architecture.attention_bias: a calibrated bias is made of lines; set "
                "model.architecture.attention_bias=lines"
            )
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
        some = structs.replace(data, task=task, hints=())
        counts = range(min(2, task.most), task.most + 1)
        pairs.append(statistics.fmean(sum(some.tokens(n, m)) for n in task.trained_lengths for m in counts))
    return statistics.fmean(pairs)
