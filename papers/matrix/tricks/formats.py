"""Tricks that say how a problem is written. Each docstring: what it is, its source, and what the source reports."""

from lengen.formats.subtasks import Subtasks
from lengen.settings.changes import overlay
from lengen.settings.model import Sinusoidal
from lengen.settings.sections import RandomSpaces
from papers.matrix.settings import ChosenSpec, Refused, encoded, learned, lowest_first

SPACES = 0.5
"""Most spaces, as a share of a query's tokens; the thesis's ratio."""


def reversed(spec: ChosenSpec) -> ChosenSpec:
    """The answer begins with the units, as a carry goes.

    Lee et al. 2023 (2307.03381): addition is learned from fewer examples. "Length Generalization on Multi-Digit Integer
    Addition with Transformers", Section 4.4.2: alone it does not help beyond the trained lengths.
    """
    if not spec.data.task.ROWS.numbers:
        raise Refused("digits here have no significance: a reversed answer would be another task")
    return lowest_first(spec)


def zero_padded(spec: ChosenSpec) -> ChosenSpec:
    """Operands and answers are padded with zeros to the longest answer that could occur; units first.

    "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count" pads so; "Length Generalization on
    Multi-Digit Integer Addition with Transformers", Section 4.4.1: padding to a fixed length helps up to that length.
    """
    return overlay(lowest_first(spec), {"data.format": {"pad_query": True, "pad_response": True}})


def spaces(spec: ChosenSpec) -> ChosenSpec:
    """Random spaces in training queries, over learned positions.

    "Length Generalization on Multi-Digit Integer Addition with Transformers", Section 4.3.3: they close a gap of one
    digit where positions are absolute. Those of the thesis are sinusoidal.
    """
    return overlay(learned(spec), {"data.spaces": RandomSpaces(ratio=SPACES)})


def spaces_sinusoidal(spec: ChosenSpec) -> ChosenSpec:
    """Random spaces in training queries, over sinusoidal positions.

    "Length Generalization on Multi-Digit Integer Addition with Transformers", Section 4.3.3: they close a gap of one
    digit.
    """
    return overlay(encoded(spec, Sinusoidal()), {"data.spaces": RandomSpaces(ratio=SPACES)})


def scratchpad(spec: ChosenSpec) -> ChosenSpec:
    """Intermediate results stand before the answer (Nye et al. 2021, 2112.00114); units first.

    "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count", Sections 3.2 and 4.3: alone it
    helps a little. Anil et al. 2022 (2207.04901): prompted with one, large models go much further; finetuned ones fail.
    """
    return overlay(lowest_first(spec), {"data.format.scratchpad": True})


def index_hints(spec: ChosenSpec) -> ChosenSpec:
    """A mark stands before each digit, the same before digits of the same place.

    Zhou et al. 2023 (2310.16028) have them for addition and for parity with a scratchpad; Zhou et al. 2024 (2402.09371)
    in the recipe of their 100-digit sums. An answer that is about no place has its scratchpad here, too.
    """
    task = spec.data.task
    if task.STAGES and not task.PLACEWISE:
        spec = scratchpad(spec)
    marks = max(spec.test.lengths) + 2 * max(spec.test.counts) + 2
    return overlay(lowest_first(spec), {"data.format.index_hints": marks})


def subtasks(spec: ChosenSpec) -> ChosenSpec:
    """Addition and its parts (reversing, aligning, digits, carries) in equal shares of the examples.

    "Length Generalization on Multi-Digit Integer Addition with Transformers", Table 4.3: small models
    generalise better.
    """
    return overlay(spec, {"data.format": Subtasks()})
