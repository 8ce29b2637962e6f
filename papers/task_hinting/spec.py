"""Specification of a run of this paper, with the probes of the trained model."""

from lengen.part import Count, SettingError
from lengen.settings.sections import Section
from lengen.settings.spec import Spec
from lengen.tasks.sorting import Sorting


class ProbeSpec(Section, frozen=True):
    """Probes of Section 4 for a trained model that sorts."""

    examples: Count = 0
    """Sequences of every tested length for the two mechanisms; 0 for none."""
    sequences: tuple[tuple[str, ...], ...] = ()
    """Sequences whose projections are recorded."""


class ProbedSpec(Spec, frozen=True):
    """A specification whose run ends with probes of its residual stream."""

    probe: ProbeSpec

    def check(self) -> None:
        """Raise `SettingError` for values that would end a run after its training."""
        probe, task = self.probe, self.data.task
        if not probe.examples and not probe.sequences:
            return
        if not isinstance(task, Sorting) or self.model.tied:
            raise SettingError(
                "probe: minimum, identity and successor are looked for in models that sort and have an output head of "
                "their own; set probe.examples=0 and probe.sequences=[]"
            )
        if probe.examples and self.model.layers < 2:
            raise SettingError(f"model.layers={self.model.layers}: the mechanisms of Section 4 take two layers")
        for sequence in probe.sequences:
            numbers = [int(text) if text.isascii() and text.isdigit() else 0 for text in sequence]
            if not numbers or not all(1 <= number <= task.alphabet for number in numbers):
                raise SettingError(
                    f"probe.sequences: {' '.join(sequence) or 'an empty one'} is no sequence of numbers from 1 to "
                    f"{task.alphabet} (data.task.alphabet)"
                )
