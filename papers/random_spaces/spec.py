"""Specification of a run of this paper, with its measurements beyond exact match."""

from lengen.part import Size
from lengen.settings.sections import Section
from lengen.settings.spec import Spec


class MeasureSpec(Section, frozen=True):
    """Measurements of a trained model after scoring."""

    examples: Size = 200
    """Problems of every tested length whose losses, scratchpad parts and sub-tasks are measured."""
    uncertainty: tuple[Size, ...] = ()
    """Operand lengths at which entropy and probabilities are recorded by answer place (Figure 4.3)."""
    prompts: Size = 100
    """Problems of each of these lengths."""
    alignment: tuple[Size, ...] = ()
    """Operand lengths at which attention to the digits that are added is measured, ``prompts`` of each (Figure 4.4)."""


class MeasuredSpec(Spec, frozen=True):
    """A specification whose run ends with measurements of its own."""

    measure: MeasureSpec
