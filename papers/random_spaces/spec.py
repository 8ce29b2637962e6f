"""What decides a run of this paper: a specification, and what is measured beyond exact match; no torch."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengen.config.spec import Spec, SpecError

if TYPE_CHECKING:
    from lengen.callbacks import Measurement


@dataclass(frozen=True, kw_only=True)
class MeasureSpec:
    """What a trained model is asked after it was scored."""

    examples: int = 200
    """Problems of every tested length whose losses, scratchpad parts and sub-tasks are measured."""
    uncertainty: tuple[int, ...] = ()
    """Operand lengths at which entropy and probabilities are recorded by answer place (Figure 4.3)."""
    prompts: int = 100
    """Problems of each of these lengths."""


@dataclass(frozen=True, kw_only=True)
class MeasuredSpec(Spec):
    """A specification whose run ends with measurements of its own."""

    measure: MeasureSpec

    def callbacks(self) -> "list[Measurement]":
        from papers.random_spaces.measured import Answers, Uncertainties

        count, measure = max(self.test.counts), self.measure
        return [
            Answers(self.test.lengths, count, measure.examples),
            Uncertainties(measure.uncertainty, count, measure.prompts),
        ]

    def check(self) -> None:
        """Raise `SpecError` for values that would end a run after its training."""
        for path, count in (("examples", self.measure.examples), ("prompts", self.measure.prompts)):
            if count < 1:
                raise SpecError(f"measure.{path}={count}: expected at least 1")
        if any(length < 1 for length in self.measure.uncertainty):
            raise SpecError(f"measure.uncertainty={list(self.measure.uncertainty)}: expected lengths of at least 1")
