"""Every experiment of the thesis as a table, and its figures; plain data, no torch.

Reading order: what absolute positions fail at (Figures 4.1 and 4.2), how sure the models are (4.3) and where they look
(4.4), formats and positions (4.5), those that the text speaks of and no figure shows (Sections 3.4 and 4.2.1), the
scratchpad in parts (4.6), sub-tasks (Table 4.3, Figures 4.7 to 4.9), the order in which digits are learned (B.1), and
the looped decoder of Section 2.1.3. Equal specifications are one run, stored under the first of their names.
"""

from typing import Any

from lengen.experiment import (
    CURVES,
    TABLE,
    TRAINING,
    Axis,
    AxisValue,
    ByProfile,
    Experiment,
    Figure,
    Layer,
    at_profiles,
    axis,
    figure_of,
    of_width,
    rows_of,
)
from lengen.formats.addition_subtasks import SUBTASKS, Subtasks
from lengen.formats.linear import Linear
from lengen.formats.steps import DigitSteps
from lengen.position_ids.digit_places import Abacus
from lengen.position_ids.sequence_places import NoPositionIds, Randomised
from lengen.settings.changes import Changes
from lengen.settings.model import EncoderDecoder, Learned, NoEncoding, Rotary
from lengen.settings.sections import RandomSpaces
from papers.random_spaces.profiles import (
    ATTENTION,
    BASE,
    LARGE,
    LONGER,
    MINI,
    ONE_TO_SEVEN,
    ONE_TO_THREE,
    PADDED,
    PUBLISHED_MINI,
    SWEPT,
    UNCERTAINTY,
    MeasuredSpec,
    up_to,
)

HEADLINE = 5
"""Seeds of a night on both sides of what the abstract says; three on all others."""
MINUTES = {"minutes": "*"}


row = rows_of("random_spaces")


def steps(number: int, batch: int = 0) -> Changes:
    """Return the optimizer steps, with another batch size than the profile's if one is given."""
    return {"train": {"steps": number, **({"batch": batch} if batch else {})}}


def settled(number: int) -> Changes:
    """Return the optimizer steps whose learning rate ends at 0, with products in bfloat16."""
    return {"train": {"steps": number, "final_lr": 0.0, "precision": "bf16-products"}}


# ------------------------------------------------------------------ ways of writing and positions (Table 4.1)

ALL_TOKENS: Changes = {"train": {"loss": "all"}}
REVERSED: Changes = {"data": {"format": {"reverse_response": True}}}
OPERANDS: Changes = {"data": {"format": {"reverse_query": True}}}
SCRATCHPAD: Changes = {"data": {"format": DigitSteps()}}
PARTS: Changes = {"measure": {"alignment": ()}}  # its answer is copied from its own steps
SPACES: Changes = {"data": {"spaces": RandomSpaces(ratio=0.5)}}
NO_POSITIONS: Changes = {"data": {"position_ids": NoPositionIds()}, "model": {"encoding": NoEncoding()}}
ROTARY: Changes = {"model": {"encoding": Rotary()}}
RANDOMISED = ByProfile(
    paper={"data": {"position_ids": Randomised(max_position=127)}},  # the context length of the author's code
    cpu={"data": {"position_ids": Randomised(max_position=63)}},
    smoke={"data": {"position_ids": Randomised(max_position=63)}},
)
ABACUS: Changes = {
    "data": {
        "format": Linear(reverse_query=True, reverse_response=True),
        "position_ids": Abacus(max_position=128, max_offset=30),  # 128: the context length of the author's code
    },
    "model": {"encoding": Learned()},
}

# ------------------------------------------------------------------ Section 4.3.1: absolute positions

RANGES = {
    "1-3_digit": "1 and 3 digits are learned, 2 and 4 are not",
    "1-7_digit": "up to 7 digits are learned, 8 are not",
    "generalize_to_longer": "up to 17 and 19 digits are learned, 18 and 20 are not: longer training does not help",
}
SAMPLED = ByProfile(
    paper={"test": {"sampled": 1000}}, cpu={"test": {"sampled": 500}}, smoke={"test": {"sampled": 8}},
)  # fmt: skip
"""Test problems that are answered by sampling, too, as the author's code does for these figures; all are greedily."""
SETS: dict[str, tuple[Any, ...]] = {
    "1-3_digit": ("1 and 3 digits", ONE_TO_THREE, REVERSED, SAMPLED),  # the author's code reverses these answers
    "1-7_digit": ("no length left out", ONE_TO_SEVEN, SAMPLED),
    "generalize_to_longer": ("one length left out", LONGER, ByProfile(paper=SAMPLED.paper)),
}
UPDATES = {
    "1-3_digit": ByProfile(paper=steps(10_000)),
    "1-7_digit": ByProfile(paper=steps(10_000), night=settled(40_000)),
    "generalize_to_longer": ByProfile(paper=steps(200_000, batch=512), night=steps(40_000)),
}
FIG41 = row(
    "fig4.1", "Figure 4.1, Section 4.3.1", says=RANGES.__getitem__, base=BASE, layers=(ALL_TOKENS, LARGE),
    axes=(axis("trained", {name: (*of_set, UPDATES[name]) for name, of_set in SETS.items()}),),
    night=lambda name: HEADLINE if name == "1-3_digit" else 3, skip={"cpu": {"minutes": "1-7* gen*"}},
)  # fmt: skip
UT = EncoderDecoder(encoder_layers=3, hands_over=True)  # the author's decoder begins with the =
UNIVERSAL: Changes = {"model": {"layers": 3, "shared": True, "inject": "coordinates", "architecture": UT}}
"""A Universal Transformer: three recurrent steps in encoder and decoder each."""
FIG42 = row(
    "fig4.2", "Figure 4.2, Section 4.3.1", says=lambda name: f"a Universal Transformer fails alike: {RANGES[name]}",
    base=BASE, axes=(axis("trained", {name: SETS[name] for name in ("1-3_digit", "1-7_digit")}),),
    derived=(
        ALL_TOKENS, UNIVERSAL,
        ByProfile(paper={"model": of_width(384, heads=6, hidden=4), **steps(10_000, batch=512)}, cpu=steps(10_000)),
    ),
    skip={"cpu": MINUTES},
)  # fmt: skip

# ------------------------------------------------------------------ Sections 4.3.2 to 4.4: positions and formats

AS_PUBLISHED: Changes = {
    "model": {"norm_place": "post", "final_norm": "none", "tied": True, "dropout": 0.1}, "train.final_lr": 0.1,
}  # fmt: skip
"""Published, and not of size."""
KINDS: dict[str, tuple[str, str, tuple[Layer, ...]]] = {
    "ape": (
        "absolute positions", "absolute positions fail at every untrained length", (ByProfile(night=settled(60_000)),),
    ),
    "reversed": (
        "answer reversed", "reversing the answer does not help", (REVERSED, ByProfile(night=settled(100_000))),
    ),
    "scratchpad": (
        "scratchpad", "a scratchpad does not help",
        (SCRATCHPAD, PARTS, ByProfile(cpu=steps(8000, batch=16), night=steps(10_000, batch=16))),
    ),
    "zero-pad": (
        "zero padding", "zero padding interpolates and does not extrapolate",
        (PADDED, ByProfile(cpu=steps(10_000), night=steps(20_000))),
    ),
    "spaces": (
        "random spaces", "random spaces interpolate and reach about one digit further",
        (SPACES, UNCERTAINTY, ByProfile(night=settled(60_000))),
    ),
    "abacus": (
        "Abacus", "Abacus positions interpolate and extrapolate",
        (ABACUS, ByProfile(cpu=steps(6000), night=settled(20_000)), ByProfile(night=AS_PUBLISHED)),
    ),
}  # fmt: skip
"""Label, claim and changes of Figure 4.5. At night each kind has updates of its own for the published range; one
seed each of zero padding and of reversed answers has not learned that range. Where nothing is said, cpu has those of
random spaces (RECIPES.md)."""
DEEPER = ByProfile(cpu={"model": {"layers": 4}, **steps(24_000)})
"""Changes that models without positions and with randomised ones need to learn their range (RECIPES.md)."""
DROPS = "accuracy drops steeply on longer sequences"
ASSERTED: dict[str, tuple[str, str, tuple[Layer, ...]]] = {
    "ape": ("absolute positions", f"with absolute positions {DROPS}", ()),
    "nope": ("NoPE", f"without positions {DROPS}", (NO_POSITIONS,)),
    "rope": ("RoPE", f"with rotary positions {DROPS}", (ROTARY,)),
    "randomised": ("randomised positions", "randomised positions improve length generalization", (RANDOMISED,)),
    "reversed-operands": (
        "operands reversed", "reversing the operands alone makes little difference", (OPERANDS,),
    ),
}  # fmt: skip
"""Statements of the text on the setting of Figure 4.5 that no figure shows; night and cpu have one larger size for
all."""


def _kinds(kinds: dict[str, tuple[str, str, tuple[Layer, ...]]]) -> Axis:
    return axis("setting", {kind: AxisValue(label, layers) for kind, (label, _, layers) in kinds.items()})


def written(kind: str) -> dict[str, MeasuredSpec]:
    """Return the setting of Figure 4.5 with one way of writing or of giving positions."""
    return at_profiles(BASE, MINI, ATTENTION, PUBLISHED_MINI, *KINDS[kind][2])


SLOW = "reversed scratchpad"
"""Kinds of Figure 4.5 that are no part of a run of the whole paper at the cpu profile."""
FIG45 = row(
    "fig4.5", "Figure 4.5, Sections 4.3 and 4.4", says=lambda kind: KINDS[kind][1], axes=(_kinds(KINDS),), make=written,
    seeds=3, night=HEADLINE, skip={"cpu": {"minutes": SLOW}},
)  # fmt: skip


OURS = {"cpu": {"hours": "*"}, "night": {"hours": "*"}, "paper": {"ours": "*"}}


PUBLISHED = row(
    "published", "Figure 4.5", says=lambda kind: KINDS[kind][1], night=HEADLINE, skip=OURS,
    make=lambda kind: at_profiles(
        written(kind), ByProfile(night=AS_PUBLISHED), ByProfile(night=steps(100_000) if kind == "abacus" else {})
    ),
    axes=(_kinds({kind: KINDS[kind] for kind in ("ape", "spaces", "abacus")}),),
)  # fmt: skip
"""Figure 4.5 with everything as published that is not of size, at the learning rate of the night; Abacus with all
updates, too."""
ABLATION = row(
    "ablation", "Figure 4.5", says=lambda kind: KINDS[kind][1], night=HEADLINE, skip=OURS,
    axes=(_kinds({"abacus": KINDS["abacus"]}),),
    make=lambda kind: at_profiles(BASE, MINI, ATTENTION, PUBLISHED_MINI, *KINDS[kind][2][:-1]),  # all but AS_PUBLISHED
)  # fmt: skip
"""Abacus with the norm, tying, dropout and final rate of the other kinds."""


def _asserted(place: str, *kinds: str) -> tuple[Experiment, ...]:
    return row(
        "asserted", place, says=lambda kind: ASSERTED[kind][1], base=BASE, layers=(MINI, ATTENTION), derived=(DEEPER,),
        axes=(_kinds({kind: ASSERTED[kind] for kind in kinds}),), seeds=3,
        skip={"cpu": MINUTES, "night": {"hours": "*"}},
    )  # fmt: skip


SECTION34 = (
    *_asserted("Section 3.4", "ape", "nope", "rope", "randomised"),
    *_asserted("Section 4.2.1", "reversed-operands"),
)
LOOKS = {
    "ape": ("ape", "absolute positions", "attention is unclear with absolute positions"),
    "ape-spaces": ("spaces", "random spaces", "random spaces align it"),
    "abacus": ("abacus", "Abacus", "with Abacus positions it runs along orderly lines"),
}
FIG44 = row(
    "fig4.4", "Figure 4.4, Section 4.3.2", says=lambda name: LOOKS[name][2], night=HEADLINE,
    axes=(axis("setting", {name: label for name, (_, label, _) in LOOKS.items()}),),
    make=lambda name: written(LOOKS[name][0]),
)  # fmt: skip
PAPER_ONLY = {"paper": BASE["paper"]}
LONGEST: Changes = {"test": {"lengths": (*up_to(20), 25)}, "measure": {"uncertainty": (19, 25)}}
FIG43 = row(
    "fig4.3", "Figure 4.3, Section 4.3.1", axes=(axis("setting", {"spaces": "random spaces"}),), night=3,
    says="entropy is low in distribution; outside it grows, and the end comes too early",
    skip={"cpu": MINUTES},
    make=lambda kind: at_profiles(written(kind), REVERSED)
    | at_profiles(PAPER_ONLY, LONGER, LARGE, SPACES, REVERSED, LONGEST, steps(1_000_000, batch=512)),
)  # fmt: skip
FIG46 = row(
    "fig4.6", "Figure 4.6, Section 4.4.3", base=BASE, skip={"cpu": MINUTES},
    says="the mistakes are in the intermediate steps, not in reading off the answer",
    axes=(axis("setting", {"scratchpad": "scratchpad, random spaces"}),),
    layers=(
        ByProfile(paper=LONGER.paper, cpu=MINI.cpu, smoke=MINI.smoke), SCRATCHPAD, SPACES, LARGE,
        ByProfile(paper={"test": {"lengths": up_to(21)}, **steps(200_000, batch=512)}, cpu=steps(8000, batch=16)),
    ),
)  # fmt: skip

# ------------------------------------------------------------------ Section 4.5: sub-tasks

SIZES = {"10k": 10_000, "100k": 100_000, "1m": 1_000_000, "10m": 10_000_000}
"""Problems of the training sets."""
WIDTHS = (64, 128, 256, 512, 1024, 1536)
SMALL: Changes = {"data.examples": 30_000, "train.lr": 2e-3, "train.evaluations": 40}
"""Training of the narrow models of night and cpu, beside their steps; of 10,000 problems too few are additions to learn
them (RECIPES.md), so that their smallest set is the one of Figure 4.5."""


def swept(size: str, kind: str, width: int) -> dict[str, MeasuredSpec]:
    """Return addition alone (add) or mixed with its sub-tasks (mix), by size of the training set and width."""
    return at_profiles(
        BASE,
        SWEPT,
        SPACES,
        {"data": {"format": Subtasks()}} if kind == "mix" else {},
        {"data": {"examples": SIZES[size]}, "test": {"sampled": 100}},
        ByProfile(
            paper={"model": {"layers": 6, **of_width(width, heads=8, hidden=4)}, **steps(32_000)},
            cpu={"model": of_width(width, heads=4, hidden=4), **SMALL, **steps(40_000, batch=64)},
            smoke={"data": {"examples": 200}, "model": of_width(width, heads=4, hidden=2), "test": {"sampled": 8}},
        ),
    )


MIXTURES = {"add": "additions only", "mix": "with sub-tasks"}
"""Training sets of the sweep."""
NARROW = "10k-*-w64 10k-*-w128"
"""Night and cpu have the smallest set, a night by itself the narrowest model of it; smoke has the next set, too."""
WIDE = " ".join(f"*-w{width}" for width in WIDTHS[2:])
TABLE43 = row(
    "table4.3", "Table 4.3, Figures 4.7 and 4.8, Section 4.5", named="{}-{}-w{}", seeds=3,
    says=lambda size, kind, width: "with its sub-tasks mixed in, small models and small data gain most"
    if kind == "mix" else "addition alone",
    axes=(
        axis("examples", dict.fromkeys(SIZES, "{data.examples} examples")), axis("training", MIXTURES),
        axis("width", {str(width): "width {model.width}" for width in WIDTHS}),
    ),
    make=lambda size, kind, width: swept(size, kind, int(width)),
    night=lambda size, kind, width: HEADLINE if width == "64" else 3,
    skip={
        "smoke": {"large": f"1m-* 10m-* {WIDE}"},
        "cpu": {"minutes": NARROW, "large": f"100k-* 1m-* 10m-* {WIDE}"},
        "night": {"hours": "10k-*-w128", "large": f"100k-* 1m-* 10m-* {WIDE}"},
    },
)  # fmt: skip
DIFFICULTY = {
    "add": "addition itself",
    "rev": "reversing is learned quickly and consistently",
    "ali": "digit alignment is among the most difficult",
    "mad": "modular addition is among the most difficult and most variable",
    "car": "carry detection is learned quickly and consistently",
}
FIG49 = row(
    "fig4.9", "Figure 4.9, Section 4.5.3", says=DIFFICULTY.__getitem__, night=HEADLINE, skip={"cpu": MINUTES},
    axes=(axis("sub-task", dict.fromkeys(DIFFICULTY, "with sub-tasks")),), make=lambda _: swept("10k", "mix", 64),
    shown=lambda name: ("data.format.names=" + ",".join([name, *(other for other in SUBTASKS if other != name)]),),
)  # fmt: skip

# ------------------------------------------------------------------ Appendix B and Section 2.1.3

FIGB1 = row(
    "figB.1", "Figure B.1, Appendix B.1", skip={"cpu": {"minutes": SLOW}},
    says=lambda kind: f"the most significant digits are learned first{', reversed or not' * (kind == 'reversed')}",
    axes=(axis("setting", {"ape": "most significant digit first", "reversed": "units first"}),),
    make=lambda kind: written(kind)  # the model of smaller profiles
    | at_profiles(PAPER_ONLY, LONGER, LARGE, *KINDS[kind][2], steps(200_000, batch=512)),
)  # fmt: skip
LOOPS = ByProfile(paper={"model.loops": 10, "model.final_norm": "layernorm"}, smoke={"model.loops": 2})
INJECTED = {"injected": ("input", "its input injected"), "plain": ("none", "without injection")}
LOOPED = row(
    "looped", "Section 2.1.3, Figure 2.2", base={name: BASE[name] for name in ("smoke", "paper")},
    says=lambda kind: f"one block in a loop, {INJECTED[kind][1]}: described, not measured in the thesis",
    layers=(MINI, {"model.layers": 1}), derived=(LOOPS,),
    axes=(axis("loop", {name: (said, {"model.inject": kind}) for name, (kind, said) in INJECTED.items()}),),
    skip={"cpu": {"unread": "*"}, "night": {"unread": "*"}},
)  # fmt: skip

EXPERIMENTS: tuple[Experiment, ...] = (
    *FIG45, *PUBLISHED, *ABLATION, *SECTION34, *FIG41, *FIG42, *FIG43, *FIG44, *FIG46, *TABLE43, *FIG49, *FIGB1,
    *LOOPED,
)  # fmt: skip
MIXES = tuple(item for item in TABLE43 if "-mix-" in item.name)

OWN = "papers.random_spaces.special_plots"
OVER = {"exact_match": "Exact match", "answer_loss": "Answer loss\n(nats per token)"}
SHARED = (
    "Dashed: lengths never trained. Loss on a logarithmic scale. Exact match of 64 problems a length in training, "
    "answered greedily; values beside published ones are of 500 answers sampled after it, as in the author's code."
)
SUBTASK = {
    "add": "addition", "rev": "reversing", "ali": "digit alignment", "mad": "modular addition",
    "car": "carry detection",
}  # fmt: skip
"""Sub-tasks in their published order."""
FIGURES: tuple[Figure, ...] = (
    figure_of(
        "fig4.1", "A decoder trains: match and loss by length", TRAINING, FIG41, families=OVER, lines="Digits",
        shares=("exact_match",), dashed=True, caption=SHARED,
    ),
    figure_of(
        "fig4.2", "A Universal Transformer trains: match and loss", TRAINING, FIG42, families=OVER, lines="Digits",
        shares=("exact_match",), dashed=True, caption=SHARED,
    ),
    figure_of(
        "fig4.3", "Certainty of the next token by place", f"{OWN}:certainty", FIG43,
        caption="Lines: medians over seeds of the mean over prompts; a place counts the prompts that still write. "
        "Grey: places that answers have in training.",
    ),
    figure_of(
        "fig4.4", "Attention, largest over heads", f"{OWN}:attention", FIG44,
        caption="A row reads the token at its left and predicts the next one; rows below the line predict the answer.",
        seeds="one",
    ),
    figure_of("fig4.5", "Positions and formats by length", TABLE, FIG45, alone="final"),
    figure_of("published", "Positions with the published norm, tying and dropout", TABLE, PUBLISHED, alone="final"),
    figure_of("ablation", "Abacus without the published norm, tying and dropout", TABLE, ABLATION, alone="final"),
    figure_of("asserted", "Positions and formats without a published figure", TABLE, SECTION34, alone="final"),
    figure_of(
        "fig4.6", "Mistakes by part of the scratchpad", f"{OWN}:parts", FIG46,
        caption="Left: mean edit distance of a part. Right: exact match of it. The published panel draws whether the "
        "partial sums imply the true answer; its caption speaks of whether the answer follows from them.",
    ),
    figure_of(
        "table4.3", "Additions alone and with sub-tasks", f"{OWN}:sweep", TABLE43,
        csv="papers.random_spaces.table4_3:to_csv",
        caption="Exact match: median (lowest to highest). Greedy: the most probable token; sampled: at temperature 1, "
        "as published. Published cells are means over other widths, in results/published.csv.",
    ),
    figure_of(
        "fig4.7", "Answer loss by width and sub-tasks", f"{OWN}:losses", TABLE43,
        caption="A dot is a run, a bar the median.",
    ),
    figure_of(
        "fig4.8", "Loss inside and beyond the trained range", f"{OWN}:fig4_8", TABLE43, caption="A dot is a run.",
        seeds="each",
    ),
    figure_of(
        "fig4.9", "Loss and exact match of the sub-tasks", f"{OWN}:fig4_9", MIXES,
        caption="Bars: medians; dots: runs. Losses of different sub-tasks are not comparable: their answers differ.",
    ),
    figure_of(
        "fig4.9-steps", "Sub-tasks while a decoder trains", TRAINING, MIXES, families={"subtask": "Exact match"},
        names=SUBTASK, shares=("subtask",), caption="At the longest trained length.",
    ),
    figure_of(
        "figB.1", "Loss of each answer digit in training", TRAINING, FIGB1, families={"digit_loss": "Loss (nats)"},
        lines="Place in the sum (1: units)", caption="At the longest trained length, given the true digits before.",
    ),
    figure_of("looped", "A looped decoder by length", CURVES, LOOPED),
)  # fmt: skip
