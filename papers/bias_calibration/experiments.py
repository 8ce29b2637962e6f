"""Every experiment of the paper, grouped by table or figure; plain data, no torch.

Reading order: the main results (Table 1 = Figure 1), what the vanilla models can do (Table 2) and look at (Figures 2,
8, 9), the biases (Figures 4 to 6), scaffolding (Table 3), ListOps, other bases, and how calibration depends on what
the text and the authors' code do differently. Equal specifications are one run, stored under the first of their names.
"""

from types import ModuleType
from typing import Any

from lengen.config.experiment import PROFILES, Experiment, Figure, figure_of
from lengen.config.spec import Spec
from papers.bias_calibration.settings import (
    BINARY,
    CODE,
    CONFIGURATIONS,
    MODELS,
    TEXT,
    calibrated,
    plain,
    scaffolded,
    with_code_masks,
)

TASKS = {"successor": "successor", "addition": "addition", "n-by-one": "n_by_one", "parity": "running_xor"}
"""Names in experiments -> tasks."""
EXTRA = "minutes more than a run of the whole paper has on two cores: runs when named"


def entry(name: str, claim: str, place: str, specs: dict[str, Spec], extra: str = "") -> Experiment:
    """An experiment that has every profile; one seed is published."""
    return Experiment(
        name=f"bias_calibration/{name}",
        claim=claim,
        place=place,
        specs=specs,
        absent={},
        extra={"cpu": extra} if extra else {},
        seeds=1,
    )


def _each(make: Any, *arguments: Any, **options: Any) -> dict[str, Spec]:
    """``make(*arguments, profile=...)`` for every profile."""
    return {profile: make(*arguments, profile=profile, **options) for profile in PROFILES}


def _plain(task: str, kind: str) -> dict[str, Spec]:
    return _each(plain, task, kind)


def _calibrated(task: str) -> dict[str, Spec]:
    return _each(calibrated, task)


# ------------------------------------------------------------------ Table 1 and Figure 1: the main results

WORDS = {
    "vanilla": "sinusoidal positions interpolate and fall to zero beyond the trained lengths",
    "alibi": "ALiBi does not even interpolate",
    "rope": "RoPE interpolates and falls to zero beyond the trained lengths",
    "rpe": "relative keys in a shared encoder hold to about three times the trained length (cited)",
    "abc": "attention bias calibration holds to the longest tested length",
}


def _main(figure: str, name: str) -> tuple[Experiment, ...]:
    task = TASKS[name]
    specs = {kind: _plain(task, kind) for kind in MODELS} | {"abc": _calibrated(task)}
    main = ("vanilla", "abc") if name == "n-by-one" else ("vanilla", "alibi", "rope", "abc")
    return tuple(
        entry(
            f"{figure}/{name}-{kind}",
            WORDS[kind],
            "Table 1, Figure 1, Section 6",
            specs[kind],
            "" if kind in main else EXTRA,
        )
        for kind in ("vanilla", "alibi", "rope", "rpe", "abc")
    )


TABLE1 = tuple(item for name in ("successor", "addition", "n-by-one") for item in _main("table1", name))
FIG1 = tuple(item for name in ("successor", "addition") for item in _main("fig1", name))

# ------------------------------------------------------------------ Table 2, Figures 2, 8, 9: vanilla models

TABLE2 = tuple(
    entry(
        f"table2/{name}",
        "the vanilla model does not interpolate" if name == "parity" else "interpolates and does not extrapolate",
        "Table 2, Appendix A.2",
        _plain(TASKS[name], "vanilla"),
    )
    for name in ("successor", "addition", "parity", "n-by-one")
)


def _heat_map(figure: str, name: str) -> Experiment:
    return entry(
        f"{figure}/{name}",
        "attention of the vanilla model follows the right lines up to the trained length and no further",
        {"fig2": "Figure 2, Section 4", "fig8": "Figure 8, Appendix A.3", "fig9": "Figure 9, Appendix A.3"}[figure],
        _plain(TASKS[name], "vanilla"),
    )


FIG2 = (_heat_map("fig2", "successor"), _heat_map("fig2", "addition"))
FIG8 = (_heat_map("fig8", "successor"),)
FIG9 = (_heat_map("fig9", "addition"),)

# ------------------------------------------------------------------ Figures 4 to 6: biases

FIG4 = (entry("fig4/addition", "heads divide the operands among them", "Figure 4, Section 6", _calibrated("addition")),)
FIG5 = (
    entry(
        "fig5/n-by-one",
        "most heads attend to the long operand, some to the digit",
        "Figure 5, Section 6",
        _calibrated("n_by_one"),
    ),
)
FIG6 = (
    entry("fig6/rpe", "relative keys bias scores by distance", "Figure 6, Section 7", _plain("addition", "rpe"), EXTRA),
    entry("fig6/abc", "so does a calibrated bias along diagonals", "Figure 6, Section 7", _calibrated("addition")),
)

# ------------------------------------------------------------------ Table 3: attention bias scaffolding


def _scaffold(name: str, configuration: str) -> Experiment:
    held = "interpolates only" if configuration == "vanilla" else "holds to the longest tested length"
    if configuration == "window" and TASKS[name] in BINARY:
        held = "interpolates only: sinusoids and window interact badly"
    if configuration == "nope" and TASKS[name] in BINARY:
        held = "is slightly imperfect at all lengths"
    words = {"vanilla": "sinusoids", "window": "w = 1", "cyclic": "w = 1, T = 3", "nope": "no positions, w = 1"}
    return entry(
        f"table3/{name}-{configuration}",
        f"{words[configuration]}: {held}",
        "Table 3, Appendix A.5",
        _each(scaffolded, TASKS[name], configuration),
        EXTRA if name == "n-by-one" and configuration != "cyclic" else "",
    )


TABLE3 = tuple(_scaffold(name, configuration) for name in TASKS for configuration in CONFIGURATIONS)

# ------------------------------------------------------------------ Appendix C and footnote 4

LISTOPS = tuple(
    entry(
        f"listops/{operator}",
        "single-operator, single-depth ListOps is solved with w = 1 and T = 3",
        "Appendix C",
        _each(scaffolded, f"listops_{operator}", "cyclic"),
    )
    for operator in ("sm", "max", "min")
)
BASES = tuple(
    entry(
        f"bases/addition-{base}",
        "the techniques work in other bases as well",
        "Footnote 4, Section 3.3",
        _each(scaffolded, "addition", "cyclic", base=base),
        EXTRA,
    )
    for base in (4, 8, 16)
)

# ------------------------------------------------------------------ what the text and the code do differently


def _choice(name: str, choice: str) -> Experiment:
    task = TASKS[name]
    specs: dict[str, Spec] = {}
    for profile in PROFILES:
        if choice == "text":
            specs[profile] = calibrated(task, profile, positions=True, **TEXT)
        elif choice == "code":
            specs[profile] = with_code_masks(calibrated(task, profile, positions=True, **CODE))
        else:
            specs[profile] = calibrated(task, profile, positions=profile == "cpu")
    words = {
        "text": "pre-softmax scores, line means, two standard deviations, sinusoids kept, as the text says",
        "code": "probabilities, line sums, 4.5 and 0.87 standard deviations, causal mask replaced, as the code does",
        "sinusoidal": "as Table 1, but sinusoids kept in retraining where it drops them at this profile, or dropped",
    }
    extra = "" if (name, choice) == ("successor", "text") else EXTRA
    return entry(f"calibration/{name}-{choice}", words[choice], "Section 5, Appendix B", specs, extra)


CALIBRATION = tuple(
    _choice(name, choice) for name in ("successor", "addition") for choice in ("text", "code", "sinusoidal")
)

EXPERIMENTS: tuple[Experiment, ...] = (
    *TABLE1,
    *FIG1,
    *TABLE2,
    *FIG2,
    *FIG8,
    *FIG9,
    *FIG4,
    *FIG5,
    *FIG6,
    *TABLE3,
    *LISTOPS,
    *BASES,
    *CALIBRATION,
)


ABC = tuple(item for item in TABLE1 if item.variant.endswith("-abc") and not item.variant.startswith("n-by-one"))


def _figures() -> ModuleType:
    """The drawing functions, loaded when a figure is drawn: matplotlib takes longer than everything here."""
    from papers.bias_calibration import figures

    return figures


FIGURES: tuple[Figure, ...] = (
    figure_of(
        "table1",
        "Exact match by length: sinusoids, ALiBi, RoPE, relative keys, calibrated bias",
        lambda runs: _figures().fig1(runs),
        TABLE1,
    ),
    figure_of("fig1", "Exact match by length on successor and addition", lambda runs: _figures().fig1(runs), FIG1),
    figure_of(
        "table2", "Interpolation and extrapolation of the vanilla model", lambda runs: _figures().table2(runs), TABLE2
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
    figure_of("fig10_11", "Windowed attention biases, w = 1", lambda runs: _figures().windows(runs)),
    figure_of("table3", "Attention bias scaffolding by length", lambda runs: _figures().table3(runs), TABLE3),
    figure_of("listops", "ListOps with window and cyclic positions", lambda runs: _figures().listops(runs), LISTOPS),
    figure_of(
        "bases",
        "Addition with window and cyclic positions in bases 4, 8, 16",
        lambda runs: _figures().bases(runs),
        BASES,
    ),
    figure_of(
        "calibration", "What calibration depends on", lambda runs: _figures().calibration(runs), ABC, CALIBRATION
    ),
)
