"""Sizes of the transformer of Theorem 4.1, and the specification that constructs it.

    operands m, digits n  ->  padded length l  ->  P_1, P_2  ->  width d = 2 (P_1 + P_2) + 19, sharpness alpha

Appendix D of "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count"; what is wrong there
stands in ERRATA.md beside this file.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import msgspec

from lengen.part import SettingError, shown
from lengen.position_ids.digit_places import Coupled
from lengen.settings.model import ModelSpec
from lengen.settings.sections import NUMBER_FORMATS, DataSpec, TestSpec, TrainSpec
from lengen.settings.spec import Spec
from lengen.tasks.addition import Addition
from papers.coupling.profiles import SCRATCHPAD

Subspaces = dict[str, slice]
"""Coordinates of the residual stream by name."""
DIGIT_HINGES = 21
"""Sums of a column, the carry into it included, are 0 to 19; every one begins at a hinge and ends at the next."""
HIDDEN = 2 * DIGIT_HINGES + 3
"""Units of the feed-forward network: two per hinge of SUM; ARROW; EOS; and one that is always 1."""
TOLERANCE = 0.3
"""Largest error of PRE_SUM + (PRE_CARRY - NUM) / 10 at which SUM is still one-hot (`papers.coupling.construction`)."""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Sizes that follow from the numbers of operands and digits."""

    operands: int
    """m"""
    digits: int
    """n"""

    @property
    def padded(self) -> int:
        """l: digits of m (10^n - 1), the longest sum, as in Section 4.1; D.3 has the bound n + 1 + floor(log10 m).

        The bound is one too long for powers of ten, and for m little above one if n is small (m = 11, n = 1).
        """
        rounds = len(str(self.operands)) - 1
        excess = (self.operands - 10**rounds) * 10 ** min(self.digits, rounds + 1)
        return self.digits + 1 + rounds - int(excess < self.operands)

    @property
    def tokens(self) -> int:
        """N = (2m + 1)(l + 1), both ends but the last counted (D.3)."""
        return (2 * self.operands + 1) * (self.padded + 1)

    @property
    def bits(self) -> tuple[int, int]:
        """P_1 and P_2: ids are vertices of hypercubes of these dimensions.

        D.4.2 asks for 2^P_1 >= l, which is too few: ids go to l + 1, and where 2^P_1 = l + 1 the NEXT of the last digit
        wraps round to the id of '+', '=' and the arrow, so that head 3 never sees an arrow coming. 2^P_1 >= l + 2
        leaves the wrapped id unused. 2^P_2 >= m + 1 is right: only the last result has a wrapped NEXT, and nothing
        follows it.
        """
        return math.ceil(math.log2(self.padded + 2)), math.ceil(math.log2(self.operands + 1))

    @property
    def width(self) -> int:
        """The width d = 2 (P_1 + P_2) + 19."""
        return 2 * sum(self.bits) + 19

    @property
    def sharpness(self) -> int:
        """alpha, the same for all heads; "sufficiently large" in D.5.

        A key that matches a query scores alpha P, every other at most alpha (P - 2): the gap 2 alpha does not depend on
        P. Where x tokens match, each with weight 1 before the sum is divided out, the others weigh together
        W <= (N - x) exp(-2 alpha). What heads 1 and 2 read, up to 27, is then wrong by at most 27 W / (x + W), and a
        tenth of PRE_CARRY counts: 29.7 W / (x + W) in all. The first token always matches, so x >= 1, and TOLERANCE is
        kept if

            alpha >= 1/2 ln(29.7 N / TOLERANCE).

        Then W <= 0.0101. Heads 3 and 4 would bear more: W only lowers ARROW and EOS, and may reach 0.8. Rounded up to
        an integer all scores are exact in every number format, so that matches tie.
        """
        return math.ceil(math.log(29.7 * self.tokens / TOLERANCE) / 2)

    def subspaces(self) -> Subspaces:
        """Return the coordinates of the residual stream, side by side, by their names in D.4."""
        first, second = self.bits
        sizes = {
            "NUM": 1, "IS_BOS": 1, "FULL_ONES": 1,
            "PRE_SUM": 1, "PRE_CARRY": 1, "PRE_ARROW": 1, "PRE_EOS": 1,
            "SUM": 10, "ARROW": 1, "EOS": 1,
            "POS_1": first, "POS_1_NEXT": first, "POS_2": second, "POS_2_NEXT": second,
        }  # fmt: skip
        ends = accumulate(sizes.values())
        return {name: slice(end - sizes[name], end) for name, end in zip(sizes, ends, strict=True)}


class TheoremSpec(Spec, frozen=True, kw_only=True):
    """A specification of the constructed transformer, for at most as many and as long operands as in its task."""

    @property
    def constructed(self) -> bool:
        return True

    def check(self) -> None:
        """Raise `SettingError` if the model is too small for its operands, or its numbers too coarse."""
        task = self.data.task
        if not isinstance(task, Addition):
            raise SettingError(f"data.task={task.kind}: the construction adds; set data.task=addition")
        sizes = sizes_of(self)
        made = f"{sizes.operands} operands of {sizes.digits} digits"
        needed = shape(sizes)
        names = [item.name for item in msgspec.structs.fields(ModelSpec)]
        for path, held, wanted in (
            ("data.position_ids", self.data.position_ids, position_ids(sizes)),
            *((f"model.{name}", getattr(self.model, name), getattr(needed, name)) for name in names),
        ):
            if held != wanted:
                fault = f"{path}={shown(held)}: the construction for {made} needs {shown(wanted)}"
                raise SettingError(f"{fault}; set {path}={shown(wanted)}")
        if self.data.format != SCRATCHPAD:
            fault = "the construction reads plain zero-padded operands and writes a reversed scratchpad"
            raise SettingError(f"data.format={shown(self.data.format)}: {fault}; leave data.format as it is")
        longest, most = max(self.test.lengths), max(self.test.counts)
        if longest > sizes.digits or most > sizes.operands:
            fault = f"{most} operands of {longest} digits are more than the {made} that the construction is made for"
            raise SettingError(f"test.lengths, test.counts: {fault}; raise data.task.operands and data.task.digits")
        self._check_precision(sizes)

    def _check_precision(self, sizes: Sizes) -> None:
        """Refuse scores, sums of alpha times P signs, that are no exact integers: else matches do not tie."""
        precision = self.train.precision
        if precision not in NUMBER_FORMATS:
            fault = f"train.precision={precision}: weights and sums would be in two formats"
            raise SettingError(f"{fault}; expected {', '.join(NUMBER_FORMATS)}")
        score, exact = sizes.sharpness * sum(sizes.bits), 2 ** NUMBER_FORMATS[precision].bits
        if score > exact:
            raise SettingError(
                f"train.precision={precision}: {sizes.operands} operands of {sizes.digits} digits need scores of "
                f"{score}, and integers are exact up to {exact}; choose a finer number format"
            )

    def admit(self, lengths: tuple[int, ...]) -> None:
        """Raise `SettingError` for more or longer operands than the construction is made for."""
        sizes = sizes_of(self)
        if len(lengths) > sizes.operands or max(lengths) > sizes.digits:
            raise SettingError(
                f"{len(lengths)} operands of up to {max(lengths)} digits: this model is constructed for at most "
                f"{sizes.operands} operands of {sizes.digits} digits; give fewer or shorter ones"
            )


def sizes_of(spec: Spec) -> Sizes:
    """Return the sizes that a specification states."""
    return Sizes(operands=spec.data.task.most, digits=spec.data.task.longest)


def position_ids(sizes: Sizes) -> Coupled:
    """Return the position ids 1 to 2^P_1 and 1 to 2^P_2; id 0 is that of '$'."""
    first, second = sizes.bits
    return Coupled((2**first, 2**second))


def shape(sizes: Sizes) -> ModelSpec:
    """Return the shape of the model: one layer, four heads, learned ids, no normalisation, ReLU (Theorem 4.1, D.2)."""
    return ModelSpec(
        layers=1, heads=4, width=sizes.width, head_dim=sum(sizes.bits) + 1, ff_width=HIDDEN, activation="relu",
        norm="none", final_norm="none", tied=False,
    )  # fmt: skip


def theorem(operands: int, digits: int, *, precision: Any = "32-true", **test: Any) -> TheoremSpec:
    """Return the construction for up to ``operands`` numbers of ``digits`` digits.

    ``test`` are fields of the test section.
    """
    sizes = Sizes(operands=operands, digits=digits)
    return TheoremSpec(
        data=DataSpec(
            task=Addition(digits=digits, operands=operands), format=SCRATCHPAD, position_ids=position_ids(sizes)
        ),
        model=shape(sizes),
        train=TrainSpec(steps=0, batch=1, lr=0.0, evaluations=0, precision=precision),
        test=TestSpec(**test),
    )


def adders() -> Mapping[str, Spec | None]:
    """Return the experiments whose models add two numbers of ten digits: one is constructed, the other was trained."""
    constructed = theorem(operands=2, digits=10, lengths=(10,), counts=(2,))
    return {"coupling/thm4.1/construction": constructed, "coupling/fig10/2L2H": None}
