"""Every experiment of the paper as a table, and its figures; plain data, no torch.

Reading order: the main results (Table 1 = Figure 1), what the vanilla models can do (Table 2) and look at (Figures 2,
8, 9), the biases (Figures 4 to 6), scaffolding (Table 3), ListOps, other bases, and how calibration depends on what
the text and the authors' code do differently. Equal specifications are one run, stored under the first of their names.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from lengen.experiment import CURVES, PROFILES, TABLE, Experiment, Figure, axis, figure_of, rows_of
from lengen.settings.changes import Changes, overlay
from lengen.settings.spec import Spec
from lengen.tasks.running_reductions import ListOpsMax, ListOpsMin, ListOpsSum, RunningXor
from lengen.tasks.successor_and_pair_tasks import NByOne, PairAddition, Successor
from papers.bias_calibration.profiles import TO_20, TO_50, Kind, Profile, profile
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
    "successor": Successor, "addition": PairAddition, "n-by-one": NByOne, "parity": RunningXor, "sm": ListOpsSum,
    "max": ListOpsMax, "min": ListOpsMin,
}  # fmt: skip
"""By their names in experiments."""
LABELS = {
    "successor": "Successor", "addition": "Addition", "n-by-one": "N × 1", "parity": "Parity", "sm": "sum modulo 10",
    "max": "maximum", "min": "minimum",
}  # fmt: skip
HEADLINE = 5
"""Seeds of a night behind the paper's abstract."""
Setting = Callable[[Profile], Spec]


def tasks(*names: str) -> Any:
    """Return the axis of these tasks."""
    return axis("task", {name: LABELS[name] for name in names})


def sized(task: str, setting: Setting, base: int = 10) -> dict[str, Spec]:
    """Return a setting of a task at every profile."""
    return {name: setting(profile(name, TASKS[task], base)) for name in PROFILES}


row = rows_of("bias_calibration")


# ------------------------------------------------------------------ Table 1 and Figure 1: the main results

WORDS = {
    "vanilla": "sinusoidal positions interpolate and fall to zero beyond the trained lengths",
    "alibi": "ALiBi does not even interpolate",
    "rope": "RoPE interpolates and falls to zero beyond the trained lengths",
    "rpe": "relative keys in a shared encoder hold to about three times the trained length (cited)",
    "abc": "attention bias calibration holds to the longest tested length",
}
NAMES = {"vanilla": "sinusoids", "alibi": "ALiBi", "rope": "RoPE", "rpe": "RPE", "abc": "ABC"}
MODELS: dict[str, Setting] = {
    "vanilla": plain,
    "alibi": lambda size: plain(size, "alibi"),
    "rope": lambda size: plain(size, "rope"),
    "rpe": relative,
    "abc": calibrated,
}


def _main(figure: str, place: str, names: Sequence[str], *kinds: str, at: Sequence[int] = ()) -> tuple[Experiment, ...]:
    """Return models of Table 1; ``at``: lengths at which the successor is tested at night in place of its own."""

    def make(task: str, kind: str) -> dict[str, Spec]:
        specs = sized(task, MODELS[kind])
        if at and task == "successor":
            specs["night"] = overlay(specs["night"], {"test.lengths": at})
        return specs

    return row(
        figure, place, says=lambda task, kind: WORDS[kind],
        axes=(tasks(*names), axis("model", {kind: NAMES[kind] for kind in kinds or NAMES})),
        make=make, night=lambda task, kind: HEADLINE if kind == "abc" else 3,
        skip={
            "cpu": {"minutes": "*-rpe addition-alibi addition-rope n-by-one-alibi n-by-one-rope"},
            "night": {
                "unread": "successor-rpe n-by-one-rpe n-by-one-alibi",
                "hours": "addition-rpe addition-rope n-by-one-rope",
            },
        },
    )  # fmt: skip


TABLE1 = _main("table1", "Table 1, Figure 1, Section 6", ("successor", "addition", "n-by-one"))
DRAWN = tuple(range(1, 51))
"""Lengths of the lines of Figures 1 and 7, as far as numbers are padded here."""
FIG1 = _main("fig1", "Table 1, Figure 1, Section 6", ("successor", "addition"), at=DRAWN)
FIG7 = _main("fig7", "Figure 7, Appendix A.2", ("successor", "addition"), "vanilla", "alibi", "rope", at=DRAWN)

# ------------------------------------------------------------------ Table 2, Figures 2, 8, 9: vanilla models


def _vanilla(task: str) -> dict[str, Spec]:
    return sized(task, plain)


TABLE2 = row(
    "table2", "Table 2, Appendix A.2", axes=(tasks("successor", "addition", "parity", "n-by-one"),), make=_vanilla,
    says=lambda task: "the vanilla model does not interpolate" if task == "parity"
    else "interpolates and does not extrapolate",
)  # fmt: skip
FOLLOWS = "attention of the vanilla model follows the right lines up to the trained length and no further"
FIG2 = row("fig2", "Figure 2, Section 4", says=FOLLOWS, axes=(tasks("successor", "addition"),), make=_vanilla)
FIG8 = row("fig8", "Figure 8, Appendix A.3", says=FOLLOWS, axes=(tasks("successor"),), make=_vanilla)
FIG9 = row("fig9", "Figure 9, Appendix A.3", says=FOLLOWS, axes=(tasks("addition"),), make=_vanilla)

# ------------------------------------------------------------------ Sections 3.1 and 8: what is not learned

NEGATIVES: dict[str, tuple[str, str, Setting, str]] = {
    "multiplication-vanilla": ("products", "successor", product, "products of two numbers of several digits"),
    "nested-vanilla": ("nested ListOps", "parity", expression, "ListOps of several operators, one inside the other"),
}
"""Label, task of the profile, setting, claim."""
NEGATIVE = row(
    "negative", "Sections 3.1 and 8", axes=(axis("task", {name: label for name, (label, *_) in NEGATIVES.items()}),),
    says=lambda name: f"the vanilla model does not learn {NEGATIVES[name][3]}",
    make=lambda name: sized(*NEGATIVES[name][1:3]),
    # a smaller model that does not learn it in minutes would be no evidence
    skip={"cpu": {"large": "*"}, "night": {"large": "*"}},
)  # fmt: skip

# ------------------------------------------------------------------ Figures 4 to 6: biases


def _abc(task: str) -> dict[str, Spec]:
    return sized(task, calibrated)


FIG4 = row(
    "fig4", "Figure 4, Section 6", says="heads divide the operands among them", axes=(tasks("addition"),), make=_abc
)
FIG5 = row(
    "fig5", "Figure 5, Section 6", says="most heads attend to the long operand, some to the digit",
    axes=(tasks("n-by-one"),), make=_abc,
)  # fmt: skip
FIG6 = row(
    "fig6", "Figure 6, Section 7", axes=(axis("model", {"rpe": "RPE", "abc": "ABC"}),),
    says=lambda kind: {"rpe": "relative keys bias scores by distance",
                       "abc": "so does a calibrated bias along diagonals"}[kind],
    make=lambda kind: sized("addition", MODELS[kind]),
    skip={"cpu": {"minutes": "rpe"}, "night": {"hours": "rpe"}},
)  # fmt: skip

# ------------------------------------------------------------------ Table 3: attention bias scaffolding

WINDOWS = {"vanilla": "sinusoids", "window": "w = 1", "cyclic": "w = 1, T = 3", "nope": "no positions, w = 1"}


def _scaffold_claim(task: str, configuration: str) -> str:
    held = "interpolates only" if configuration == "vanilla" else "holds to the longest tested length"
    if task in ("addition", "n-by-one"):
        held = {
            "window": "interpolates only: sinusoids and window interact badly",
            "nope": "is slightly imperfect at all lengths",
        }.get(configuration, held)
    return f"{WINDOWS[configuration]}: {held}"


AS_PUBLISHED: Changes = {
    "model": {"norm_place": "post", "dropout": 0.3},
    "train": {"final_lr": 1.0, "clip": 0.0, "precision": "32-true"},
}
"""Everything that is not size as published, in a setting for two cores."""
WIDE: Changes = {"data.format.width": 53, "test.lengths": TO_50}
TWICE: Changes = {"addition": {"steps": 8_800, "evaluations": 220}, "n-by-one": {"steps": 3_600, "evaluations": 90}}
"""Twice the updates of the other windows, where six digits are below .99 with theirs."""
AT_NIGHT: dict[str, Changes] = {"parity-window": AS_PUBLISHED} | {
    f"{task}-{kind}": {**wide, "train": bound}
    for task, bound in TWICE.items()
    for kind, wide in (("cyclic", WIDE), ("nope", {}))
}
"""Changes to cells of Table 3; numbers are padded to 53 digits where a period may hold further than 20 (D7)."""


def _table3(task: str, kind: str) -> dict[str, Spec]:
    specs = sized(task, lambda size: scaffolded(size, kind))
    return specs | {"night": overlay(specs["night"], AT_NIGHT.get(f"{task}-{kind}", {}))}


TABLE3 = row(
    "table3", "Table 3, Appendix A.5", says=_scaffold_claim,
    axes=(
        tasks("successor", "addition", "parity", "n-by-one"),
        axis("scaffold", {kind: WINDOWS[kind] for kind in CONFIGURATIONS}),
    ),
    make=_table3,
    night=lambda task, kind: HEADLINE if kind == "cyclic" or (task == "parity" and kind != "vanilla") else 3,
    skip={"cpu": {"minutes": " ".join(f"{task}-{kind}" for task in ("addition", "n-by-one")
                                      for kind in ("vanilla", "window", "nope"))}},
)  # fmt: skip

# ------------------------------------------------------------------ Appendix C, footnote 4, other windows and periods


def cyclic(size: Profile) -> Spec:
    """Return the configuration of Table 3 that holds for all tasks."""
    return scaffolded(size, "cyclic")


LATER = {"cpu": {"minutes": "*"}, "night": {"hours": "*"}}
OURS: dict[str, dict[str, str]] = {**LATER, "paper": {"ours": "*"}}
LISTOPS = row(
    "listops", "Appendix C", says="single-operator, single-depth ListOps is solved with w = 1 and T = 3",
    axes=(axis("operator", {name: LABELS[name] for name in ("sm", "max", "min")}),),
    make=lambda operator: sized(operator, cyclic),
)  # fmt: skip
BASES = row(
    "bases", "Footnote 4, Section 3.3", says="the techniques work in other bases as well", named="addition-{}",
    axes=(axis("base", {str(base): f"base {base}" for base in (4, 8, 16)}),),
    make=lambda base: sized("addition", cyclic, int(base)), skip=LATER,
)  # fmt: skip
VARIED = row(
    "varied", "Appendix A.5", says="slight variations of w and T do not produce very different results",
    named="addition-{}", axes=(axis("scaffold", {"w1": "w = 1, T = 3", "w2": "w = 2, T = 3", "t4": "w = 1, T = 4"}),),
    make=lambda name: sized("addition", partial(varied, change=VARIATIONS[name])), skip=LATER,
)  # fmt: skip

# ------------------------------------------------------------------ how much the published dropout matters

RATES = ("0", "0.1", "0.2", "0.3")


def _dropping(rate: str) -> dict[str, Spec]:
    specs = sized("parity", partial(scaffolded, configuration="window"))
    specs["night"] = overlay(specs["night"], AS_PUBLISHED)
    return {name: overlay(spec, {"model.dropout": float(rate)}) for name, spec in specs.items()}


DROPOUT = row(
    "dropout", "Table 3, Appendix A.5", named="parity-{}",
    says="a window with sinusoids holds beyond the trained length with the published dropout of 0.3",
    axes=(axis("dropout", {rate: f"dropout {rate}" for rate in RATES}),), make=_dropping, night=HEADLINE,
    skip=OURS,
)  # fmt: skip

# ------------------------------------------------------------------ published hyper-parameters put back, one at a time

LADDER_RUNGS: dict[str, tuple[str, Changes]] = {
    "small": ("2 layers, pre-norm, no dropout, schedule, clipping", {
        "data.format.width": 23, "test.lengths": TO_20, "model": {"norm_place": "pre", "dropout": 0.0},
        "train": {"steps": 2400, "evaluations": 60, "final_lr": 0.1, "clip": 1.0, "precision": "32-true"},
    }),
    "dropout": ("+ dropout 0.3", {"model.dropout": 0.3}),
    "norm": ("+ norm behind the layers", {"model.norm_place": "post"}),
    "constant": ("+ constant rate, no clipping", {"train": {"final_lr": 1.0, "clip": 0.0}}),
    "layers": ("+ 6 layers, rate 5e-4", {"model.layers": 6, "train.lr": 5e-4}),
    "encoder": ("+ encoder layer", {"model.architecture.encoder_layers": 1}),
    "rate": ("+ rate 1e-4, at most 9,600 updates", {"train": {"lr": 1e-4, "steps": 9600, "evaluations": 240}}),
    "stop": ("+ validated every 500 updates", {"train": {"steps": 9500, "evaluations": 19}}),
}  # fmt: skip
"""Label and changes of each rung; each holds those before it."""


CALIBRATED_RUNGS: dict[str, tuple[str, Changes]] = {
    "thresholds": ("thresholds of the authors' code, at most 6,000 and 10,800 updates", {
        "calibration": {"sigma_self": 0.87, "sigma_cross": 4.5},
        "interpolation": {"steps": 6_000, "evaluations": 150}, "train": {"steps": 10_800, "evaluations": 270},
    }),
    "dropout": ("+ dropout 0.3 in both trainings", {"model.dropout": 0.3}),
}  # fmt: skip


def _rung(rungs: dict[str, tuple[str, Changes]], name: str, specs: dict[str, Spec]) -> dict[str, Spec]:
    changes = [changes for _, changes in list(rungs.values())[: list(rungs).index(name) + 1]]
    return {**specs, "night": overlay(specs["night"], *changes)}


LADDER = row(
    "ladder", "Table 3, Appendix A.5, tested to 20 digits", named="successor-window-{}",
    says="window and sinusoids hold to the longest tested length",
    axes=(axis("rung", {name: label for name, (label, _) in LADDER_RUNGS.items()}),),
    make=lambda name: _rung(LADDER_RUNGS, name, sized("successor", partial(scaffolded, configuration="window"))),
    night=2, skip=OURS,
)  # fmt: skip
CALIBRATED_LADDER = row(
    "ladder-abc", "Table 1, Section 5", says="a calibrated bias holds to 50 digits", named="n-by-one-{}",
    axes=(axis("rung", {name: label for name, (label, _) in CALIBRATED_RUNGS.items()}),),
    make=lambda name: _rung(CALIBRATED_RUNGS, name, sized("n-by-one", calibrated)), night=2, skip=OURS,
)  # fmt: skip

# ------------------------------------------------------------------ what the text and the code do differently

CHOICES: dict[str, tuple[str, str, Setting]] = {
    "text": (
        "as the text",
        "pre-softmax scores, line means, two standard deviations, sinusoids kept, as the text says",
        lambda size: as_long(calibrated(size, positions=True, calibration=TEXT)),
    ),
    "code": (
        "as the code",
        "probabilities, line sums, 4.5 and 0.87 standard deviations, causal mask replaced, as the code does",
        lambda size: with_code_masks(as_long(calibrated(size, positions=True, calibration=CODE))),
    ),
    "sinusoidal": (
        "ABC with sinusoids",
        "as Table 1, but sinusoids kept in retraining where it drops them at this profile, or dropped",
        lambda size: calibrated(size, positions=size.name == "cpu"),
    ),
}
CALIBRATION = row(
    "calibration", "Section 5, Appendix B", says=lambda task, choice: CHOICES[choice][1],
    axes=(tasks("successor", "addition"), axis("model", {name: label for name, (label, *_) in CHOICES.items()})),
    make=lambda task, choice: sized(task, CHOICES[choice][2]),
    skip={
        "cpu": {"unread": "addition-code", "minutes": "successor-code *-sinusoidal addition-text"},
        "night": {"unread": "*-sinusoidal", "hours": "addition-text *-code"},
    },
)  # fmt: skip

EXPERIMENTS: tuple[Experiment, ...] = (
    *TABLE1, *FIG1, *FIG7, *TABLE2, *FIG2, *FIG8, *FIG9, *NEGATIVE, *FIG4, *FIG5, *FIG6, *DROPOUT, *TABLE3, *LISTOPS,
    *BASES, *VARIED, *LADDER, *CALIBRATED_LADDER, *CALIBRATION,
)  # fmt: skip

ABC = tuple(item for item in TABLE1 if item.variant in ("successor-abc", "addition-abc"))
OWN = "papers.bias_calibration.special_plots"
LOOK = (
    "Of all heads of the last decoder layer those with the sharpest line within the trained length. Red: trained. A "
    "row reads the token at its left and predicts the next one, least significant digit first."
)
BIAS = "Every head from its least to its greatest open value; light grey is closed; one colour all over: no bias."
FIGURES: tuple[Figure, ...] = (
    figure_of("table1", "Exact match by length and model", CURVES, TABLE1, panels="task"),
    figure_of("fig1", "Exact match by length, successor and addition", CURVES, FIG1, panels="task"),
    figure_of("fig7", "Sinusoids, ALiBi and RoPE by length", CURVES, FIG7, panels="task"),
    figure_of(
        "table2", "The vanilla model inside and beyond its range", TABLE, TABLE2,
        caption="The paper's Table 2 has marks alone, a cross for parity in both columns; numbers are those of its "
        "Table 1. Parity: bits, every one of them scored.",
    ),
    figure_of("fig2", "Cross-attention of the vanilla models", f"{OWN}:fig2", FIG2, caption=LOOK, seeds="one"),
    figure_of("fig4", "Calibrated biases for addition", f"{OWN}:biases", FIG4, caption=BIAS, seeds="one"),
    figure_of("fig5", "Calibrated biases for N × 1", f"{OWN}:biases", FIG5, caption=BIAS, seeds="one"),
    figure_of(
        "fig6", "Self-attention by distance", f"{OWN}:fig6", FIG6, seeds="one",
        caption="A line a head. ABC: mean over the places that the bias is calibrated from. RPE: what "
        "relative keys add to the score.",
    ),
    figure_of("fig8", "Attention of the vanilla model, successor", f"{OWN}:fig8", FIG8, caption=LOOK, seeds="one"),
    figure_of("fig9", "Attention of the vanilla model, addition", f"{OWN}:fig9", FIG9, caption=LOOK, seeds="one"),
    figure_of("negative", "Products and nested ListOps", CURVES, NEGATIVE, panels="task"),
    figure_of(
        "fig10_11", "Windowed attention biases, w = 1", f"{OWN}:windows",
        caption="Dark: open (0). Light: closed (minus infinity). Binary operations have interleaved digits.",
    ),
    figure_of("table3", "Attention bias scaffolding by length", CURVES, TABLE3, panels="task", across=2),
    figure_of("listops", "ListOps with window and cyclic positions", CURVES, LISTOPS),
    figure_of("bases", "Addition in bases 4, 8 and 16", CURVES, BASES),
    figure_of("varied", "Addition with other windows and periods", CURVES, VARIED),
    figure_of("dropout", "Parity with a window and sinusoids, by dropout", CURVES, DROPOUT),
    figure_of("ladder", "Successor with a window, published settings put back", CURVES, LADDER, ordered=True),
    figure_of("ladder-abc", "N × 1, published settings put back", CURVES, CALIBRATED_LADDER, ordered=True),
    figure_of("calibration", "Calibration by the text's rules and by ours", CURVES, ABC, CALIBRATION, panels="task"),
)  # fmt: skip
