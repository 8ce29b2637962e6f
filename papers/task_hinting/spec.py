"""What decides a run of this paper: a specification, and what is asked of the trained model; no torch."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lengen.config.spec import Spec, SpecError
from lengen.progress import Progress

if TYPE_CHECKING:
    from lengen.training.run import Outcome


@dataclass(frozen=True, kw_only=True)
class ProbeSpec:
    """What Section 4 asks of a trained model that sorts."""

    examples: int = 0
    """Sequences of every tested length on which the two mechanisms are looked for; 0 asks nothing."""
    sequences: tuple[tuple[str, ...], ...] = ()
    """Sequences whose projections are recorded."""


@dataclass(frozen=True, kw_only=True)
class ProbedSpec(Spec):
    """A specification whose run ends with probes of its residual stream."""

    probe: ProbeSpec

    def run(self, seed: int, folder: Path, report: Callable[[Progress], None]) -> "Outcome":
        from papers.task_hinting.probed import execute

        return execute(self, seed, folder, report)

    def check(self) -> None:
        """Raise `SpecError` for values that would end a run after its training."""
        probe = self.probe
        if probe.examples < 0:
            raise SpecError(f"probe.examples={probe.examples}: expected at least 0")
        if (probe.examples or probe.sequences) and (self.data.task != "sorting" or self.model.tied):
            raise SpecError(
                "probe: minimum, identity and successor are looked for in models that sort and have an output head of "
                "their own; set probe.examples=0 and probe.sequences=[]"
            )
        if probe.examples and self.model.layers < 2:
            raise SpecError(f"model.layers={self.model.layers}: the mechanisms of Section 4 take two layers")
        for sequence in probe.sequences:
            numbers = [int(text) if text.isascii() and text.isdigit() else 0 for text in sequence]
            if not numbers or not all(1 <= number <= self.data.alphabet for number in numbers):
                raise SpecError(
                    f"probe.sequences: {' '.join(sequence) or 'an empty one'} is no sequence of numbers from 1 to "
                    f"{self.data.alphabet} (data.alphabet)"
                )
