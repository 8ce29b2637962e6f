"""Tricks inside attention, without positions. Each docstring: what it is, its source, and what the source reports."""

import math

from lengen.config.encodings import Learned
from lengen.config.model import Decoder, HardALiBi, Tempered, Window
from lengen.config.position_ids import Cyclic
from papers.matrix.settings import Refused, changed, encoded
from papers.matrix.spec import ChosenSpec

START = 0.3
"""Initial factor of tempered logits: near 1 at the trained lengths, whose logarithm is about 3."""
PERIOD = 3
"""Period of cyclic ids, as published."""


def tempered(spec: ChosenSpec) -> ChosenSpec:
    """Attention logits grow with the logarithm of the number of tokens, one learned factor per layer.

    "Improving Length-Generalization in Transformers via Task Hinting", Section 5, Table 1: without hints, too, it
    extends the lengths that are sorted.
    """
    return changed(spec, {"model.tempered": Tempered(start=START)})


def ssmax(spec: ChosenSpec) -> ChosenSpec:
    """Scalable softmax: the same with one learned factor per head (Nakanishi 2025, 2501.19399).

    Language models keep their loss at longer contexts than trained, and find a needle there.
    """
    return changed(spec, {"model.tempered": Tempered(start=START, per_head=True)})


def window(spec: ChosenSpec) -> ChosenSpec:
    """Each token sees as many tokens before it as the longest trained problem has.

    "From Interpolation to Extrapolation", Table 3: windows in cross-attention, aligned with the digit that is written,
    hold for parity and the successor. A decoder has no such alignment: its window ends that many tokens back.
    """
    return changed(spec, {"model.architecture": Decoder(Window(_trained(spec)))})


def abc(spec: ChosenSpec) -> ChosenSpec:
    """A bias calibrated from a trained model's attention.

    "From Interpolation to Extrapolation", Table 1: right at 50 digits from 6.
    """
    raise Refused(
        "a calibrated bias has a matrix for the places of a response and one for those of a source: it is of "
        "encoder-decoders, and here every trick has the same decoder"
    )


def hard_alibi(spec: ChosenSpec) -> ChosenSpec:
    """Half of the heads see the last 1, 2, ... keys only, the others all keys, without positions.

    Jelassi et al. 2024 (2402.01032): strings are copied far beyond the 20 to 50 tokens trained on.
    """
    heads = tuple(range(1, spec.model.heads // 2 + 1))
    return changed(spec, {"model.architecture": Decoder(HardALiBi(heads))})


def window_cyclic(spec: ChosenSpec) -> ChosenSpec:
    """The window with ids 0, 1, 2, 0, 1, 2, ...

    "From Interpolation to Extrapolation", Table 3: in encoder-decoders it holds for all four tasks.
    """
    return encoded(window(spec), Learned(), Cyclic(PERIOD))


def _trained(spec: ChosenSpec) -> int:
    """Tokens of the longest trained problem."""
    return math.ceil(sum(spec.data.tokens(spec.data.task.longest, spec.data.task.most)))
