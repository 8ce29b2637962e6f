"""Every experiment of the paper, grouped by figure; plain data, no torch.

Reading order is the paper's. Each entry holds the published setting (Tables 1-3) and its two smaller sizes; where a
setting is too large for two cores the entry says why. Equal specifications are one run, stored under the first of
their names, so Figure 10's 1-layer 4-head model and Figure 1's are trained once where they coincide.
"""

from typing import Any

from lengen.experiment import Experiment, Figure
from lengen.spec import Spec
from papers.coupling.settings import METHODS, cpu, paper_addition, paper_multiplication, paper_parity, smoke

DEVIATIONS = {
    "D1": (
        "AdamW with betas (0.9, 0.95), no weight decay and gradient clipping at 1.0, as in the authors' code; the "
        "paper says Adam and gives none of these."
    ),
    "D2": (
        "The final normalisation is RMSNorm everywhere, as the paper says; the authors' published baselines ran "
        "with LayerNorm there (--set model.final_norm=layernorm)."
    ),
    "D3": (
        "FIRE is defined as in its own paper; the authors' code had two other variants, and which one a figure "
        "used cannot be settled (--set model.encoding=fire_ratio or fire_clamped). One bias serves all layers, as "
        "there."
    ),
    "D4": (
        "Batches are drawn in windows sorted by length to save padding; the loss is weighted so that every "
        "example of the published distribution keeps its weight (--set train.bucket=1 keeps batches unsorted)."
    ),
    "D5": (
        "Exactly half of a draw has one common length and half independent ones, as the paper says; the authors' "
        "code tosses a coin per example."
    ),
    "D6": (
        "Offsets of multiplication are bounded by the ids that occur; the authors' code bounds the first level by "
        "the second operand's length too, which no id of that level needs."
    ),
    "D7": (
        "At the cpu profile models have one or two layers, width 128 and shorter operands, and train for minutes "
        "on endless data with larger learning rates: claims are tested, numbers are not compared."
    ),
    "D8": (
        "The starting point of the cpu settings was found with the accuracy on test lengths in view; since then "
        "steps and learning rates were chosen by in-distribution accuracy on a seed that is not reported."
    ),
    "D9": (
        "Formats without padding and with the most significant digit first are scored teacher-forced only: "
        "coupled ids there depend on the length of a number not yet written."
    ),
    "D10": (
        "Multiplication without a scratchpad trains as Table 3 says; the paper gives no setting of its own for it."
    ),
    "D12": (
        "At the cpu profile the output head is not tied to the token embedding: at width 128 a tied head needs about "
        "twice the steps to learn the trained range. The paper does not say; the authors' code ties it."
    ),
    "D13": (
        "At the cpu profile Figure 1's coupling with scratchpad has one layer, the methods it is compared with have "
        "two: the comparison leans their way."
    ),
    "D11": "S_A(7, 7) and S_A(13, 13) train with batch 200, as in the authors' script; Table 2 gives 400.",
}
"""Numbered deviations from the published settings, each with its reason."""


def _entry(
    name: str, claim: str, place: str, paper: Spec, small: Spec | None, seeds: int, absent: str = "", extra: str = ""
) -> Experiment:
    """An experiment with its published setting and its cpu size, or the reason why it has none or is left out."""
    specs = {"smoke": smoke(paper), "paper": paper}
    if small is not None:
        specs["cpu"] = small
    return Experiment(
        name=f"coupling/{name}",
        claim=claim,
        place=place,
        specs=specs,
        absent={} if small is not None else {"cpu": absent},
        extra={"cpu": extra} if extra else {},
        seeds=seeds,
    )


# ------------------------------------------------------------------ sizes of the cpu profile

ADDITION: dict[str, Any] = {"length": 5, "count": 5, "levels": (14, 14), "steps": 1200, "layers": 1, "heads": 4}
"""S_A(5, 5) with one layer and four heads: the smallest model that the paper finds sufficient (Figure 10)."""
ADDITION_TEST: dict[str, Any] = {"lengths": (1, 2, 3, 4, 5, 6, 7, 8, 10), "counts": (2, 3, 4, 5, 6, 7, 8, 10)}
ATTENTION = ((6, 6), (5, 2), (5, 4), (5, 6), (5, 8))
"""The map one step beyond the trained range, as the paper's T_A(11, 11); then operands added at a trained length."""
PAPER_ATTENTION = ((11, 11), (10, 2), (10, 5), (10, 10), (10, 15))
MULTIPLICATION: dict[str, Any] = {
    "length": 4,
    "count": 4,
    "levels": (13, 13, 13),
    "steps": 1500,
    "layers": 2,
    "heads": 4,
}
MULTIPLICATION_TEST: dict[str, Any] = {"lengths": (1, 2, 3, 4, 5, 6), "counts": (1, 2, 3, 4, 5, 6)}
PARITY: dict[str, Any] = {"length": 10, "count": 1, "levels": (41,), "steps": 1000, "layers": 1, "heads": 4}
PARITY_TEST: dict[str, Any] = {"lengths": (2, 4, 6, 8, 10, 12, 15, 20, 25, 30, 35, 40), "examples": 500}

EXTRA = "an ablation that none of the main claims needs: minutes more, run when named"
"""Why a run of the whole paper leaves an experiment out at the cpu profile."""


def _cpu_addition(method: str, scratchpad: bool, **changes: Any) -> Spec:
    return cpu("addition", method, scratchpad, **{**ADDITION, **ADDITION_TEST, "attention": ATTENTION, **changes})


def _cpu_fig1(method: str, scratchpad: bool) -> Spec:
    """One layer for the proposed method; two for what it is compared with, which one layer could not serve (D13)."""
    return _cpu_addition(method, scratchpad, layers=1 if method == "coupling" and scratchpad else 2)


def _written(scratchpad: bool) -> str:
    return "scratchpad" if scratchpad else "plain"


# ------------------------------------------------------------------ Figure 1: addition, six methods


def _fig1(method: str, scratchpad: bool) -> Experiment:
    best = method == "coupling" and scratchpad
    claim = {
        (True, True): "generalises far beyond the trained lengths and counts, above every other method",
        (True, False): "with a scratchpad, generalises a little: fails at 13 operands of 13 digits",
        (False, False): "without a scratchpad, only in distribution",
    }[scratchpad, best]
    paper = paper_addition(method, scratchpad, test_changes={"attention": PAPER_ATTENTION, "attention_examples": 1000})
    return _entry(
        f"fig1/{method}-{_written(scratchpad)}",
        f"{method}: {claim}",
        "Figure 1, Section 4.3",
        paper,
        _cpu_fig1(method, scratchpad),
        seeds=4,
    )


FIG1 = tuple(_fig1(method, scratchpad) for scratchpad in (True, False) for method in ("coupling", "nope", "fire"))

# ------------------------------------------------------------------ Figure 3: parity, eight settings


def _fig3(method: str, scratchpad: bool) -> Experiment:
    claim = (
        "perfect to 100 bits" if method == "coupling" and scratchpad else "not perfect far outside the trained lengths"
    )
    return _entry(
        f"fig3/{method}-{_written(scratchpad)}",
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
    return _entry(
        f"fig5/trained-{length}",
        "a wider trained range reaches further",
        "Figure 5, Section 4.3",
        paper_addition("coupling", True, length=length, train_changes={"batch": batch}),
        _cpu_addition("coupling", True, length=small, count=small),
        seeds=4,
    )


FIG5 = (_fig5(7, 3), _fig5(10, 4), _fig5(13, 5))

FIG6 = (
    _entry(
        "fig6/no-padding",
        "moderate degradation without zero-padding; reasonable below 25 digits",
        "Figure 6, Section 4.3",
        paper_addition("coupling", True, data_changes={"pad": False}),
        _cpu_addition("coupling", True, data_changes={"pad": False}),
        4,
        extra=EXTRA,
    ),
)

# ------------------------------------------------------------------ Figure 7 (and 16-21): attention


def _attention(name: str, claim: str, place: str, paper: Spec, small: Spec) -> Experiment:
    return _entry(name, claim, place, paper, small, seeds=1)


_MAPS: dict[str, Any] = {"attention": PAPER_ATTENTION, "attention_examples": 1000}
FIG7 = (
    _attention(
        "fig7/coupling-scratchpad",
        "each head looks at a fixed number of keys however many the operands",
        "Figure 7a, Section 4.4",
        paper_addition("coupling", True, layers=1, heads=4, test_changes=_MAPS),
        _cpu_addition("coupling", True),
    ),
    _attention(
        "fig7/fire-plain",
        "without a scratchpad the keys looked at grow with the operands",
        "Figure 7b, Section 4.4",
        paper_addition("fire", False, test_changes=_MAPS),
        _cpu_fig1("fire", False),
    ),
)
FIG16_21 = tuple(
    _attention(
        f"fig{number}/{method}-{_written(scratchpad)}",
        "attention patterns of the models of Figure 1",
        f"Figure {number}, Appendix E",
        paper_addition(method, scratchpad, test_changes=_MAPS),
        _cpu_fig1(method, scratchpad),
    )
    for number, (method, scratchpad) in enumerate(
        [("nope", True), ("fire", True), ("coupling", True), ("nope", False), ("fire", False), ("coupling", False)], 16
    )
)

# ------------------------------------------------------------------ Figure 9: multiplication, six methods


def _fig9(method: str, scratchpad: bool) -> Experiment:
    both = method == "coupling" and scratchpad
    claim = "generalises in both operands" if both else "does not generalise in both operands"
    return _entry(
        f"fig9/{method}-{_written(scratchpad)}",
        f"{method}: {claim}",
        "Figure 9, Section 5.3",
        paper_multiplication(method, scratchpad),
        cpu("multiplication", method, scratchpad, **MULTIPLICATION, **MULTIPLICATION_TEST),
        seeds=4,
    )


FIG9 = tuple(_fig9(method, scratchpad) for scratchpad in (True, False) for method in ("coupling", "nope", "fire"))

# ------------------------------------------------------------------ Figures 10-12: architecture

CPU_ARCHITECTURES = {(1, 2): "", (1, 4): "", (2, 2): "", (1, 8): EXTRA, (2, 4): EXTRA}
"""What Figure 10 has at the cpu profile: the worst, both with four heads in total, and as extras two larger ones."""


def _fig10(layers: int, heads: int) -> Experiment:
    small = (layers, heads) in CPU_ARCHITECTURES
    return _entry(
        f"fig10/{layers}L{heads}H",
        "1 layer with 2 heads is worst; four heads in total suffice",
        "Figure 10, Section 4.3, Appendix C",
        paper_addition("coupling", True, layers=layers, heads=heads),
        _cpu_addition("coupling", True, layers=layers, heads=heads) if small else None,
        6,
        absent="the claims need 1L2H, 1L4H and 2L2H; deeper models take longer than the rest together",
        extra=CPU_ARCHITECTURES.get((layers, heads), ""),
    )


FIG10 = tuple(_fig10(layers, heads) for layers in (1, 2, 4, 6) for heads in (2, 4, 8))


def _fig11(heads: int, head_dim: int) -> Experiment:
    changes = {"head_dim": head_dim // 8}  # width 128 for 1024
    return _entry(
        f"fig11/1L{heads}H-{head_dim}",
        "a larger dimension per head helps shallow models",
        "Figure 11, Appendix C",
        paper_addition("coupling", True, layers=1, heads=heads, model_changes={"head_dim": head_dim}),
        _cpu_addition("coupling", True, heads=heads, model_changes=changes),
        8,
        extra=EXTRA,
    )


FIG11 = tuple(_fig11(heads, head_dim) for heads in (4, 8) for head_dim in (128, 256))


def _fig12(width: int, small: int | None) -> Experiment:
    return _entry(
        f"fig12/d{width}",
        "narrow models are worse",
        "Figure 12, Appendix C",
        paper_addition("coupling", True, layers=1, heads=4, width=width, model_changes={"ff_width": 4 * width}),
        None if small is None else _cpu_addition("coupling", True, width=small),
        8,
        absent="three widths (32, 64, 128) decide the claim at the cpu profile",
    )


FIG12 = (_fig12(64, 32), _fig12(128, 64), _fig12(256, 128), _fig12(512, None))

# ------------------------------------------------------------------ Figures 13-15: data and formats


def _fig13(name: str, examples: int, small: int | None) -> Experiment:
    return _entry(
        f"fig13/{name}",
        "the size of the training set has no significant impact",
        "Figure 13, Appendix C",
        paper_addition("coupling", True, data_changes={"examples": examples}),
        None if small is None else _cpu_addition("coupling", True, data_changes={"examples": small}),
        8,
        absent="three sizes (2,000, 10,000 and 50,000) decide the claim at the cpu profile",
        extra=EXTRA if small else "",
    )


FIG13 = (
    _fig13("20k", 20_000, 2_000),
    _fig13("100k", 100_000, 10_000),
    _fig13("500k", 500_000, 50_000),
    _fig13("2M", 2_000_000, None),
    _fig13("10M", 10_000_000, None),
)

FORMATS = {"plain-reversed": (False, True), "reversed-reversed": (True, True), "plain-plain": (False, False)}
"""Query and response: reversed or not (Figure 14, left to right)."""


def _format(figure: str, claim: str, pad: bool, order: str) -> Experiment:
    reverse_query, reverse_response = FORMATS[order]
    changes = {"pad": pad, "reverse_query": reverse_query, "reverse_response": reverse_response}
    return _entry(
        f"{figure}/{'pad' if pad else 'nopad'}-{order}",
        claim,
        f"Figure {figure[3:]}, Appendix C",
        paper_addition("coupling", True, data_changes=changes, test_changes={"free_running": True}),
        _cpu_addition("coupling", True, data_changes=changes),
        8,
        extra=EXTRA,
    )


FIG14 = tuple(
    _format("fig14", "the format decides how far a model generalises", pad, order)
    for pad in (True, False)
    for order in FORMATS
)
FIG15 = tuple(
    _format("fig15", "scored on the final answer only, accuracy is significantly higher", pad, order)
    for pad in (True, False)
    for order in FORMATS
)

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
)


def _figure(name: str, title: str, draw: str, *experiments: tuple[Experiment, ...]) -> Figure:
    return Figure(name=name, title=title, reads=tuple(item.name for group in experiments for item in group), draw=draw)


FIGURES: tuple[Figure, ...] = (
    _figure(
        "fig1", "Multi-operand addition: position coupling, NoPE and FIRE, without and with a scratchpad", "fig1", FIG1
    ),
    _figure("fig3", "Parity: accuracy of the answer token, teacher-forced and free-running", "fig3", FIG3),
    _figure("fig5", "Addition: trained lengths", "fig5", FIG5),
    _figure("fig6", "Addition without zero-padding", "fig6", FIG6),
    _figure("fig7", "Attention with and without a scratchpad, and the keys a step needs", "fig7", FIG7, FIG1),
    _figure("fig9", "Multiplication: position coupling, NoPE and FIRE, without and with a scratchpad", "fig9", FIG9),
    _figure("fig10", "Addition: layers and heads", "fig10", FIG10),
    _figure("fig11", "Addition: dimension per head", "fig11", FIG11),
    _figure("fig12", "Addition: width", "fig12", FIG12),
    _figure("fig13", "Addition: size of the training set", "fig13", FIG13),
    _figure("fig14", "Addition: input formats, exact match", "fig14", FIG14),
    _figure("fig15", "Addition: input formats, final answer only", "fig15", FIG15),
    *(_figure(item.figure, f"Attention: {item.variant}", "fig16_21", (item,)) for item in FIG16_21),
)
