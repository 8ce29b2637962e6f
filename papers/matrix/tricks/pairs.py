"""Tricks that their sources put together. Each docstring: what it is, its source, and what the source reports."""

from lengen.position_ids.places import Cyclic, Randomised
from lengen.settings.changes import overlay
from lengen.settings.model import Fire, Learned
from papers.matrix.settings import ChosenSpec, encoded, longest
from papers.matrix.tricks import formats
from papers.matrix.tricks.attention import window
from papers.matrix.tricks.positions import abacus, coupled, coupled_2
from papers.matrix.tricks.procedures import looped

PERIOD = 3
"""Period of cyclic ids, as published."""


def coupled_scratchpad(spec: ChosenSpec) -> ChosenSpec:
    """Coupled ids and a scratchpad; of sums on both levels, padded with zeros.

    "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count", Figure 1 and Section 4.3: some of
    30 operands of 30 digits from 10 of 10; Figure 3 and Section 3.2: the answer of parity to 100 bits.
    """
    spec = formats.scratchpad(spec)
    if spec.data.task.most > 1:
        return coupled_2(overlay(spec, {"data.format": {"pad_query": True, "pad_response": True}}))
    return coupled(spec)


def window_cyclic(spec: ChosenSpec) -> ChosenSpec:
    """The windows with ids 0, 1, 2, 0, 1, 2, ...

    "From Interpolation to Extrapolation", Table 3: right at 50 digits for parity, the successor, addition and N x 1.
    Its positions are sinusoidal (Appendix A.5), these are learned (M4).
    """
    return encoded(window(spec), Learned(), Cyclic(PERIOD))


def reversed_fire_randomised(spec: ChosenSpec) -> ChosenSpec:
    """FIRE on random ids, answers from the units on.

    Zhou et al. 2024 (2402.09371): with index hints sums of 100 digits from 40, in some seeds.
    """
    spec = formats.reversed(spec)
    return encoded(spec, Fire(), Randomised(longest(spec)))


def abacus_looped(spec: ChosenSpec) -> ChosenSpec:
    """Abacus ids in a block that is applied the more often the longer the prompt is.

    McLeish et al. 2024 (2405.17399): Abacus with a recurrent block and input injection is their best model.
    """
    return abacus(looped(spec))
