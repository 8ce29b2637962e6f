"""Tricks that say where tokens stand. Each docstring: what it is, its source, and what the source reports."""

from lengen.position_ids.digit_places import Abacus, Coupled
from lengen.position_ids.places import Randomised
from lengen.settings.changes import overlay
from lengen.settings.model import ALiBi, Fire, Learned, RelativeKeys, Rotary, Sinusoidal
from papers.matrix import settings
from papers.matrix.settings import ChosenSpec, Refused, encoded, longest, lowest_first


def plain(spec: ChosenSpec) -> ChosenSpec:
    """No positions, numbers as they are read: a causal mask is all the model knows of order.

    Kazemnejad et al. 2023 (2305.19466): such decoders generalise to longer inputs better than those with absolute,
    rotary, ALiBi or T5 positions, on reasoning and mathematical tasks.
    """
    return spec


def learned(spec: ChosenSpec) -> ChosenSpec:
    """A trained vector for each place of the sequence.

    Radford et al. 2019; "Length Generalization on Multi-Digit Integer Addition with Transformers": absolute
    positions, there sinusoidal, answer hardly any addition of a length that was left out of training.
    """
    return settings.learned(spec)


def sinusoidal(spec: ChosenSpec) -> ChosenSpec:
    """Fixed sines and cosines of the place (Vaswani et al. 2017, Section 3.5).

    "From Interpolation to Extrapolation", Table 1: right at the trained lengths and zero beyond them.
    """
    return encoded(spec, Sinusoidal())


def rope(spec: ChosenSpec) -> ChosenSpec:
    """Queries and keys turn by their places (Su et al. 2021, 2104.09864).

    "From Interpolation to Extrapolation", Table 1: right at the trained lengths and zero beyond them.
    """
    return encoded(spec, Rotary())


def alibi(spec: ChosenSpec) -> ChosenSpec:
    """A penalty linear in the distance, one slope per head (Press et al. 2021, 2108.12409).

    Language models trained on 1,024 tokens are as good at 2,048 as those with sinusoids that are trained there; "From
    Interpolation to Extrapolation", Table 1: on the successor and addition it does not even interpolate.
    """
    return encoded(spec, ALiBi())


def fire(spec: ChosenSpec) -> ChosenSpec:
    """A learned function of the distance relative to the query's place (Li et al. 2023, 2310.04418).

    Li et al.: better at long texts than other relative positions. Zhou et al. 2024 (2402.09371): with reversed digits,
    random ids and index hints 100-digit sums from 40 digits.
    """
    return encoded(spec, Fire())


def shaw(spec: ChosenSpec) -> ChosenSpec:
    """A learned vector for each clipped distance is added to the keys (Shaw et al. 2018, 1803.02155).

    Jelassi et al. 2023 (2306.15400): trained on sums of 5 digits, models with relative positions answer those of 15.
    """
    return encoded(spec, RelativeKeys())


def randomised_rope(spec: ChosenSpec) -> ChosenSpec:
    """RoPE on ids drawn from a longer range and sorted.

    Ruoss et al. 2023 (2305.16843): 12 points more accuracy at unseen lengths, averaged over 15 algorithmic tasks.
    """
    return encoded(spec, Rotary(), Randomised(longest(spec)))


def randomised_learned(spec: ChosenSpec) -> ChosenSpec:
    """A learned table on ids drawn from a longer range and sorted.

    Ruoss et al. 2023 (2305.16843): random ids go with any encoding; 12 points more accuracy at unseen lengths, averaged
    over 15 algorithmic tasks. What a learned table alone came to was not read.
    """
    return encoded(spec, Learned(), Randomised(longest(spec)))


def abacus(spec: ChosenSpec) -> ChosenSpec:
    """Digits are numbered within their number, from the units, with a random offset in training.

    McLeish et al. 2024 (2405.17399): sums of 100 digits from 20, with operands and answers reversed as here.
    """
    spec = lowest_first(spec)
    if spec.data.task.ROWS.numbers:
        spec = overlay(spec, {"data.format.reverse_query": True})
    furthest, trained = max(spec.test.lengths), spec.data.task.longest
    room = furthest + 2 * max(spec.test.counts) + 4
    return encoded(spec, Learned(), Abacus(max_position=room, max_offset=furthest - trained + 2))


def coupled(spec: ChosenSpec) -> ChosenSpec:
    """Digits of one significance share an id, in operands and answer; answers begin with the units.

    Cho et al. 2024 (2405.20671): sums of 200 digits from 30; "Arithmetic Transformers Can Length-Generalize in Both
    Operand Length and Count" couples both axes.
    """
    spec = lowest_first(spec)
    return encoded(spec, Learned(), Coupled((max(spec.test.lengths) + 2 * max(spec.test.counts) + 6,)))


def coupled_2(spec: ChosenSpec) -> ChosenSpec:
    """Coupled ids on two levels: the place of a digit in its number, and the number that it belongs to.

    "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count", Figure 1: with a scratchpad it
    adds up to 30 operands of 30 digits from 10 of 10.
    """
    if spec.data.task.most < 2 and not spec.data.task.SIGNS.operator:
        raise Refused("there is one operand: the second level would number nothing that the first does not")
    spec = lowest_first(spec)
    first, second = max(spec.test.lengths) + 2 * max(spec.test.counts) + 6, 3 * max(spec.test.counts) + 6
    return encoded(spec, Learned(), Coupled((first, second)))
