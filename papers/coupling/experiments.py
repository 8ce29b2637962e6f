"""Every experiment of the paper, grouped by figure; plain data, no torch.

Reading order is the paper's. Each entry holds the published setting (Tables 1-3) and its two smaller sizes; where a
setting is too large for two cores the entry says why. Equal specifications are one run, stored under the first of
their names, so Figure 5's middle range and Figure 11's four heads of the largest width are trained once where they
coincide.
"""

from collections.abc import Mapping
from typing import Any

from lengen.config.experiment import Experiment, Figure, constructed, figure_of
from lengen.config.overlay import Changes
from lengen.config.profiles import ByProfile, at_profiles
from lengen.config.sections import NUMBER_FORMATS
from lengen.config.spec import Spec
from lengen.paper import later
from lengen.tasks.addition import Addition
from papers.coupling.profiles import (
    ADDITION,
    ATTENTION,
    FORMATS,
    HEADS,
    METHODS,
    MOST_PRODUCT_UPDATES,
    MULTIPLICATION,
    PARITY,
    PLAIN,
    PLAIN_PARITY,
    PRODUCT_UPDATES,
    SLOW_PARITY,
    SMALL,
    by_method,
    heads,
    smoke,
)
from papers.coupling.theorem import theorem

EXTRA = "not among the headline claims: minutes more, run when named"
"""Why a run of the whole paper leaves an experiment out at the cpu profile."""
SLOW = "learns its trained range in a night only: run when named"
"""Why the slowest of the headline experiments stay out of it there."""
BEYOND_A_NIGHT = "more than the eight core-hours of a night, which has the methods with a scratchpad: runs when named"
HEADLINE = 5
"""Seeds of the night behind the claims of the abstract."""


def entry(
    name: str,
    claim: str,
    place: str,
    specs: Mapping[str, Spec],
    seeds: int,
    *,
    night: int = 3,
    extra: str = "",
    beyond: str = "",
    ours: str = "",
) -> Experiment:
    """An experiment with its sizes, and its seeds as published and at night.

    ``extra`` says why a run of the whole paper leaves it out at cpu, ``beyond`` why at night.
    """
    left_out = {"cpu": extra, "night": beyond}
    return Experiment(
        name=f"coupling/{name}",
        claim=claim,
        place=place,
        specs={"smoke": smoke(specs["paper"]), **specs},
        absent={},
        extra={profile: why for profile, why in left_out.items() if why and profile in specs},
        seeds=seeds,
        repeats={"night": night},
        ours=ours,
    )


def variant(name: str, scratchpad: bool) -> str:
    """The last part of an experiment's name, where methods are compared."""
    return f"{name}-{'scratchpad' if scratchpad else 'plain'}"


def written(name: str, scratchpad: bool) -> dict[str, Spec]:
    """Addition by one method, with a scratchpad or without."""
    return at_profiles(by_method(ADDITION, name, scratchpad), ByProfile() if scratchpad else PLAIN)


def _night(scratchpad: bool) -> int:
    """Seeds of the night: the headline compares methods with a scratchpad, the others are below all of these."""
    return HEADLINE if scratchpad else 3


COMPARED = tuple((name, scratchpad) for scratchpad in (True, False) for name in ("coupling", "nope", "fire"))
"""The six methods of Figures 1 and 9."""

# ------------------------------------------------------------------ Figure 1: addition, six methods

FIG1_CLAIMS = {
    (True, True): "generalises far beyond the trained lengths and counts, above every other method",
    (True, False): "with a scratchpad, generalises a little: fails at 13 operands of 13 digits",
    (False, False): "without a scratchpad, only in distribution",
}
"""By whether there is a scratchpad, and whether it is the paper's method."""
FIG1 = tuple(
    entry(
        f"fig1/{variant(name, scratchpad)}",
        f"{name}: {FIG1_CLAIMS[scratchpad, name == 'coupling' and scratchpad]}",
        "Figure 1, Section 4.3",
        written(name, scratchpad),
        seeds=4,
        night=_night(scratchpad),
        extra="" if scratchpad else SLOW,
    )
    for name, scratchpad in COMPARED
)

# ------------------------------------------------------------------ Figure 3: parity, seven settings and one of ours


def _fig3(name: str, scratchpad: bool) -> Experiment:
    eighth = name == "coupling" and not scratchpad
    changes = PLAIN_PARITY if not scratchpad else ByProfile() if name == "coupling" else SLOW_PARITY
    claim = (
        "perfect to 100 bits" if name == "coupling" and scratchpad else "not perfect far outside the trained lengths"
    )
    return entry(
        f"fig3/{variant(name, scratchpad)}",
        f"{name}: {claim}",
        "Figure 3, Section 3.2",
        at_profiles(by_method(PARITY, name, scratchpad), changes),
        seeds=4,
        night=HEADLINE if name == "coupling" and scratchpad else 3,
        extra=EXTRA if eighth else "",
        ours="coupling alone, the control that Figure 3 leaves out" if eighth else "",
    )


FIG3 = tuple(_fig3(name, scratchpad) for scratchpad in (True, False) for name in METHODS)

# ------------------------------------------------------------------ Figures 5 and 6: trained lengths, no padding


def _fig5(digits: int, small: int) -> Experiment:
    batch = 400 if digits == 10 else 200  # D11
    changes = ByProfile(
        paper={"data.task": Addition(digits=digits, operands=digits), "train.batch": batch},
        cpu={"data.task": Addition(digits=small, operands=small)},
    )
    return entry(
        f"fig5/trained-{digits}",
        "a wider trained range reaches further",
        "Figure 5, Section 4.3",
        at_profiles(SMALL, changes),
        seeds=4,
        extra="" if digits == 10 else EXTRA,
    )


FIG5 = (_fig5(7, 3), _fig5(10, 4), _fig5(13, 5))

NO_PADDING: Changes = {"data.format": {"pad_query": False, "pad_response": False}}


def _fig6(name: str, claim: str, place: str, change: Changes) -> Experiment:
    return entry(f"fig6/{name}", claim, place, at_profiles(SMALL, change, FORMATS), seeds=4, extra=EXTRA)


FIG6 = (
    _fig6(
        "padding", "the padded format, in a model of the same size as the two beside it", "Figure 5, Section 4.3", {}
    ),
    _fig6(
        "no-padding",
        "moderate degradation without zero-padding; reasonable below 25 digits",
        "Figure 6, Section 4.3",
        NO_PADDING,
    ),
    _fig6(
        "first-operand",
        "a scratchpad that starts with the first operand instead of zeros does not hurt",
        "Section 4.1, footnote 2",
        {"data.task.from_zero": False},
    ),
)

# ------------------------------------------------------------------ Figure 7 (and 16-21): attention

FIG7 = (
    entry(
        "fig7/coupling-scratchpad",
        "each head looks at a fixed number of keys however many the operands",
        "Figure 7a, Section 4.4",
        at_profiles(ADDITION, ByProfile(paper=heads(4, 1024, layers=1), cpu=heads(4, 128, layers=1))),
        seeds=1,
    ),
    entry(
        "fig7/fire-plain",
        "without a scratchpad the keys looked at grow with the operands",
        "Figure 7b, Section 4.4",
        written("fire", False),
        seeds=1,
        extra=SLOW,
    ),
)
FIG16_21 = tuple(
    entry(
        f"fig{number}/{variant(name, scratchpad)}",
        "attention patterns of the models of Figure 1",
        f"Figure {number}, Appendix E",
        written(name, scratchpad),
        seeds=1,
        night=_night(scratchpad),
        extra="" if scratchpad else SLOW,
    )
    for number, (name, scratchpad) in enumerate(
        [("nope", True), ("fire", True), ("coupling", True), ("nope", False), ("fire", False), ("coupling", False)], 16
    )
)

# ------------------------------------------------------------------ Figure 9: multiplication, six methods


def _fig9(name: str, scratchpad: bool) -> Experiment:
    both = name == "coupling" and scratchpad
    claim = "generalises in both operands" if both else "does not generalise in both operands"
    updates = PRODUCT_UPDATES.get((name, scratchpad), MOST_PRODUCT_UPDATES)
    return entry(
        f"fig9/{variant(name, scratchpad)}",
        f"{name}: {claim}",
        "Figure 9, Section 5.3",
        at_profiles(by_method(MULTIPLICATION, name, scratchpad), ByProfile(night={"train.steps": updates})),
        seeds=4,
        night=_night(scratchpad),
        extra=SLOW if scratchpad else EXTRA,
        beyond="" if scratchpad else BEYOND_A_NIGHT,
    )


FIG9 = tuple(_fig9(name, scratchpad) for name, scratchpad in COMPARED)

# ------------------------------------------------------------------ Figures 10-12: architecture

DEEP = "a night has four small ones and a large one; the other seven take another two core-hours: runs when named"


def _fig10(layers: int, count: int) -> Experiment:
    large, small = (heads(count, width, layers=layers) for width in (1024, 128))
    first = (layers, count) in ((1, 2), (1, 4), (1, 8), (2, 2), (4, 8))
    return entry(
        f"fig10/{layers}L{count}H",
        "1 layer with 2 heads is worst; four heads in total suffice",
        "Figure 10, Section 4.3, Appendix C",
        at_profiles(SMALL, ByProfile(paper=large, cpu=small), HEADS),
        seeds=6,
        extra="" if (layers, count) == (1, 4) else EXTRA,
        beyond="" if first else DEEP,
    )


FIG10 = tuple(_fig10(layers, count) for layers in (1, 2, 4, 6) for count in (2, 4, 8))


def _fig11(count: int, head_dim: int) -> Experiment:
    changes = ByProfile(
        paper={"model": {"layers": 1, "heads": count, "head_dim": head_dim}},
        cpu={"model": {"heads": count, "head_dim": head_dim // 8}},  # width 128 for 1024
    )
    return entry(
        f"fig11/1L{count}H-{head_dim}",
        "a larger dimension per head helps shallow models",
        "Figure 11, Appendix C",
        at_profiles(SMALL, changes),
        seeds=8,
        extra=EXTRA,
    )


FIG11 = tuple(_fig11(count, head_dim) for count in (4, 8) for head_dim in (128, 256))


def _fig12(width: int, small: int) -> Experiment:
    wide, narrow = (heads(4, size, layers=1, ff_width=4 * size) for size in (width, small))  # D18
    return entry(
        f"fig12/d{width}",
        "narrow models are worse",
        "Figure 12, Appendix C",
        at_profiles(SMALL, ByProfile(paper=wide, cpu=narrow)),
        seeds=8,
        extra=EXTRA,
        beyond="takes as long as the other three widths together: runs when named" if width == 512 else "",
    )


FIG12 = (_fig12(64, 64), _fig12(128, 96), _fig12(256, 128), _fig12(512, 192))

# ------------------------------------------------------------------ Figures 13-15: data and formats


def _fig13(name: str, examples: int, small: int) -> Experiment:
    changes = ByProfile(paper={"data.examples": examples}, cpu={"data.examples": small})
    return entry(
        f"fig13/{name}",
        "the size of the training set has no significant impact",
        "Figure 13, Appendix C",
        at_profiles(SMALL, changes),
        seeds=8,
        extra=EXTRA,
    )


FIG13 = (
    _fig13("20k", 20_000, 2_000),
    _fig13("100k", 100_000, 10_000),
    _fig13("500k", 500_000, 50_000),
    _fig13("2M", 2_000_000, 200_000),
    _fig13("10M", 10_000_000, 1_000_000),
)

ORDERS = {"plain-reversed": (False, True), "reversed-reversed": (True, True), "plain-plain": (False, False)}
"""Query and response: reversed or not (Figure 14, left to right)."""


DEEPER = "plain responses take more than two layers, which a night has no hours for: runs when named"


def _format(figure: str, claim: str, pad: bool, order: str) -> Experiment:
    reverse_query, reverse_response = ORDERS[order]
    change: Changes = {
        "data.format": {
            "pad_query": pad,
            "pad_response": pad,
            "reverse_query": reverse_query,
            "reverse_response": reverse_response,
        },
        "test.free_running": True,
    }
    return entry(
        f"{figure}/{'pad' if pad else 'nopad'}-{order}",
        claim,
        f"Figure {figure[3:]}, Appendix C",
        at_profiles(SMALL, change, FORMATS),
        seeds=8,
        extra=EXTRA,
        beyond=DEEPER,
    )


FIG14, FIG15 = (
    tuple(_format(figure, claim, pad, order) for pad in (True, False) for order in ORDERS)
    for figure, claim in (
        ("fig14", "the format decides how far a model generalises"),
        ("fig15", "scored on the final answer only, accuracy is significantly higher"),
    )
)

# ------------------------------------------------------------------ Theorem 4.1: nothing is trained


def _theorem(variant: str, claim: str, *specs: Spec) -> Experiment:
    return constructed(f"coupling/thm4.1/{variant}", claim, "Theorem 4.1, Section 4.4, Appendix D", *specs)


BEYOND: dict[str, Any] = {"lengths": (*range(1, 31), 100), "counts": (*range(2, 31), 100)}
"""The published grid, and 100 operands of 100 digits."""
THEOREM_ATTENTION = ((6, 6), (5, 2), (5, 4), (5, 6), (5, 8))
"""A map beyond what small models are trained on, then operands at one length."""
SPARSE: dict[str, Any] = {"lengths": (1, 10, 30, 100), "counts": (2, 10, 30, 100), "examples": 10}
TINY: dict[str, Any] = {"lengths": (1, 2, 3), "counts": (2, 3), "examples": 10}
THM41 = (
    _theorem(
        "construction",
        "a 1-layer 4-head transformer set by hand adds any numbers it is made for",
        theorem(3, 3, **TINY, attention=((2, 2), (2, 3)), attention_examples=4),
        theorem(100, 100, **BEYOND, examples=5, attention=THEOREM_ATTENTION, attention_examples=50),
        theorem(100, 100, **BEYOND, examples=1000, attention=ATTENTION),
    ),
    *(
        _theorem(
            held.name,
            f"exact in {held.name}",
            theorem(3, 3, precision=precision, **TINY),
            theorem(100, 100, precision=precision, **SPARSE),
            theorem(100, 100, precision=precision, **{**SPARSE, "examples": 100}),
        )
        for precision, held in NUMBER_FORMATS.items()
    ),
)
WITH_SCRATCHPAD = tuple(item for item in FIG1 if item.variant in ("nope-scratchpad", "fire-scratchpad"))

EXPERIMENTS: tuple[Experiment, ...] = (
    *FIG1,
    *FIG3,
    *FIG5,
    *FIG6,
    *FIG7,
    *FIG9,
    *FIG10,
    *FIG11,
    *FIG12,
    *FIG13,
    *FIG14,
    *FIG15,
    *FIG16_21,
    *THM41,
)


_figures = later("papers.coupling.figures")
"""The drawing functions, loaded when a figure is drawn: matplotlib takes longer than everything here."""
FIGURES: tuple[Figure, ...] = (
    figure_of(
        "fig1",
        "Multi-operand addition: position coupling, NoPE and FIRE, without and with a scratchpad",
        lambda runs, published: _figures().fig1(runs, published),
        FIG1,
        published=True,
    ),
    figure_of(
        "fig3",
        "Parity: accuracy of the answer token, teacher-forced and free-running",
        lambda runs, published: _figures().fig3(runs, published),
        FIG3,
        published=True,
    ),
    figure_of(
        "fig5",
        "Addition: trained lengths",
        lambda runs, published: _figures().fig5(runs, published),
        FIG5,
        published=True,
    ),
    figure_of(
        "fig6",
        "Addition: zero-padding, and where the scratchpad starts",
        lambda runs, published: _figures().fig6(runs, published),
        FIG6,
        published=True,
    ),
    figure_of(
        "fig7",
        "Attention with and without a scratchpad, and the keys a step needs",
        lambda runs: _figures().fig7(runs),
        FIG7,
        FIG1,
    ),
    figure_of(
        "fig9",
        "Multiplication: position coupling, NoPE and FIRE, without and with a scratchpad",
        lambda runs, published: _figures().fig9(runs, published),
        FIG9,
        published=True,
    ),
    figure_of(
        "fig10",
        "Addition: layers and heads",
        lambda runs, published: _figures().fig10(runs, published),
        FIG10,
        published=True,
    ),
    figure_of(
        "fig11",
        "Addition: dimension per head",
        lambda runs, published: _figures().fig11(runs, published),
        FIG11,
        published=True,
    ),
    figure_of(
        "fig12", "Addition: width", lambda runs, published: _figures().fig12(runs, published), FIG12, published=True
    ),
    figure_of(
        "fig13",
        "Addition: size of the training set",
        lambda runs, published: _figures().fig13(runs, published),
        FIG13,
        published=True,
    ),
    figure_of(
        "fig14",
        "Addition: input formats, exact match",
        lambda runs, published: _figures().fig14(runs, published),
        FIG14,
        published=True,
    ),
    figure_of(
        "fig15",
        "Addition: input formats, final answer only",
        lambda runs, published: _figures().fig15(runs, published),
        FIG15,
        published=True,
    ),
    figure_of(
        "thm4.1",
        "Theorem 4.1: the construction beside trained models",
        lambda runs, published: _figures().thm4_1(runs, published),
        THM41[:1],
        tuple(item for item in FIG10 if item.variant == "1L4H"),
        WITH_SCRATCHPAD[:1],
        published=True,
    ),
    figure_of("thm4.1-formats", "Theorem 4.1: number formats", lambda runs: _figures().thm4_1_formats(runs), THM41[1:]),
    figure_of(
        "thm4.1-attention",
        "Theorem 4.1: attention of the construction and of trained models",
        lambda runs: _figures().thm4_1_attention(runs),
        THM41[:1],
        FIG7[:1],
        tuple(item for item in FIG1 if item.variant.endswith("scratchpad")),
        table=lambda runs: _figures().overlap_csv(runs),
    ),
    figure_of(
        "fig16_21",
        "Attention of the models of Figure 1",
        lambda runs: _figures().fig16_21(runs),
        FIG16_21,
    ),
)
