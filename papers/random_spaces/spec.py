"""What decides a run of this paper: a specification, and what is measured beyond exact match; no torch."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lengen.config.part import Size
from lengen.config.sections import Section
from lengen.config.spec import Spec
from lengen.progress import Progress

if TYPE_CHECKING:
    from lengen.training.run import Outcome


class MeasureSpec(Section, frozen=True):
    """What a trained model is asked after it was scored."""

    examples: Size = 200
    """Problems of every tested length whose losses, scratchpad parts and sub-tasks are measured."""
    uncertainty: tuple[Size, ...] = ()
    """Operand lengths at which entropy and probabilities are recorded by answer place (Figure 4.3)."""
    prompts: Size = 100
    """Problems of each of these lengths."""


class MeasuredSpec(Spec, frozen=True):
    """A specification whose run ends with measurements of its own."""

    measure: MeasureSpec

    def run(self, seed: int, folder: Path, report: Callable[[Progress], None]) -> "Outcome":
        from papers.random_spaces.measured import execute

        return execute(self, seed, folder, report)
