"""Tricks, baselines and positive controls. A trick is a function from the plain setting of a task to its own.

Each docstring: what it is, its source, and what the source reports. A trick that makes no sense for a task raises
`SettingError`. To add one: a function, and a line in `CONTROLS`.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from msgspec import structs

from lengen.part import SettingError
from lengen.position_ids.digit_places import Abacus, Coupled
from lengen.position_ids.sequence_places import Consecutive, Randomised
from lengen.settings.attention_biases import HardALiBi, Lines, LineWindow
from lengen.settings.changes import overlay
from lengen.settings.model import Decoder, Fire, Learned, LoopsByLength, Rotary, Tempered
from lengen.settings.sections import RandomSpaces
from lengen.tasks.base import Task
from lengen.tasks.sorting import NextLarger
from lengen.tasks.strings import Copy, Reverse
from lengen.tasks.successor_and_pair_tasks import DigitSums
from papers.matrix.settings import CalibratedCell, CalibrationSpec, CellSpec, encoded, fixed, room, tokens

Trick = Callable[[CellSpec], CellSpec]


def plain(spec: CellSpec) -> CellSpec:
    """No positions: a causal mask is all that the model knows of order (Kazemnejad et al. 2023, 2305.19466)."""
    return spec


def low_rate(spec: CellSpec) -> CellSpec:
    """No positions, at a tenth of the learning rate: what loops are held against, which have it, too."""
    return overlay(spec, {"train.lr": 1e-4})


def learned(spec: CellSpec) -> CellSpec:
    """A trained vector for each place of the sequence (Radford et al. 2019)."""
    return encoded(spec, Learned(), Consecutive(tokens(spec)))


def rope(spec: CellSpec) -> CellSpec:
    """Queries and keys turn by their places (Su et al. 2021, 2104.09864)."""
    return encoded(spec, Rotary())


def coupled(spec: CellSpec) -> CellSpec:
    """Digits of one significance share an id; operands are padded to one length.

    Cho et al. 2024 (2405.20671): addition from 30 to 200 digits.
    """
    return _coupled(spec, levels=1)


def coupled_scratchpad(spec: CellSpec) -> CellSpec:
    """Coupled ids, of several numbers on two levels, and intermediate results before the answer.

    "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count", Figure 3: parity from 20 to 100
    bits; Figure 1: sums of 30 numbers of 30 digits from 10 of 10.
    """
    return _coupled(overlay(spec, {"data.format.scratchpad": True}), levels=1 + (spec.data.task.most > 1))


def abacus(spec: CellSpec) -> CellSpec:
    """Digits are numbered within their number, from the units, with a random offset in training.

    McLeish et al. 2024 (2405.17399): addition from 20 to 100 digits, operands and answers reversed.
    """
    if spec.data.task.ROWS.numbers:
        spec = overlay(spec, {"data.format.reverse_query": True})
    longest, most = room(spec)
    return encoded(spec, Learned(), Abacus(longest + 2 * most + 8, max_offset=longest - spec.size + 1))


def spaces(spec: CellSpec) -> CellSpec:
    """Random spaces in training queries, over learned positions.

    "Length Generalization on Multi-Digit Integer Addition with Transformers", Section 4.3.3: they close a gap of one
    digit in addition. Positions of the thesis are absolute, too.
    """
    return overlay(learned(spec), {"data.spaces": RandomSpaces(ratio=0.5)})


def index_hints(spec: CellSpec) -> CellSpec:
    """A mark stands before each digit, the same before digits of the same place, beginning anywhere in training.

    Zhou et al. 2023 (2310.16028): addition and parity, with a scratchpad, go further with marks. An answer that is
    about no place has its scratchpad here, too.
    """
    task = spec.data.task
    if task.STAGES and not task.PLACEWISE:
        spec = overlay(spec, {"data.format.scratchpad": True})
    longest, most = room(spec)
    return overlay(spec, {"data.format.index_hints": longest + 2 * most + 2})


def fire_hints(spec: CellSpec) -> CellSpec:
    """Index hints, FIRE and random ids together.

    Zhou et al. 2024 (2402.09371): addition from 40 to 100 digits in some seeds.
    """
    spec = index_hints(spec)
    return encoded(spec, Fire(), Randomised(tokens(spec)))


def randomised(spec: CellSpec) -> CellSpec:
    """RoPE on ids drawn from a longer range and sorted.

    Ruoss et al. 2023 (2305.16843): 15 tasks, copies of strings among them, from 40 to 500 symbols: 12 points better.
    """
    return encoded(spec, Rotary(), Randomised(tokens(spec)))


def tempered(spec: CellSpec) -> CellSpec:
    """Attention logits grow with the logarithm of the number of tokens, one learned factor per layer.

    "Improving Length-Generalization in Transformers via Task Hinting", Section 5 and Table 1: sorting goes further.
    """
    return overlay(spec, {"model.tempered": Tempered(start=0.3)})


SLOPES: Mapping[str, tuple[int, ...]] = {
    "parity": (1,), "copy": (1,), "reverse": (-1,), "successor": (-1,), "addition": (-1,), "n_by_1": (0, -1),
}  # fmt: skip
"""Directions of the lines in the prompt along which answers are read: digits one after another, the digit of N x 1
always the same. The authors' code names them by task, too."""


def window(spec: CellSpec) -> CellSpec:
    """Windows of w = 1 that move over the operands with the digit that is written, one over the answer.

    "From Interpolation to Extrapolation", Section 4.1 and Table 3: successor from 6 to 50 digits. There two operands
    stand digit by digit in one window; here each has its own, and numbers of addition are padded to one length.
    """
    spec = _with_lines(spec)
    lines = tuple((slope, 1) for slope in SLOPES[spec.benchmark])
    if spec.benchmark == "n_by_1":
        lines = ((0, 1), (-1, 3))  # 1234*6= has the digit one before the end, the units three before it
    elif spec.benchmark == "addition":
        lines = ((-1, 1), (-1, spec.data.format.width + 2))
    return overlay(spec, {"model.architecture": Decoder(LineWindow(1, lines))})


def abc(spec: CellSpec) -> CellSpec:
    """A bias calibrated from a trained model's attention, for another model without positions.

    "From Interpolation to Extrapolation", Section 5 and Table 1: successor, N x 1 and addition from 6 to 50 digits.
    Each of both trainings has the budget. As published, numbers are padded to one length: of the first model where the
    second reads one number, whose lines are counted from the units; of both in addition.
    """
    spec = _with_lines(spec)
    task, data = spec.data.task, spec.data
    width = task.longest + 1 if task.ROWS.numbers and spec.benchmark != "addition" else 0
    columns, _ = (overlay(data, fixed(width)) if width else data).tokens(task.longest, task.most)
    lines = Lines(rows=task.longest, columns=int(columns), slopes=SLOPES[spec.benchmark])
    spec = overlay(spec, {"model.architecture": Decoder(lines)})
    return CalibratedCell(**structs.asdict(spec), calibration=CalibrationSpec(width=width))


def hard_alibi(spec: CellSpec) -> CellSpec:
    """Half of the heads see the last 1, 2, ... keys only, the others all keys, without positions.

    Jelassi et al. 2024 (2402.01032): copies of strings far longer than trained.
    """
    return overlay(spec, {"model.architecture": Decoder(HardALiBi(tuple(range(1, spec.model.heads // 2 + 1))))})


HINTS: Mapping[str, Callable[[int], Task]] = {
    "addition": DigitSums, "sums": DigitSums, "copy": Reverse, "reverse": Copy,
    "sorting": lambda longest: NextLarger(longest=longest, alphabet=100, copies=True),
}  # fmt: skip
"""Auxiliary task of the same digits, for its longest length: parts of the task, or the one that reads the same."""


def hint(spec: CellSpec) -> CellSpec:
    """Training alternates with an auxiliary task of the same lengths, which has an output head of its own.

    "Improving Length-Generalization in Transformers via Task Hinting", Section 3.1: sorting from 20 to 100 numbers.
    """
    return _hinted(spec, spec.size)


def association(spec: CellSpec) -> CellSpec:
    """Training alternates with a related task that is trained to twice the length; RoPE.

    Cai et al. 2025 (2506.09251): addition and strings from 16 to the helper's 32 digits. Theirs are told apart in the
    prompt, here by their output heads.
    """
    return rope(_hinted(spec, 2 * spec.size))


def looped(spec: CellSpec) -> CellSpec:
    """One block, applied once for every symbol of an operand, with the input added each time.

    Fan et al. 2024 (2409.15647): parity from 20 to 50 bits, addition and copies from 20 to 30 digits. The rate is that
    of their code, whose problems grow while it trains, too.
    """
    longest, _ = room(spec)
    rule = LoopsByLength(of="prompt", tokens=spec.data.task.most, more=-2, most=longest)  # of all but two tokens
    model = {"layers": 1, "loops_by_length": rule, "inject": "input"}
    return overlay(low_rate(spec), {"model": model})


def _coupled(spec: CellSpec, levels: int) -> CellSpec:
    longest, most = room(spec)
    if spec.benchmark in ("addition", "sums"):
        spec = overlay(spec, {"data.format.pad_query": True})
    return encoded(spec, Learned(), Coupled((2 * longest + 2 * most, 3 * most + 6)[:levels]))


def _with_lines(spec: CellSpec) -> CellSpec:
    """Written so that what is read for one answer token after another lies on lines, counted from an end of the prompt.

    The two numbers of addition are padded to the answers of twice the trained length; parity has its scratchpad.
    """
    if spec.benchmark not in SLOPES:
        raise SettingError("the next answer token is found by its value, or operands are more than lines were trained")
    if spec.benchmark == "addition":
        return overlay(spec, {"data": fixed(2 * spec.size + 1)})
    return overlay(spec, {"data.format.scratchpad": True}) if spec.benchmark == "parity" else spec


def _hinted(spec: CellSpec, longest: int) -> CellSpec:
    if spec.benchmark not in HINTS:
        raise SettingError("there is no auxiliary task of the same digits and the same order of answers")
    return overlay(spec, {"data.hints": (HINTS[spec.benchmark](longest),)})


class Control(NamedTuple):
    """The task and the effect that a trick was published for: it exceeds a baseline beyond the trained length."""

    task: str
    published: float
    """Longest length that the source shows it to reach, as a multiple of the trained one; 0: none was at hand."""
    against: str = "plain"
    """The baseline."""
    also: tuple[str, ...] = ()
    """Other tasks that the source, or one that it cites, expects it to help."""


FARTHEST = 3.0
"""Multiple of the trained length to which a control and its baseline are compared, over all lengths beyond it."""
BASELINES: Mapping[str, Trick] = {"plain": plain, "low_rate": low_rate, "learned": learned, "rope": rope}
"""Settings that tricks are held against."""
CONTROLS: Mapping[str, Control] = {
    "coupled": Control("addition", 200 / 30, also=("n_by_1", "copy", "reverse")),
    "abacus": Control("addition", 5, also=("n_by_1",)),
    "spaces": Control("addition", 10 / 9, "learned"),
    "fire_hints": Control("addition", 2.5),
    "coupled_scratchpad": Control("parity", 5, also=("sums",)),
    "looped": Control("parity", 2.5, "low_rate", also=("addition", "copy")),
    "window": Control("successor", 50 / 6, also=("parity", "addition", "n_by_1")),
    "abc": Control("successor", 50 / 6, also=("addition", "n_by_1")),
    "index_hints": Control("copy", 0, also=("addition", "parity")),
    "hard_alibi": Control("copy", 0),
    "randomised": Control("copy", 0, "rope", also=("reverse",)),
    "association": Control("copy", 2, "rope", also=("addition",)),
    "tempered": Control("sorting", 5, also=("successor",)),
    "hint": Control("sorting", 5),
}
"""Trick -> its positive control."""
LEFT_OUT: tuple[str, ...] = ("index_hints", "hint", "spaces", "association")
"""Tricks whose control does not show under this budget: they have no other cell."""
TRICKS: Mapping[str, Trick] = {**BASELINES, **{name: globals()[name] for name in CONTROLS}}
