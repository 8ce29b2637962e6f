"""Theorem 5.1 as a specification: a transformer whose weights are written down, not trained.

The weights are `papers.task_hinting.construction`; what they repair is ERRATA.md. Symbols are those of Appendix A: q
numbers in the alphabet, n of them in an input, N the longest input that the weights are made for.
"""

import math
from typing import Any, Literal

from lengen.part import SettingError, shown
from lengen.position_ids.sequence_places import NoPositionIds
from lengen.settings.changes import overlay
from lengen.settings.model import Decoder, ModelSpec, NoEncoding, Tempered
from lengen.settings.sections import NUMBER_FORMATS, DataSpec, Section, TestSpec, TrainSpec
from lengen.tasks.sorting import Sorting
from papers.task_hinting.profiles import FORMAT, ProbedSpec, ProbeSpec

Variant = Literal["repaired", "printed"]
ACCUMULATED = 24
"""Fewest bits that sums of products are kept in: those of bfloat16 numbers are summed in float32."""
TEMPERATURE = 3.0
"""beta of tau = beta ln n."""


class TheoremSection(Section, frozen=True):
    """The construction to make."""

    variant: Variant = "repaired"
    """repaired, or printed: the literal Appendix A, which does not sort."""


class TheoremSpec(ProbedSpec, frozen=True):
    """A model that Theorem 5.1 constructs for the alphabet and the longest sequence of ``data.task``."""

    theorem: TheoremSection

    @property
    def constructed(self) -> bool:
        return True

    @property
    def sorts(self) -> Sorting:
        """Its task; raises `SettingError` if that is another one."""
        if not isinstance(self.data.task, Sorting):
            fault = f"data.task={self.data.task.name}: the construction of Theorem 5.1 sorts"
            raise SettingError(f"{fault}; set data.task=sorting")
        return self.data.task

    def check(self) -> None:
        """Raise `SettingError` for what the construction cannot have: another model, or sizes beyond its precision.

        **Sizes.** Rounding to p significant bits changes a number by at most u = 2^-p of it. Sums of products are
        kept in max(p, 24) bits; call their rounding U.

        Alphabet. A row of scores is kappa tau gamma_b, rounded as a weight and again as a product with tau.
        Neighbours differ by kappa tau, less 4 q u kappa tau for the rounding. With 8 q <= 2^p at least half of
        kappa tau is left. kappa is at least 2, so the minimum (or the successor) loses at most (n - 1) / (n + 1)^3
        of its weight.

        Length. Head 1 of block 2 averages plus and minus 1 over the copies of a symbol that were read and written,
        times W = 2 N. Where as many were written as read, this must stay below eps = 1/2. The minus ones come from
        one softmax weight, that of the delimiter, and are exact. The plus ones are averages over up to N tokens, with
        weights that are equal for equal tokens and have relative errors u: they miss 1 by at most 2 u + N U, which
        counts W / 2 times. The average over both misses 0 by 2 N U more, which counts W times. Together this is
        2 N u + 5 N^2 U. With 8 N <= 2^p the first part is at most 1/4, and next to nothing from 24 bits on. With
        32 N^2 <= 2^max(p, 24) the second is at most 5/32. Other symbols add at most 1/16 (`sharpness`). All of it is
        less than 1/2. One copy left says more than 1, less the same errors, and so more than the successor's 1/2.

        So q and N may have p - 3 bits, and N half as many bits as a sum, less 2.5. This is sufficient, not necessary;
        that N may grow exponentially with the bits is what the theorem says.
        """
        super().check()
        alphabet = self.sorts.alphabet
        if self.data.hints:
            raise SettingError("data.hints: the construction of Theorem 5.1 only sorts; set data.hints=[]")
        if self.data.format != FORMAT:
            raise SettingError(
                "data.format: the construction of Theorem 5.1 reads numbers, ⊥ and numbers; set "
                'data.format={"kind": "linear", "begin": false, "separator": "⊥", "end": false}'
            )
        for name, wanted in architecture(alphabet, self.theorem.variant).items():
            if getattr(self.model, name) != wanted:
                raise SettingError(
                    f"model.{name}={shown(getattr(self.model, name))}: expected {shown(wanted)} for the construction "
                    f"of Theorem 5.1 with an alphabet of {alphabet}; set model.{name}={shown(wanted)}"
                )
        self.admit(self.test.lengths)
        self._check_precision()

    def _check_precision(self) -> None:
        precision, q, longest = self.train.precision, self.sorts.alphabet, self.sorts.longest
        if precision not in NUMBER_FORMATS:
            raise SettingError(
                f"train.precision={precision}: expected one of {', '.join(NUMBER_FORMATS)}, in which weights and "
                f"sums have a known number of bits; set train.precision=32-true"
            )
        if q > largest_alphabet(precision):
            raise SettingError(
                f"data.task.alphabet={q}: {precision} tells at most {largest_alphabet(precision)} symbols apart in the "
                f"construction of Theorem 5.1; lower data.task.alphabet or set train.precision=64-true"
            )
        if longest > largest_length(precision):
            raise SettingError(
                f"data.task.longest={longest}: {precision} counts at most {largest_length(precision)} numbers exactly "
                f"in the construction of Theorem 5.1; lower data.task.longest or set train.precision=64-true"
            )

    def admit(self, lengths: tuple[int, ...]) -> None:
        """Raise `SettingError` for sequences longer than the weights are made for."""
        if lengths and max(lengths) > self.sorts.longest:
            fault = f"the weights are made for at most {self.sorts.longest} (data.task.longest); give fewer"
            raise SettingError(f"a sequence of {max(lengths)} numbers: {fault}")


def largest_alphabet(precision: str) -> int:
    """Return the largest q that a precision can represent; the derivation is at `TheoremSpec.check`.

    >>> [largest_alphabet(name) for name in ("bf16-true", "32-true")]
    [32, 2097152]
    """
    return 1 << NUMBER_FORMATS[precision].bits - 3


def largest_length(precision: str) -> int:
    """Return the largest N that a precision counts exactly; the derivation is at `TheoremSpec.check`.

    >>> [largest_length(name) for name in ("bf16-true", "32-true", "64-true")]
    [32, 724, 16777216]
    """
    bits = NUMBER_FORMATS[precision].bits
    return min(1 << bits - 3, math.isqrt(1 << max(bits, ACCUMULATED) - 5))


def gain(longest: int) -> int:
    """Return W of V tilde-e_a = W hat-e_a in block 2, for inputs of up to ``longest`` numbers: 2 N (ERRATA.md, E2).

    With r copies left of k read and written, head 1 says W r / k, at least W / (2 n - 1) and so more than 1.
    """
    return 2 * longest


def sharpness(longest: int) -> int:
    """Return kappa, the factor on all four Q, for up to ``longest`` numbers: (4 + log2(N + 1)) / 3, rounded up.

    Head 1 gives a symbol of which no copy is left at most (W + 2) n e^(-kappa tau) too much, and tau is 3 ln(n + 1). So
    e^(-kappa tau) is at most (16 (N + 1))^(-log2(n + 1)), and the whole at most 1/8 at n = 1 and below 1/16 from n = 2
    on, whatever n is (ERRATA.md, E3).

    >>> [sharpness(n) for n in (1, 3, 30, 500)]
    [2, 2, 3, 5]
    """
    return math.ceil((4 + math.log2(longest + 1)) / 3)


def architecture(alphabet: int, variant: Variant = "repaired") -> dict[str, Any]:
    """Return the fields of the section ``model`` that the construction needs.

    The width holds e, tilde-e and hat-e of q symbols and the delimiter, unprimed and primed (A.3, A.4.1). A.9 and A.20
    take q hidden units each; the two ReLU of A.10 take 2 q more.
    """
    half = 3 * (alphabet + 1)
    # Deviation: the prompt has n numbers and the delimiter, so tau is 3 ln(n + 1) where the proof has 3 ln n. The
    # proof asks tau to be large enough, never small enough; and an input of one number gets a tau above 0.
    tempered = Tempered(of="prompt", start=TEMPERATURE)
    return {
        "architecture": Decoder(), "layers": 2, "heads": 2, "width": 2 * half, "head_dim": half,
        "ff_width": alphabet if variant == "repaired" else 3 * alphabet, "encoding": NoEncoding(), "activation": "relu",
        "norm": "none", "final_norm": "none", "tied": False, "linear_bias": True, "scale_attention": False,
        "scale_embedding": False, "shared": False, "loops": 1, "inject": "none", "tempered": tempered,
    }  # fmt: skip


def theorem(
    alphabet: int, longest: int, lengths: tuple[int, ...] = (), counts: tuple[int, ...] = (1,), *,
    variant: Variant = "repaired", precision: str = "32-true", examples: int = 100, probe: ProbeSpec | None = None,
) -> TheoremSpec:  # fmt: skip
    """Return the transformer of Theorem 5.1 for ``alphabet`` symbols and up to ``longest`` numbers.

    It is tested at ``lengths``.

    ``counts`` are the tested r of rep(i, r). Without ``lengths`` it is tested at ``longest``. Nothing is trained;
    ``probe`` is what Section 4 asks of it.
    """
    return TheoremSpec(
        data=DataSpec(task=Sorting(longest=longest, alphabet=alphabet), format=FORMAT, position_ids=NoPositionIds()),
        model=ModelSpec(**architecture(alphabet, variant)),
        train=overlay(TrainSpec(steps=0, batch=1, lr=0.0, evaluations=0), {"precision": precision}),
        test=TestSpec(lengths=lengths or (longest,), counts=counts, examples=examples),
        probe=probe or ProbeSpec(),
        theorem=TheoremSection(variant=variant),
    )
