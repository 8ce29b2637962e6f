"""Tricks inside attention, without positions. Each docstring: what it is, its source, and what the source reports."""

import math

from lengen.config.encodings import Learned
from lengen.config.model import Decoder, HardALiBi, Lines, Tempered, Window
from lengen.config.overlay import overlay
from lengen.config.position_ids import Cyclic
from lengen.config.tasks import Copy, NByOne, Parity, Reverse, Successor, Task, TwoOperandAddition
from papers.matrix.settings import Refused, changed, encoded, lowest_first
from papers.matrix.spec import CalibratedChoice, CalibrationSpec, ChosenSpec

START = 0.3
"""Initial factor of tempered logits: near 1 at the trained lengths, whose logarithm is about 3."""
PERIOD = 3
"""Period of cyclic ids, as published."""


def tempered(spec: ChosenSpec) -> ChosenSpec:
    """Attention logits grow with the logarithm of the number of tokens, one learned factor per layer.

    "Improving Length-Generalization in Transformers via Task Hinting", Section 5 and Table 1: without hints, too, it
    extends the lengths that are sorted; Section 6 and Table 3: and those to which one is added.
    """
    return changed(spec, {"model.tempered": Tempered(start=START)})


def ssmax(spec: ChosenSpec) -> ChosenSpec:
    """Scalable softmax: the same with one learned factor per head (Nakanishi 2025, 2501.19399).

    Language models are better at long contexts, and at finding a needle there; it is not tried on arithmetic.
    """
    return changed(spec, {"model.tempered": Tempered(start=START, per_head=True)})


def window(spec: ChosenSpec) -> ChosenSpec:
    """Each token sees as many tokens before it as the longest trained problem has.

    "From Interpolation to Extrapolation", Table 3: windows in cross-attention, aligned with the digit that is written,
    hold for parity and the successor. A decoder has no such alignment: its window ends that many tokens back.
    """
    return changed(spec, {"model.architecture": Decoder(Window(_trained(spec)))})


DIRECTIONS: dict[type[Task], tuple[int, ...]] = {
    Parity: (1,),
    Successor: (-1,),
    NByOne: (0, -1),
    TwoOperandAddition: (-1,),
    Copy: (1,),
    Reverse: (-1,),
}
"""Slopes of the lines that are searched in the prompt: digits that are read one after another have one, the digit of
N x 1, always the same, a vertical one. The authors' code names them by task, too."""


def abc(spec: ChosenSpec) -> ChosenSpec:
    """A bias calibrated from a trained model's attention, for another model without positions; units first.

    "From Interpolation to Extrapolation", Section 5 and Table 1: right at 50 digits from 6 for the successor, N x 1 and
    (99.8 %) addition. Both models have as many steps, which share the budget. As published, numbers are padded to one
    length: of the first model, where the second reads one number, whose lines are counted from the units; of both in
    addition. Parity has its scratchpad, the form in which the source asks it.
    """
    task = spec.data.task
    if task.most > 1 and not isinstance(task, TwoOperandAddition):
        raise Refused(
            "each operand has a line of its own, and one beyond the trained number of operands has none: its digits "
            "would be closed"
        )
    if type(task) not in DIRECTIONS:
        raise Refused("the next answer token is found by its value, so that attention has no line to calibrate")
    spec, width = lowest_first(spec), 0
    if isinstance(task, TwoOperandAddition):
        spec = changed(spec, {"data.format": {"width": max(spec.test.lengths) + 1}})
    elif task.NUMBERS:
        width = task.longest + 1
    if isinstance(task, Parity):
        spec = changed(spec, {"data.format.scratchpad": True})
    calibration = CalibrationSpec(width=width)
    first = overlay(spec.data, {"format.width": width}) if width else spec.data
    columns, _ = first.tokens(task.longest, task.most)
    lines = Lines(rows=task.longest, columns=int(columns), slopes=DIRECTIONS[type(task)])
    spec = changed(spec, {"model.architecture": Decoder(lines)})
    return CalibratedChoice(
        data=spec.data,
        model=spec.model,
        train=spec.train,
        test=spec.test,
        choice=spec.choice,
        calibration=calibration,
    )


def hard_alibi(spec: ChosenSpec) -> ChosenSpec:
    """Half of the heads see the last 1, 2, ... keys only, the others all keys, without positions.

    Jelassi et al. 2024 (2402.01032): transformers generalise where strings are copied; their code has this variant.
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
