"""What decides a run of the matrix: a setting, the rates it may be trained with, and when it is trained longer."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, structs

from lengen.config.part import NotNegative, SettingError, Share, Size
from lengen.config.sections import Section, TestSpec
from lengen.config.spec import Spec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lightning.pytorch.loggers.logger import Logger

    from lengen.progress import Progress
    from lengen.training.run import Outcome


LEARNED = 0.95
"""Exact match at the longest trained length from which a model has learned its trained range."""


class ChoiceSpec(Section, frozen=True):
    """How the learning rate is chosen, and what happens where the trained range is not learned."""

    rates: Annotated[tuple[NotNegative, ...], Meta(min_length=1)]
    """Peak learning rates that are tried, each by a short training of its own."""
    steps: Size
    """Optimizer steps of each short training."""
    learned: Share = LEARNED
    """Exact match at the longest trained length below which a model is trained again."""
    retry: Size = 4
    """Times the steps of the one further training of a model that has not learned; 1: there is none."""


class ChosenSpec(Spec, frozen=True, kw_only=True):
    """A specification whose learning rate each run chooses itself, by validation inside the trained range."""

    choice: ChoiceSpec

    def run(
        self, seed: int, folder: Path, report: "Callable[[Progress], None]", loggers: "Sequence[Logger]" = ()
    ) -> "Outcome":
        from papers.matrix.chosen import execute

        return execute(self, seed, folder, report, loggers)

    def trial(self, rate: float) -> Spec:
        """The short training with one rate; nothing but its validation is read."""
        task = self.data.task
        return Spec(
            data=self.data,
            model=self.model,
            train=structs.replace(self.train, lr=rate, steps=self.choice.steps, evaluations=1),
            test=TestSpec(lengths=(task.longest,), counts=(task.most,), examples=1, free_running=False),
        )

    def trained(self, rate: float, times: int = 1) -> Spec:
        """The training that is measured, with the chosen rate, for so many times the steps."""
        train = structs.replace(self.train, lr=rate, steps=times * self.train.steps)
        return Spec(data=self.data, model=self.model, train=train, test=self.test)

    def trainings(self) -> tuple[Spec, ...]:
        """The short trainings and the one that is measured; whether there is another one is not known before."""
        return (*(self.trial(rate) for rate in self.choice.rates), self.trained(self.train.lr))

    def check(self) -> None:
        """Raise `SettingError` for a choice that cannot be made."""
        if self.train.lr not in self.choice.rates:
            raise SettingError(f"train.lr={self.train.lr}: expected one of choice.rates={list(self.choice.rates)}")
        if self.train.steps < 1:
            raise SettingError(f"train.steps={self.train.steps}: expected at least 1")
