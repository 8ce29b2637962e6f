"""Settings of this paper: models of Table 1, configurations of Table 3, calibration.

Each function makes of a `Profile`, one task at one size, one setting.
"""

from msgspec import structs

from lengen.formats.interleaved import Aligned
from lengen.formats.linear import Linear
from lengen.position_ids.sequence_places import Cyclic, NoPositionIds
from lengen.settings.attention_biases import Given, Window
from lengen.settings.changes import Changes, overlay
from lengen.settings.model import ALiBi, Encoder, EncoderDecoder, Encoding, NoEncoding, RelativeKeys, Rotary, Sinusoidal
from lengen.settings.spec import Spec
from lengen.tasks.base import Task
from lengen.tasks.listops import ListOps
from lengen.tasks.multiplication import Multiplication
from lengen.tasks.successor_and_pair_tasks import NByOne, PairAddition, Successor
from papers.bias_calibration.calibrated_spec import CalibratedSpec, CalibrationSpec, RelativeSpec
from papers.bias_calibration.profiles import Profile

PROBES: dict[type[Task], tuple[tuple[str, ...], ...]] = {
    Successor: (("03611451449241919819",),),
    PairAddition: (("078114514", "0241919810"), ("31415926535897932384", "27182818284590452353")),
}
"""Printed examples of Figures 8 and 9, and for addition one of 20 digits beside them, as long as that of successor."""
ENCODINGS: dict[str, Encoding] = {"vanilla": Sinusoidal(), "alibi": ALiBi(), "rope": Rotary()}
"""Models of Table 1 that differ in their position encoding alone."""


def plain(profile: Profile, encoding: str = "vanilla") -> Spec:
    """Return a model of `ENCODINGS` on the natural expression."""
    spec = overlay(profile.vanilla, {"model.encoding": ENCODINGS[encoding]})
    if encoding == "alibi":  # without a block of its own the query would be a bag of digits (D12)
        return overlay(spec, {"model.architecture": EncoderDecoder(encoder_layers=1)}, profile.alibi)
    if encoding == "rope":
        return overlay(spec, profile.rope)
    if encoding == "vanilla" and profile.name != "smoke":
        probes = PROBES.get(type(profile.vanilla.data.task), ())
        fitting = [numbers for numbers in probes if max(map(len, numbers)) < profile.width]
        return overlay(spec, {"test.probes": tuple(fitting)})
    return spec


def product(profile: Profile) -> Spec:
    """Return the vanilla model on products of two numbers of up to as many digits as are trained elsewhere.

    They are drawn digit by digit; the second one is tested at the longest length.
    """
    digits = profile.vanilla.data.task.longest
    task = Multiplication(digits=digits, second_digits=digits)
    test: Changes = {"lengths": tuple(range(1, digits + 1)), "counts": (digits,)}
    return overlay(profile.vanilla, {"data.task": task, "test": test})


def expression(profile: Profile) -> Spec:
    """Return the vanilla model on expressions of four operations, two inside each other.

    This is the least depth that Appendix C does not have. Nothing pads them, as there is no digit that changes no
    result.
    """
    task = ListOps(digits=max(3, profile.vanilla.data.task.longest), depth=2)
    test: Changes = {"lengths": task.trained_lengths}
    return overlay(profile.vanilla, {"data": {"task": task, "format": Linear()}, "test": test})


def relative(profile: Profile) -> RelativeSpec:
    """Return the cited encoder-only model with shared layers and relative keys.

    Distances are told apart over the whole sequence, and only in plain order are they constant.
    """
    model = {"architecture": Encoder(), "shared": True}
    change: Changes = {"data.format.reverse_response": False, "model": model}
    spec = overlay(profile.vanilla, change, profile.relative)
    query, response = spec.data.tokens(spec.data.task.longest, spec.data.task.most)
    spec = overlay(spec, {"model.encoding": RelativeKeys(int(query + response))})
    return RelativeSpec(**structs.asdict(spec))


CONFIGURATIONS: dict[str, Changes] = {
    "vanilla": {},
    "window": {},
    "cyclic": {"data.position_ids": Cyclic(3)},
    "nope": {"data.position_ids": NoPositionIds(), "model.encoding": NoEncoding()},
}
"""Configurations A to D of Appendix A.5; all but the first have a window of w = 1."""


def scaffolded(profile: Profile, configuration: str) -> Spec:
    """Return a configuration of Table 3; the operands of binary tasks are aligned (Appendix A.4)."""
    spec = overlay(profile.vanilla, profile.windowed)
    aligned = isinstance(spec.data.task, PairAddition | NByOne)
    if aligned:
        assert isinstance(spec.data.format, Linear)
        spec = overlay(spec, {"data.format": Aligned(spec.data.format.width)})
    elif configuration == "vanilla" and spec.model == profile.vanilla.model:
        return plain(profile)
    if configuration == "vanilla":
        return spec
    window = Window(1, stride=2 if aligned else 1)
    return overlay(spec, {"model.architecture.attention_bias": window}, CONFIGURATIONS[configuration])


VARIATIONS: dict[str, Changes] = {
    "w1": {},
    "w2": {"model.architecture.attention_bias": Window(2, stride=2)},
    "t4": {"data.position_ids": Cyclic(4)},
}
"""w = 1 and T = 3, and other windows and periods; the paper names none."""
VARIED_DIGITS = 8
"""Trained digits on two cores: T + L w + 1 for the widest window, 3 + 2 * 2 + 1, and the same for all."""


def varied(profile: Profile, change: Changes) -> Spec:
    """Return configuration C of Appendix A.5 with another window or period."""
    digits: Changes = {"data.task.digits": VARIED_DIGITS} if profile.name in ("cpu", "night") else {}
    return overlay(scaffolded(profile, "cyclic"), digits, change)


CODE: Changes = {
    "attention": "probabilities", "line": "sum", "sigma_self": 0.87, "sigma_cross": 4.5, "slopes_self": (1,),
    "slopes_cross": (-1,), "corner": True, "closed_row": "everything",
}  # fmt: skip
"""The authors' code: probabilities, sums, other thresholds, one direction each, and what it does about closed rows."""
TEXT: Changes = {field.name: field.default for field in structs.fields(CalibrationSpec) if field.name in CODE}
"""Section 5, mended: scores, means, two standard deviations, all three directions, on the trained digits."""


def calibrated(profile: Profile, positions: bool | None = None, calibration: Changes | None = None) -> CalibratedSpec:
    """Return the setting of bias calibration; ``positions`` keeps sinusoids in retraining, None as the profile (D6)."""
    spec = overlay(profile.vanilla, {"model.architecture.attention_bias": Given()}, profile.retraining)
    if not (profile.name == "paper" if positions is None else positions):
        spec = overlay(spec, CONFIGURATIONS["nope"])
    chosen = overlay(profile.calibration, calibration or {})
    return CalibratedSpec(**structs.asdict(spec), interpolation=profile.interpolation, calibration=chosen)


def as_long(spec: CalibratedSpec) -> CalibratedSpec:
    """Return the setting that is retrained for as many steps as the first training.

    A bias that does not help has the time of a model without.
    """
    first = spec.interpolation
    return overlay(spec, {"train": {"steps": first.steps, "evaluations": first.evaluations}})


def with_code_masks(spec: CalibratedSpec) -> CalibratedSpec:
    """Return the setting whose bias replaces the causal mask, as in the authors' code.

    Where earlier places may see later ones, a response is scored token by token: less often and at fewer lengths where
    50 digits are tested, without an early stop.
    """
    fewer: Changes = {
        "train": {"evaluations": 7, "stop_at": 0.0},
        "test": {"lengths": (2, 4, 6, 8, 10, 20, 50), "examples": 200},
    }
    return overlay(spec, {"model.architecture.causal": False}, fewer if spec.test.lengths[-1] == 50 else {})
