"""Every experiment of the paper, grouped by table or figure; plain data, no torch.

Reading order: the main results (Table 1 = Figure 1), what the vanilla models can do (Table 2) and look at (Figures 2,
8, 9), the biases (Figures 4 to 6), scaffolding (Table 3), ListOps, other bases, and how calibration depends on what
the text and the authors' code do differently. Equal specifications are one run, stored under the first of their names.
"""

from collections.abc import Callable, Mapping
from functools import partial

from lengen.config.experiment import PROFILES, Experiment, Figure, figure_of
from lengen.config.spec import Spec
from lengen.paper import later
from lengen.tasks.arithmetic import NByOne, PairAddition, Successor
from lengen.tasks.running import ListOpsMax, ListOpsMin, ListOpsSum, RunningXor
from papers.bias_calibration.profiles import Kind, Profile, profile
from papers.bias_calibration.settings import (
    CODE,
    CONFIGURATIONS,
    TEXT,
    VARIATIONS,
    as_long,
    calibrated,
    expression,
    plain,
    product,
    relative,
    scaffolded,
    varied,
    with_code_masks,
)

TASKS: dict[str, Kind] = {
    "successor": Successor,
    "addition": PairAddition,
    "n-by-one": NByOne,
    "parity": RunningXor,
    "sm": ListOpsSum,
    "max": ListOpsMax,
    "min": ListOpsMin,
}
"""By their names in experiments."""
EXTRA = "minutes more than a run of the whole paper has on two cores: runs when named"


UNREAD = "no table of the paper has this row and no claim asks for it: its hours go to seeds of what is claimed"
BEYOND = "more than the six core-hours of a night: no headline claim rests on it, runs when named"
HEADLINE = {"night": 5}
"""Seeds of what the paper's abstract says."""


def entry(
    variant: str,
    claim: str,
    place: str,
    task: str,
    setting: Callable[[Profile], Spec],
    extra: str = "",
    base: int = 10,
    absent: Mapping[str, str] | None = None,
    repeats: Mapping[str, int] | None = None,
    beyond: str = "",
) -> Experiment:
    """An experiment that has every profile but the absent ones; one seed is published.

    ``extra`` says why a run of the whole paper leaves it out at cpu, ``beyond`` why at night.
    """
    missing = absent or {}
    left_out = {"cpu": extra, "night": beyond}
    return Experiment(
        name=f"bias_calibration/{variant}",
        claim=claim,
        place=place,
        specs={name: setting(profile(name, TASKS[task], base)) for name in PROFILES if name not in missing},
        absent=missing,
        extra={profile: why for profile, why in left_out.items() if why and profile not in missing},
        seeds=1,
        repeats=repeats or {},
    )


# ------------------------------------------------------------------ Table 1 and Figure 1: the main results

WORDS = {
    "vanilla": "sinusoidal positions interpolate and fall to zero beyond the trained lengths",
    "alibi": "ALiBi does not even interpolate",
    "rope": "RoPE interpolates and falls to zero beyond the trained lengths",
    "rpe": "relative keys in a shared encoder hold to about three times the trained length (cited)",
    "abc": "attention bias calibration holds to the longest tested length",
}


MODELS: dict[str, Callable[[Profile], Spec]] = {
    "vanilla": plain,
    "alibi": lambda size: plain(size, "alibi"),
    "rope": lambda size: plain(size, "rope"),
    "rpe": relative,
    "abc": calibrated,
}


UNPUBLISHED = ("successor-rpe", "n-by-one-rpe", "n-by-one-alibi")
"""Models of Table 1 on tasks for which no table has them."""
DEAR = ("addition-rpe", "addition-rope", "n-by-one-rope")
"""Models of Table 1 that no headline claim reads and that would take a night beyond its hours."""


def _main(figure: str, task: str, place: str, *kinds: str) -> tuple[Experiment, ...]:
    quick = ("vanilla", "abc") if task == "n-by-one" else ("vanilla", "alibi", "rope", "abc")
    return tuple(
        entry(
            f"{figure}/{task}-{kind}",
            WORDS[kind],
            place,
            task,
            MODELS[kind],
            "" if kind in quick else EXTRA,
            absent={"night": UNREAD} if f"{task}-{kind}" in UNPUBLISHED else {},
            repeats=HEADLINE if kind == "abc" else {},
            beyond=BEYOND if f"{task}-{kind}" in DEAR else "",
        )
        for kind in kinds or WORDS
    )


MAIN = "Table 1, Figure 1, Section 6"
TABLE1 = tuple(item for name in ("successor", "addition", "n-by-one") for item in _main("table1", name, MAIN))
FIG1 = tuple(item for name in ("successor", "addition") for item in _main("fig1", name, MAIN))
FIG7 = tuple(
    item
    for name in ("successor", "addition")
    for item in _main("fig7", name, "Figure 7, Appendix A.2", "vanilla", "alibi", "rope")
)

# ------------------------------------------------------------------ Table 2, Figures 2, 8, 9: vanilla models

TABLE2 = tuple(
    entry(
        f"table2/{name}",
        "the vanilla model does not interpolate" if name == "parity" else "interpolates and does not extrapolate",
        "Table 2, Appendix A.2",
        name,
        plain,
    )
    for name in ("successor", "addition", "parity", "n-by-one")
)


def _heat_map(figure: str, name: str) -> Experiment:
    return entry(
        f"{figure}/{name}",
        "attention of the vanilla model follows the right lines up to the trained length and no further",
        {"fig2": "Figure 2, Section 4", "fig8": "Figure 8, Appendix A.3", "fig9": "Figure 9, Appendix A.3"}[figure],
        name,
        plain,
    )


FIG2 = (_heat_map("fig2", "successor"), _heat_map("fig2", "addition"))
FIG8 = (_heat_map("fig8", "successor"),)
FIG9 = (_heat_map("fig9", "addition"),)

# ------------------------------------------------------------------ Sections 3.1 and 8: what is not learned

SMALLER = "that a model smaller than the published one, trained for minutes, does not learn it would say nothing"
NEGATIVE = (
    entry(
        "negative/multiplication-vanilla",
        "the vanilla model does not learn products of two numbers of several digits",
        "Sections 3.1 and 8",
        "successor",
        product,
        absent=dict.fromkeys(("cpu", "night"), SMALLER),
    ),
    entry(
        "negative/nested-vanilla",
        "the vanilla model does not learn ListOps of several operators, one inside the other",
        "Sections 3.1 and 8",
        "parity",
        expression,
        absent=dict.fromkeys(("cpu", "night"), SMALLER),
    ),
)

# ------------------------------------------------------------------ Figures 4 to 6: biases

FIG4 = (entry("fig4/addition", "heads divide the operands among them", "Figure 4, Section 6", "addition", calibrated),)
FIG5 = (
    entry(
        "fig5/n-by-one",
        "most heads attend to the long operand, some to the digit",
        "Figure 5, Section 6",
        "n-by-one",
        calibrated,
    ),
)
FIG6 = (
    entry(
        "fig6/rpe",
        "relative keys bias scores by distance",
        "Figure 6, Section 7",
        "addition",
        relative,
        EXTRA,
        beyond=BEYOND,
    ),
    entry("fig6/abc", "so does a calibrated bias along diagonals", "Figure 6, Section 7", "addition", calibrated),
)

# ------------------------------------------------------------------ Table 3: attention bias scaffolding


def _scaffold(task: str, configuration: str) -> Experiment:
    binary = task in ("addition", "n-by-one")
    held = "interpolates only" if configuration == "vanilla" else "holds to the longest tested length"
    if configuration == "window" and binary:
        held = "interpolates only: sinusoids and window interact badly"
    if configuration == "nope" and binary:
        held = "is slightly imperfect at all lengths"
    words = {"vanilla": "sinusoids", "window": "w = 1", "cyclic": "w = 1, T = 3", "nope": "no positions, w = 1"}
    return entry(
        f"table3/{task}-{configuration}",
        f"{words[configuration]}: {held}",
        "Table 3, Appendix A.5",
        task,
        lambda size: scaffolded(size, configuration),
        EXTRA if binary and configuration != "cyclic" else "",
        repeats=HEADLINE if configuration == "cyclic" or (task == "parity" and configuration != "vanilla") else {},
    )


TABLE3 = tuple(
    _scaffold(task, configuration)
    for task in ("successor", "addition", "parity", "n-by-one")
    for configuration in CONFIGURATIONS
)

# ------------------------------------------------------------------ Appendix C and footnote 4


def cyclic(size: Profile) -> Spec:
    """The configuration of Table 3 that holds for all tasks."""
    return scaffolded(size, "cyclic")


LISTOPS = tuple(
    entry(
        f"listops/{operator}",
        "single-operator, single-depth ListOps is solved with w = 1 and T = 3",
        "Appendix C",
        operator,
        cyclic,
    )
    for operator in ("sm", "max", "min")
)
BASES = tuple(
    entry(
        f"bases/addition-{base}",
        "the techniques work in other bases as well",
        "Footnote 4, Section 3.3",
        "addition",
        cyclic,
        EXTRA,
        base=base,
        beyond=BEYOND,
    )
    for base in (4, 8, 16)
)

# ------------------------------------------------------------------ other windows and periods

VARIED = tuple(
    entry(
        f"varied/addition-{name}",
        "slight variations of w and T do not produce very different results",
        "Appendix A.5",
        "addition",
        partial(varied, change=change),
        EXTRA,
        beyond=BEYOND,
    )
    for name, change in VARIATIONS.items()
)

# ------------------------------------------------------------------ what the text and the code do differently

CHOICES: dict[str, tuple[str, Callable[[Profile], Spec]]] = {
    "text": (
        "pre-softmax scores, line means, two standard deviations, sinusoids kept, as the text says",
        lambda size: as_long(calibrated(size, positions=True, calibration=TEXT)),
    ),
    "code": (
        "probabilities, line sums, 4.5 and 0.87 standard deviations, causal mask replaced, as the code does",
        lambda size: with_code_masks(as_long(calibrated(size, positions=True, calibration=CODE))),
    ),
    "sinusoidal": (
        "as Table 1, but sinusoids kept in retraining where it drops them at this profile, or dropped",
        lambda size: calibrated(size, positions=size.name == "cpu"),
    ),
}


def _absent(task: str, choice: str) -> dict[str, str]:
    if choice == "sinusoidal":
        return {"night": UNREAD}
    return {"cpu": UNREAD} if (task, choice) == ("addition", "code") else {}


CALIBRATION = tuple(
    entry(
        f"calibration/{task}-{choice}",
        claim,
        "Section 5, Appendix B",
        task,
        setting,
        "" if (task, choice) == ("successor", "text") else EXTRA,
        absent=_absent(task, choice),
        beyond=BEYOND if task == "addition" or choice == "code" else "",
    )
    for task in ("successor", "addition")
    for choice, (claim, setting) in CHOICES.items()
)

EXPERIMENTS: tuple[Experiment, ...] = (
    *TABLE1,
    *FIG1,
    *FIG7,
    *TABLE2,
    *FIG2,
    *FIG8,
    *FIG9,
    *NEGATIVE,
    *FIG4,
    *FIG5,
    *FIG6,
    *TABLE3,
    *LISTOPS,
    *BASES,
    *VARIED,
    *CALIBRATION,
)


ABC = tuple(item for item in TABLE1 if item.variant.endswith("-abc") and not item.variant.startswith("n-by-one"))


_figures = later("papers.bias_calibration.figures")
"""The drawing functions, loaded when a figure is drawn: matplotlib takes longer than everything here."""
FIGURES: tuple[Figure, ...] = (
    figure_of(
        "table1",
        "Exact match by length: sinusoids, ALiBi, RoPE, relative keys, calibrated bias",
        lambda runs, published: _figures().fig1(runs, published),
        TABLE1,
        published=True,
    ),
    figure_of(
        "fig1",
        "Exact match by length on successor and addition",
        lambda runs, published: _figures().fig1(runs, published),
        FIG1,
        published=True,
    ),
    figure_of(
        "fig7",
        "Exact match by length on successor and addition: sinusoids, ALiBi, RoPE",
        lambda runs, published: _figures().fig1(runs, published),
        FIG7,
        published=True,
    ),
    figure_of(
        "table2",
        "Interpolation and extrapolation of the vanilla model",
        lambda runs, published: _figures().table2(runs, published),
        TABLE2,
        published=True,
    ),
    figure_of("fig2", "Attention of the vanilla models on printed examples", lambda runs: _figures().fig2(runs), FIG2),
    figure_of("fig4", "Calibrated biases for addition", lambda runs: _figures().bias_matrices(runs), FIG4),
    figure_of("fig5", "Calibrated biases for N x 1", lambda runs: _figures().bias_matrices(runs), FIG5),
    figure_of(
        "fig6", "Relative keys and calibrated bias as functions of distance", lambda runs: _figures().fig6(runs), FIG6
    ),
    figure_of(
        "fig8", "Attention of the vanilla model on a successor problem", lambda runs: _figures().fig8(runs), FIG8
    ),
    figure_of(
        "fig9", "Attention of the vanilla model on an addition problem", lambda runs: _figures().fig9(runs), FIG9
    ),
    figure_of(
        "negative",
        "Multi-digit multiplication and nested ListOps, not learned",
        lambda runs: _figures().negative(runs),
        NEGATIVE,
    ),
    figure_of("fig10_11", "Windowed attention biases, w = 1", lambda runs: _figures().windows(runs)),
    figure_of(
        "table3",
        "Attention bias scaffolding by length",
        lambda runs, published: _figures().table3(runs, published),
        TABLE3,
        published=True,
    ),
    figure_of("listops", "ListOps with window and cyclic positions", lambda runs: _figures().listops(runs), LISTOPS),
    figure_of(
        "bases",
        "Addition with window and cyclic positions in bases 4, 8, 16",
        lambda runs: _figures().bases(runs),
        BASES,
    ),
    figure_of(
        "varied",
        "Addition with other windows and periods",
        lambda runs, published: _figures().varied(runs, published),
        VARIED,
        published=True,
    ),
    figure_of(
        "calibration",
        "What calibration depends on",
        lambda runs, published: _figures().calibration(runs, published),
        ABC,
        CALIBRATION,
        published=True,
    ),
)
