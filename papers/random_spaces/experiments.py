"""Every experiment of the thesis, grouped by figure or table; plain data, no torch.

Reading order: what absolute positions fail at (Figures 4.1 and 4.2), how sure the models are (4.3) and where they look
(4.4), formats and positions (4.5), those that the text speaks of and no figure shows (Sections 3.4 and 4.2.1), the
scratchpad in parts (4.6), sub-tasks (Table 4.3, Figures 4.7 to 4.9), the order in which digits are learned (B.1), and
the looped decoder of Section 2.1.3. Equal specifications are one run, stored
under the first of their names.
"""

from collections.abc import Mapping

from lengen.config import (
    SUBTASKS,
    Abacus,
    DigitSteps,
    EncoderDecoder,
    Learned,
    Linear,
    NoEncoding,
    NoPositionIds,
    Randomised,
    RandomSpaces,
    Rotary,
    Subtasks,
)
from lengen.config.experiment import PROFILES, Experiment, Figure, figure_of
from lengen.config.overlay import Changes
from lengen.config.profiles import ByProfile, at_profiles
from lengen.config.spec import Spec
from lengen.paper import later
from papers.random_spaces.profiles import (
    ATTENTION,
    BASE,
    LARGE,
    LONGER,
    MINI,
    ONE_TO_SEVEN,
    ONE_TO_THREE,
    PADDED,
    SWEPT,
    UNCERTAINTY,
    of_width,
    up_to,
)
from papers.random_spaces.spec import MeasuredSpec

MINUTES = "minutes more than a run of the whole paper has on two cores: runs when named"
TOO_LARGE = "too large for two cores: tens of minutes to hours a run"
HOURS = "hours more than a night has for this paper: runs when named"
BEYOND_A_NIGHT = "a night has the smallest training set in every width that it trains; this one is as long again"
UNREPORTED = "the thesis reports no result of it, and a loop learns its range in no time that two cores have"
HEADLINE = 5
"""Seeds of a night on both sides of what the abstract says; three on all others."""


def entry(
    name: str,
    claim: str,
    place: str,
    specs: Mapping[str, Spec],
    *,
    seeds: int = 1,
    night: int = 3,
    extra: str = "",
    beyond: str = "",
    absent: Mapping[str, str] | None = None,
    shown: tuple[str, ...] = (),
) -> Experiment:
    """An experiment with so many ``seeds`` at paper and ``night``, at every profile but where ``absent`` says why.

    ``extra`` says why a run of the whole paper leaves it out at cpu, ``beyond`` why at night.
    """
    without = absent or {}
    left_out = {"cpu": extra, "night": beyond}
    return Experiment(
        name=f"random_spaces/{name}",
        claim=claim,
        place=place,
        specs={profile: specs[profile] for profile in PROFILES if profile not in without},
        absent=without,
        extra={profile: why for profile, why in left_out.items() if why and profile not in without},
        seeds=seeds,
        repeats={"night": night},
        shown=shown,
    )


def steps(number: int, batch: int = 0) -> Changes:
    """Optimizer steps, with another batch size than the profile's where one is given."""
    return {"train": {"steps": number, **({"batch": batch} if batch else {})}}


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
DECODERS: dict[str, tuple[Changes | ByProfile, ...]] = {
    # the author's code reverses the answers of this set
    "1-3_digit": (ONE_TO_THREE, REVERSED, ByProfile(paper=steps(10_000))),
    "1-7_digit": (ONE_TO_SEVEN, ByProfile(paper=steps(10_000))),
    "generalize_to_longer": (LONGER, ByProfile(paper=steps(200_000, batch=512), night=steps(40_000))),
}
FIG41 = tuple(
    entry(
        f"fig4.1/{name}",
        claim,
        "Figure 4.1, Section 4.3.1",
        at_profiles(BASE, ALL_TOKENS, LARGE, *DECODERS[name]),
        extra="" if name == "1-3_digit" else MINUTES,
        night=HEADLINE if name == "1-3_digit" else 3,
    )
    for name, claim in RANGES.items()
)
UT = EncoderDecoder(encoder_layers=3, hands_over=True)  # the author's decoder begins with the =
UNIVERSAL: Changes = {"model": {"layers": 3, "shared": True, "inject": "coordinates", "architecture": UT}}
"""A Universal Transformer: three recurrent steps in encoder and decoder each."""
FIG42 = tuple(
    entry(
        f"fig4.2/{name}",
        f"a Universal Transformer fails alike: {RANGES[name]}",
        "Figure 4.2, Section 4.3.1",
        at_profiles(
            BASE,
            data_set,
            ALL_TOKENS,
            UNIVERSAL,
            ByProfile(paper={"model": of_width(384, heads=6), **steps(10_000)}, cpu=steps(10_000)),
        ),
        extra=MINUTES,
    )
    for name, data_set in (("1-3_digit", ONE_TO_THREE), ("1-7_digit", ONE_TO_SEVEN))
)

# ------------------------------------------------------------------ Sections 4.3.2 to 4.4: positions and formats

KINDS: dict[str, tuple[str, tuple[Changes | ByProfile, ...]]] = {
    "ape": ("absolute positions fail at every untrained length", ()),
    "reversed": ("reversing the answer does not help", (REVERSED,)),
    "scratchpad": ("a scratchpad does not help", (SCRATCHPAD, PARTS, ByProfile(cpu=steps(8000, batch=16)))),
    "zero-pad": ("zero padding interpolates and does not extrapolate", (PADDED, ByProfile(cpu=steps(10_000)))),
    "spaces": ("random spaces interpolate and reach about one digit further", (SPACES, UNCERTAINTY)),
    "abacus": ("Abacus positions interpolate and extrapolate", (ABACUS, ByProfile(cpu=steps(6000), night={}))),
}
"""Claims and changes of Figure 4.5. Where nothing is said, night and cpu have the updates of random spaces; zero
padding and most seeds of Abacus learn sooner, and the scratchpad's responses are five times as long (RECIPES.md)."""
DEEPER = ByProfile(cpu={"model": {"layers": 4}, **steps(24_000)})
"""What models without positions and with randomised ones need to learn their range (RECIPES.md)."""
ASSERTED: dict[str, tuple[str, str, tuple[Changes | ByProfile, ...]]] = {
    "ape": ("with absolute positions accuracy drops steeply on longer sequences", "Section 3.4", ()),
    "nope": ("without positions accuracy drops steeply on longer sequences", "Section 3.4", (NO_POSITIONS,)),
    "rope": ("with rotary positions accuracy drops steeply on longer sequences", "Section 3.4", (ROTARY,)),
    "randomised": ("randomised positions improve length generalization", "Section 3.4", (RANDOMISED,)),
    "reversed-operands": ("reversing the operands alone makes little difference", "Section 4.2.1", (OPERANDS,)),
}
"""What the text says of the setting of Figure 4.5 and no figure shows; night and cpu have one larger size for all."""


def written(*changes: Changes | ByProfile) -> dict[str, MeasuredSpec]:
    """The setting of Figure 4.5 with one way of writing or of giving positions."""
    return at_profiles(BASE, MINI, ATTENTION, *changes)


WRITTEN = {kind: written(*changes) for kind, (_, changes) in KINDS.items()}
"""The settings of Figure 4.5, by their kind."""
WITHIN_MINUTES = ("ape", "zero-pad", "spaces", "abacus")
"""Kinds of Figure 4.5 that are part of a run of the whole paper at the cpu profile."""

FIG45 = tuple(
    entry(
        f"fig4.5/{kind}",
        claim,
        "Figure 4.5, Sections 4.3 and 4.4",
        WRITTEN[kind],
        seeds=3,
        night=HEADLINE if kind in ("ape", "spaces", "abacus") else 3,
        extra="" if kind in WITHIN_MINUTES else MINUTES,
    )
    for kind, (claim, _) in KINDS.items()
)
SECTION34 = tuple(
    entry(f"asserted/{kind}", claim, place, written(*changes, DEEPER), seeds=3, extra=MINUTES, beyond=HOURS)
    for kind, (claim, place, changes) in ASSERTED.items()
)
FIG44 = tuple(
    entry(f"fig4.4/{name}", claim, "Figure 4.4, Section 4.3.2", WRITTEN[kind], night=HEADLINE)
    for name, kind, claim in (
        ("ape", "ape", "attention is unclear with absolute positions"),
        ("ape-spaces", "spaces", "random spaces align it"),
        ("abacus", "abacus", "with Abacus positions it runs along orderly lines"),
    )
)
PAPER_ONLY = {"paper": BASE["paper"]}
LONGEST: Changes = {"test": {"lengths": (*up_to(20), 25)}, "measure": {"uncertainty": (19, 25)}}
FIG43 = (
    entry(
        "fig4.3/spaces",
        "entropy is low in distribution; outside it grows, and the end comes too early",
        "Figure 4.3, Section 4.3.1",
        WRITTEN["spaces"]  # the model of smaller profiles
        | at_profiles(PAPER_ONLY, LONGER, LARGE, SPACES, REVERSED, LONGEST, steps(1_000_000, batch=512)),
        night=HEADLINE,
    ),
)
FIG46 = (
    entry(
        "fig4.6/scratchpad",
        "the mistakes are in the intermediate steps, not in reading off the answer",
        "Figure 4.6, Section 4.4.3",
        at_profiles(
            BASE,
            ByProfile(paper=LONGER.paper, cpu=MINI.cpu, smoke=MINI.smoke),
            SCRATCHPAD,
            SPACES,
            LARGE,
            ByProfile(paper={"test": {"lengths": up_to(21)}, **steps(200_000, batch=512)}, cpu=steps(8000, batch=16)),
        ),
        extra=MINUTES,
    ),
)

# ------------------------------------------------------------------ Section 4.5: sub-tasks

SIZES = {"10k": 10_000, "100k": 100_000, "1m": 1_000_000, "10m": 10_000_000}
"""Problems of the training sets."""
WIDTHS = (64, 128, 256, 512, 1024, 1536)
CPU_SIZES, CPU_WIDTHS = ("10k", "100k"), (64, 128)
"""Data sizes and widths of the sweep at the smoke profile; night and cpu have the first size, and a night by itself the
first width of it."""


SMALL: Changes = {"data.examples": 30_000, "train.lr": 2e-3, "train.evaluations": 40}
"""What the narrow models of night and cpu are trained with beside their steps; of 10,000 problems too few are additions
to learn them (RECIPES.md), so that their smallest set is the one of Figure 4.5."""


def swept(size: str, kind: str, width: int) -> dict[str, MeasuredSpec]:
    """Addition alone (add) or mixed with its sub-tasks (mix), by size of the training set and width of the model."""
    return at_profiles(
        BASE,
        SWEPT,
        SPACES,
        {"data": {"format": Subtasks()}} if kind == "mix" else {},
        {"data": {"examples": SIZES[size]}, "test": {"sampled": 100}},
        ByProfile(
            paper={"model": {"layers": 6, **of_width(width, heads=8)}, **steps(32_000)},
            cpu={"model": of_width(width, heads=4), **SMALL, **steps(40_000, batch=64)},
            smoke={"data": {"examples": 200}, "model": of_width(width, heads=4, hidden=2), "test": {"sampled": 8}},
        ),
    )


def _sweep(size: str, kind: str, width: int) -> Experiment:
    words = "with its sub-tasks mixed in, small models and small data gain most" if kind == "mix" else "addition alone"
    return entry(
        f"table4.3/{size}-{kind}-w{width}",
        words,
        "Table 4.3, Figures 4.7 and 4.8, Section 4.5",
        swept(size, kind, width),
        seeds=3,
        night=HEADLINE if width == CPU_WIDTHS[0] else 3,
        extra=MINUTES,
        beyond="" if width == CPU_WIDTHS[0] else HOURS,
        absent=_absent(size, width),
    )


def _absent(size: str, width: int) -> Mapping[str, str]:
    """Why smaller profiles leave a size of the sweep out."""
    if size not in CPU_SIZES or width not in CPU_WIDTHS:
        return dict.fromkeys(("smoke", "cpu", "night"), TOO_LARGE)
    return {} if size == CPU_SIZES[0] else {"night": BEYOND_A_NIGHT, "cpu": BEYOND_A_NIGHT}


TABLE43 = tuple(_sweep(size, kind, width) for size in SIZES for kind in ("add", "mix") for width in WIDTHS)
DIFFICULTY = {
    "add": "addition itself",
    "rev": "reversing is learned quickly and consistently",
    "ali": "digit alignment is among the most difficult",
    "mad": "modular addition is among the most difficult and most variable",
    "car": "carry detection is learned quickly and consistently",
}
FIG49 = tuple(
    entry(
        f"fig4.9/{name}",
        claim,
        "Figure 4.9, Section 4.5.3",
        swept("10k", "mix", 64),
        night=HEADLINE,
        extra=MINUTES,
        shown=("data.format.names=" + ",".join([name, *(other for other in SUBTASKS if other != name)]),),
    )
    for name, claim in DIFFICULTY.items()
)

# ------------------------------------------------------------------ Appendix B and Section 2.1.3

FIGB1 = tuple(
    entry(
        f"figB.1/{kind}",
        f"the most significant digits are learned first{words}",
        "Figure B.1, Appendix B.1",
        WRITTEN[kind]  # the model of smaller profiles
        | at_profiles(PAPER_ONLY, LONGER, LARGE, changes, steps(200_000, batch=512)),
        extra="" if kind in WITHIN_MINUTES else MINUTES,
    )
    for kind, changes, words in (("ape", ByProfile(), ""), ("reversed", REVERSED, ", reversed or not"))
)
LOOPS = ByProfile(paper={"model.loops": 10, "model.final_norm": "layernorm"}, smoke={"model.loops": 2})
LOOPED = tuple(
    entry(
        f"looped/{kind}",
        f"one block in a loop, {words}: described, not measured in the thesis",
        "Section 2.1.3, Figure 2.2",
        at_profiles(
            {name: BASE[name] for name in ("smoke", "paper")}, MINI, {"model": {"layers": 1, "inject": inject}}, LOOPS
        ),
        absent=dict.fromkeys(("cpu", "night"), UNREPORTED),
    )
    for kind, inject, words in (
        ("injected", "input", "its input injected"),
        ("plain", "none", "without injection"),
    )
)

EXPERIMENTS: tuple[Experiment, ...] = (
    *FIG45,
    *SECTION34,
    *FIG41,
    *FIG42,
    *FIG43,
    *FIG44,
    *FIG46,
    *TABLE43,
    *FIG49,
    *FIGB1,
    *LOOPED,
)

MIXES = tuple(item for item in TABLE43 if "-mix-" in item.name)


_figures = later("papers.random_spaces.figures")
"""The drawing functions, loaded when a figure is drawn: matplotlib takes longer than everything here."""
FIGURES: tuple[Figure, ...] = (
    figure_of(
        "fig4.1",
        "Exact match and loss by length while a decoder trains",
        lambda runs, published: _figures().fig4_1(runs, published),
        FIG41,
        published=True,
    ),
    figure_of(
        "fig4.2",
        "Exact match and loss by length while a Universal Transformer trains",
        lambda runs, published: _figures().fig4_2(runs, published),
        FIG42,
        published=True,
    ),
    figure_of(
        "fig4.3", "Next-token entropy and probabilities by answer place", lambda runs: _figures().fig4_3(runs), FIG43
    ),
    figure_of("fig4.4", "Attention, largest over the heads of each layer", lambda runs: _figures().fig4_4(runs), FIG44),
    figure_of(
        "fig4.5",
        "Exact match by length: positions and formats",
        lambda runs, published: _figures().fig4_5(runs, published),
        FIG45,
        published=True,
    ),
    figure_of(
        "asserted",
        "Exact match by length: positions and formats that the text speaks of and no figure shows",
        lambda runs, published: _figures().fig4_5(runs, published),
        SECTION34,
        published=True,
    ),
    figure_of(
        "fig4.6",
        "Mistakes by part of the scratchpad",
        lambda runs, published: _figures().fig4_6(runs, published),
        FIG46,
        published=True,
    ),
    figure_of(
        "table4.3",
        "Addition alone and with sub-tasks",
        lambda runs, published: _figures().table4_3(runs, published),
        TABLE43,
        table=lambda runs: _figures().table4_3_csv(runs),
        published=True,
    ),
    figure_of("fig4.7", "Answer loss by width", lambda runs: _figures().fig4_7(runs), TABLE43),
    figure_of("fig4.8", "Loss in and out of distribution", lambda runs: _figures().fig4_8(runs), TABLE43),
    figure_of(
        "widths",
        "Exact match by width, data size and sub-tasks",
        lambda runs, published: _figures().widths(runs, published),
        TABLE43,
        published=True,
    ),
    figure_of("fig4.9", "Loss and exact match of the sub-tasks", lambda runs: _figures().fig4_9(runs), MIXES),
    figure_of(
        "fig4.9-steps",
        "Exact match of the sub-tasks while a decoder trains",
        lambda runs: _figures().over_training(runs),
        MIXES,
    ),
    figure_of(
        "figB.1", "Loss of each answer digit while a decoder trains", lambda runs: _figures().figB_1(runs), FIGB1
    ),
    figure_of("looped", "Exact match by length of a looped decoder", lambda runs: _figures().looped(runs), LOOPED),
)
