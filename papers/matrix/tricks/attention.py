"""Tricks inside attention, without positions. Each docstring: what it is, its source, and what the source reports."""

from lengen.formats.linear import Linear
from lengen.settings.attention_biases import HardALiBi, Lines, LineWindow
from lengen.settings.changes import overlay
from lengen.settings.model import Decoder, Tempered
from lengen.tasks.arithmetic import NByOne, Successor
from lengen.tasks.base import Task
from lengen.tasks.strings import Copy, Parity, Reverse
from lengen.tasks.two_operand_addition import TwoOperandAddition
from papers.matrix.settings import CalibratedChoice, CalibrationSpec, ChosenSpec, Refused, lowest_first

START = 0.3
"""Initial factor of tempered logits: near 1 at the trained lengths, whose logarithm is about 3."""


def tempered(spec: ChosenSpec) -> ChosenSpec:
    """Attention logits grow with the logarithm of the number of tokens, one learned factor per layer.

    "Improving Length-Generalization in Transformers via Task Hinting", Section 5 and Table 1: without hints, too, it
    extends the lengths that are sorted; Section 6 and Table 3: and those to which one is added.
    """
    return overlay(spec, {"model.tempered": Tempered(start=START)})


def ssmax(spec: ChosenSpec) -> ChosenSpec:
    """Scalable softmax: the same with one learned factor per head (Nakanishi 2025, 2501.19399).

    Language models are better at long contexts, and at finding a needle there; it is not tried on arithmetic.
    """
    return overlay(spec, {"model.tempered": Tempered(start=START, per_head=True)})


DIRECTIONS: dict[type[Task], tuple[int, ...]] = {Parity: (1,), Successor: (-1,), NByOne: (0, -1), Copy: (1,)}
DIRECTIONS |= {TwoOperandAddition: (-1,), Reverse: (-1,)}
"""Slopes of the lines that are searched in the prompt: digits that are read one after another have one, the digit of
N x 1, always the same, a vertical one. The authors' code names them by task, too."""


def abc(spec: ChosenSpec) -> ChosenSpec:
    """A bias calibrated from a trained model's attention, for another model without positions; units first.

    "From Interpolation to Extrapolation", Section 5 and Table 1: right at 50 digits from 6 for the successor, N x 1 and
    (99.8 %) addition. Both models have as many steps, which share the budget. As published, numbers are padded to one
    length: of the first model, where the second reads one number, whose lines are counted from the units; of both in
    addition. Parity has its scratchpad, the form in which the source asks it.
    """
    spec = _with_lines(spec)
    task = spec.data.task
    width = task.longest + 1 if task.ROWS.numbers and not isinstance(task, TwoOperandAddition) else 0
    calibration = CalibrationSpec(width=width)
    first = overlay(spec.data, {"format.width": width}) if width else spec.data
    columns, _ = first.tokens(task.longest, task.most)
    lines = Lines(rows=task.longest, columns=int(columns), slopes=DIRECTIONS[type(task)])
    spec = overlay(spec, {"model.architecture": Decoder(lines)})
    return CalibratedChoice(
        data=spec.data, model=spec.model, train=spec.train, test=spec.test, choice=spec.choice, calibration=calibration
    )


WINDOW = 1
"""w of windows, as published."""


def window(spec: ChosenSpec) -> ChosenSpec:
    """Windows of w = 1 that move over the operands with the digit that is written, one over the answer; units first.

    "From Interpolation to Extrapolation", Section 4.1 and Table 3: right at 50 digits from 6 for the successor, and for
    parity. There two operands stand digit by digit in one window; here each has a window of its own, for which numbers
    of addition are padded to one length, and the digit of N x 1 is always seen. Parity has its scratchpad.
    """
    spec = _with_lines(spec)
    task, format = spec.data.task, spec.data.format
    lines: tuple[tuple[int, int], ...] = tuple((slope, 1) for slope in DIRECTIONS[type(task)])
    if isinstance(task, NByOne):
        lines = ((0, 1), (-1, 3))  # 1234*6= has the digit one before the end, the units three before it
    elif isinstance(task, TwoOperandAddition):
        assert isinstance(format, Linear)
        lines = ((-1, 1), (-1, format.width + 2))
    return overlay(spec, {"model.architecture": Decoder(LineWindow(WINDOW, lines))})


def _with_lines(spec: ChosenSpec) -> ChosenSpec:
    """Written so that what is read for one answer token after another lies on lines, counted from an end of the prompt.

    Units come first; the two numbers of addition are padded to the longest length that is tested.
    """
    task = spec.data.task
    if task.most > 1 and not isinstance(task, TwoOperandAddition):
        fault = "each operand has a line of its own"
        raise Refused(f"{fault}, and one beyond the trained number of operands has none: its digits would be closed")
    if type(task) not in DIRECTIONS:
        raise Refused("the next answer token is found by its value, so that attention has no line to it")
    spec = lowest_first(spec)
    if isinstance(task, TwoOperandAddition):
        spec = overlay(spec, {"data.format": {"width": max(spec.test.lengths) + 1}})
    return overlay(spec, {"data.format.scratchpad": True}) if isinstance(task, Parity) else spec


def hard_alibi(spec: ChosenSpec) -> ChosenSpec:
    """Half of the heads see the last 1, 2, ... keys only, the others all keys, without positions.

    Jelassi et al. 2024 (2402.01032): transformers generalise where strings are copied; their code has this variant.
    """
    heads = tuple(range(1, spec.model.heads // 2 + 1))
    return overlay(spec, {"model.architecture": Decoder(HardALiBi(heads))})
