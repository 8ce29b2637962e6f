"""Every experiment of the thesis, grouped by figure or table; plain data, no torch.

Reading order: what absolute positions fail at (Figures 4.1 and 4.2), how sure the models are (4.3) and where they look
(4.4), formats and positions (4.5), the scratchpad in parts (4.6), sub-tasks (Table 4.3, Figures 4.7 to 4.9), the order
in which digits are learned (B.1), and the looped decoder of Section 2.1.3. Equal specifications are one run, stored
under the first of their names.
"""

from collections.abc import Callable
from functools import partial
from types import ModuleType

from lengen.config.experiment import PROFILES, Experiment, Figure, figure_of
from lengen.config.spec import Spec
from papers.random_spaces import settings
from papers.random_spaces.settings import SIZES, SUBTASKS, WIDTHS

MINUTES = "minutes more than a run of the whole paper has on two cores: runs when named"
LARGE = "too large for two cores: tens of minutes to hours a run"


def entry(
    name: str,
    claim: str,
    place: str,
    make: Callable[[str], Spec],
    *,
    seeds: int = 1,
    extra: str = "",
    absent: str = "",
    shown: tuple[str, ...] = (),
) -> Experiment:
    """An experiment with ``make(profile)`` at every profile, but for cpu and smoke where ``absent`` says why."""
    profiles = ("paper",) if absent else PROFILES
    return Experiment(
        name=f"random_spaces/{name}",
        claim=claim,
        place=place,
        specs={profile: make(profile) for profile in profiles},
        absent={profile: absent for profile in PROFILES if profile not in profiles},
        extra={"cpu": extra} if extra and not absent else {},
        seeds=seeds,
        shown=shown,
    )


# ------------------------------------------------------------------ Section 4.3.1: absolute positions

RANGES = {
    "1-3_digit": "1 and 3 digits are learned, 2 and 4 are not",
    "1-7_digit": "up to 7 digits are learned, 8 are not",
    "generalize_to_longer": "up to 17 and 19 digits are learned, 18 and 20 are not: longer training does not help",
}
FIG41 = tuple(
    entry(
        f"fig4.1/{name}",
        claim,
        "Figure 4.1, Section 4.3.1",
        partial(settings.fig41, name),
        extra=MINUTES if name == "generalize_to_longer" else "",
    )
    for name, claim in RANGES.items()
)
FIG42 = tuple(
    entry(
        f"fig4.2/{name}",
        f"a Universal Transformer fails alike: {RANGES[name]}",
        "Figure 4.2, Section 4.3.1",
        partial(settings.fig42, name),
        extra=MINUTES,
    )
    for name in ("1-3_digit", "1-7_digit")
)
FIG43 = (
    entry(
        "fig4.3/spaces",
        "entropy is low in distribution; outside it grows, and the end comes too early",
        "Figure 4.3, Section 4.3.1",
        settings.fig43,
    ),
)

# ------------------------------------------------------------------ Sections 4.3.2 to 4.4: positions and formats

KINDS = {
    "ape": "absolute positions fail at every untrained length",
    "reversed": "reversing the answer does not help",
    "scratchpad": "a scratchpad does not help",
    "zero-pad": "zero padding interpolates and does not extrapolate",
    "spaces": "random spaces interpolate and reach about one digit further",
    "abacus": "Abacus positions interpolate and extrapolate",
}
FIG45 = tuple(
    entry(
        f"fig4.5/{kind}",
        claim,
        "Figure 4.5, Sections 4.3 and 4.4",
        partial(settings.fig45, kind),
        seeds=3,
    )
    for kind, claim in KINDS.items()
)
FIG44 = tuple(
    entry(
        f"fig4.4/{name}",
        claim,
        "Figure 4.4, Section 4.3.2",
        partial(settings.fig45, kind),
    )
    for name, kind, claim in (
        ("ape", "ape", "attention is unclear with absolute positions"),
        ("ape-spaces", "spaces", "random spaces align it"),
        ("abacus", "abacus", "with Abacus positions it runs along orderly lines"),
    )
)
FIG46 = (
    entry(
        "fig4.6/scratchpad",
        "the mistakes are in the intermediate steps, not in reading off the answer",
        "Figure 4.6, Section 4.4.3",
        settings.fig46,
    ),
)

# ------------------------------------------------------------------ Section 4.5: sub-tasks

CPU_SIZES, CPU_WIDTHS = ("10k", "100k"), (64, 128)
"""Data sizes and widths of the sweep at the cpu profile; the first size is part of a run of the whole paper."""


def _sweep(size: str, kind: str, width: int) -> Experiment:
    words = "with its sub-tasks mixed in, small models and small data gain most" if kind == "mix" else "addition alone"
    small = size in CPU_SIZES and width in CPU_WIDTHS
    return entry(
        f"table4.3/{size}-{kind}-w{width}",
        words,
        "Table 4.3, Figures 4.7 and 4.8, Section 4.5",
        partial(settings.table43, size, kind, width),
        seeds=3,
        extra=MINUTES if size != CPU_SIZES[0] else "",
        absent="" if small else LARGE,
    )


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
        partial(settings.table43, "10k", "mix", 64),
        shown=("data.subtasks=" + str([name, *(other for other in SUBTASKS if other != name)]).replace("'", '"'),),
    )
    for name, claim in DIFFICULTY.items()
)

# ------------------------------------------------------------------ Appendix B and Section 2.1.3

FIGB1 = tuple(
    entry(
        f"figB.1/{kind}",
        f"the most significant digits are learned first{', reversed or not' if kind == 'reversed' else ''}",
        "Figure B.1, Appendix B.1",
        partial(settings.figB1, kind),
    )
    for kind in ("ape", "reversed")
)
LOOPED = tuple(
    entry(
        f"looped/{kind}",
        f"one block in a loop, {words}: described, not measured in the thesis",
        "Section 2.1.3, Figure 2.2",
        partial(settings.looped, kind),
        extra=MINUTES,
    )
    for kind, words in (("injected", "its input injected"), ("plain", "without injection"))
)

EXPERIMENTS: tuple[Experiment, ...] = (
    *FIG45,
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


def _figures() -> ModuleType:
    """The drawing functions, loaded when a figure is drawn: matplotlib takes longer than everything here."""
    from papers.random_spaces import figures

    return figures


FIGURES: tuple[Figure, ...] = (
    figure_of(
        "fig4.1", "Exact match and loss by length while a decoder trains", lambda runs: _figures().fig4_1(runs), FIG41
    ),
    figure_of(
        "fig4.2",
        "Exact match and loss by length while a Universal Transformer trains",
        lambda runs: _figures().fig4_2(runs),
        FIG42,
    ),
    figure_of(
        "fig4.3", "Next-token entropy and probabilities by answer place", lambda runs: _figures().fig4_3(runs), FIG43
    ),
    figure_of("fig4.4", "Attention, largest over the heads of each layer", lambda runs: _figures().fig4_4(runs), FIG44),
    figure_of("fig4.5", "Exact match by length: positions and formats", lambda runs: _figures().fig4_5(runs), FIG45),
    figure_of("fig4.6", "Mistakes by part of the scratchpad", lambda runs: _figures().fig4_6(runs), FIG46),
    figure_of(
        "table4.3",
        "Addition alone and with sub-tasks",
        lambda runs: _figures().table4_3(runs),
        TABLE43,
        table=lambda runs: _figures().table4_3_csv(runs),
    ),
    figure_of("fig4.7", "Answer loss by width", lambda runs: _figures().fig4_7(runs), TABLE43),
    figure_of("fig4.8", "Loss in and out of distribution", lambda runs: _figures().fig4_8(runs), TABLE43),
    figure_of("widths", "Exact match by width, data size and sub-tasks", lambda runs: _figures().widths(runs), TABLE43),
    figure_of("fig4.9", "Loss and exact match of the sub-tasks", lambda runs: _figures().fig4_9(runs), MIXES),
    figure_of(
        "figB.1", "Loss of each answer digit while a decoder trains", lambda runs: _figures().figB_1(runs), FIGB1
    ),
    figure_of("looped", "Exact match by length of a looped decoder", lambda runs: _figures().looped(runs), LOOPED),
)
