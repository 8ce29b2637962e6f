"""Every experiment of the paper, grouped by figure; plain data, no torch.

Reading order is the paper's. Each entry holds the published setting (Tables 1-3) and its two smaller sizes; where a
setting is too large for two cores the entry says why. Equal specifications are one run, stored under the first of
their names, so Figure 10's 1-layer 4-head model and Figure 1's are trained once where they coincide.
"""

from types import ModuleType
from typing import Any

from lengen.config.experiment import Experiment, Figure, constructed, figure_of
from lengen.config.sections import NUMBER_FORMATS
from lengen.config.spec import Spec
from papers.coupling.ablations import FIG10, FIG11, FIG12, FIG13, FIG14, FIG15
from papers.coupling.settings import ATTENTION, METHODS, cpu, paper_addition, paper_multiplication, paper_parity
from papers.coupling.sizes import (
    ADDITION_TEST,
    EXTRA,
    MULTIPLICATION,
    MULTIPLICATION_TEST,
    PARITY,
    PARITY_TEST,
    cpu_addition,
    entry,
    written,
)
from papers.coupling.theorem import theorem

# ------------------------------------------------------------------ Figure 1: addition, six methods


def _fig1(method: str, scratchpad: bool) -> Experiment:
    best = method == "coupling" and scratchpad
    claim = {
        (True, True): "generalises far beyond the trained lengths and counts, above every other method",
        (True, False): "with a scratchpad, generalises a little: fails at 13 operands of 13 digits",
        (False, False): "without a scratchpad, only in distribution",
    }[scratchpad, best]
    paper = paper_addition(method, scratchpad)
    return entry(
        f"fig1/{method}-{written(scratchpad)}",
        f"{method}: {claim}",
        "Figure 1, Section 4.3",
        paper,
        cpu_addition(method, scratchpad),
        seeds=4,
    )


FIG1 = tuple(_fig1(method, scratchpad) for scratchpad in (True, False) for method in ("coupling", "nope", "fire"))

# ------------------------------------------------------------------ Figure 3: parity, eight settings


def _fig3(method: str, scratchpad: bool) -> Experiment:
    claim = (
        "perfect to 100 bits" if method == "coupling" and scratchpad else "not perfect far outside the trained lengths"
    )
    return entry(
        f"fig3/{method}-{written(scratchpad)}",
        f"{method}: {claim}",
        "Figure 3, Section 3.2",
        paper_parity(method, scratchpad),
        cpu("parity", method, scratchpad, **PARITY, **PARITY_TEST),
        seeds=4,
    )


FIG3 = tuple(_fig3(method, scratchpad) for scratchpad in (True, False) for method in METHODS)

# ------------------------------------------------------------------ Figures 5 and 6: trained lengths, no padding


def _fig5(length: int, small: int) -> Experiment:
    batch = 400 if length == 10 else 200  # D11
    return entry(
        f"fig5/trained-{length}",
        "a wider trained range reaches further",
        "Figure 5, Section 4.3",
        paper_addition("coupling", True, length=length, train_changes={"batch": batch}),
        cpu_addition("coupling", True, length=small, count=small),
        seeds=4,
    )


FIG5 = (_fig5(7, 3), _fig5(10, 4), _fig5(13, 5))

FIG6 = (
    entry(
        "fig6/no-padding",
        "moderate degradation without zero-padding; reasonable below 25 digits",
        "Figure 6, Section 4.3",
        paper_addition("coupling", True, data_changes={"pad": False}),
        cpu_addition("coupling", True, data_changes={"pad": False}, free_running=True),
        4,
        extra=EXTRA,
    ),
)

# ------------------------------------------------------------------ Figure 7 (and 16-21): attention


def _attention(name: str, claim: str, place: str, paper: Spec, small: Spec) -> Experiment:
    return entry(name, claim, place, paper, small, seeds=1)


FIG7 = (
    _attention(
        "fig7/coupling-scratchpad",
        "each head looks at a fixed number of keys however many the operands",
        "Figure 7a, Section 4.4",
        paper_addition("coupling", True, layers=1, heads=4),
        cpu_addition("coupling", True),
    ),
    _attention(
        "fig7/fire-plain",
        "without a scratchpad the keys looked at grow with the operands",
        "Figure 7b, Section 4.4",
        paper_addition("fire", False),
        cpu_addition("fire", False),
    ),
)
FIG16_21 = tuple(
    _attention(
        f"fig{number}/{method}-{written(scratchpad)}",
        "attention patterns of the models of Figure 1",
        f"Figure {number}, Appendix E",
        paper_addition(method, scratchpad),
        cpu_addition(method, scratchpad),
    )
    for number, (method, scratchpad) in enumerate(
        [("nope", True), ("fire", True), ("coupling", True), ("nope", False), ("fire", False), ("coupling", False)], 16
    )
)

# ------------------------------------------------------------------ Figure 9: multiplication, six methods


def _fig9(method: str, scratchpad: bool) -> Experiment:
    both = method == "coupling" and scratchpad
    claim = "generalises in both operands" if both else "does not generalise in both operands"
    return entry(
        f"fig9/{method}-{written(scratchpad)}",
        f"{method}: {claim}",
        "Figure 9, Section 5.3",
        paper_multiplication(method, scratchpad),
        cpu("multiplication", method, scratchpad, **MULTIPLICATION, **MULTIPLICATION_TEST),
        seeds=4,
    )


FIG9 = tuple(_fig9(method, scratchpad) for scratchpad in (True, False) for method in ("coupling", "nope", "fire"))

# ------------------------------------------------------------------ Theorem 4.1: nothing is trained


def _theorem(variant: str, claim: str, *specs: Spec) -> Experiment:
    return constructed(f"coupling/thm4.1/{variant}", claim, "Theorem 4.1, Section 4.4, Appendix D", *specs)


BEYOND: dict[str, Any] = {"lengths": (*range(1, 31), 100), "counts": (*range(2, 31), 100)}
"""The published grid, and 100 operands of 100 digits."""
SPARSE: dict[str, Any] = {"lengths": (1, 10, 30, 100), "counts": (2, 10, 30, 100), "examples": 10}
TINY: dict[str, Any] = {"lengths": (1, 2, 3), "counts": (2, 3), "examples": 10}
THM41 = (
    _theorem(
        "construction",
        "a 1-layer 4-head transformer set by hand adds any numbers it is made for",
        theorem(3, 3, **TINY, attention=((2, 2), (2, 3)), attention_examples=4),
        theorem(100, 100, **BEYOND, examples=5, attention=ADDITION_TEST["attention"], attention_examples=50),
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


def _figures() -> ModuleType:
    """The drawing functions, loaded when a figure is drawn: matplotlib takes longer than everything here."""
    from papers.coupling import figures

    return figures


FIGURES: tuple[Figure, ...] = (
    figure_of(
        "fig1",
        "Multi-operand addition: position coupling, NoPE and FIRE, without and with a scratchpad",
        lambda runs: _figures().fig1(runs),
        FIG1,
    ),
    figure_of(
        "fig3",
        "Parity: accuracy of the answer token, teacher-forced and free-running",
        lambda runs: _figures().fig3(runs),
        FIG3,
    ),
    figure_of("fig5", "Addition: trained lengths", lambda runs: _figures().fig5(runs), FIG5),
    figure_of("fig6", "Addition without zero-padding", lambda runs: _figures().fig6(runs), FIG6),
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
        lambda runs: _figures().fig9(runs),
        FIG9,
    ),
    figure_of("fig10", "Addition: layers and heads", lambda runs: _figures().fig10(runs), FIG10),
    figure_of("fig11", "Addition: dimension per head", lambda runs: _figures().fig11(runs), FIG11),
    figure_of("fig12", "Addition: width", lambda runs: _figures().fig12(runs), FIG12),
    figure_of("fig13", "Addition: size of the training set", lambda runs: _figures().fig13(runs), FIG13),
    figure_of("fig14", "Addition: input formats, exact match", lambda runs: _figures().fig14(runs), FIG14),
    figure_of("fig15", "Addition: input formats, final answer only", lambda runs: _figures().fig15(runs), FIG15),
    figure_of(
        "thm4.1",
        "Theorem 4.1: the construction beside trained models",
        lambda runs: _figures().thm4_1(runs),
        THM41[:1],
        tuple(item for item in FIG10 if item.variant == "1L4H"),
        WITH_SCRATCHPAD[:1],
    ),
    figure_of("thm4.1-formats", "Theorem 4.1: number formats", lambda runs: _figures().thm4_1_formats(runs), THM41[1:]),
    figure_of(
        "thm4.1-attention",
        "Theorem 4.1: attention of the construction and of trained models",
        lambda runs: _figures().thm4_1_attention(runs),
        THM41[:1],
        FIG7[:1],
        WITH_SCRATCHPAD,
        table=lambda runs: _figures().overlap_csv(runs),
    ),
    *(
        figure_of(item.figure, f"Attention: {item.variant}", lambda runs: _figures().fig16_21(runs), (item,))
        for item in FIG16_21
    ),
)
