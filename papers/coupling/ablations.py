"""The experiments of Appendix C: architecture, training-set size, input formats (Figures 10-15)."""

from lengen.config.experiment import Experiment
from papers.coupling.settings import paper_addition
from papers.coupling.sizes import EXTRA, cpu_addition, entry

# ------------------------------------------------------------------ Figures 10-12: architecture

CPU_ARCHITECTURES = {(1, 2): "", (1, 4): "", (2, 2): "", (1, 8): EXTRA, (2, 4): EXTRA}
"""What Figure 10 has at the cpu profile: the worst, both with four heads in total, and as extras two larger ones."""


def _fig10(layers: int, heads: int) -> Experiment:
    small = (layers, heads) in CPU_ARCHITECTURES
    return entry(
        f"fig10/{layers}L{heads}H",
        "1 layer with 2 heads is worst; four heads in total suffice",
        "Figure 10, Section 4.3, Appendix C",
        paper_addition("coupling", True, layers=layers, heads=heads),
        cpu_addition("coupling", True, layers=layers, heads=heads) if small else None,
        6,
        absent="the claims need 1L2H, 1L4H and 2L2H; deeper models take longer than the rest together",
        extra=CPU_ARCHITECTURES.get((layers, heads), ""),
    )


FIG10 = tuple(_fig10(layers, heads) for layers in (1, 2, 4, 6) for heads in (2, 4, 8))


def _fig11(heads: int, head_dim: int) -> Experiment:
    changes = {"head_dim": head_dim // 8}  # width 128 for 1024
    return entry(
        f"fig11/1L{heads}H-{head_dim}",
        "a larger dimension per head helps shallow models",
        "Figure 11, Appendix C",
        paper_addition("coupling", True, layers=1, heads=heads, model_changes={"head_dim": head_dim}),
        cpu_addition("coupling", True, heads=heads, model_changes=changes),
        8,
        extra=EXTRA,
    )


FIG11 = tuple(_fig11(heads, head_dim) for heads in (4, 8) for head_dim in (128, 256))


def _fig12(width: int, small: int | None) -> Experiment:
    return entry(
        f"fig12/d{width}",
        "narrow models are worse",
        "Figure 12, Appendix C",
        paper_addition("coupling", True, layers=1, heads=4, width=width, model_changes={"ff_width": 4 * width}),
        None if small is None else cpu_addition("coupling", True, width=small),
        8,
        absent="three widths (32, 64, 128) decide the claim at the cpu profile",
    )


FIG12 = (_fig12(64, 32), _fig12(128, 64), _fig12(256, 128), _fig12(512, None))

# ------------------------------------------------------------------ Figures 13-15: data and formats


def _fig13(name: str, examples: int, small: int | None) -> Experiment:
    return entry(
        f"fig13/{name}",
        "the size of the training set has no significant impact",
        "Figure 13, Appendix C",
        paper_addition("coupling", True, data_changes={"examples": examples}),
        None if small is None else cpu_addition("coupling", True, data_changes={"examples": small}),
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
    return entry(
        f"{figure}/{'pad' if pad else 'nopad'}-{order}",
        claim,
        f"Figure {figure[3:]}, Appendix C",
        paper_addition("coupling", True, data_changes=changes, test_changes={"free_running": True}),
        cpu_addition("coupling", True, data_changes=changes, free_running=True),
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
