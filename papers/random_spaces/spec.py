"""What decides a run of this paper: a specification, and what is measured beyond exact match; no torch."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lengen.config.spec import Spec, SpecError
from lengen.progress import Progress

if TYPE_CHECKING:
    from lengen.training.run import Outcome


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

    def run(self, seed: int, folder: Path, report: Callable[[Progress], None]) -> "Outcome":
        from papers.random_spaces.measured import execute

        return execute(self, seed, folder, report)

    def check(self) -> None:
        """Raise `SpecError` for values that would end a run after its training."""
        for path, count in (("examples", self.measure.examples), ("prompts", self.measure.prompts)):
            if count < 1:
                raise SpecError(f"measure.{path}={count}: expected at least 1")
        if any(length < 1 for length in self.measure.uncertainty):
            raise SpecError(f"measure.uncertainty={list(self.measure.uncertainty)}: expected lengths of at least 1")
