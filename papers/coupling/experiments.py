"""Every experiment of the paper as a table, and its figures; plain data, no torch.

Reading order is the paper's. A row holds the published setting (Tables 1-3) and its smaller sizes, the axes of its
figure, and why a profile leaves a variant out. Equal specifications are one run, stored under the first of their names,
so Figure 5's middle range and Figure 10's one layer of four heads are trained once if they coincide.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from lengen.experiment import ATTENTION as ATTENTION_MAPS
from lengen.experiment import (
    CURVES,
    GRID,
    AxisValue,
    ByProfile,
    Experiment,
    Figure,
    Layer,
    at_profiles,
    axis,
    constructed,
    figure_of,
    of_width,
    rows_of,
)
from lengen.settings.changes import Changes
from lengen.settings.sections import NUMBER_FORMATS
from lengen.settings.spec import Spec
from lengen.tasks.addition import Addition
from papers.coupling.profiles import (
    ADDITION,
    AT_LENGTHS,
    ATTEMPT,
    ATTENTION,
    FORMATS,
    MOST_PRODUCT_UPDATES,
    MULTIPLICATION,
    PARITY,
    PLAIN,
    PLAIN_PARITY,
    PRODUCT_UPDATES,
    PRODUCTS_AT_LENGTHS,
    SLOW_PARITY,
    SLOW_SUMS,
    SMALL,
    by_method,
    longer_for_one_layer,
    smoke,
)
from papers.coupling.theorem_spec import theorem

HEADLINE = 5
"""Seeds of the night behind the claims of the abstract."""
PADS = axis("scratchpad", {"scratchpad": "scratchpad", "plain": "no scratchpad"})
LABELS = {"coupling": "Position coupling", "nope": "NoPE", "rope": "RoPE", "fire": "FIRE"}
COMPARED = axis("method", {name: LABELS[name] for name in ("coupling", "nope", "fire")})


row = rows_of("coupling", smoke=smoke)


def with_smoke(specs: dict[str, Spec]) -> dict[str, Spec]:
    """Return the sizes of a setting with its smoke size."""
    return {"smoke": smoke(specs["paper"]), **specs}


def by_scratchpad(bases: Mapping[str, Spec], pad: str, name: str, plain: Layer, slow: Layer) -> dict[str, Spec]:
    """Return the setting of a task by one method; changes lie above without a scratchpad, or without coupling."""
    changes = plain if pad == "plain" else {} if name == "coupling" else slow
    return with_smoke(at_profiles(by_method(bases, name, pad == "scratchpad"), changes))


def written(pad: str, name: str, *layers: Layer) -> dict[str, Spec]:
    """Return the setting of addition by one method, with a scratchpad or without; the layers lie below the method."""
    return by_scratchpad(at_profiles(ADDITION, *layers), pad, name, PLAIN, SLOW_SUMS)


def night(pad: str, name: str = "") -> int:
    """Return the seeds of the night: the headline compares methods with a scratchpad, above all the others."""
    return HEADLINE if pad == "scratchpad" else 3


# ------------------------------------------------------------------ Figure 1: addition, six methods


def _fig1_claim(pad: str, name: str) -> str:
    if pad == "plain":
        return f"{name}: without a scratchpad, only in distribution"
    if name == "coupling":
        return f"{name}: generalises far beyond the trained lengths and counts, above every other method"
    return f"{name}: with a scratchpad, generalises a little: fails at 13 operands of 13 digits"


FIG1 = row(
    "fig1", "Figure 1, Section 4.3", says=_fig1_claim, axes=(PADS, COMPARED), named="{1}-{0}", make=written, seeds=4,
    night=night, skip={"cpu": {"minutes": "*-plain"}},
)  # fmt: skip

FIG1_PUBLISHED = row(
    "fig1-10x10", "Figure 1, Section 4.3", axes=(axis("method", {name: LABELS[name] for name in ("nope", "fire")}),),
    says="with a scratchpad, generalises a little: fails at 13 operands of 13 digits",
    make=lambda name: written("scratchpad", name, AT_LENGTHS, ATTEMPT), seeds=4, night=1,
    skip={"cpu": {"long": "*"}, "night": {"hours": "*"}},
)  # fmt: skip
"""At night: one attempt each on the published problem, with four times the updates of coupled ids (Figure 10)."""

OURS = {"cpu": {"hours": "*"}, "night": {"hours": "*"}, "paper": {"ours": "*"}}
TRAINED: Changes = {"model.tied": True, "train.betas": (0.9, 0.95)}
"""Published, and not of size."""


PUBLISHED = row(
    "published", "Figure 1, Section 4.3, on shorter problems", named="coupling-scratchpad",
    axes=(axis("method", {"coupling": LABELS["coupling"]}),), night=HEADLINE, skip=OURS,
    make=lambda name: at_profiles(written("scratchpad", name), ByProfile(night=TRAINED)),
    says="coupled ids with tied embeddings and the published betas beside those without",
)  # fmt: skip
"""The model of Figure 1 with everything as published that is not of size."""

# ------------------------------------------------------------------ Figure 3: parity, seven settings and one of ours


def _fig3(pad: str, name: str) -> dict[str, Spec]:
    return by_scratchpad(PARITY, pad, name, PLAIN_PARITY, SLOW_PARITY)


def _fig3_claim(pad: str, name: str) -> str:
    perfect = (pad, name) == ("scratchpad", "coupling")
    return f"{name}: {'perfect to 100 bits' if perfect else 'not perfect far outside the trained lengths'}"


FIG3 = row(
    "fig3", "Figure 3, Section 3.2", says=_fig3_claim, axes=(PADS, axis("method", LABELS)), named="{1}-{0}", make=_fig3,
    seeds=4, night=HEADLINE,
    skip={"cpu": {"minutes": "*-plain [!c]*-scratchpad"}, "night": {"hours": "coupling-plain"}},
    ours={"coupling-plain": "coupling alone, the control that Figure 3 leaves out"},
)  # fmt: skip

# ------------------------------------------------------------------ Figures 5 and 6: trained lengths, no padding


def _trained(digits: int, small: int) -> AxisValue:
    batch = 400 if digits == 10 else 200  # D11
    paper: Changes = {"data.task": Addition(digits=digits, operands=digits), "train.batch": batch}
    cpu: Changes = {"data.task": Addition(digits=small, operands=small)}
    return AxisValue("trained on {data.task.digits} × {data.task.operands}", (ByProfile(paper=paper, cpu=cpu),))


FIG5 = row(
    "fig5", "Figure 5, Section 4.3", says="a wider trained range reaches further", base=SMALL, named="trained-{}",
    axes=(axis("trained", {str(paper): _trained(paper, small) for paper, small in ((7, 3), (10, 4), (13, 5))}),),
    seeds=4, skip={"cpu": {"minutes": "trained-7 trained-13"}},
)  # fmt: skip

NO_PADDING: Changes = {"data.format": {"pad_query": False, "pad_response": False}}


def _fig6(name: str, label: str, claim: str, place: str, change: Changes) -> tuple[Experiment, ...]:
    return row(
        "fig6", place, says=claim, base=SMALL, axes=(axis("format", {name: (label, change, FORMATS)}),), seeds=4,
        skip={"cpu": {"minutes": "*"}},
    )  # fmt: skip


FIG6 = (
    *_fig6(
        "padding", "zero-padded", "the padded format, in a model of the same size as the two beside it",
        "Figure 5, Section 4.3", {},
    ),
    *_fig6(
        "no-padding", "not padded", "moderate degradation without zero-padding; reasonable below 25 digits",
        "Figure 6, Section 4.3", NO_PADDING,
    ),
    *_fig6(
        "first-operand", "starts with first operand",
        "a scratchpad that starts with the first operand instead of zeros does not hurt", "Section 4.1, footnote 2",
        {"data.task.from_zero": False},
    ),
)  # fmt: skip

# ------------------------------------------------------------------ Figure 7 (and 16-21): attention

ONE_LAYER = ByProfile(
    paper={"model": {"layers": 1, **of_width(1024, heads=4, hidden=2)}},
    cpu={"model": {"layers": 1, **of_width(128, heads=4, hidden=2)}},
)
FIG7 = (
    *row(
        "fig7", "Figure 7a, Section 4.4", says="each head looks at a fixed number of keys however many the operands",
        base=ADDITION, axes=(axis("method", {"coupling-scratchpad": ("coupling, scratchpad, 1 layer", ONE_LAYER)}),),
    ),
    *row(
        "fig7", "Figure 7b, Section 4.4", says="without a scratchpad the keys looked at grow with the operands",
        axes=(axis("method", {"fire-plain": "FIRE, no scratchpad"}),), make=lambda _: written("plain", "fire"),
        skip={"cpu": {"minutes": "*"}},
    ),
)  # fmt: skip


def _attention(number: int, pad: str, name: str) -> tuple[Experiment, ...]:
    return row(
        f"fig{number}", f"Figure {number}, Appendix E", says="attention patterns of the models of Figure 1",
        axes=(axis("scratchpad", {pad: PADS.values[pad].label}), axis("method", {name: LABELS[name]})), make=written,
        named="{1}-{0}", night=night, skip={"cpu": {"minutes": "*-plain"}},
    )  # fmt: skip


FIG16_21 = tuple(
    item
    for number, (pad, name) in enumerate(((p, n) for p in PADS.values for n in ("nope", "fire", "coupling")), 16)
    for item in _attention(number, pad, name)
)

# ------------------------------------------------------------------ Figure 9: multiplication, six methods


def _fig9(pad: str, name: str, *layers: Layer) -> dict[str, Spec]:
    updates = PRODUCT_UPDATES.get((name, pad == "scratchpad"), MOST_PRODUCT_UPDATES)
    bases = by_method(MULTIPLICATION, name, pad == "scratchpad")
    return with_smoke(at_profiles(bases, ByProfile(night={"train.steps": updates}), *layers))


FIG9 = row(
    "fig9", "Figure 9, Section 5.3", axes=(PADS, COMPARED), named="{1}-{0}", make=_fig9, seeds=4, night=night,
    says=lambda pad, name: f"{name}: generalises in both operands" if (pad, name) == ("scratchpad", "coupling")
    else f"{name}: does not generalise in both operands",
    skip={"cpu": {"minutes": "*"}, "night": {"hours": "*-plain"}},
)  # fmt: skip

FIG9_PUBLISHED = row(
    "fig9-10x10", "Figure 9, Section 5.3", axes=(axis("method", {"coupling": LABELS["coupling"]}),),
    says="coupling: generalises in both operands", seeds=4, night=HEADLINE, skip={"cpu": {"long": "*"}},
    make=lambda name: _fig9("scratchpad", name, PRODUCTS_AT_LENGTHS),
)  # fmt: skip

# ------------------------------------------------------------------ Figures 10-12: architecture


def shared_width(spec: Spec) -> Changes:
    """Return the changes by which heads share the width."""
    return {"model.head_dim": spec.model.width // spec.model.heads}


FIG10 = row(
    "fig10", "Figure 10, Section 4.3, Appendix C", says="1 layer with 2 heads is worst; four heads in total suffice",
    base=SMALL, named="{}L{}H", layers=(ByProfile(paper={"model.width": 1024}, cpu={"model.width": 128}), AT_LENGTHS),
    axes=(axis("layers", (1, 2, 4, 6), "model.layers", "layers"), axis("heads", (2, 4, 8), "model.heads", "heads")),
    derived=(shared_width, longer_for_one_layer), seeds=6, night=HEADLINE,
    skip={"cpu": {"minutes": "1L[28]H [246]L?H"}, "night": {"hours": "1L[28]H 2L[48]H [46]L?H"}},
)  # fmt: skip
FIG11 = row(
    "fig11", "Figure 11, Appendix C", says="a larger dimension per head helps shallow models", base=SMALL,
    named="1L{}H-{}", layers=(ByProfile(paper={"model.layers": 1}),),
    axes=(
        axis("heads", (4, 8), "model.heads", "heads"),
        axis("dimension", {"128": (128, 16), "256": (256, 32)}, "model.head_dim", "dimensions"),
    ),
    seeds=8, skip={"cpu": {"minutes": "*"}},
)  # fmt: skip
WIDTHS = {"64": (64, 64), "128": (128, 96), "256": (256, 128), "512": (512, 192)}
"""Width at the paper profile, and below it."""
FIG12 = row(
    "fig12", "Figure 12, Appendix C", says="narrow models are worse", base=SMALL, named="d{}",
    layers=(ByProfile(paper={"model": {"layers": 1, "heads": 4}}),),
    axes=(axis("width", WIDTHS, "model.width", "wide"),),
    derived=(shared_width, lambda spec: {"model.ff_width": 4 * spec.model.width}),  # D18
    seeds=8, skip={"cpu": {"minutes": "*"}, "night": {"hours": "d512"}},
)  # fmt: skip

# ------------------------------------------------------------------ Figures 13-15: data and formats

EXAMPLES = {
    "20k": (20_000, 2_000), "100k": (100_000, 10_000), "500k": (500_000, 50_000), "2M": (2_000_000, 200_000),
    "10M": (10_000_000, 1_000_000),
}  # fmt: skip
"""Examples at the paper profile, and below it."""
FIG13 = row(
    "fig13", "Figure 13, Appendix C", says="the size of the training set has no significant impact", base=SMALL,
    axes=(axis("examples", EXAMPLES, "data.examples", "examples"),), seeds=8, skip={"cpu": {"minutes": "*"}},
)  # fmt: skip


def _order(query: bool, response: bool) -> Layer:
    return {"data.format": {"reverse_query": query, "reverse_response": response}, "test.free_running": True}


PADDED = axis(
    "padding",
    {
        name: (label, {"data.format": {"pad_query": pad, "pad_response": pad}})
        for name, label, pad in (("pad", "zero-padded", True), ("nopad", "not padded", False))
    },
)
ORDERS = axis(
    "order",
    {
        "plain-reversed": ("plain to reversed", _order(False, True)),
        "reversed-reversed": ("reversed to reversed", _order(True, True)),
        "plain-plain": ("plain to plain", _order(False, False)),
    },
)
"""Query and response: reversed or not (Figure 14, left to right)."""
FIG14, FIG15 = (
    row(
        f"fig{number}", f"Figure {number}, Appendix C", says=claim, base=SMALL, axes=(PADDED, ORDERS),
        derived=(FORMATS,), seeds=8, skip={"cpu": {"minutes": "*"}, "night": {"hours": "*"}},
    )
    for number, claim in (
        (14, "the format decides how far a model generalises"),
        (15, "scored on the final answer only, accuracy is significantly higher"),
    )
)  # fmt: skip

# ------------------------------------------------------------------ Theorem 4.1: nothing is trained

_theorem = partial(constructed, "coupling/thm4.1", "Theorem 4.1, Section 4.4, Appendix D")
BEYOND: dict[str, Any] = {"lengths": (*range(1, 31), 100), "counts": (*range(2, 31), 100)}
"""The published grid, and 100 operands of 100 digits."""
THEOREM_ATTENTION = ((6, 6), (5, 2), (5, 4), (5, 6), (5, 8))
"""A map beyond what small models are trained on, then operands at one length."""
SPARSE: dict[str, Any] = {"lengths": (1, 10, 30, 100), "counts": (2, 10, 30, 100), "examples": 10}
TINY: dict[str, Any] = {"lengths": (1, 2, 3), "counts": (2, 3), "examples": 10}
THM41 = (
    _theorem(
        "construction", "a 1-layer 4-head transformer set by hand adds any numbers it is made for", "constructed",
        theorem(3, 3, **TINY, attention=((2, 2), (2, 3)), attention_examples=4),
        theorem(100, 100, **BEYOND, examples=5, attention=THEOREM_ATTENTION, attention_examples=50),
        theorem(100, 100, **BEYOND, examples=1000, attention=ATTENTION),
    ),
    *(
        _theorem(
            held.name, f"exact in {held.name}", held.name,
            theorem(3, 3, precision=precision, **TINY),
            theorem(100, 100, precision=precision, **SPARSE),
            theorem(100, 100, precision=precision, **{**SPARSE, "examples": 100}),
        )
        for precision, held in NUMBER_FORMATS.items()
    ),
)  # fmt: skip


def _of(experiments: Sequence[Experiment], *variants: str) -> list[Experiment]:
    return [item for item in experiments if item.variant in variants]


EXPERIMENTS: tuple[Experiment, ...] = (
    *FIG1, *FIG1_PUBLISHED, *PUBLISHED, *FIG3, *FIG5, *FIG6, *FIG7, *FIG9, *FIG9_PUBLISHED, *FIG10, *FIG11, *FIG12,
    *FIG13, *FIG14, *FIG15, *FIG16_21, *THM41,
)  # fmt: skip

OWN = "papers.coupling.special_plots"
ZEROS = "Of factors of one digit every tenth is zero: 10 % in the first row and column take no multiplication."
FIGURES: tuple[Figure, ...] = (
    figure_of(
        "fig1", "Sums of many numbers, by method", GRID, FIG1,
        caption="Published: trained to 10 operands of 10 digits, tested to 30 of 30. Dents: the start id (finding 5).",
    ),
    figure_of(
        "fig1-10x10", "Sums at the published lengths, by method", GRID, _of(FIG10, "2L2H"), FIG1_PUBLISHED,
        titles={"2L2H": "Coupling, 2 layers", "nope": "NoPE, 3 layers", "fire": "FIRE, 3 layers"},
        caption="Coupling: two heads a layer. NoPE and FIRE: one attempt each, four heads, four times the updates.",
    ),
    figure_of("published", "Sums with the published betas and tied embeddings", GRID, PUBLISHED),
    figure_of(
        "fig3", "Parity by length", CURVES, FIG3, panels="scratchpad", chance=0.5,
        measures=("answer_token", "final", "exact", "edit"),
        caption="Rows: the answer token, with the true scratchpad in the context, as published; the answer after the "
        "scratchpad that the model writes; scratchpad and answer, all right; their edit distance. Dotted: guessing the "
        "answer.",
    ),
    figure_of("fig5", "Sums by trained range", GRID, FIG5, caption="Published: 7, 10 and 13 digits and operands."),
    figure_of("fig6", "Zero-padding and the start of the scratchpad", GRID, FIG6),
    figure_of(
        "fig7", "Attention with and without a scratchpad", f"{OWN}:fig7", FIG7, FIG1,
        caption="Maps: heads with the most structure, of one seed. Below: keys that hold 90 % of the attention "
        "of a step. Coupling is drawn with one layer and with three, the others with three.",
    ),
    figure_of(
        "fig9", "Products by method", GRID, FIG9, caption=f"{ZEROS} Published: trained to 10 x 10, tested to 30 x 30."
    ),
    figure_of("fig9-10x10", "Products at the published lengths", GRID, FIG9_PUBLISHED, caption=ZEROS),
    figure_of("fig10", "Layers and heads", GRID, FIG10),
    figure_of("fig11", "Heads and their dimension", GRID, FIG11, caption="Published dimensions: 128 and 256."),
    figure_of("fig12", "Width", GRID, FIG12, caption="Published widths: 64, 128, 256, 512."),
    figure_of("fig13", "Size of the training set", GRID, FIG13, caption="Published: 20K, 100K, 500K, 2M, 10M."),
    figure_of("fig14", "Formats, whole response", GRID, FIG14),
    figure_of(
        "fig15", "Formats, final answer", GRID, FIG15, metric="answer_correct", modes=("teacher_forced", "free_running")
    ),
    figure_of(
        "thm4.1", "The construction beside trained models", GRID, THM41[:1], _of(FIG10, "2L2H"),
        _of(FIG1, "nope-scratchpad"), caption="The construction has no training and so no trained range; its last row "
        "and column are 100 digits and 100 operands.",
    ),
    figure_of(
        "thm4.1-formats", "The construction in three number formats", f"{OWN}:formats", THM41[1:],
        caption="Exact match in the worst cell.",
    ),
    figure_of(
        "thm4.1-attention", "Attention of the construction and of trained models", f"{OWN}:construction", THM41[:1],
        FIG7[:1], _of(FIG1, "coupling-scratchpad", "nope-scratchpad", "fire-scratchpad"), csv=f"{OWN}:overlap_csv",
        caption="Above: heads of the construction. Middle: the trained head nearest to each. Below: overlap of every "
        "trained head with each, the start token left out; a dash is attention that is spread evenly. Maps are of one "
        "seed, points of all. The statement is about the first two heads.", seeds="each",
    ),
    figure_of(
        "fig16_21", "Attention of the models of Figure 1", ATTENTION_MAPS, FIG16_21,
        caption="Of every setting the three heads whose response rows depart most from attention spread evenly.",
        seeds="one",
    ),
)  # fmt: skip
